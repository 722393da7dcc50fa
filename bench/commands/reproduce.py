"""`python -m bench reproduce`: the papers' protocols on the simulated robot, their numbers beside ours."""

from __future__ import annotations

import time
from pathlib import Path

import click

from bench.page import json_option, keep, save_option, show
from bench.papers.registry import PROTOCOLS, UR5E, protocol
from bench.papers.table import Row, cells
from robot_dynamics_ros.cli.options import complete_robot
from robot_dynamics_ros.cli.printed import console, stderr, write_json


@click.command("reproduce")
@click.argument("names", nargs=-1, required=True, metavar="[PROTOCOL]...|all")
@click.option("--quick", is_flag=True, help="Shorter motions and fewer joints than the published protocol.")
@click.option("--robot", "-r", default=UR5E, shell_complete=complete_robot, help="For protocols of several robots.")
@save_option
@json_option
def command(names: tuple[str, ...], quick: bool, robot: str, save: bool, json_file: Path | None) -> None:
    """Run the protocols of papers on the simulated robot and compare the results with the published numbers.

    Estimators and identification use measurements only; the friction model of the simulated robot differs from theirs.

    --save replaces only the tables of the protocols that ran, one table per protocol and robot.

    Example: python -m bench reproduce all --quick
    """
    wanted = PROTOCOLS if names == ("all",) else names
    runs = {name: protocol(name, robot) for name in wanted}  # a wrong one is refused before any runs
    rows: list[Row] = []
    took: dict[str, float] = {}
    with stderr.status("") as status:
        for name, run in runs.items():
            status.update(f"{name} ({len(took) + 1} of {len(runs)})")
            start = time.monotonic()
            found = run(quick)
            rows, took[name] = rows + found, time.monotonic() - start
            if save:
                keep(cells(found), "reproduce", f"reproduce {name}{f' {robot}' if robot != UR5E else ''}")
    show([texts[:-1] for texts in cells(rows)])
    judged = [row for row in rows if row.met is not None]
    if judged:
        console.print(f"{sum(bool(row.met) for row in judged)} of {len(judged)} met")
    for row in rows:
        if row.note:
            console.print(f"- {row.figure}: {row.note}")
    write_json(json_file, {"rows": rows, "seconds": took, "quick": quick})
