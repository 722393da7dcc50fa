"""The other topics of a recording (currents, temperatures, desired state, rotor side, estimates) joined to the rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from robot_dynamics_ros.bags.layout import Group
from robot_dynamics_ros.bags.rows import clock_restarts
from robot_dynamics_ros.bags.storage import RawTopic
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.signals import SIGNALS, Log, entries, joint_columns, width
from robot_dynamics_ros.topics import ARRAY, INERTIA, MAIN, PREFIX, TOPICS, Topic, of_joint

MAX_AGE = 5  # periods of the side topic that one of its messages stays valid


def add_side_topics(
    log: Log, topics: Mapping[str, RawTopic], main: str, aliases: Mapping[str, str] | None, use_header: bool
) -> None:
    """Add the signals of known topics in the namespace of `main`: each row gets the latest message not after it.

    aliases: other name of a joint -> its name; use_header: messages are placed by header, else by receive stamps.
    """
    by_header = use_header and not clock_restarts(log.stamp_ns)
    _SideTopics(log, topics, main.rsplit("/", 1)[0] + "/", dict(aliases or {}), by_header).add_all(main)


@dataclass(frozen=True)
class _SideTopics:
    """What is joined to which log, and how its names and times are read."""

    log: Log
    topics: Mapping[str, RawTopic]
    prefix: str
    aliases: dict[str, str]
    by_header: bool
    ages: dict[str, np.ndarray] = field(default_factory=dict)  # of what a signal has in each row [ns]

    def add_all(self, main: str) -> None:
        for topic in TOPICS.values():
            if topic.name == MAIN or self.prefix + topic.name == main:
                continue
            if topic.per_joint:
                self._add_per_joint(topic)
            elif (raw := self._stored(topic.name, topic)) is not None:
                for group in raw.decoded()[0]:
                    self._add_group(topic, group, raw)

    def _stored(self, name: str, topic: Topic) -> RawTopic | None:
        """Messages of a topic: below the default prefix, else directly in the namespace, else below the one prefix
        there is; None where there are none of its type.
        """
        fits = {n for n, raw in self.topics.items() if raw.type == topic.type and raw.raws and n.endswith("/" + name)}
        for full in (f"{self.prefix}{PREFIX}/{name}", self.prefix + name):
            if full in fits:
                return self.topics[full]
        others = {
            n[: -len(name)]
            for n in fits
            if n.startswith(self.prefix) and n.count("/", len(self.prefix)) == 1 + name.count("/")
        }
        others = {place for place in others if place + "joint_states" not in self.topics}  # another robot's namespace
        return self.topics[others.pop() + name] if len(others) == 1 else None

    def _held(self, place: str, group: Group, raw: RawTopic) -> tuple[np.ndarray, np.ndarray]:
        """Rows of the log with a valid side message that is newer than those of other groups at the same place, and the
        index of that message. A payload, messages without stamps, and all where the clock of headers starts again,
        count from their arrival; the clock of arrivals may be another one than that of headers.
        """
        stamp, now = raw.stamps()[group.rows], self.log.receive_ns
        if now is None or (self.by_header and group.stamp_ns.any() and raw.type not in (ARRAY, INERTIA)):
            stamp, now = group.stamp_ns, self.log.stamp_ns
        order = np.argsort(stamp, kind="stable")
        at = np.searchsorted(stamp[order], now, side="right") - 1
        index = order[np.maximum(at, 0)]
        period = np.median(np.diff(stamp[order])) if len(stamp) > 1 else np.inf
        age = now - stamp[index]
        before = self.ages.setdefault(place, np.full(len(now), np.iinfo(np.int64).max))
        valid = (at >= 0) & (age <= max(MAX_AGE * period, 1)) & (age <= before)
        before[valid] = age[valid]
        return np.flatnonzero(valid), index[valid]

    def _columns(self, group: Group, signal: str) -> list[int] | slice:
        if SIGNALS[signal].width in ("joints", "contacts", "totals"):
            return joint_columns(group.names, entries(signal, self.log.joint_names), self.aliases)
        return slice(None)

    def _add_group(self, topic: Topic, group: Group, raw: RawTopic) -> None:
        for name, signal in topic.fields.items():
            values = group.fields[name]
            try:
                columns = self._columns(group, signal)
            except DataError:
                return  # other joints
            if values.shape[1] != (len(group.names) or width(signal, self.log.n_joints)):
                continue
            rows, index = self._held(signal, group, raw)
            if len(rows):
                self.log.allocate(signal)[rows] = values[index][:, columns]

    def _add_per_joint(self, topic: Topic) -> None:
        for column, joint in enumerate(self.log.joint_names):
            for spelled in dict.fromkeys((joint, *(alias for alias, name in self.aliases.items() if name == joint))):
                raw = self._stored(of_joint(topic.name, spelled), topic)
                if raw is None:
                    continue
                for group in raw.decoded()[0]:
                    rows, index = self._held(f"{topic.name}/{joint}", group, raw)
                    for name, signal in topic.fields.items():
                        self.log.allocate(signal)[rows, column] = group.fields[name][index, 0]
