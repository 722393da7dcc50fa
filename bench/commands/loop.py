"""`python -m bench loop`: the looping picture of the README, from the offline demo."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from bench.force.loop import write_loop
from robot_dynamics_ros.cli.demo import run_offline
from robot_dynamics_ros.cli.demo_robots import demo_robot, identified_model
from robot_dynamics_ros.robot_file import load_robot

ROBOT, SECONDS = "ur5e", 25.0  # of the demo


@click.command()
@click.option("--out", default="docs/force.gif", show_default=True, type=click.Path(path_type=Path))
def command(out: Path) -> None:
    """Identify the demo's UR5e, replay its contact, and draw arm, force, deviation and ground truth as a loop."""
    with tempfile.TemporaryDirectory() as folder:
        model = str(identified_model(ROBOT, demo_robot(ROBOT), Path(folder), lambda _: None))
        click.echo(write_loop(*run_offline(ROBOT, model, ROBOT, SECONDS, Path(folder)), load_robot(model), out))
