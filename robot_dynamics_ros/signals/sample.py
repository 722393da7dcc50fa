"""One record of all signals."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from robot_dynamics_ros.signals.table import ESTIMATED, SIGNALS, width


@cache
def _places(n_joints: int) -> dict[str, slice]:
    """Where each signal is in the buffer of a sample."""
    ends = np.cumsum([width(name, n_joints) for name in SIGNALS]).tolist()
    return {name: slice(a, b) for name, a, b in zip(SIGNALS, [0, *ends], ends, strict=False)}


class Sample:
    """One record: an attribute per signal, float64, preallocated in one buffer; NaN = absent.

    stamp_ns: source time [ns]; receive_ns: arrival time on this machine [ns], 0 = unknown.
    """

    __slots__ = ("_estimated", "buffer", "joint_names", "receive_ns", "stamp_ns", *SIGNALS)

    def __init__(self, joint_names: Sequence[str], stamp_ns: int = 0) -> None:
        self.joint_names, self.stamp_ns, self.receive_ns = tuple(joint_names), int(stamp_ns), 0
        places = _places(len(self.joint_names))
        self.buffer = np.full(max(place.stop for place in places.values()), np.nan)
        for name, place in places.items():
            object.__setattr__(self, name, self.buffer[place])
        self._estimated = self.buffer[places[ESTIMATED[0]].start :]

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
