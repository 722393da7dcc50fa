"""`python -m bench pictures`: the looping picture of the README, and the friction of a joint."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

ROBOT, SECONDS = "ur5e", 25.0  # of the demo


@click.command()
@click.option("--out", default="docs", show_default=True, type=click.Path(exists=True, file_okay=False, path_type=Path))
def command(out: Path) -> None:
    """Draw force.gif (the demo's contact: arm, force, deviation, ground truth) and friction.png (loops, residual)."""
    from bench.force.loop import write_loop
    from bench.papers.pictures import friction_picture
    from robot_dynamics_ros.cli.demo import run_offline
    from robot_dynamics_ros.cli.demo_robots import demo_robot, identified_model
    from robot_dynamics_ros.robot_file import load_robot

    with tempfile.TemporaryDirectory() as folder:
        model = str(identified_model(ROBOT, demo_robot(ROBOT), Path(folder), lambda _: None))
        log, truth = run_offline(ROBOT, model, ROBOT, SECONDS, Path(folder))
        click.echo(write_loop(log, truth, load_robot(model), out / "force.gif"))
    friction_picture(out / "friction.png")
    click.echo(out / "friction.png")
