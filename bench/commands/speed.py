"""`python -m bench speed`: our figures and the peers' in one run, with the floor that this machine must hold."""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

import click

from bench.page import json_option, processor, report, save_option
from bench.speed import SECTIONS
from bench.speed.setup import Setup
from bench.speed.timing import Case, Row, measure
from robot_dynamics_ros import __version__, _core
from robot_dynamics_ros.cli.printed import console, progress, stderr, write_json

HEAD = ("what", "ours, median (worst)", "peer", "peer, median (worst)", "ratio", "floor", "share of machine", "floor")


@click.command("speed")
@click.option("--quick", is_flag=True, help="Smaller problems; less accurate ratios.")
@click.option(
    "--peers", is_flag=True, help="Include C++ libraries; compiles them once into the user's cache (one minute)."
)
@click.option("--isa", type=click.Choice(_core.available_isas()), help="Measure another instruction set.")
@click.option("--section", type=click.Choice(SECTIONS), multiple=True, help="Run only these sections.")
@save_option
@json_option
def command(
    quick: bool, peers: bool, isa: str | None, section: tuple[str, ...], save: bool, json_file: Path | None
) -> None:
    """Benchmarks, compared with other libraries in one run: interleaved rounds, median and worst.

    Example: python -m bench speed --section rigid_body --json bench.json
    """
    if isa:
        _core.select_isa(isa)
    machine = _machine()
    console.print(
        f"{machine['processor']}, {machine['isa']} in use (has {', '.join(machine['available'])}); "
        f"load {machine['load']}"
    )
    cases = _cases(Setup(quick=quick, cpp_peers=peers), section or SECTIONS)
    rows = [measure(case, machine["isa"]) for case in progress(cases, "measuring", len(cases))]
    missed = [row.name for row in rows if row.met is False]
    held = f"{sum(row.met is True for row in rows)} floors held, missed: {', '.join(missed) or 'none'}"
    words = f"{machine['isa']}, Python {machine['python']}. {held}."
    report([HEAD, *map(_texts, rows)], save, "speed", f"speed {machine['isa']}", words)
    write_json(json_file, {"machine": machine, "rows": rows})


def _cases(setup: Setup, sections: tuple[str, ...]) -> list[Case]:
    with stderr.status("preparing (the first time with --peers compiles for a minute)"):
        modules = [importlib.import_module(f"bench.speed.{name}") for name in sections]
        return [case for module in modules for case in module.cases(setup)]


def _machine() -> dict[str, Any]:
    return {
        "version": __version__,
        "processor": processor(),
        "isa": _core.isa(),
        "available": _core.available_isas(),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "python": sys.version.split()[0],
        "blas_threads": os.environ.get("OPENBLAS_NUM_THREADS", "default"),
    }


def _texts(row: Row) -> list[str]:
    """A row of the table."""
    peer = "" if row.peer is None else f"{_time(row.peer)} ({_time(row.peer_worst)})"
    found = [row.name, f"{_time(row.ours)} ({_time(row.ours_worst)})", row.peer_name, peer]
    found += ["" if x is None else f"{x:.3g}" for x in (row.ratio, row.floor, row.share, row.least_share)]
    if row.limit is not None:
        found[5] = f"< {_time(row.limit)}"
    return found


def _time(nanoseconds: float | None) -> str:
    if nanoseconds is None:
        return ""
    for unit, scale in (("ns", 1), ("us", 1e3), ("ms", 1e6)):
        if nanoseconds < 1000 * scale:
            return f"{nanoseconds / scale:.3g} {unit}"
    return f"{nanoseconds / 1e9:.3g} s"
