"""The clock of a table, and of tables that are parts of one recording."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from robot_dynamics_ros.bags.rows import SWAPPED, BagReport, jumps_alone
from robot_dynamics_ros.bags.table_columns import chosen, time_columns, unit_of, words_of
from robot_dynamics_ros.bags.tables import Table
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.signals.table import shown

SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "min": 60.0}  # minutes only where a name says so
RATES = (5.0, 10_000.0)  # Hz between which a robot is recorded: the unit of a clock that does not say it
EPOCH = 1_000_000_000  # ns, stamp of the zero of a clock that has no date, as of a simulation
COARSE = 20  # rows with one stamp, in the mean, from which on it is none of theirs
DAY = 86_400  # s, after which a time of day begins again
FAR, OFTEN = 100, 0.1  # steps of a clock by which it falls in more than this share of the rows that are not sorted
PAUSE = 1.0  # s between parts whose clock starts again: episodes of a data set, several tables


def clock_of(table: Table, column: str, rate: float | None, report: BagReport) -> tuple[int, np.ndarray, str]:
    """First stamp [ns], those of all rows (N,) [ns] from it on, NaN where a row has none, and the name of the clock: a
    column, found by name where it is "", or a rate [Hz]. Raises DataError where there is none.
    """
    if rate is not None:
        return EPOCH, np.round(np.arange(table.rows) * (1e9 / rate)), f"{rate:g} Hz"
    named = [(column, unit_of(column))] if column else time_columns(list(table.columns))
    what = "no column of time found"
    for name, unit in named:
        name = chosen(table, name)[0]
        values = _with_fraction(table, name, unit, table.columns[name].astype(float))
        known = values[np.isfinite(values)]
        step = np.diff(known)
        if not len(known):
            what = f"column {name!r} holds no numbers and no times such as 2026-05-01 10:00:00.002 or 01.05.2026 10:00"
            continue
        if not (step > 0).any():
            what = f"column {name!r} is no clock, it never rises"
            continue
        if COARSE * (step > 0).sum() < len(step):
            rises = f"it rises at {(step > 0).sum()} of {len(step)} rows"
            what = f"column {name!r} is too coarse a clock, {rises} (whole seconds, or 32 bit?)"
            continue
        sorted_step = float(np.median(np.diff(np.unique(known))))
        if (step < -FAR * sorted_step).mean() > OFTEN:
            what = f"column {name!r} falls at {(step < 0).sum()} of {len(step)} rows (sort the rows by it)"
            continue
        usual = float(np.median(step[step > 0]))
        unit = unit or _time_unit(usual)
        found = 1 / max(usual * SECONDS[unit], 1e-300)
        if not RATES[0] <= found <= RATES[1]:
            limits = f"{RATES[0]:g} to {RATES[1]:g} Hz"
            what = f"column {name!r} [{unit}] gives {found:.3g} Hz, robots are recorded at {limits} (wrong unit?)"
            continue
        report.notes.append(f"time: {name}" if unit_of(name) else f"time: {name} [{unit}]")
        if unit != "s" and table.columns[name].dtype.kind in "iu":  # not rounded to the digits of a float since 1970
            values = table.columns[name].astype(np.int64)
        return *_continued(values, SECONDS[unit], report), name
    raise DataError(
        f"{table.path}: {what}: robot-dynamics import --time COLUMN, or --time HZ; "
        f"columns: {shown(list(table.columns))}"
    )


def _with_fraction(table: Table, name: str, unit: str, values: np.ndarray) -> np.ndarray:
    """Whole seconds with the nanoseconds of the column beside them, as of a ROS stamp; other values as they are."""
    if unit == "s" and (values[np.isfinite(values)] % 1 == 0).all():
        for other, its in time_columns(list(table.columns)):
            fraction = table.columns[other].astype(float)
            if its == "ns" and words_of(other) == words_of(name) and np.nanmax(fraction) < 1e9:
                return values + 1e-9 * fraction
    return values


def _time_unit(step: float) -> str:
    """The unit with which a step is that of a robot's recording; seconds where none is."""
    return next((u for u, s in SECONDS.items() if s <= 1.0 and RATES[0] <= 1 / (step * s) <= RATES[1]), "s")


def _continued(values: np.ndarray, scale: float, report: BagReport) -> tuple[int, np.ndarray]:
    """First stamp [ns], and those from it on, NaN of a row whose time alone jumps; a clock that starts again goes on
    after a PAUSE.
    """
    known = np.flatnonzero(np.isfinite(values))
    known = known[~jumps_alone(values[known] * scale * 1e9)]
    first = values[known[0]]
    seconds = (values[known] - first) * scale
    if 0 <= values[known].min() and values[known].max() * scale < DAY:
        steps = np.diff(seconds, prepend=seconds[0])
        seconds = seconds + DAY * np.cumsum(steps < -0.5 * DAY)
    back = np.flatnonzero(np.diff(seconds) < -1e-9 * SWAPPED) + 1
    ahead = np.zeros(len(seconds))
    ahead[back] = seconds[back - 1] - seconds[back] + PAUSE
    seconds = seconds + np.cumsum(ahead)
    if len(back):
        report.notes.append(starts_again(len(back)))
    begin = round(first.item() * round(scale * 1e9))
    start = begin if 1e17 < begin < 1e19 else EPOCH + begin if 0 < begin <= 1e17 else EPOCH
    if start == EPOCH + begin:  # or what is laid over the estimates by its time is off by that
        report.notes.append("the clock has no date: stamps are 1 s later than its time (a stamp of 0 is none)")
    stamps = np.full(len(values), np.nan)
    stamps[known] = np.round(seconds * 1e9)
    return start, stamps


def starts_again(count: int) -> str:
    """A sentence for parts whose clocks start again."""
    return f"time starts again {count} times: the parts follow each other, {PAUSE:g} s apart"


def one_after_another(parts: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Stamps (N,) [ns] of the tables of a recording, which may have a row in common with the next. Where clocks start
    again they are as given, each that begins before another ends PAUSE after it.
    """
    order = sorted(range(len(parts)), key=lambda k: int(parts[k][0]))
    if any(parts[later][0] < parts[k].max() for k, later in itertools.pairwise(order)):
        order = list(range(len(parts)))
    moved, end = list(parts), -1
    for k in order:
        if parts[k][0] < end:
            moved[k] = parts[k] + (end + int(1e9 * PAUSE) - int(parts[k][0]))
        end = int(moved[k].max())
    return moved
