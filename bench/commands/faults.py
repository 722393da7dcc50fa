"""`python -m bench faults`: every fault of the command path, injected and judged."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import click

from bench.faults.table import TRANSPORTS, Row, cases, cells, run_case
from bench.page import json_option, report, save_option
from robot_dynamics_ros.cli.printed import console, progress, write_json


@click.command()
@json_option
@click.option("--transport", "transports", type=click.Choice(TRANSPORTS), multiple=True, help="Default: all there are.")
@click.option("--tries", type=click.IntRange(1, 1000), default=1, show_default=True, help="Runs of each case.")
@save_option
def command(json_file: Path | None, transports: tuple[str, ...], tries: int, save: bool) -> None:
    """Inject faults of the torque path into a simulated robot; exit status 1 if a reaction is not as required.

    Example: python -m bench faults --transport clock --json faults.json
    """
    found: list[Row] = []
    for transport in transports or _known():
        begin, rows = os.getloadavg()[1], []
        for case in progress(cases(transport), transport):
            rows.append(run_case(case, tries))
            if rows[-1].result != "pass":
                console.print(f"FAIL {rows[-1].case}: {rows[-1].measured}")
        load = f"In one run, load {begin:.1f} at the start, {os.getloadavg()[1]:.1f} at the end."
        report(cells(rows), save, "faults", f"faults {transport}", load)
        found += rows
    write_json(json_file, {"rows": found})
    sys.exit(any(row.result != "pass" for row in found))


def _known() -> tuple[str, ...]:
    """Transports that can run here."""
    if importlib.util.find_spec("rclpy") is not None:
        return TRANSPORTS
    console.print("rclpy is not installed: no cases of the ROS graph")
    return tuple(t for t in TRANSPORTS if t != "graph")
