"""A Log as a rosbag2 bag (mcap, metadata version 9), written beside its place and renamed when complete."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.bags.layout import blank, parse
from robot_dynamics_ros.bags.storage import Wrap
from robot_dynamics_ros.outputs import BAG_MARK, new_bag
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.topics import ARRAY, BOOL, FRAMED, INERTIA, PREFIX, TOPICS, Topic, below, of_joint

SLOW_PERIOD = 0.1  # s; temperatures, and contact without a change, are published at about 10 Hz


def write_bag(
    log: Log,
    path: str | Path,
    *,
    topics: Iterable[str] | None = None,
    frame_id: str = "base",
    wrench_frame_id: str = "tool0",
    about: dict[str, str] | None = None,
    progress: Wrap | None = None,
    overwrite: bool = False,
    inputs: Iterable[str | Path] = (),
) -> Path:
    """Write the topics of `topics.TOPICS` (default: all whose signals the log holds) as one mcap bag directory.

    By default with the Bool `contact`, as live. Stamps are those of the log; messages of a clock that starts again
    arrive behind those before. Rows where a signal is absent are not written. What stands at `path` stays, except for a
    bag of this package with `overwrite`, which a complete one replaces; `inputs` are never replaced. Headers name
    wrench_frame_id on external_wrench and external_wrench_std, frame_id on all others. Raises DataError naming the
    path, for example when the disk is full.
    """
    with new_bag(path, overwrite, inputs) as place:
        _write(log, place, list(_streams(log, topics, frame_id, wrench_frame_id)), about or {}, progress)
    return Path(path)


class _Stream:
    """One topic to write: the serialised rows as a byte matrix, and which rows exist."""

    def __init__(self, name: str, type_name: str, rows: np.ndarray, block: np.ndarray) -> None:
        self.name, self.type, self.rows, self.block = name, type_name, rows, block


def _streams(log: Log, wanted: Iterable[str] | None, frame_id: str, wrench_frame_id: str) -> Iterator[_Stream]:
    names = TOPICS if wanted is None else list(wanted)
    for name in names:
        topic = TOPICS[name]
        signals = [s for s in topic.fields.values() if log.has(s)]
        if not signals:
            continue
        present = ~np.isnan(getattr(log, signals[0])).all(axis=1)
        if not present.any():
            continue
        if topic.per_joint:
            yield from _per_joint(log, topic, _thinned(log, present), frame_id)
            continue
        if topic.type == INERTIA:  # at every change
            before = np.vstack([np.full((1, 4), np.nan), log.payload[:-1]])
            present &= (log.payload != before).any(axis=1)
        yield _stream(log, topic, np.flatnonzero(present), wrench_frame_id if name in FRAMED else frame_id)
    if wanted is None and log.has("contact") and not np.isnan(log.contact).all():
        yield _any_contact(log)


def _any_contact(log: Log) -> _Stream:
    """Contact at any joint or at the TCP, at every change and at 10 Hz."""
    known = ~np.isnan(log.contact).all(axis=1)
    touched = np.any(log.contact > 0.0, axis=1)
    changed = known & np.concatenate([[False], touched[1:] != touched[:-1]])
    rows = np.union1d(_thinned(log, known), np.flatnonzero(changed))
    raw = bytes(_store().serialize_cdr(_store().types[BOOL](False), BOOL))
    block = np.tile(np.frombuffer(raw, dtype=np.uint8), (len(rows), 1))
    block[:, 4] = touched[rows]  # behind the header of CDR
    return _Stream(below(PREFIX, "contact"), BOOL, rows, block)


def _thinned(log: Log, present: np.ndarray) -> np.ndarray:
    """The first present row of every SLOW_PERIOD."""
    rows = np.flatnonzero(present)
    return rows[np.diff(np.floor(log.stamp_ns[rows] / (SLOW_PERIOD * 1e9)), prepend=np.nan) != 0]


def _stream(log: Log, topic: Topic, rows: np.ndarray, frame_id: str) -> _Stream:
    values = {field: getattr(log, signal)[rows] for field, signal in topic.fields.items() if log.has(signal)}
    block = _filled(topic, log, frame_id, rows, values)
    return _Stream(below(PREFIX, topic.name), topic.type, rows, block)


def _per_joint(log: Log, topic: Topic, rows: np.ndarray, frame_id: str) -> Iterator[_Stream]:
    for column, joint in enumerate(log.joint_names):
        values = {f: getattr(log, s)[rows, column : column + 1] for f, s in topic.fields.items() if log.has(s)}
        block = _filled(topic, log, frame_id, rows, values)
        yield _Stream(of_joint(below(PREFIX, topic.name), joint), topic.type, rows, block)


def _filled(topic: Topic, log: Log, frame_id: str, rows: np.ndarray, values: dict[str, np.ndarray]) -> np.ndarray:
    """A blank message of the fields of `values` once per row, with the numbers of each row written over its zeros."""
    message = blank(topic, log.joint_names, frame_id, values, _store().types.__getitem__, np.zeros)
    raw, stamp_ns = bytes(_store().serialize_cdr(message, topic.type)), log.stamp_ns[rows]
    layout = parse(raw, topic.type, ros2=True)
    block = np.tile(np.frombuffer(raw, dtype=np.uint8), (len(stamp_ns), 1))
    stamps = {"sec": stamp_ns[:, None] // 10**9, "nanosec": stamp_ns[:, None] % 10**9}
    for name, numbers in (values if topic.type == ARRAY else stamps | values).items():
        kind, start, count = layout.numbers[name]
        cells = np.ascontiguousarray(numbers.astype(kind)).view(np.uint8).reshape(len(stamp_ns), -1)
        block[:, start : start + int(kind[2]) * count] = cells
    return block


@cache
def _store() -> Any:
    from rosbags.typesys import Stores, get_typestore

    return get_typestore(Stores.ROS2_JAZZY)


def _write(log: Log, path: Path, streams: list[_Stream], about: dict[str, str], progress: Any) -> None:
    from rosbags.rosbag2 import StoragePlugin, Writer

    row = np.concatenate([s.rows for s in streams]) if streams else np.empty(0, dtype=np.int64)
    which = np.concatenate([np.full(len(s.rows), k) for k, s in enumerate(streams)]) if streams else row
    within = np.concatenate([np.arange(len(s.rows)) for s in streams]) if streams else row
    order = np.lexsort((which, row))
    items: Iterable[tuple[int, int, int]] = zip(
        row[order].tolist(), which[order].tolist(), within[order].tolist(), strict=True
    )
    if progress:
        items = progress(items, "writing bag", len(order))
    step = np.diff(log.stamp_ns, prepend=log.stamp_ns[:1])
    stamp = (log.stamp_ns[:1] + np.cumsum(np.where(step < 0, 1, step))).tolist()  # rising: readers sort by it
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        for key, value in {BAG_MARK: "write_bag", **about}.items():
            writer.set_custom_data(key, value)
        connections = [writer.add_connection("/" + s.name, s.type, typestore=_store()) for s in streams]
        for i, k, j in items:
            writer.write(connections[k], stamp[i], streams[k].block[j].tobytes())
