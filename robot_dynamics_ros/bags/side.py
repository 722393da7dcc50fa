"""The other topics of a recording (currents, temperatures, desired state, rotor side, estimates) joined to the rows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from robot_dynamics_ros.bags.layout import Group, decode
from robot_dynamics_ros.bags.storage import RawTopic
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.topics import TOPICS, Topic
from robot_dynamics_ros.types import SIGNALS, Log, entries, joint_columns

MAX_AGE = 5  # periods of the side topic that one of its messages stays valid


def add_side_topics(log: Log, topics: Mapping[str, RawTopic], main: str, aliases, use_header: bool) -> None:
    """Add the signals of known topics in the namespace of `main`: each row gets the latest message not after it."""
    prefix = main.rsplit("/", 1)[0] + "/"
    for topic in TOPICS.values():
        if topic.name == "joint_states" or prefix + topic.name == main:
            continue
        if topic.per_joint:
            _add_per_joint(log, topics, prefix, topic, aliases, use_header)
        elif (raw := topics.get(prefix + topic.name)) is not None and raw.type == topic.type and raw.raws:
            for group in decode(raw.raws, raw.type, raw.ros2)[0]:
                _add_group(log, topic, group, raw, aliases, use_header)


def _stamps(group: Group, raw: RawTopic, use_header: bool) -> np.ndarray:
    return group.stamp_ns if use_header else raw.stamps()[group.rows]


def _held(log: Log, stamp: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Rows of the log with a valid side message, and the index of that message."""
    order = np.argsort(stamp, kind="stable")
    at = np.searchsorted(stamp[order], log.stamp_ns, side="right") - 1
    index = order[np.maximum(at, 0)]
    period = np.median(np.diff(stamp[order])) if len(stamp) > 1 else np.inf
    age = log.stamp_ns - stamp[index]
    valid = (at >= 0) & (age <= max(MAX_AGE * period, 1))
    return np.flatnonzero(valid), index[valid]


def _columns(group: Group, log: Log, signal: str, aliases) -> list[int] | slice:
    if SIGNALS[signal].width in ("joints", "contacts", "totals"):
        return joint_columns(group.names, entries(signal, log.joint_names), aliases)
    return slice(None)


def _add_group(log: Log, topic: Topic, group: Group, raw: RawTopic, aliases, use_header: bool) -> None:
    rows, index = _held(log, _stamps(group, raw, use_header))
    for field, signal in topic.fields.items():
        values = group.fields[field]
        try:
            columns = _columns(group, log, signal, aliases)
        except DataError:
            return  # other joints
        if values.shape[1] in (len(group.names), 6) and len(rows):
            log.allocate(signal)[rows] = values[index][:, columns]


def _add_per_joint(log: Log, topics, prefix: str, topic: Topic, aliases, use_header: bool) -> None:
    back = {name: {name} | {a for a, n in (aliases or {}).items() if n == name} for name in log.joint_names}
    for column, joint in enumerate(log.joint_names):
        for spelled in back[joint]:
            raw = topics.get(f"{prefix}{topic.name}/{spelled}")
            if raw is None or raw.type != topic.type or not raw.raws:
                continue
            for group in decode(raw.raws, raw.type, raw.ros2)[0]:
                rows, index = _held(log, _stamps(group, raw, use_header))
                for field, signal in topic.fields.items():
                    log.allocate(signal)[rows, column] = group.fields[field][index, 0]
