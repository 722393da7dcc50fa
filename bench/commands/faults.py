"""`python -m bench faults`: every fault of the command path, injected and judged."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import click

from bench.faults.table import TRANSPORTS, Case, cases, cells, run_case
from bench.page import json_option, report, save_option
from robot_dynamics_ros.cli.printed import console, progress, write_json
from robot_dynamics_ros.errors import ConfigError

DEFAULT = 1  # tries where none are given


@click.command()
@json_option
@click.option(
    "--transport",
    "transports",
    type=click.Choice(list(TRANSPORTS)),
    multiple=True,
    help="Cases to run; default: all that can run here.",
)
@click.option(
    "--tries",
    default="clock=10,sockets=2,graph=1",
    show_default=True,
    metavar="N|TRANSPORT=N,...",
    help="Runs of each case.",
)
@save_option
def command(json_file: Path | None, transports: tuple[str, ...], tries: str, save: bool) -> None:
    """Inject faults of the torque path into a simulated robot; exit status 1 if a reaction is not as required.

    Example: python -m bench faults --transport clock --json faults.json
    """
    runs, rows, begin = runs_of(tries), [], os.getloadavg()[1]
    for case in progress(_cases(transports), "faults"):
        rows.append(run_case(case, runs.get(case.transport, DEFAULT)))
        if rows[-1].result != "pass":
            console.print(f"FAIL {rows[-1].case}: {rows[-1].measured}")
    load = f"In one run, load {begin:.1f} at the start, {os.getloadavg()[1]:.1f} at the end."
    report(cells(rows), save, "faults", "faults", load)
    write_json(json_file, {"rows": rows})
    sys.exit(any(row.result != "pass" for row in rows))


def runs_of(tries: str) -> dict[str, int]:
    """Transport -> tries of `N` or `clock=100,graph=2`. Raises ConfigError."""
    parts = (
        [part.partition("=") for part in tries.split(",")] if "=" in tries else [(t, "=", tries) for t in TRANSPORTS]
    )
    for name, _, number in parts:
        if name not in TRANSPORTS or not number.isdigit() or not 1 <= int(number) <= 1000:
            raise ConfigError(
                "--tries", name, f"{number!r} must be a number of runs in 1..1000, of {', '.join(TRANSPORTS)}"
            )
    return {name: int(number) for name, _, number in parts}


def _cases(transports: tuple[str, ...]) -> list[Case]:
    wanted = list(transports or TRANSPORTS)
    if "graph" in wanted and not transports and importlib.util.find_spec("rclpy") is None:
        wanted.remove("graph")
        console.print("rclpy is not installed: no cases of the ROS graph")
    return [case for transport in wanted for case in cases(transport)]
