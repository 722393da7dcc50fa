"""Records of the signals: one (Sample), and many, one row per sample (Log)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from robot_dynamics_ros.errors import CapabilityError, DataError
from robot_dynamics_ros.signals.table import ESTIMATED, SIGNALS, entries, joint_columns, width

if TYPE_CHECKING:
    from pandas import DataFrame


class Log:
    """N records: `stamp_ns` (N,), and an attribute per signal of shape (N, width).

    A signal that the log does not store reads as NaN without using memory; `allocate` makes it writable.
    """

    def __init__(
        self,
        joint_names: Sequence[str],
        stamp_ns: Any,
        signals: Mapping[str, Any] | None = None,
        receive_ns: Any = None,
    ) -> None:
        self.joint_names = tuple(joint_names)
        self.stamp_ns = np.ascontiguousarray(stamp_ns, dtype=np.int64)
        self.receive_ns = None if receive_ns is None else np.ascontiguousarray(receive_ns, dtype=np.int64)
        self.signals: dict[str, np.ndarray] = {}
        for name, values in (signals or {}).items():
            setattr(self, name, values)

    def __len__(self) -> int:
        return len(self.stamp_ns)

    @property
    def n_joints(self) -> int:
        """Number of joints."""
        return len(self.joint_names)

    @property
    def time(self) -> np.ndarray:
        """Seconds since the first record (N,)."""
        return (self.stamp_ns - self.stamp_ns[:1]) * 1e-9

    def shape(self, name: str) -> tuple[int, int]:
        """Shape of a signal in this log."""
        return len(self), width(name, self.n_joints)

    def __getattr__(self, name: str) -> np.ndarray:
        if name not in SIGNALS:
            raise AttributeError(name)
        stored = self.__dict__.get("signals", {}).get(name)
        return stored if stored is not None else np.broadcast_to(np.nan, self.shape(name))

    def __setattr__(self, name: str, value: Any) -> None:
        """Assigning a signal checks its shape; None removes it."""
        if name not in SIGNALS:
            object.__setattr__(self, name, value)
        elif value is None:
            self.signals.pop(name, None)
        else:
            array = np.ascontiguousarray(value, dtype=np.float64)
            if array.shape != self.shape(name):
                raise DataError(f"{name} has shape {array.shape}, expected {self.shape(name)}")
            self.signals[name] = array

    def has(self, name: str) -> bool:
        """True when the log stores the signal."""
        return name in self.signals

    def get(self, name: str) -> np.ndarray | None:
        """The stored array or None."""
        return self.signals.get(name)

    def allocate(self, name: str) -> np.ndarray:
        """The stored array, created full of NaN if the log lacks it."""
        if name not in self.signals:
            self.signals[name] = np.full(self.shape(name), np.nan)
        return self.signals[name]

    def __repr__(self) -> str:
        duration = float(self.time[-1]) if len(self) else 0.0
        rate = (len(self) - 1) / duration if duration > 0 else 0.0
        return (
            f"<Log: {len(self)} samples, {duration:.1f} s, {rate:.0f} Hz, joints {', '.join(self.joint_names)}; "
            f"signals {', '.join(self.stored) or 'none'}>"
        )

    @property
    def named_mass(self) -> np.ndarray:
        """Mass (N,) [kg] that the topic `payload` names, 0 where it names none."""
        return np.nan_to_num(self.payload[:, 0])

    @property
    def stored(self) -> tuple[str, ...]:
        """Names of the signals that the log stores, in the order of SIGNALS."""
        return tuple(name for name in SIGNALS if name in self.signals)

    def __dir__(self) -> list[str]:
        """Attributes for completion: of the signals only those that the log stores."""
        return sorted({*super().__dir__(), *self.signals})

    def to_pandas(self, *names: str) -> DataFrame:
        """DataFrame of the named signals (default: all stored ones), one row per sample.

        Index: `stamp_ns` as UTC time. Columns: (signal, entry); entry is a joint name, `tcp`, `total`, an axis of the
        wrench, or empty for a scalar. Raises CapabilityError where pandas is not installed, DataError for a signal that
        the log does not store.
        """
        try:
            import pandas
        except ImportError:
            raise CapabilityError("to_pandas needs pandas: pip install 'robot_dynamics_ros[pandas]'") from None
        missing = [name for name in names if name not in self.signals]
        if missing:
            raise DataError(f"{', '.join(missing)}: not in this log; it stores {', '.join(self.stored) or 'no signal'}")
        chosen = names or self.stored
        columns = [(name, entry) for name in chosen for entry in entries(name, self.joint_names)]
        values = np.hstack([self.signals[name] for name in chosen]) if chosen else np.empty((len(self), 0))
        index = pandas.to_datetime(self.stamp_ns, unit="ns", utc=True).rename("stamp")
        return pandas.DataFrame(
            values, index=index, columns=pandas.MultiIndex.from_tuples(columns, names=["signal", "entry"])
        )

    def __getitem__(self, rows: Any) -> Log:
        """A slice, mask or index array of the records, as a log (views where numpy gives views)."""
        if isinstance(rows, (int, np.integer)):
            rows = slice(rows, rows + 1 or None)
        receive = None if self.receive_ns is None else self.receive_ns[rows]
        return Log(self.joint_names, self.stamp_ns[rows], {k: v[rows] for k, v in self.signals.items()}, receive)

    def read(self, row: int, sample: Sample) -> None:
        """Copy record `row` into a sample; what the log lacks is left as it is in the sample."""
        sample.stamp_ns = int(self.stamp_ns[row])
        sample.receive_ns = 0 if self.receive_ns is None else int(self.receive_ns[row])
        for name, values in self.signals.items():
            getattr(sample, name)[:] = values[row]

    def write(self, row: int, sample: Sample, names: Iterable[str]) -> None:
        """Copy the named signals of a sample into record `row`."""
        for name in names:
            self.allocate(name)[row] = getattr(sample, name)

    def reordered(self, joint_names: Sequence[str], aliases: Mapping[str, str] | None = None) -> Log:
        """The log with its joints as `joint_names`; extra joints are dropped. Raises DataError (joint_columns)."""
        columns = joint_columns(self.joint_names, joint_names, aliases)
        signals = {k: v[:, columns] for k, v in self.signals.items() if SIGNALS[k].width == "joints"}
        whole = columns == list(range(self.n_joints))
        signals |= {k: v for k, v in self.signals.items() if SIGNALS[k].width in ("wrench", "scalar", "load") or whole}
        return Log(joint_names, self.stamp_ns, signals, self.receive_ns)


@cache
def places_of(n_joints: int) -> dict[str, slice]:
    """Where each signal is in the buffer (m,) of a sample."""
    ends = np.cumsum([width(name, n_joints) for name in SIGNALS]).tolist()
    return {name: slice(a, b) for name, a, b in zip(SIGNALS, [0, *ends], ends, strict=False)}


class Sample:
    """One record: an attribute per signal, float64, preallocated in one buffer; NaN = absent.

    stamp_ns: source time [ns]; receive_ns: arrival time on this machine [ns], 0 = unknown.
    """

    __slots__ = ("_estimated", "buffer", "joint_names", "receive_ns", "stamp_ns", *SIGNALS)

    def __init__(self, joint_names: Sequence[str], stamp_ns: int = 0) -> None:
        self.joint_names, self.stamp_ns, self.receive_ns = tuple(joint_names), int(stamp_ns), 0
        places = places_of(len(self.joint_names))
        self.buffer = np.full(max(place.stop for place in places.values()), np.nan)
        for name, place in places.items():
            object.__setattr__(self, name, self.buffer[place])
        self._estimated = self.buffer[places[ESTIMATED[0]].start :]

    if TYPE_CHECKING:  # the signals, for type checkers

        def __getattr__(self, name: str) -> np.ndarray: ...

    def __setattr__(self, name: str, value: Any) -> None:
        """sample.q = [..] writes into the preallocated array of the signal; one value fills it, else lengths agree."""
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
