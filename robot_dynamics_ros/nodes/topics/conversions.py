"""ROS messages into samples, by joint name: other orders and aliases are mapped, errors name topic and joint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.signals import Sample, entries, joint_columns
from robot_dynamics_ros.topics import ARRAY, JOINT_STATE, TEMPERATURE, TRAJECTORY, WRENCH, Topic


class MessageReader:
    """Writes the messages of one topic into samples of one robot.

    Joints are found by name or alias, extra ones ignored; a missing or repeated joint, or an array of another length
    than the names, raises DataError. An empty array leaves its signal absent: it is never taken as zero.
    """

    def __init__(self, topic: Topic, joints: Sequence[str], aliases: Mapping[str, str] | None = None) -> None:
        self.topic, self._joints, self._aliases = topic, tuple(joints), dict(aliases or {})
        self._columns: dict[tuple[str, ...], list[int]] = {}

    def read(self, message: Any, sample: Sample, joint: int | None = None) -> None:
        """Copy the message's numbers into the sample; `joint` says which one a per-joint topic belongs to."""
        if self.topic.type == WRENCH:
            f, m = message.wrench.force, message.wrench.torque
            getattr(sample, next(iter(self.topic.fields.values())))[:] = (f.x, f.y, f.z, m.x, m.y, m.z)
        elif self.topic.type == TEMPERATURE:
            for field, signal in self.topic.fields.items():
                getattr(sample, signal)[joint] = getattr(message, field)
        else:
            self._read_joints(message, sample)

    def _read_joints(self, message: Any, sample: Sample) -> None:
        names, body = self._parts(message)
        for field, signal in self.topic.fields.items():
            values = np.asarray(getattr(body, field), dtype=np.float64)
            if not len(values):
                continue
            if len(values) != len(names):
                raise DataError(f"{self.topic.name}: {len(values)} numbers in {field} for {len(names)} joints")
            getattr(sample, signal)[:] = values[self._columns_of(tuple(names), signal)]

    def _parts(self, message: Any) -> tuple[Sequence[str], Any]:
        if self.topic.type == JOINT_STATE:
            return message.name, message
        if self.topic.type == TRAJECTORY and len(message.points) == 1:
            return message.joint_names, message.points[0]
        if self.topic.type == ARRAY:
            return message.layout.dim[0].label.split(",") if message.layout.dim else (), message
        raise DataError(f"{self.topic.name}: expected exactly one point, got {len(message.points)}")

    def _columns_of(self, names: tuple[str, ...], signal: str) -> list[int]:
        if names not in self._columns:
            if len(self._columns) > 16:  # a publisher that changes its names all the time
                self._columns.clear()
            self._columns[names] = joint_columns(names, entries(signal, self._joints), self._aliases)
        return self._columns[names]
