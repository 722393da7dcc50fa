"""One record of all signals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from robot_dynamics_ros.signals.table import ESTIMATED, SIGNALS, width


class Sample:
    """One record: an attribute per signal, float64, preallocated in one buffer; NaN = absent.

    stamp_ns: source time [ns]; receive_ns: arrival time on this machine [ns], 0 = unknown.
    """

    __slots__ = ("_estimated", "buffer", "joint_names", "receive_ns", "stamp_ns", *SIGNALS)

    def __init__(self, joint_names: Sequence[str], stamp_ns: int = 0) -> None:
        self.joint_names, self.stamp_ns, self.receive_ns = tuple(joint_names), int(stamp_ns), 0
        n = len(self.joint_names)
        self.buffer = np.full(sum(width(name, n) for name in SIGNALS), np.nan)
        start = 0
        for name in SIGNALS:
            stop = start + width(name, n)
            object.__setattr__(self, name, self.buffer[start:stop])
            start = stop
        self._estimated = self.buffer[sum(width(name, n) for name in SIGNALS if name not in ESTIMATED) :]

    if TYPE_CHECKING:  # the signals, for type checkers

        def __getattr__(self, name: str) -> np.ndarray: ...

    def __setattr__(self, name: str, value: Any) -> None:
        """Assigning a signal writes into its preallocated array: sample.q = [..]; a wrong length raises."""
        if name in SIGNALS:
            getattr(self, name)[...] = value
        else:
            object.__setattr__(self, name, value)

    @property
    def n_joints(self) -> int:
        """Number of joints."""
        return len(self.joint_names)

    def clear(self) -> None:
        """Mark every signal absent; the stamp stays."""
        self.buffer.fill(np.nan)

    def clear_estimates(self) -> None:
        """Mark absent what stages write; measurements stay."""
        self._estimated.fill(np.nan)

    def has(self, name: str) -> bool:
        """True when every entry of the signal is finite."""
        return bool(np.isfinite(getattr(self, name)).all())

    def copy(self) -> Sample:
        """An independent copy, to keep a sample beyond the next one."""
        other = Sample(self.joint_names, self.stamp_ns)
        other.receive_ns = self.receive_ns
        other.buffer[:] = self.buffer
        return other
