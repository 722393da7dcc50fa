"""Rows of a loaded log: order in time, duplicates, missing and impossible numbers."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.bags.report import BagReport
from robot_dynamics_ros.signals import Log

# beyond these a number is not a robot joint's (SI, output side)
PLAUSIBLE = {"q": 1e4, "qd": 1e3, "effort": 1e5, "current": 1e5}
SWAPPED = 100_000_000  # ns; a stamp this little before the one preceding it arrived out of order


def order_rows(log: Log, report: BagReport) -> Log:
    """Messages that arrived slightly out of order are sorted; a clock that restarts is kept and reported."""
    step = np.diff(log.stamp_ns)
    back = int((step < 0).sum())
    if not back:
        return log
    if step.min() > -SWAPPED:
        report.notes.append(f"{back} messages were out of order and have been sorted")
        return log[np.argsort(log.stamp_ns, kind="stable")]
    report.notes.append(f"the clock went backwards {back} times (restart or loop): observers start again there")
    return log


def repair_rows(log: Log, report: BagReport) -> Log:
    """Drop rows that no observer may see: NaN or absent, impossible magnitude, a stamp before 1970 or equal
    to the one before.
    """
    keep = log.stamp_ns >= 0
    report.drop("stamp before 1970", (~keep).sum())
    for name in ("q", "qd", "effort"):
        if not log.has(name):
            continue
        values = getattr(log, name)
        bad = keep & ~np.isfinite(values).all(axis=1)
        report.drop(f"{name} NaN, infinite or absent", bad.sum())
        keep &= ~bad
        with np.errstate(invalid="ignore"):
            huge = keep & ~(np.abs(values) <= PLAUSIBLE[name]).all(axis=1)
        report.drop(f"{name} beyond {PLAUSIBLE[name]:g}", huge.sum())
        keep &= ~huge
    log = log if keep.all() else log[keep]
    same = np.concatenate([[False], np.diff(log.stamp_ns) == 0])
    report.drop("stamp equal to the one before", same.sum())
    return log[~same] if same.any() else log


def segments(log: Log, gap: float | None = None) -> list[Log]:
    """The log split where the clock goes backwards or pauses longer than `gap` [s] (default 10 median periods)."""
    step = np.diff(log.stamp_ns)
    if gap is None:
        gap = 10e-9 * float(np.median(step[step > 0])) if (step > 0).any() else np.inf
    cuts = np.flatnonzero((step < 0) | (step > gap * 1e9)) + 1
    edges = [0, *cuts.tolist(), len(log)]
    return [log[a:b] for a, b in zip(edges[:-1], edges[1:], strict=True)]
