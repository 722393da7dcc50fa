"""`python -m bench endurance`: hours of torque control in a simulated controller's time, with faults."""

from __future__ import annotations

import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import click

from bench.page import json_option
from bench.running import measure_apart
from robot_dynamics_ros.cli.printed import console, progress, write_json


@click.command()
@click.option("--minutes", type=click.IntRange(2, 100_000), default=30, show_default=True, help="Of controller time.")
@click.option(
    "--transport",
    type=click.Choice(("sockets", "clock", "topics")),
    default="sockets",
    show_default=True,
    help="sockets: as a robot; clock: in one process, faster than real time, with invalid inputs; topics: no torque, "
    "invalid messages on every topic that the nodes subscribe to.",
)
@json_option
def command(minutes: int, transport: str, json_file: Path | None) -> None:
    """Move by torque; inject a fault every minute, which must latch the guard.

    Exit status 1 if one does not latch, if memory grows by more than 5 MB after the first 10 minutes, or if threads,
    file descriptors, samples or records are lost. 8 h in one process: --transport clock --minutes 480.

    Example: python -m bench endurance --minutes 30 --json endurance.json
    """
    measure_apart()
    begin, run = time.monotonic(), _garbage if transport == "topics" else _torque
    rows, text, wrong = run(minutes, transport)
    wall = time.monotonic() - begin
    console.print(f"{minutes} min {text}; took {wall / 60:.1f} min")
    for line in wrong:
        console.print(f"FAIL {line}")
    write_json(json_file, {"rows": rows, "wrong": wrong, "wall": wall})
    sys.exit(bool(wrong))


def _torque(minutes: int, transport: str) -> tuple[list[Any], str, list[str]]:
    """Looks, what they show in one line, what is wrong."""
    from bench.endurance.clock import endure_by_clock
    from bench.endurance.pieces import PIECE, endure, faults_of
    from bench.papers.labs.in_process import RATE

    with closing(endure_by_clock(minutes) if transport == "clock" else endure(minutes)) as pieces:
        rows = [next(pieces) for _ in progress(range(minutes), "torque control")]
    first, last = rows[0], rows[-1]
    text = (
        f"of torque control ({minutes * PIECE * RATE:.0f} cycles): "
        f"{sum(row.latched for row in rows)} of {minutes} faults latched; memory {first.ours.memory:.1f} -> "
        f"{last.ours.memory:.1f} MB, {last.ours.threads} threads, {last.ours.files} file descriptors; controller "
        f"{first.controller.memory:.1f} -> {last.controller.memory:.1f} MB; at most "
        f"{max(row.largest_error for row in rows):.3f} rad off the path"
    )
    return rows, text, faults_of(rows)


def _garbage(minutes: int, _: str) -> tuple[list[Any], str, list[str]]:
    """The same for garbage on topics."""
    from bench.endurance.pieces import growth_of
    from bench.endurance.topics import endure_garbage

    with closing(endure_garbage(minutes)) as pieces:
        rows = [next(pieces) for _ in progress(range(minutes), "garbage")]
    first, last = rows[0], rows[-1]
    grown = [f"{name} {first.held[name].memory:.1f} -> {held.memory:.1f} MB" for name, held in last.held.items()]
    wrong = [line for name in last.held for line in growth_of(name, [row.held[name] for row in rows])]
    return rows, f"of garbage: {last.sent} messages on {last.topics} topics; {', '.join(grown)}", wrong
