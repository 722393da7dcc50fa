"""`robot-dynamics faults`: every fault of the command path, injected and judged."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import click
from rich.table import Table

from robot_dynamics_ros.cli.options import console, html_option, json_option, markdown_option, progress, write_json
from robot_dynamics_ros.pages import write_between
from robot_dynamics_ros.validation.faults.table import TRANSPORTS, Case, cases, run_case
from robot_dynamics_ros.validation.faults.table import markdown as as_markdown
from robot_dynamics_ros.validation.page import write_faults
from robot_dynamics_ros.validation.table import as_dicts

TRIES = {"clock": 10, "sockets": 2, "graph": 1}


@click.command()
@json_option
@click.option(
    "--transport",
    "transports",
    type=click.Choice(list(TRANSPORTS)),
    multiple=True,
    help="Only these; default: all that can run here.",
)
@click.option(
    "--tries", type=click.IntRange(1, 1000), help="Runs of each case; default 10 by clock, 2 sockets, 1 graph."
)
@markdown_option
@html_option
def command(
    json_file: Path | None, transports: tuple[str, ...], tries: int | None, markdown: Path | None, html: Path | None
) -> None:
    """Inject faults of the torque path into a simulated robot; exit status 1 if a reaction is not as required.

    Example: robot-dynamics faults --transport clock --json faults.json
    """
    rows = []
    for case in progress(_cases(transports), "faults"):
        rows.append(run_case(case, tries or TRIES[case.transport]))
        if rows[-1].result != "pass":
            console.print(f"FAIL {rows[-1].case}: {rows[-1].measured}")
    table = Table("case", "tries", "result", "observed")
    for row in rows:
        table.add_row(row.case, str(row.tries), row.result, row.measured)
    console.print(table)
    write_json(json_file, {"rows": as_dicts(rows)})
    given = "".join(f" --transport {transport}" for transport in transports) + (f" --tries {tries}" if tries else "")
    if markdown is not None:
        write_between(markdown, "faults", as_markdown(rows, f"robot-dynamics faults{given}"), "Faults")
    if html is not None:
        write_faults(html, rows, f"robot-dynamics faults{given}")
    sys.exit(any(row.result != "pass" for row in rows))


def _cases(transports: tuple[str, ...]) -> list[Case]:
    wanted = list(transports or TRANSPORTS)
    if "graph" in wanted and not transports and importlib.util.find_spec("rclpy") is None:
        wanted.remove("graph")
        console.print("rclpy is not installed: no cases of the ROS graph")
    return [case for transport in wanted for case in cases(transport)]
