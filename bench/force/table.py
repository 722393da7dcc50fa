"""Figures of many robots as one table: median, mean of the worst quarter, worst; beside baseline and oracle."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from bench.force.judge import METHODS, Verdict
from robot_dynamics_ros.estimators.wrench_metrics import STATES


class Figure(NamedTuple):
    """One row: the key in `figures`, what it is, factor to the unit shown, digits, and the value that is best.

    aside: it may be off to both sides of the best; its worst quarter is then the mean distance from the best.
    """

    key: str
    text: str
    factor: float = 1.0
    digits: int = 1
    best: float = 0.0
    aside: bool = False


NAMES = dict(zip(STATES, ("moving", "at rest", "in contact", "in contact at rest"), strict=True))
WITHIN = {1: 68.3, 2: 95.4}  # % of a normal distribution
ROWS = (
    *(Figure(f"force_{s}", f"force RMS {NAMES[s]} [N]") for s in STATES),
    *(Figure(f"moment_{s}", f"moment RMS {NAMES[s]} [Nm]", digits=2) for s in STATES),
    *(
        Figure(f"within_{k}_{s}", f"within {k} std {NAMES[s]} [%]", 100.0, 0, best, True)
        for k, best in WITHIN.items()
        for s in STATES
    ),
    *(Figure(f"found_{n}", f"contacts of {n} N found [%]", 100.0, 0, 100.0) for n in (10, 20)),
    *(Figure(f"delay_{n}", f"delay at {n} N [ms]", 1e3, 0) for n in (10, 20)),
    Figure("false_share", "contact claimed while free [% of time]", 100.0, 2),
    *(Figure(f"false_{n}", f"estimate above {n} N while free [% of time]", 100.0, 1) for n in (10, 20)),
)
TITLES = {"ours": "ours", "baseline": "tanh + \\|tau\\|", "oracle": "true friction", "true_inertia": "and true inertia"}
HEAD = ("median", "worst quarter", "worst")


def summary(verdicts: Sequence[Verdict]) -> dict[str, dict[str, dict[str, float]]]:
    """method -> figure -> median, worst quarter, worst, in the units shown; robots without a figure count nowhere."""
    return {
        method: {row.key: _three(row, [v.figures[method][row.key] for v in verdicts]) for row in ROWS}
        for method in METHODS
    }


def _three(row: Figure, values: Sequence[float]) -> dict[str, float]:
    known = np.array([row.factor * v for v in values if np.isfinite(v)])
    if not len(known):
        return dict.fromkeys(HEAD, float("nan"))
    worst = known[np.argsort(-np.abs(known - row.best), kind="stable")][: ceil(len(known) / 4)]
    quarter = np.abs(worst - row.best).mean() if row.aside else worst.mean()
    return dict(zip(HEAD, (float(np.median(known)), float(quarter), float(worst[0])), strict=True))


def axes(verdicts: Sequence[Verdict], state: str) -> list[float]:
    """Median over the robots of the RMS of each axis (6,) of our estimate [N, Nm]."""
    return np.nanmedian([v.figures["ours"][f"axes_{state}"] for v in verdicts], axis=0).tolist()


def cells(verdicts: Sequence[Verdict]) -> list[list[str]]:
    """The table as texts, a header first: ours in three columns, every other method in two."""
    shown = {method: HEAD if method == "ours" else HEAD[:2] for method in METHODS}
    found = summary(verdicts)
    head = [f"{TITLES[m]}, {h}" for m in METHODS for h in shown[m]]
    rows = [[r.text, *(_text(found[m][r.key], h, r) for m in METHODS for h in shown[m])] for r in ROWS]
    return [["", *head], *rows]


def _text(values: dict[str, float], which: str, row: Figure) -> str:
    sign = "±" if row.aside and which == HEAD[1] else ""
    return f"{sign}{values[which]:.{row.digits}f}" if np.isfinite(values[which]) else "-"


def by_axis(verdicts: Sequence[Verdict]) -> str:
    """One line: our median error per axis and state."""
    forces = {s: "/".join(f"{x:.1f}" for x in axes(verdicts, s)[:3]) for s in STATES}
    return "Median by axis x/y/z: " + ", ".join(f"{forces[s]} N {NAMES[s]}" for s in STATES) + "."


def robots(verdicts: Sequence[Verdict]) -> list[list[str]]:
    """One row per robot, a header first: its laws, its recordings, our force error in every state, and detection."""
    laws = "robot family load Stribeck viscosity recorded warnings".split()
    head = [*laws, *(f"{NAMES[s]} [N]" for s in STATES), "10 N found [%]", "claimed [%]"]
    rows = [
        [
            str(v.index),
            *v.laws.values(),
            ", ".join(v.recordings) + (" (first refused)" if v.refused else ""),
            str(len(v.warnings)),
            *(f"{v.figures['ours'][f'force_{s}']:.1f}" for s in STATES),
            f"{100 * v.figures['ours']['found_10']:.0f}",
            f"{100 * v.figures['ours']['false_share']:.2f}",
        ]
        for v in verdicts
    ]
    return [head, *rows]


def as_json(verdicts: Sequence[Verdict], setup: dict[str, Any]) -> dict[str, Any]:
    """Setup, summary and every robot."""
    return {"setup": setup, "summary": summary(verdicts), "robots": list(verdicts)}
