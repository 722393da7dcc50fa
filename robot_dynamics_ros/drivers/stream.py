"""The state stream of a driver, and one received in Python: rules for gaps, repeats and stamps."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_dynamics_ros._core import ClockMap, SampleFlag, StreamMonitor, StreamState


class Clock:
    """The clocks of this machine; a test gives a driver those of a simulated robot."""

    steady = staticmethod(time.monotonic)  # s, of waits
    system_ns = staticmethod(time.time_ns)  # ns since 1970, of Sample.receive_ns


@dataclass(frozen=True)
class Statistics:
    """Counts since connect(); gaps are measured in controller time."""

    rate: float = 0.0  # samples per second since the previous call
    samples: int = 0
    missed: int = 0
    duplicates: int = 0
    frozen: int = 0  # measured values repeated exactly under a new stamp
    backwards: int = 0  # controller clock went back
    non_finite: int = 0
    stalls: int = 0
    overruns: int = 0  # samples lost because they were not read in time
    reconnects: int = 0
    malformed: int = 0
    pending: int = 0
    unsent: int = 0  # torque packages the socket did not take


class Stream:
    """Judges samples by controller time and content, and maps controller time to the host clock.

    One thread takes samples; condition, latched and counts may be read from any. received_ns: steady time of the newest
    sample that arrived [ns], taken or not, by which silence is judged: a late reader is no silent robot. rate [Hz];
    limits: of StreamMonitor, see the parameters of the hardware node.
    """

    def __init__(
        self, rate: float, received_ns: Callable[[], int] = lambda: 0, follow_host_clock: bool = True, **limits: Any
    ) -> None:
        self.rate, self._received_ns, self._taken_ns = rate, received_ns, 0
        self.follow_host_clock = follow_host_clock
        self._monitor = StreamMonitor(rate=rate, **limits)
        self._clock = ClockMap(follow_host_clock)
        self._carried = 0
        self.flags = self.missed = 0
        self.connected = False
        self.reconnects = self.malformed = self._damaged = 0
        self._arrive = Rate()

    def restart(self) -> None:
        """A new connection: the next sample has no predecessor, the offset of the clocks is found anew."""
        self._monitor.restart()
        self._clock.anchor()
        self._carried = 0

    def take(
        self, controller_ns: int, measured: np.ndarray, moving: bool, safety_mode: int, receive_ns: int, steady_ns: int
    ) -> int | None:
        """Stamp [ns, host clock] of a sample, None: drop it.

        controller_ns: its own time; measured (m,), m <= 64: values that repeat exactly when a controller is frozen;
        moving: motion is commanded; safety_mode: 1 normal, 2 reduced, 0 unknown, else stopped; receive_ns,
        steady_ns: host clocks.
        """
        self._taken_ns = steady_ns
        verdict = self._monitor.judge(1e-9 * controller_ns, measured, moving, safety_mode, steady_ns)
        if verdict is None:
            return None
        flags, self.missed = verdict
        if flags & int(SampleFlag.clock_backwards):
            self._clock.anchor()
        self._carried |= flags
        if not self._clock.observe(controller_ns, receive_ns):
            return None
        self.flags, self._carried = self._carried, 0
        if self._clock.reanchored:
            self.flags |= int(SampleFlag.clock_backwards)
        self.set_connected(True)
        return self._clock.stamp(controller_ns)

    def clean(self, *signals: np.ndarray) -> None:
        """Signals beside the measured ones that are not finite become absent (NaN as a whole) and are counted."""
        for values in signals:
            if not np.isfinite(values).all():
                self._damaged += not np.isnan(values).all()
                values.fill(np.nan)

    @property
    def frozen(self) -> bool:
        """True when the last sample repeats old measurements although motion is commanded."""
        return bool(self.flags & int(SampleFlag.frozen))

    def set_connected(self, connected: bool) -> None:
        """State whether there is a connection at all."""
        if connected != self.connected:
            self.connected = connected
            self._monitor.set_connected(connected)

    @property
    def condition(self) -> StreamState:
        """State of the stream now."""
        return self._monitor.condition(self._now())

    def _now(self) -> int:
        """Steady time [ns] less the time for which the newest sample that waits is younger than the last one taken."""
        return time.monotonic_ns() - max(self._received_ns() - self._taken_ns, 0)

    @property
    def latched(self) -> StreamState:
        """Worst state since rearm()."""
        return self._monitor.latched(self._now())

    def rearm(self) -> None:
        """Clear latched faults."""
        self._monitor.rearm()

    def statistics(self, **more: Any) -> Statistics:
        """Counts since the start; rate over the time since the last call (at least half a second)."""
        counts = self._monitor.counts
        counts["non_finite"] += self._damaged
        own = {"reconnects": self.reconnects, "malformed": self.malformed}
        return Statistics(rate=self._arrive.of(counts["samples"]), **counts, **(own | more))


class Rate:
    """Increase of a count per second since the previous call; within half a second of it, since the call before."""

    def __init__(self, count: float = 0.0) -> None:
        self._since, self._before = time.monotonic(), count

    def of(self, count: float) -> float:
        """Rate [1/s], from the count now."""
        now = time.monotonic()
        rate = (count - self._before) / max(now - self._since, 1e-9)
        if now - self._since >= 0.5:
            self._since, self._before = now, count
        return rate
