"""`python -m bench duel`: identification by this package and by what others do, on the same recordings."""

from __future__ import annotations

from pathlib import Path

import click

from bench.page import report, save_option
from robot_dynamics_ros.cli.options import robot_option_with


@click.command("duel")
@click.argument("fitted", type=click.Path(exists=True, path_type=Path))
@click.argument("judged", type=click.Path(exists=True, path_type=Path), required=False)
@robot_option_with("Robot file or URDF of the recordings.")
@click.option("--peers", help="PYTHON of an environment with figaroh and mujoco[sysid]: their entries too.")
@save_option
def command(fitted: Path, judged: Path | None, robot: str, peers: str | None, save: bool) -> None:
    """Identify from FITTED, predict the effort of JUDGED (else: of its second half from its first).

    Error, coverage of the stated deviations, processor time and memory of every entry.

    Example: python -m bench duel id1.bag id2.bag --robot ur3 --peers .venv-duel/bin/python
    """
    from bench.duel.entries import HEAD, duel

    report([HEAD, *duel(robot, fitted, judged, peers)], save, "duel", f"{Path(robot).stem} {fitted.stem}")
