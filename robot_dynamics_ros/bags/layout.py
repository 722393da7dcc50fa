"""Messages as fixed byte layouts: the first message of a shape is parsed, all others of that shape are read at once.

Works on the serialised bytes of ROS 1 and of ROS 2 (CDR), so that 300 000 messages become arrays without making
300 000 objects. Nothing outside the message is ever read: a length beyond the end makes the message unreadable.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from robot_dynamics_ros.signals import entries
from robot_dynamics_ros.topics import ARRAY, INERTIA, JOINT_STATE, TEMPERATURE, TRAJECTORY, WRENCH, Topic

MAX_NAMES = 256  # joints in one message; more is not a robot
AT_ONCE = 8192  # messages whose bytes are copied together: they stay in cache
MAX_SHAPES = 200  # of the messages of a topic: orders of joints, sets of fields; with more the topic is refused


class Unreadable(Exception):
    """A message whose lengths do not fit its bytes."""


@dataclass
class Group:
    """Messages of one shape: rows (k,) in the topic, header stamps (k,) [ns] (0 without a header), joint names,
    field -> (k, width), and the frame that the header names.
    """

    rows: np.ndarray
    stamp_ns: np.ndarray
    names: tuple[str, ...]
    fields: dict[str, np.ndarray]
    frame_id: str = ""


@dataclass
class Layout:
    """Where the numbers of a message lie; `mask` marks the bytes that must be equal for the layout to hold."""

    names: tuple[str, ...] = ()
    numbers: dict[str, tuple[str, int, int]] = field(default_factory=dict)  # name -> dtype, offset, count
    mask: np.ndarray = field(default_factory=lambda: np.empty(0, dtype=bool))
    frame_id: str = ""


class Cursor:
    """Walks through one message, noting where its numbers are; alignment and string forms of ROS 1 or CDR."""

    def __init__(self, raw: bytes, ros2: bool) -> None:
        if ros2 and (len(raw) < 4 or raw[0] != 0 or raw[1] > 1):
            raise Unreadable("not plain CDR")
        self.raw, self.ros2, self.at = raw, ros2, 4 if ros2 else 0
        self.order = "<" if not ros2 or raw[1] == 1 else ">"
        self.layout = Layout(mask=np.ones(len(raw), dtype=bool))

    def _take(self, size: int, count: int = 1) -> int:
        if self.ros2 and count:
            aligned = 4 + -(-(self.at - 4) // size) * size
            self.layout.mask[self.at : aligned] = False
            self.at = aligned
        start, self.at = self.at, self.at + size * count
        if not 0 <= self.at <= len(self.raw):
            raise Unreadable(f"needs {self.at} bytes, has {len(self.raw)}")
        return start

    def number(self, name: str, kind: str, count: int = 1) -> None:
        """A value or array that may differ from message to message."""
        size = int(kind[1])
        start = self._take(size, count)
        self.layout.mask[start : start + size * count] = False
        self.layout.numbers[name] = (self.order + kind, start, count)

    def length(self) -> int:
        """A sequence length, part of the shape."""
        return struct.unpack_from(self.order + "I", self.raw, self._take(4))[0]

    def string(self) -> str:
        """A string, part of the shape."""
        size = self.length()
        start = self._take(1, size)
        return self.raw[start : start + size].rstrip(b"\0").decode("utf-8", "replace")

    def names(self) -> None:
        """A sequence of strings: the joint names."""
        count = self.length()
        if count > MAX_NAMES:
            raise Unreadable(f"{count} names")
        self.layout.names = tuple(self.string() for _ in range(count))

    def doubles(self, name: str) -> None:
        """A sequence of float64."""
        self.number(name, "f8", self.length())

    def header(self, framed: bool = False) -> None:
        """std_msgs/Header; framed: frame_id is part of the shape."""
        if not self.ros2:
            self.number("seq", "u4")
        self.number("sec", "i4")
        self.number("nanosec", "u4")
        if framed:
            self.layout.frame_id = self.string()
            return
        size = self.length()  # the text of frame_id may change from message to message
        start = self._take(1, size)
        self.layout.mask[start : start + size] = False


def _joint_state(c: Cursor) -> None:
    c.header()
    c.names()
    for name in ("position", "velocity", "effort"):
        c.doubles(name)


def _trajectory(c: Cursor) -> None:
    c.header()
    c.names()
    if c.length() != 1:
        raise Unreadable("a desired state has exactly one point")
    for name in ("positions", "velocities", "accelerations", "effort"):
        c.doubles(name)
    c.number("from_sec", "i4")
    c.number("from_nanosec", "u4")


def _wrench(c: Cursor) -> None:
    c.header(framed=True)
    c.number("wrench", "f8", 6)


def _temperature(c: Cursor) -> None:
    c.header()
    c.number("temperature", "f8")
    c.number("variance", "f8")


def _inertia(c: Cursor) -> None:
    c.header()
    c.number("inertia", "f8", 4)  # mass and centre; not its moments of inertia
    c.number("moments", "f8", 6)


def _array(c: Cursor) -> None:
    for _ in range(c.length()):
        c.layout.names = tuple(c.string().split(","))
        c.number("size", "u4")
        c.number("stride", "u4")
    c.number("data_offset", "u4")
    c.doubles("data")


PARSERS: dict[str, Callable[[Cursor], None]] = {
    JOINT_STATE: _joint_state,
    TRAJECTORY: _trajectory,
    WRENCH: _wrench,
    TEMPERATURE: _temperature,
    INERTIA: _inertia,
    ARRAY: _array,
}


def parse(raw: bytes, type_name: str, ros2: bool) -> Layout:
    """Layout of one message. Raises Unreadable."""
    cursor = Cursor(raw, ros2)
    PARSERS[type_name](cursor)
    return cursor.layout


def blank(
    topic: Topic,
    joints: Sequence[str],
    frame_id: str,
    present: Container[str],
    kind: Callable[[str], Any],
    zeros: Callable[[int], Any],
) -> Any:
    """A message of a topic whose numbers are zero, without those fields per joint that are not `present`.

    kind: class of a type's messages, with fields as keywords; zeros: so many numbers, as these messages hold them.
    """
    names, message = list(entries(next(iter(topic.fields.values())), joints)), kind(topic.type)

    def filled(*fields: str) -> dict[str, Any]:
        return {field: zeros(len(names) if field in present else 0) for field in fields}

    if topic.type == ARRAY:
        dimension = kind("std_msgs/msg/MultiArrayDimension")(label=",".join(names), size=len(names), stride=len(names))
        return message(layout=kind("std_msgs/msg/MultiArrayLayout")(dim=[dimension], data_offset=0), **filled("data"))
    stamp = kind("builtin_interfaces/msg/Time")(sec=0, nanosec=0)
    header = kind("std_msgs/msg/Header")(stamp=stamp, frame_id=frame_id)
    if topic.type == JOINT_STATE:
        return message(header=header, name=names, **filled("position", "velocity", "effort"))
    if topic.type == TRAJECTORY:
        start = kind("builtin_interfaces/msg/Duration")(sec=0, nanosec=0)
        numbers = filled("positions", "velocities", "accelerations", "effort")
        point = kind("trajectory_msgs/msg/JointTrajectoryPoint")(time_from_start=start, **numbers)
        return message(header=header, joint_names=names, points=[point])
    if topic.type == WRENCH:
        force, torque = (kind("geometry_msgs/msg/Vector3")(x=0.0, y=0.0, z=0.0) for _ in range(2))
        return message(header=header, wrench=kind("geometry_msgs/msg/Wrench")(force=force, torque=torque))
    if topic.type == INERTIA:
        com = kind("geometry_msgs/msg/Vector3")(x=0.0, y=0.0, z=0.0)
        moments = dict.fromkeys(("ixx", "ixy", "ixz", "iyy", "iyz", "izz"), 0.0)
        return message(header=header, inertia=kind("geometry_msgs/msg/Inertia")(m=0.0, com=com, **moments))
    return message(header=header, temperature=0.0, variance=0.0)


def decode(raws: Sequence[bytes], type_name: str, ros2: bool) -> tuple[list[Group], int]:
    """All messages of a topic as groups of equal shape, and how many could not be read."""
    lengths = np.array([len(raw) for raw in raws], dtype=np.int64)
    groups: list[Group] = []
    unreadable = 0
    order = np.argsort(lengths, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(lengths[order])) + 1) if len(order) else []:
        while len(rows):
            if len(groups) >= MAX_SHAPES:
                unreadable += len(rows)
                break
            try:
                layout = parse(raws[rows[0]], type_name, ros2)
            except Unreadable:
                unreadable += 1
                rows = rows[1:]
                continue
            group, rows = _alike(raws, rows, layout)
            groups.append(group)
    return groups, unreadable


def _alike(raws: Sequence[bytes], rows: np.ndarray, layout: Layout) -> tuple[Group, np.ndarray]:
    """The messages that have the layout of the first one, and the rows of the others; all have one length."""
    places = np.flatnonzero(layout.mask)
    first = np.frombuffer(raws[rows[0]], dtype=np.uint8)[places]
    parts, others = [], []
    for a in range(0, len(rows), AT_ONCE):
        some = rows[a : a + AT_ONCE]
        block = np.frombuffer(b"".join([raws[i] for i in some.tolist()]), np.uint8).reshape(len(some), -1)
        same = (block[:, places] == first).all(axis=1)
        if not same.all():
            others.append(some[~same])
            some, block = some[same], block[same]
        parts.append(_group(some, block, layout))
    left = np.concatenate(others) if others else rows[:0]
    return parts[0] if len(parts) == 1 else _joined(parts), left


def _joined(parts: list[Group]) -> Group:
    fields = {k: np.concatenate([p.fields[k] for p in parts]) for k in parts[0].fields}
    rows, stamps = (np.concatenate([getattr(p, k) for p in parts]) for k in ("rows", "stamp_ns"))
    return Group(rows, stamps, parts[0].names, fields, parts[0].frame_id)


def _group(rows: np.ndarray, block: np.ndarray, layout: Layout) -> Group:
    def values(name: str) -> np.ndarray:
        kind, start, count = layout.numbers[name]
        stop = start + int(kind[2]) * count
        return np.ascontiguousarray(block[:, start:stop]).view(kind).reshape(len(rows), count)

    if "sec" in layout.numbers:
        stamp = values("sec")[:, 0].astype(np.int64) * 10**9 + values("nanosec")[:, 0].astype(np.int64)
    else:
        stamp = np.zeros(len(rows), dtype=np.int64)
    fields = {name: values(name).astype(np.float64) for name, spec in layout.numbers.items() if spec[0][1:] == "f8"}
    return Group(rows, stamp, layout.names, fields, layout.frame_id)
