"""The table of `python -m bench learning`: force RMS by the number of recordings, alone, with a fleet, or dedicated."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from bench.force.table import NAMES
from bench.learning.study import Judged, Worked
from robot_dynamics_ros.estimators.wrench_metrics import STATES
from robot_dynamics_ros.plots import INK, figure, save


def cells(judged: Sequence[Judged]) -> list[list[str]]:
    """Texts, a header first: median / mean of the worst quarter over the robots [N]."""
    rows = [[_title(name), *(_two([j.force[name][s] for j in judged]) for s in STATES)] for name in judged[0].force]
    return [["robot file", *(f"{NAMES[s]} [N]" for s in STATES)], *rows]


def _title(name: str) -> str:
    kind, _, count = name.partition(" ")
    if not count.isdigit():
        return f"one {name}"
    if kind == "alone":
        return "data sheet" if count == "0" else f"{count} ordinary, alone"
    return f"{count} ordinary, with the fleet's prior"


def _two(values: Sequence[float]) -> str:
    known = np.sort([v for v in values if np.isfinite(v)])
    if not len(known):
        return "-"
    return f"{np.median(known):.1f} / {known[-ceil(len(known) / 4) :].mean():.1f}"


def draw(judged: Sequence[Judged], path: Path) -> None:
    """Force error by the number of recordings, a panel per state: medians, alone and with a fleet, and a dedicated one.

    Raises CapabilityError without matplotlib, DataError when it cannot be written.
    """
    drawing, axes = figure(1, len(STATES), 13, 3.4)
    for axis, state in zip(axes.flat, STATES, strict=True):
        middle = {name: float(np.nanmedian([j.force[name][state] for j in judged])) for name in judged[0].force}
        for kind, colour, label in (("alone", INK[0], "alone"), ("fleet", INK[1], "with the fleet's prior")):
            found = {int(name.split(" ")[1]): v for name, v in middle.items() if name.startswith(f"{kind} ")}
            axis.plot(range(len(found)), list(found.values()), "o-", color=colour, label=label)
            axis.set_xticks(range(len(found)), [str(n) for n in found])
        axis.axhline(middle["dedicated, learn"], color=INK[2], lw=1, label="one dedicated motion, learn")
        axis.axhline(middle["dedicated, identify"], color=INK[2], lw=1, ls="--", label="the same, identify")
        axis.set_title(NAMES[state])
        axis.set_xlabel("ordinary recordings")
        axis.set_ylim(0)
    axes.flat[0].set_ylabel("force RMS, median of robots [N]")
    axes.flat[0].legend(fontsize=7)
    save(drawing, path)


def facts(robots: Sequence[Worked]) -> str:
    """Recordings left out, and processor seconds."""
    left = sum(len(r.left_out) for r in robots)
    total = left + sum(len(r.triangles) for r in robots)
    seconds = float(np.mean([r.seconds for r in robots]))
    return f"{left} of {total} recordings were left out; {seconds:.2f} processor seconds per recording."


def as_json(robots: Sequence[Worked], judged: Sequence[Judged], setup: dict[str, Any]) -> dict[str, Any]:
    """Setup, every robot's figures, and what was left out."""
    rows = [{"index": j.who.index, "laws": j.who.laws, "force": j.force} for j in judged]
    return {"setup": setup, "robots": rows, "left_out": [text for r in robots for text in r.left_out]}
