"""`python -m bench duel`: identification by this package and by what others do, on the same recordings."""

from __future__ import annotations

from pathlib import Path

import click

from bench.page import markdown_table, save_option
from bench.page import save as write
from bench.shown import show
from robot_dynamics_ros.cli.options import robot_option_with


@click.command("duel")
@click.argument("fitted", type=click.Path(exists=True, path_type=Path))
@click.argument("judged", type=click.Path(exists=True, path_type=Path))
@robot_option_with("Robot file or URDF of the recordings.")
@save_option
def command(fitted: Path, judged: Path, robot: str, save: bool) -> None:
    """Identify from FITTED, predict the effort of JUDGED: error, processor time and memory of every entry.

    Example: python -m bench duel id1.bag id2.bag --robot ur3
    """
    from bench.duel.entries import HEAD, duel

    rows = duel(robot, fitted, judged)
    show([HEAD, *rows])
    if save:
        shown = f"python -m bench duel {fitted.name} {judged.name} --robot {Path(robot).name}"
        write("duel", f"{Path(robot).stem} {fitted.stem}", markdown_table(HEAD, rows, shown))
