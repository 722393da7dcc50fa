"""`robot-dynamics endurance`: hours of torque control in a simulated controller's time, with faults on the way."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from robot_dynamics_ros.cli.options import console, json_option, progress, write_json
from robot_dynamics_ros.validation.endurance import PIECE, endure, faults_of
from robot_dynamics_ros.validation.endurance_clock import endure_by_clock
from robot_dynamics_ros.validation.papers.labs.in_process import RATE
from robot_dynamics_ros.validation.papers.registry import TRANSPORTS


@click.command()
@click.option("--minutes", default=30, type=click.IntRange(2, 100_000), show_default=True, help="Controller time.")
@click.option(
    "--transport",
    type=click.Choice((*TRANSPORTS[:2], "clock")),
    default="script",
    show_default=True,
    help="Torque interface; clock: in one process, faster than real time, with garbage besides.",
)
@json_option
def command(minutes: int, transport: str, json_file: Path | None) -> None:
    """Track the six waypoints in torque mode; inject a fault every minute, which must latch the guard.

    Exit status 1 if one does not latch, if memory grows, or if threads, file descriptors, samples or records are lost.
    8 h in one process: --transport clock --minutes 480.

    Example: robot-dynamics endurance --minutes 30 --json endurance.json
    """
    begin, pieces = (
        time.monotonic(),
        endure_by_clock(minutes) if transport == "clock" else endure(minutes, transport=transport),
    )
    rows = [next(pieces) for _ in progress(range(minutes), "torque control")]
    pieces.close()
    wall, wrong = time.monotonic() - begin, faults_of(rows)
    first, last = rows[0], rows[-1]
    console.print(
        f"{minutes} min of torque control in {wall / 60:.1f} min ({minutes * PIECE * RATE:.0f} cycles): "
        f"{sum(row.latched for row in rows)} of {minutes} faults latched; memory {first.ours.memory:.1f} -> "
        f"{last.ours.memory:.1f} MB, {last.ours.threads} threads, {last.ours.files} file descriptors; controller "
        f"{first.controller.memory:.1f} -> {last.controller.memory:.1f} MB; at most "
        f"{max(row.largest_error for row in rows):.3f} rad off the path",
        highlight=False,
    )
    for line in wrong:
        console.print(f"FAIL {line}")
    write_json(json_file, {"rows": [row.as_dict() for row in rows], "wrong": wrong, "wall": wall})
    sys.exit(bool(wrong))
