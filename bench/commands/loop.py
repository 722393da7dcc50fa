"""`python -m bench loop`: the looping picture of the README, from the offline demo."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from bench.force.loop import write_loop
from robot_dynamics_ros.bags import write_bag
from robot_dynamics_ros.cli.demo_robots import base_file, demo_robot, identified_model, touched
from robot_dynamics_ros.cli.demo_summary import align
from robot_dynamics_ros.estimators.replay import replay
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
    model = load_robot(identified_model(base, demo_robot(robot), work, lambda _: None))
    measured, truth = touched(load_robot(base), demo_robot(robot), SECONDS)
    write_bag(measured, work / "bag", overwrite=True)
    log = replay([work / "bag"], model).log
    click.echo(write_loop(log, align(log, np.column_stack([1e-9 * measured.stamp_ns, truth])), model, out))
