"""`python -m bench ablation`: force error without thermal model, hysteresis or load dependence of friction."""

from __future__ import annotations

from pathlib import Path

import click

from bench.commands.reproduce import show
from bench.page import RESULTS, json_option, save_option
from bench.papers.table import write_section
from bench.running import command_line
from robot_dynamics_ros.cli.options import stderr, write_json


@click.command("ablation")
@click.option("--quick", is_flag=True, help="Shorter free motion between the contacts.")
@save_option
@json_option
def command(quick: bool, save: bool, json_file: Path | None) -> None:
    """Force error of a polishing task with the thermal model, hysteresis (GMS) and load dependence on and off.

    Example: python -m bench ablation --quick --json ablation.json
    """
    from bench.papers.ablation import run

    with stderr.status("identifying, polishing"):
        rows = run(quick)
    show(rows)
    write_json(json_file, {"rows": rows, "quick": quick})
    if save:
        write_section(RESULTS / "reproduce.md", rows, command_line(), "ablation")
