"""The values that flow through the package: one table of signals, one record (Sample), many records (Log).

SI units, output (link) side, NaN = absent. Environment acts ON the robot in `external_joint_torque` and
`external_wrench`: tau = J' F holds for both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from robot_dynamics_ros.errors import DataError


class Signal(NamedTuple):
    """One signal: its name, how wide a record of it is, its unit and what it means."""

    name: str
    width: str  # "joints" (n), "contacts" or "totals" (n + 1), "wrench" (6) or "scalar" (1)
    unit: str
    meaning: str


SIGNALS: dict[str, Signal] = {
    s.name: s
    for s in (
        # measured
        Signal("q", "joints", "rad", "link position"),
        Signal("qd", "joints", "rad/s", "link velocity"),
        Signal("effort", "joints", "Nm", "measured drive torque; motor or link side as the robot file says"),
        Signal("theta", "joints", "rad", "rotor position, reflected"),
        Signal("omega", "joints", "rad/s", "rotor velocity, reflected"),
        Signal("motor_torque", "joints", "Nm", "rotor side drive torque, reflected"),
        Signal("current", "joints", "A", "motor current"),
        Signal("temperature", "joints", "degC", "temperature reported by the joint"),
        Signal(
            "measured_wrench", "wrench", "N, Nm", "wrench of a force sensor, environment on robot at the TCP, base axes"
        ),
        # the controller's own estimates, environment on robot
        Signal(
            "vendor_external_joint_torque", "joints", "Nm", "external joint torque as the robot's own software sees it"
        ),
        Signal("vendor_external_wrench", "wrench", "N, Nm", "external wrench as the robot's own software sees it"),
        # the controller's intention
        Signal("q_d", "joints", "rad", "desired position"),
        Signal("qd_d", "joints", "rad/s", "desired velocity"),
        Signal("qdd_d", "joints", "rad/s2", "desired acceleration"),
        Signal("tau_d", "joints", "Nm", "the controller's model torque of the desired motion"),
        # estimated; everything from here on is written by stages
        Signal("qdd", "joints", "rad/s2", "link acceleration, filtered"),
        Signal("drive_torque", "joints", "Nm", "effort in its declared meaning, or K_tau times current"),
        Signal("model_torque", "joints", "Nm", "rigid body and reflected rotor inertia, without friction"),
        Signal("temperature_estimate", "joints", "degC", "lubricant temperature"),
        Signal("temperature_variance", "joints", "degC2", "its variance"),
        Signal("friction_torque", "joints", "Nm", "friction of the drive, positive with positive velocity"),
        Signal("friction_std", "joints", "Nm", "its standard deviation"),
        Signal("external_joint_torque", "joints", "Nm", "torque of the environment on the joints"),
        Signal("external_joint_torque_std", "joints", "Nm", "its standard deviation"),
        Signal("external_wrench", "wrench", "N, Nm", "environment on robot at the TCP, base orientation"),
        Signal("external_wrench_std", "wrench", "N, Nm", "its standard deviation"),
        Signal("singular_value", "scalar", "-", "smallest singular value of the length-scaled Jacobian"),
        Signal("contact", "contacts", "0/1", "contact per joint, then at the TCP"),
        Signal("payload_or_bias", "scalar", "0/1", "a constant force follows gravity: wrong payload or sensor bias"),
        Signal(
            "contact_load", "joints", "Nm", "torque that a contact adds to the load of the gears, 0 without contact"
        ),
        Signal("stiffness", "joints", "Nm/rad", "transmission stiffness"),
        Signal("stiffness_std", "joints", "Nm/rad", "its standard deviation"),
        Signal("electrical_power", "totals", "W", "electric power into the motors, per joint, then total"),
        Signal("mechanical_power", "totals", "W", "power of the motors on their shafts, per joint, then total"),
        Signal("electrical_energy", "totals", "J", "electric energy since the start, what flows back is credited"),
        Signal("electrical_energy_clamped", "totals", "J", "electric energy since the start, what flows back is lost"),
        Signal("mechanical_energy", "totals", "J", "mechanical energy since the start"),
        Signal("efficiency", "totals", "-", "mechanical over electric energy since the start"),
        Signal("feedforward_torque", "joints", "Nm", "torque proposed to the guard"),
    )
}


ESTIMATED = tuple(SIGNALS)[tuple(SIGNALS).index("qdd") :]  # written by stages, cleared before each step


def width(name: str, n_joints: int) -> int:
    """Numbers in one record of a signal for a robot of `n_joints` joints."""
    widths = {"joints": n_joints, "contacts": n_joints + 1, "totals": n_joints + 1, "wrench": 6, "scalar": 1}
    return widths[SIGNALS[name].width]


WRENCH_AXES = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")  # entries of a wrench, force and moment
WRENCH_UNITS = ("N", "N", "N", "Nm", "Nm", "Nm")
TCP = "tcp"  # name of the entry after the joints in `contact`
TOTAL = "total"  # name of the entry after the joints in powers and energies


def entries(name: str, joint_names: Sequence[str]) -> tuple[str, ...]:
    """Names of the numbers of a per-joint signal, in order: the joints, then `tcp` or `total` where it has one more."""
    last = {"contacts": (TCP,), "totals": (TOTAL,)}.get(SIGNALS[name].width, ())
    return (*joint_names, *last)


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
            getattr(self, name)[:] = value
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
        """An independent copy, for whoever keeps a sample beyond the next one."""
        other = Sample(self.joint_names, self.stamp_ns)
        other.receive_ns = self.receive_ns
        other.buffer[:] = self.buffer
        return other


class Log:
    """N records: `stamp_ns` (N,), and an attribute per signal of shape (N, width).

    A signal the log does not hold reads as NaN without using memory; `allocate` makes it writable.
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

    @classmethod
    def from_samples(cls, samples: Iterable[Sample]) -> Log:
        """A log of recorded samples; signals that are absent in all of them take no space.

        Raises DataError for none at all.
        """
        records = list(samples)
        if not records:
            raise DataError("no samples: a log needs at least one")
        log = cls(records[0].joint_names, [s.stamp_ns for s in records], receive_ns=[s.receive_ns for s in records])
        for name in SIGNALS:
            values = np.array([getattr(s, name) for s in records])
            if not np.isnan(values).all():
                log.signals[name] = values
        return log

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

    def to_dict(self) -> dict[str, Any]:
        """Plain arrays by name, with joint_names and stamp_ns: what np.savez or a pickle-free file stores."""
        result: dict[str, Any] = {"joint_names": list(self.joint_names), "stamp_ns": self.stamp_ns}
        if self.receive_ns is not None:
            result["receive_ns"] = self.receive_ns
        return result | self.signals

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Log:
        """Inverse of to_dict; keys that are no signals are refused. Raises DataError."""
        known = {"joint_names", "stamp_ns", "receive_ns"}
        unknown = set(values) - known - set(SIGNALS)
        if unknown or not {"joint_names", "stamp_ns"} <= set(values):
            raise DataError(f"not a log: unknown {sorted(unknown)}, or joint_names / stamp_ns missing")
        signals = {k: v for k, v in values.items() if k in SIGNALS}
        return cls([str(j) for j in values["joint_names"]], values["stamp_ns"], signals, values.get("receive_ns"))

    def reordered(self, joint_names: Sequence[str], aliases: Mapping[str, str] | None = None) -> Log:
        """The log with its joints as `joint_names`; extra joints are dropped. Raises DataError (joint_columns)."""
        columns = joint_columns(self.joint_names, joint_names, aliases)
        signals = {k: v[:, columns] for k, v in self.signals.items() if SIGNALS[k].width == "joints"}
        whole = columns == list(range(self.n_joints))
        signals |= {k: v for k, v in self.signals.items() if SIGNALS[k].width in ("wrench", "scalar") or whole}
        return Log(joint_names, self.stamp_ns, signals, self.receive_ns)


def joint_columns(present: Sequence[str], wanted: Sequence[str], aliases: Mapping[str, str] | None = None) -> list[int]:
    """Column in `present` of each wanted joint, by name or alias (alias -> name); extra joints are ignored.

    Raises DataError naming a joint that is missing or present twice.
    """
    alias = aliases or {}
    names = [name if name in wanted else alias.get(name, name) for name in present]
    for joint in wanted:
        count = names.count(joint)
        if count != 1:
            what = "missing" if count == 0 else f"present {count} times"
            raise DataError(f"joint {joint!r} is {what}; the data names {', '.join(map(repr, present))}")
    return [names.index(joint) for joint in wanted]
