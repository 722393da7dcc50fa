"""Samples from the topics of an existing driver: joined by stamp, by joint name, refused when old or malformed."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from robot_dynamics_ros.bags.rows import FASTEST, SWAPPED
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.nodes.topics.encoding import MessageReader
from robot_dynamics_ros.signals import Sample
from robot_dynamics_ros.topics import INPUT_TOPICS, MAIN, TOPICS

MAX_WAITING = 5  # samples that wait behind one that lacks a companion before it is delivered without
BEHIND = 100  # samples that wait for a companion which comes, but later
HOLD_NS = 1_000_000_000  # what later stages wrote stays valid, and a companion is awaited, this long
SLOW_NS = 30 * HOLD_NS  # a temperature stays valid: three periods of the slowest temperature_rate


class StampJoin:
    """Samples keyed by the stamp of joint_states, completed by companion topics of the same stamp.

    companions: topics that must carry the same stamp; held: slow topics whose last value is used, and those of the
    driver: where they twice came right behind joint_states of their stamp, a sample waits for them until the next one;
    possible: velocity [rad/s] beyond which a sample is refused. A sample leaves, in order, when it is complete or when
    MAX_WAITING newer ones wait behind it, BEHIND where its companion may still come. Left out is one that then lacks a
    companion which others of the last HOLD_NS had, and one that arrives behind a newer one; a stamp farther back than
    SWAPPED is that of a clock that was set.
    """

    def __init__(
        self,
        joints: Sequence[str],
        aliases: Mapping[str, str],
        companions: Iterable[str],
        held: Iterable[str],
        deliver: Callable[[Sample], None],
        possible: float = FASTEST,
    ) -> None:
        self._possible = possible
        self._joints, self._deliver = tuple(joints), deliver
        self.companions, self.held = tuple(companions), tuple(held)
        names = (MAIN, *self.companions, *self.held)
        self.readers = {name: MessageReader(TOPICS[name], joints, aliases) for name in names}
        self._slow = Sample(joints)
        self._slow_ns = {name: np.zeros(len(self._joints) if TOPICS[name].per_joint else 1) for name in self.held}
        self._waiting: deque[tuple[Sample, set[str]]] = deque()
        self._early: dict[int, Sample] = {}
        self._came: dict[str, int] = {}  # companion -> its last stamp
        self._behind = Counter({name: 0 for name in self.held if name in INPUT_TOPICS and not TOPICS[name].per_joint})
        self.counts: Counter[str] = Counter()
        self._last_ns: int | None = None

    def take(self, name: str, message: Any, stamp_ns: int, receive_ns: int, joint: int | None = None) -> None:
        """One message of a topic. Raises DataError when it cannot be used; nothing of it stays."""
        if name in self.held:
            self.readers[name].read(message, self._slow, joint)
            self._slow_ns[name][joint or 0] = stamp_ns
            if name in self._behind:
                self._right_behind(name, message, stamp_ns)
        elif name == MAIN:
            self._main(message, stamp_ns, receive_ns)
        else:
            self._companion(name, message, stamp_ns)
        self._release()

    def _main(self, message: Any, stamp_ns: int, receive_ns: int) -> None:
        sample = Sample(self._joints, stamp_ns)
        sample.receive_ns = receive_ns
        self.readers[MAIN].read(message, sample)  # first: a gripper's messages on the topic have an order of their own
        if self._last_ns is not None and 0 < self._last_ns - stamp_ns < SWAPPED:
            self.counts["out of order"] += 1
            return
        if not sample.has("q"):
            raise DataError("joint_states: positions are missing or not finite")
        if (np.abs(sample.qd) > self._possible).any():
            raise DataError(f"joint_states: a velocity is beyond {self._possible:g} rad/s (degrees per second?)")
        if not np.isfinite(sample.effort).any():
            self.counts["without effort"] += 1
        self._use_held(sample, stamp_ns)
        missing = set(self.companions)
        missing |= {name for name, n in self._behind.items() if n > 1 and self._slow_ns[name][0] == self._last_ns}
        early = self._early.pop(stamp_ns, None)
        if early is not None:
            missing = self._merge(early, sample, missing)
        if self._last_ns is not None and stamp_ns < self._last_ns:
            self.counts["clock backwards"] += 1
            while self._waiting:
                self._leave()
        self._last_ns = stamp_ns
        self._waiting.append((sample, missing))

    def _use_held(self, sample: Sample, stamp_ns: int) -> None:
        for name in self.held:
            fresh = np.abs(stamp_ns - self._slow_ns[name]) <= (SLOW_NS if TOPICS[name].per_joint else HOLD_NS)
            for signal in TOPICS[name].fields.values():
                getattr(sample, signal)[:] = np.where(fresh, getattr(self._slow, signal), np.nan)

    def _right_behind(self, name: str, message: Any, stamp_ns: int) -> None:
        """A held topic completes the newest sample where it has its stamp."""
        self._behind[name] = self._behind[name] + 1 if stamp_ns == self._last_ns else 0
        if self._waiting and self._waiting[-1][0].stamp_ns == stamp_ns:
            sample, missing = self._waiting[-1]
            self.readers[name].read(message, sample)
            missing.discard(name)

    def _merge(self, early: Sample, sample: Sample, missing: set[str]) -> set[str]:
        for name in list(missing):
            signals = list(TOPICS[name].fields.values())
            if np.isfinite(getattr(early, signals[0])).any():
                for signal in signals:
                    getattr(sample, signal)[:] = getattr(early, signal)
                missing.discard(name)
        return missing

    def _companion(self, name: str, message: Any, stamp_ns: int) -> None:
        waiting = next((pair for pair in self._waiting if pair[0].stamp_ns == stamp_ns), None)
        sample, missing = waiting or (self._early.get(stamp_ns) or Sample(self._joints, stamp_ns), set())
        self.readers[name].read(message, sample)
        self._came[name] = stamp_ns
        missing.discard(name)
        if waiting is None:
            self._early[stamp_ns] = sample
        while len(self._early) > 4 * MAX_WAITING:
            self._early.pop(next(iter(self._early)))

    def _release(self) -> None:
        while self._waiting and len(self._waiting) > self._patience(*self._waiting[0]):
            self._leave()

    def _patience(self, sample: Sample, missing: set[str]) -> int:
        """How many samples, itself among them, may be there before this one leaves."""
        if missing.issubset(self.held):
            return min(len(missing), 1)
        return BEHIND if any(self._came[name] < sample.stamp_ns for name in self._alive(missing)) else MAX_WAITING

    def _alive(self, names: set[str]) -> list[str]:
        """Those companions that have come within HOLD_NS."""
        now = self._last_ns or 0
        return [name for name in names if name in self._came and abs(now - self._came[name]) < HOLD_NS]

    def _leave(self) -> None:
        """The oldest sample leaves; without a companion that the others have it would be estimated as if there were
        no friction.
        """
        sample, missing = self._waiting.popleft()
        missing -= set(self.held)
        if missing:
            self.counts["incomplete"] += 1
        if not self._alive(missing):
            self._deliver(sample)
