"""`python -m bench loop`: the looping picture of the README, from the offline demo."""

from __future__ import annotations

from pathlib import Path

import click

from bench.force.loop import write_loop
from robot_dynamics_ros.cli.demo import run_offline
from robot_dynamics_ros.cli.demo_robots import base_file, demo_robot, identified_model
from robot_dynamics_ros.robot_file import load_robot

SECONDS = 25.0  # of the demo


@click.command()
@click.option("--robot", default="ur5e", show_default=True, help="Robot to simulate and to observe.")
@click.option("--out", default="docs/force.gif", show_default=True, type=click.Path(path_type=Path))
@click.option("--work", default="demo_output", show_default=True, type=click.Path(path_type=Path))
def command(robot: str, out: Path, work: Path) -> None:
    """Identify the demo's robot, replay its contact, and draw arm, force, deviation and ground truth as a loop."""
    work.mkdir(parents=True, exist_ok=True)
    base = base_file(robot, work)
    model = str(identified_model(base, demo_robot(robot), work, lambda _: None))
    click.echo(write_loop(*run_offline(base, model, robot, SECONDS, work), load_robot(model), out))
