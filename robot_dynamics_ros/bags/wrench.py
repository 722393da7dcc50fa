"""The WrenchStamped topic of a force sensor beside the joint states of a recording."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from robot_dynamics_ros.bags.reader import choose_stamps
from robot_dynamics_ros.bags.rows import BagReport
from robot_dynamics_ros.bags.storage import RawTopic, read_topics
from robot_dynamics_ros.bags.table_clock import clock_of, one_after_another
from robot_dynamics_ros.bags.table_columns import chosen
from robot_dynamics_ros.bags.tables import is_table, read_table
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.signals.interpolation import interpolated
from robot_dynamics_ros.topics import WRENCH

MAX_GAP = 5  # median periods of the sensor over which it is interpolated
MIN_GAP = 0.05  # s


class NoWrench(DataError):
    """A recording without the wrench topic that was asked for."""


@dataclass(frozen=True)
class WrenchSeries:
    """Messages in order of time: stamps (M,) [ns] on the clock of the joint states, wrenches (M, 6) [N, Nm] as
    recorded, the frame that their headers name.
    """

    topic: str
    stamp_ns: np.ndarray
    wrench: np.ndarray
    frame_id: str

    def at(self, stamp_ns: np.ndarray) -> np.ndarray:
        """Wrenches (N, 6) interpolated at stamps (N,) [ns]; NaN outside of the messages and in their gaps."""
        t, wanted = (self.stamp_ns - self.stamp_ns[0]) * 1e-9, (stamp_ns - self.stamp_ns[0]) * 1e-9
        values = interpolated(wanted, t, self.wrench)
        step = np.diff(t)
        limit = max(MAX_GAP * float(np.median(step)), MIN_GAP)
        after = np.searchsorted(t, wanted).clip(1, len(t) - 1)
        values[(wanted < t[0]) | (wanted > t[-1]) | (step[after - 1] > limit)] = np.nan
        return values


def load_wrench(paths: Sequence[str | Path], topic: str, log: Log, stamps: str) -> WrenchSeries:
    """The wrenches of a topic, or of six columns of a table, in the parts of one recording.

    log: its joint states; stamps: "header" or "receive", the clock that was chosen for them. Raises NoWrench naming the
    wrench topics of the bag where there is no such one, DataError for fewer than 2 messages.
    """
    tables = [_of_table(Path(path), topic) for path in paths if is_table(path)]
    stamps_of_tables = one_after_another([table[0] for table in tables])
    found = [(moved, *table[1:]) for moved, table in zip(stamps_of_tables, tables, strict=True)]
    listing: set[str] = set()
    for path in paths:
        if is_table(path):
            continue
        topics = read_topics(Path(path), (WRENCH,))
        wrenches = {name: raw for name, raw in topics.items() if raw.type == WRENCH}
        listing |= set(wrenches)
        raw = wrenches.get(topic) or wrenches.get("/" + topic)
        if raw is not None and raw.raws:
            found += _decoded(raw, log, stamps)
    if not found:
        names = ", ".join(sorted(listing)) or "none"
        raise NoWrench(f"{', '.join(map(str, paths))}: no WrenchStamped messages on {topic!r}; wrench topics: {names}")
    stamp = np.concatenate([f[0] for f in found])
    wrench = np.concatenate([f[1] for f in found])
    order = np.argsort(stamp, kind="stable")
    order = order[np.isfinite(wrench[order]).all(axis=1)]
    order = order[np.concatenate([[True], np.diff(stamp[order]) > 0])] if len(order) else order
    if len(order) < 2:
        raise DataError(f"{topic}: {len(order)} usable wrench messages; needs 2")
    return WrenchSeries(topic, stamp[order], wrench[order], found[0][2])


def _of_table(path: Path, columns: str) -> tuple[np.ndarray, np.ndarray, str]:
    """Stamps, wrenches and base axes, of the six columns of a table that `chosen` finds. Raises DataError."""
    table = read_table(path)
    names = chosen(table, columns)
    if len(names) != 6:
        raise DataError(f"{path}: {columns} has {len(names)} columns, expected 6")
    start, stamps, _ = clock_of(table, "", None, BagReport([str(path)]))
    known, wrench = np.isfinite(stamps), np.column_stack([table.columns[name] for name in names])
    return start + stamps[known].astype(np.int64), wrench[known], "base"


def _decoded(raw: RawTopic, log: Log, stamps: str) -> list[tuple[np.ndarray, np.ndarray, str]]:
    """Stamps, wrenches and frame of the messages; a clock of its own is moved by the median of arrival minus stamp."""
    receive = raw.stamps()
    shift = 0
    if stamps == "header" and log.receive_ns is not None:
        shift = int(np.median(log.stamp_ns - log.receive_ns))
    groups = raw.decoded()[0]
    rows = np.concatenate([g.rows for g in groups]) if groups else np.zeros(0, int)
    if not len(rows):
        return []
    header = np.concatenate([g.stamp_ns for g in groups])
    order = np.argsort(rows)
    clock = choose_stamps(header[order], receive[np.sort(rows)])[1] if stamps == "header" else "receive"
    near = clock == "header" and abs(int(np.median(header - receive[rows])) - shift) < 10**9
    return [
        (g.stamp_ns if near else receive[g.rows] + shift, g.fields["wrench"], g.frame_id.strip("/")) for g in groups
    ]
