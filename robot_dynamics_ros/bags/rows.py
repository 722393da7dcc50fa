"""Rows of a loaded log: order in time, duplicates, missing and impossible numbers, and a report of what was dropped."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.signals.runs import pieces_of
from robot_dynamics_ros.signals.table import shown

FIRST_DATE_NS = 946_684_800 * 10**9  # 1 January 2000: an earlier stamp is no date


def dated(stamp_ns: int, file: str | Path) -> int:
    """When a recording began [ns since 1970]: its first stamp, or the date of its file where that is no date."""
    return stamp_ns if stamp_ns >= FIRST_DATE_NS else Path(file).stat().st_mtime_ns


def dropped_rows(name: str, counts: Mapping[str, int]) -> list[str]:
    """A sentence with the counts of a recording's dropped rows by reason, where there are any."""
    return [f"{name}: dropped {', '.join(f'{n} {what}' for what, n in counts.items())}"] if counts else []


OTHER_JOINTS, REPEATED = "message of other joints", "stamp equal to the one before"  # reasons of rows that are no loss

TRAVEL = 0.1  # rad or m; a joint beside those of the arm that moves farther is named


def moved_beside(ends: Mapping[str, tuple[float, float]]) -> str:
    """A sentence that names the joints beside those of the arm that moved, from the ends of their travel; or ""."""
    far = [f"{name} (by {high - low:.2g} rad or m)" for name, (low, high) in ends.items() if high - low > TRAVEL]
    what = "accelerations of one that carries it (a rail) show as contact"
    return f"joints beside those of the arm moved: {shown(far)}; {what}" if far else ""


@dataclass
class BagReport:
    """Facts about a loaded bag; `dropped` counts rows by reason, `notes` are sentences for the user.

    effort_unit: A or % where a table says so, or the bag that was written from it.
    """

    files: list[str]
    topic: str = ""
    freedrive: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)  # arrivals [ns] and states, by topic
    messages: int = 0
    rows: int = 0
    stamps: str = ""
    joint_names: tuple[str, ...] = ()
    signals: list[str] = field(default_factory=list)
    effort_unit: str = ""
    duration: float = 0.0
    rate: float = 0.0
    dropped: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def drop(self, reason: str, count: int) -> None:
        """Count rows dropped for a reason; zero is not mentioned."""
        if count:
            self.dropped[reason] = self.dropped.get(reason, 0) + int(count)

    def take_unit(self, path: Path, unit: str, said: str = "") -> None:
        """Note the `effort_unit` of a part; said: its own word for it. Raises DataError where others have another."""
        if self.topic and unit != self.effort_unit:
            said = said or unit or "none is stated"
            raise DataError(f"{path}: unit of the effort is not that of the parts before it ({said}): convert it")
        self.effort_unit = unit

    @property
    def source(self) -> str:
        """Files and topic, or columns with the units in which they were read."""
        return f"{', '.join(self.files)}: {self.topic}"

    @property
    def lost(self) -> int:
        """Messages that were dropped and should have been samples."""
        return sum(count for reason, count in self.dropped.items() if reason not in (OTHER_JOINTS, REPEATED))

    def lines(self) -> list[str]:
        """The report as text, one fact per line."""
        parts = f" in {len(self.files)} parts" if len(self.files) > 1 else ""
        head = (
            f"{self.source}, {self.rows} of {self.messages} messages, "
            f"{self.duration:.1f} s{parts} at {self.rate:.1f} Hz, {self.stamps} stamps"
        )
        return [head, *(f"dropped {count}: {reason}" for reason, count in self.dropped.items()), *self.notes]

    def to_dict(self) -> dict[str, Any]:
        """The report as plain values."""
        return {k: v for k, v in vars(self).items() if k != "freedrive"} | {"joint_names": list(self.joint_names)}

    def guided(self, log: Log) -> np.ndarray:
        """Rows (N,) of a log while a switch of the driver's freedrive was last on; its messages have no stamp, so that
        their arrival counts.
        """
        rows = np.zeros(len(log), bool)
        arrival = log.stamp_ns if log.receive_ns is None else log.receive_ns
        if log.receive_ns is None and self.stamps == "header":
            return rows
        for stamps, on in self.freedrive:
            last = np.searchsorted(stamps, arrival, side="right") - 1
            rows |= (last >= 0) & on[np.maximum(last, 0)]
        return rows


# beyond these a number is not a robot joint's (SI, output side)
PLAUSIBLE = {"q": 1e4, "qd": 1e3, "effort": 1e5, "current": 1e5}
FASTEST, FEW = 30.0, 0.01  # rad/s of a joint; share of the rows beyond, above which the unit is wrong, not the rows
COARSE = 0.05  # share of rows with the stamp of the row before and other positions, above which a note says so
SWAPPED = 100_000_000  # ns; a stamp this little before the one preceding it arrived out of order


