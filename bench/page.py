"""HTML pages of `faults` and `reproduce`: a picture over the table of results."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from bench.faults.table import Row as Fault
from bench.papers.table import Row, number, verdict
from robot_dynamics_ros.pages import write_html, written_by
from robot_dynamics_ros.plots import figure, png

GOOD, BAD, OPEN = "#009E73", "#D55E00", "#999999"
ZERO_AFTER = re.compile(r"zero after (\d+) ms")
REQUIRED = re.compile(r"within (\d+) ms")


def write_faults(path: Path, rows: Sequence[Fault], command: str) -> None:
    """The table of faults, and how long each took until torque was zero. Raises CapabilityError, DataError."""
    timed = [row for row in rows if ZERO_AFTER.search(row.measured)]
    passed = sum(row.result == "pass" for row in rows)
    header = ("case", "tries", "result", "required", "observed")
    cells = [((r.case, r.tries, r.result, r.budget, r.measured), r.result == "pass") for r in rows]
    caption = "Time from the fault until torque is zero; the black mark is the time allowed."
    summary = f"{passed} of {len(rows)} cases passed."
    _write(path, "Faults", header, cells, command, summary, _times(timed) if timed else "", caption)


def _times(rows: Sequence[Fault]) -> str:
    drawing, axes = figure(1, 1, 10, 1.0 + 0.28 * len(rows))
    axis, places = axes[0, 0], np.arange(len(rows))
    values = [_first(ZERO_AFTER, row.measured) for row in rows]
    axis.barh(places, values, color=[GOOD if row.result == "pass" else BAD for row in rows])
    allowed = [_first(REQUIRED, row.budget) for row in rows]
    axis.plot(allowed, places, "|", color="black", ms=12, mew=2)
    _named(axis, places, [row.case for row in rows], "time until torque is zero [ms]")
    return png(drawing)


def _first(pattern: re.Pattern[str], text: str) -> float:
    found = pattern.search(text)
    return float(found[1]) if found else np.nan


def write_papers(path: Path, rows: Sequence[Row], command: str) -> None:
    """The numbers of papers beside ours, and their ratio. Raises CapabilityError, DataError."""
    judged = [row for row in rows if row.met is not None]
    header = ("source", "figure", "paper", "ours", "unit", "met", "note")
    cells = [
        ((r.source, r.figure, number(r.paper), number(r.ours), r.unit, verdict(r), r.note), r.met is not False)
        for r in rows
    ]
    drawn = [row for row in rows if row.paper and row.ours and row.paper * row.ours > 0]
    caption = "Our number over the paper's; green: met, red: not met, grey: not compared. Some are better when smaller."
    summary = f"{sum(bool(row.met) for row in judged)} of {len(judged)} met."
    _write(path, "Reproduction", header, cells, command, summary, _ratios(drawn) if drawn else "", caption)


def _ratios(rows: Sequence[Row]) -> str:
    drawing, axes = figure(1, 1, 10, 1.0 + 0.28 * len(rows))
    axis, places = axes[0, 0], np.arange(len(rows))
    ratios = np.array([row.ours / row.paper for row in rows if row.paper])
    colours = [OPEN if row.met is None else GOOD if row.met else BAD for row in rows]
    axis.hlines(places, 1.0, ratios, color=colours, lw=5)
    axis.scatter(ratios, places, color=colours, zorder=3)
    axis.axvline(1.0, color="black", lw=1.0)
    axis.set_xscale("log")
    _named(axis, places, [f"{row.source}: {row.figure}" for row in rows], "ours / paper")
    return png(drawing)


def _named(axis: Any, places: np.ndarray, names: Sequence[str], label: str) -> None:
    axis.set_yticks(places, names, fontsize=7)
    axis.invert_yaxis()
    axis.set_xlabel(label)
    axis.grid(alpha=0.3, axis="x")


def _write(
    path: Path, title: str, header: Sequence[str], rows: Any, command: str, summary: str, picture: str, caption: str
) -> None:
    values = {"title": title, "header": header, "rows": rows, "written": written_by(command), "summary": summary}
    write_html(Path(__file__).with_name("result_table.html.j2"), path, picture=picture, caption=caption, **values)
