"""Measurements of a node: rate, latency percentiles and counters, published as diagnostics (REP 107)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticStatus, KeyValue

from robot_dynamics_ros.drivers.stream import Rate

OK, WARN, ERROR, STALE = DiagnosticStatus.OK, DiagnosticStatus.WARN, DiagnosticStatus.ERROR, DiagnosticStatus.STALE
KEPT, SKIPPED = 5000, 500  # latencies; the skipped ones are of a node that starts


class LatencyMeter:
    """Latencies [s] in a ring and `count`, of all that were added; percentiles are computed when read."""

    def __init__(self) -> None:
        self._ring, self.count, self._skip, self._rate = np.zeros(KEPT), 0, SKIPPED, Rate()

    def add(self, seconds: float) -> None:
        """Add one latency [s]; the first SKIPPED, while a node starts up, are left out."""
        if self._skip > 0:
            self._skip -= 1
            return
        self._ring[self.count % len(self._ring)] = seconds
        self.count += 1

    def rate(self) -> float:
        """Latencies added per second since the previous call."""
        return self._rate.of(self.count)

    def percentiles(self) -> tuple[float, float, float]:
        """p50, p99 and max [s] over the ring; NaN while empty."""
        values = self._ring[: min(self.count, len(self._ring))]
        if not len(values):
            return (float("nan"),) * 3
        p50, p99 = np.percentile(values, (50, 99))
        return float(p50), float(p99), float(values.max())

    def summary(self, name: str) -> dict[str, str]:
        """Percentiles as diagnostic values [us]."""
        p50, p99, top = (1e6 * value for value in self.percentiles())
        return {f"{name} p50 [us]": f"{p50:.0f}", f"{name} p99 [us]": f"{p99:.0f}", f"{name} max [us]": f"{top:.0f}"}


def status(name: str, level: bytes, message: str, values: Mapping[str, Any], hardware: str = "") -> DiagnosticStatus:
    """One entry of a diagnostic array."""
    pairs = [KeyValue(key=key, value=str(value)) for key, value in values.items()]
    return DiagnosticStatus(level=level, name=name, message=message, hardware_id=hardware, values=pairs)


def worst(*found: tuple[bytes, str]) -> tuple[bytes, str]:
    """The highest level of (level, text) pairs, with the texts of that level joined. STALE says only that nothing is
    there: the texts of the highest level below it, which may be the reason, follow.
    """
    level = max((entry[0] for entry in found), default=OK)
    below = max((each for each, _ in found if OK < each < STALE), default=STALE)
    shown = (STALE, below) if level == STALE else (level,)
    texts = [text for one in shown for each, text in found if each == one and text]
    return level, "; ".join(dict.fromkeys(texts)) or "ok"
