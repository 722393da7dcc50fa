"""The table of `validate learning`: force RMS by the number of recordings, alone, with a fleet, or dedicated."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any

import numpy as np

from robot_dynamics_ros.estimators.wrench_metrics import STATES
from robot_dynamics_ros.validation.force.table import NAMES, markdown
from robot_dynamics_ros.validation.learning.study import Judged, Worked


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


def page(robots: Sequence[Worked], judged: Sequence[Judged], said: str, words: str) -> str:
    """What stands between the marks of docs/learning.md."""
    return "\n\n".join([said, words, markdown(cells(judged)), facts(robots)])


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
