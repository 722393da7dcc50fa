"""`python -m bench learning-week`: a week of one robot that learns, drawn."""

from __future__ import annotations

from pathlib import Path

import click

from robot_dynamics_ros.cli.options import NewPath, console, robot_option_with, stderr


@click.command("learning-week")
@robot_option_with("Shipped robot's name, or robot file with masses.", default="ur5e")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the drawn robots.")
@click.option("--out", type=NewPath(), required=True, help="Picture to write (PNG).")
def command(robot: str, seed: int, out: Path) -> None:
    """Draw a week of one simulated robot that learns every evening and carries a payload on day 5.

    Example: python -m bench learning-week --out week.png
    """
    from bench.learning.week import draw, week

    with stderr.status("working") as status:
        found = week(robot, seed, status.update)
    draw(found, out)
    for day, (task, force, version) in enumerate(zip(found.tasks, found.force[1:], found.versions[1:], strict=True), 1):
        shown = ", ".join(f"{state.replace('_', ' at ')} {value:.1f} N" for state, value in force.items())
        console.print(f"day {day}: {task}; version {version}; {shown}")
    for _, text in found.held:
        console.print(f"held back: {text}")
    console.print(f"picture: {out}")