def jumps_alone(stamps: np.ndarray) -> np.ndarray:
    """Stamps (N,) [ns] that fall back behind, or are ahead of, both neighbours, which follow each other; or 0 beside
    dates. (N,) bool.
    """
    alone, step = (stamps == 0) & (np.max(stamps, initial=0) >= FIRST_DATE_NS), np.diff(stamps)
    alone[1:-1] |= (step[1:] + step[:-1] > 0) & (np.minimum(step[1:], step[:-1]) <= -SWAPPED)
    return alone


def drop_jumps(log: Log, report: BagReport) -> Log:
    """The log without the few rows whose stamp alone jumps: many are those of a second clock."""
    alone = jumps_alone(log.stamp_ns)
    if not 0 < alone.sum() <= max(1, FEW * len(log)):
        return log
    report.drop("stamp that alone jumps", alone.sum())
    return log[~alone]


def clock_restarts(stamp_ns: np.ndarray) -> bool:
    """Whether the clock of stamps (N,) [ns] goes back by more than messages out of order do."""
    return bool((np.diff(stamp_ns) <= -SWAPPED).any())


def order_rows(log: Log, report: BagReport) -> Log:
    """Messages that arrived slightly out of order are sorted; a clock that restarts is kept and reported."""
    back = int((np.diff(log.stamp_ns) < 0).sum())
    if not back:
        return log
    if not clock_restarts(log.stamp_ns):
        report.notes.append(f"{back} messages were out of order and have been sorted")
        return log[np.argsort(log.stamp_ns, kind="stable")]
    report.notes.append(f"the clock went backwards {back} times (restart or loop): observers start again there")
    return log


def possible_speed(robot: Any) -> float:
    """Velocity [rad/s] beyond which a single sample is wrong: FASTEST, or twice the fastest joint's of a RobotFile."""
    limits = () if robot is None else robot.limits.velocity or ()
    return max([FASTEST, *(2.0 * limit for limit in limits if limit is not None)])


def repair_rows(log: Log, report: BagReport, possible: float) -> Log:
    """Drop rows that no observer may see: NaN or absent, impossible magnitude (of velocities: `possible_speed`), a
    stamp before 1970 or equal to the one before.
    """
    keep = log.stamp_ns >= 0
    report.drop("stamp before 1970", (~keep).sum())
    for name in ("q", "qd", "effort"):
        if not log.has(name):
            continue
        values = getattr(log, name)
        known = np.isfinite(values)
        bad = keep & ~known.all(axis=1)
        never = [joint for joint, once in zip(log.joint_names, known.any(axis=0), strict=True) if not once]
        report.drop(f"{name} NaN, infinite or absent{', always of ' * bool(never)}{', '.join(never)}", bad.sum())
        keep &= ~bad
        bound = fastest(values[keep], possible) if name == "qd" else PLAUSIBLE[name]
        with np.errstate(invalid="ignore"):
            huge = keep & ~(np.abs(values) <= bound).all(axis=1)
        report.drop(f"{name} beyond {bound:g}", huge.sum())
        keep &= ~huge
    log = log if keep.all() else log[keep]
    same = np.concatenate([[False], np.diff(log.stamp_ns) == 0])
    report.drop(REPEATED, same.sum())
    again = np.flatnonzero(same)
    own = int((log.q[again] != log.q[again - 1]).any(axis=1).sum()) if log.has("q") else 0
    if own > COARSE * len(log):
        report.notes.append(
            f"{own} rows have the stamp of the row before, but other positions: the clock is too coarse, or was "
            "set back, please check: it makes forces wrong; of a table, `robot-dynamics import --time HZ` counts rows"
        )
    return log[~same] if same.any() else log


def fastest(qd: np.ndarray, possible: float) -> float:
    """Velocity [rad/s] beyond which a row of qd (N, n) is dropped: `possible` where few rows are, one at least."""
    fast = int((np.abs(qd) > possible).any(axis=1).sum())
    return possible if fast <= max(1, FEW * len(qd)) else PLAUSIBLE["qd"]


def segments(log: Log, gap: float | None = None) -> list[Log]:
    """The log split where the clock goes backwards or pauses longer than `gap` [s] (default 10 median periods)."""
    step = np.diff(log.stamp_ns)
    if gap is None:
        gap = 10e-9 * float(np.median(step[step > 0])) if (step > 0).any() else np.inf
    start = np.concatenate([[True], (step < 0) | (step > gap * 1e9)])
    return [log[a:b] for a, b in pieces_of(start[: len(log)])]
