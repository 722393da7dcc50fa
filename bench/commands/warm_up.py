"""`python -m bench warm-up`: drift of the contact force of a real arm that warms up."""

from __future__ import annotations

from pathlib import Path

import click

from bench.page import report, save_option
from robot_dynamics_ros.cli.options import robot_option_with


@click.command("warm-up")
@click.argument("directory", type=click.Path(exists=True, file_okay=False, path_type=Path))
@robot_option_with("Robot file that is closest to the arm.", default="ur10")
@save_option
def command(directory: Path, robot: str, save: bool) -> None:
    """Drift of vendor's and our contact force over the recordings of a UR10-size arm in DIRECTORY (see the page).

    Example: python -m bench warm-up nist_ur10
    """
    from bench.evidence import warm_up
    from robot_dynamics_ros.robot_file import load_robot

    found = warm_up.runs(load_robot(robot), directory)
    current, minutes = warm_up.correlation(found)
    words = f"Correlation of the vendor's Fz with the held current {current:.2f}, with the minutes {minutes:.2f}."
    report(warm_up.table(found), save, "warm_up", "table", words)
