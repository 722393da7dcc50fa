"""Drives from logs: rotor inertia from the controller's model torque, torque constants and friction from currents.

Two regressions per joint [Clochiatti2024, 3.2, 4]:
  tau_d - f_link(q_d, qd_d, qdd_d) = B qdd_d                                       B: motor and reducer inertia [8-9]
  i = (tau + kv w + tanh(w / eps) (Tdir where w tau > 0, Trev where w tau < 0)) / K_tau + i_0             [17-18]
All reflected to the output side: B = r^2 (J_m + J_r), K_tau = r k_t. tau is the frictionless torque of the model.
Signals are low-passed without phase; only moving samples count: at rest stiction holds a joint at any torque.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.dataset.motion import filtered, low_pass
from robot_dynamics_ros.identification.dataset.recording import Piece, Recording
from robot_dynamics_ros.identification.metrics import covariance, metrics, regression, rms
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals.interpolation import interpolated
from robot_dynamics_ros.signals.speeds import SLOW

CUTOFF = 10.0  # Hz, below the vibration that steps of acceleration excite in flexible joints
EPS = (0.005, 0.01, 0.02, 0.05, 0.1)  # rad/s, output side: smoothings tried; the source's 1e-5 chatters with sensors
BANDS = (0.001, 0.005, 0.02, 0.05, 0.2)  # W, of the change from direct to reverse power flow tried
MAX_RELATIVE_STD = 0.05  # relative standard deviation up to which a number is written
EXCITED = 0.1  # rad/s2, RMS of the desired acceleration that shows a rotor's inertia
DESIRED = ("q_d", "qd_d", "qdd_d", "tau_d")
TERMS = ("torque_constant", "kv", "tc_dir", "tc_rev", "offset")


@dataclass(frozen=True)
class DriveData:
    """Log of all joints behind the low-pass, stacked over recordings: (N, n) each; desired values where recorded.

    raw: current as recorded; every: step that leaves independent samples.
    """

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    current: np.ndarray
    raw: np.ndarray
    desired: dict[str, np.ndarray]
    every: int
    stamp_ns: np.ndarray

    @property
    def n(self) -> int:
        """Number of joints."""
        return self.q.shape[1]

    def moving(self, joint: int) -> np.ndarray:
        """Samples (N,) in which a joint moves."""
        return np.abs(self.qd[:, joint]) > SLOW


def drive_data(recordings: Sequence[Recording]) -> DriveData:
    """Currents and motion of recordings. Raises DataError naming one without currents."""
    parts = [_data(rec) for rec in recordings]
    names = set.intersection(*(set(p.desired) for p in parts))
    blocks = {k: np.concatenate([getattr(p, k) for p in parts]) for k in ("q", "qd", "qdd", "current", "raw")}
    desired = {k: np.concatenate([p.desired[k] for p in parts]) for k in names}
    clock = _clock(np.concatenate([p.stamp_ns for p in parts]))
    return DriveData(**blocks, desired=desired, every=min(p.every for p in parts), stamp_ns=clock)


def _clock(stamp_ns: np.ndarray) -> np.ndarray:
    """One clock over recordings that each begin near zero: a second, which no energy is counted over, lies between."""
    step = np.diff(stamp_ns)
    return np.concatenate([stamp_ns[:1], stamp_ns[0] + np.cumsum(np.where(step > 0, step, 1_000_000_000))])


def _data(rec: Recording) -> DriveData:
    cutoff = min(CUTOFF, 0.2 * rec.rate)
    n = rec.n
    names = [k for k in DESIRED if all(k in p.extra for p in rec.pieces)]
    names = names if len(names) == len(DESIRED) else []
    rows = replace(rec, pieces=[replace(p, effort=_columns(rec, p, names, cutoff)) for p in rec.pieces])
    motion = filtered(rows, cutoff)
    usable = np.isfinite(motion.effort).all(axis=1)
    blocks = np.split(motion.effort[usable], 2 + len(names), axis=1)
    q, qd, qdd = (getattr(motion, k)[usable] for k in ("q", "qd", "qdd"))
    stamps = np.round(motion.t[usable] * 1e9).astype(np.int64)
    desired = dict(zip(names, blocks[2:], strict=True))
    if len(blocks[0]) < 10 * n:
        raise DataError(f"{rec.name}: currents and motion overlap in {len(blocks[0])} samples only")
    every = max(int(rec.rate / (4 * cutoff)), 1)
    return DriveData(q, qd, qdd, blocks[0], blocks[1], desired, every, stamps)


def _columns(rec: Recording, p: Piece, names: list[str], cutoff: float) -> np.ndarray:
    """Filtered current, raw current, desired signals side by side; rows without a side message stay NaN."""
    if "current" not in p.extra or not np.isfinite(p.extra["current"]).any():
        raise DataError(
            f"{rec.name}: no currents: record motor_currents beside joint_states, or, where effort is the current, "
            "give a robot file whose drives.effort.unit is A"
        )
    current = p.extra["current"]
    lost = ~np.isfinite(current).all(axis=1, keepdims=True)
    smooth = np.where(lost, np.nan, low_pass(_bridged(current), cutoff, p.period))
    return np.hstack([smooth, current, *(p.extra[name] for name in names)])


def _bridged(x: np.ndarray) -> np.ndarray:
    """x (N, n) with missing rows filled by straight lines: for the filter only, they are not used."""
    known = np.isfinite(x).all(axis=1)
    at = np.arange(len(x))
    return interpolated(at, at[known], x[known])


@dataclass(frozen=True)
class RotorInertia:
    """Per joint (n,): reflected inertia [kg m2], its deviation, R2 and RMS error of tau_d; NaN: not excited."""

    value: np.ndarray
    std: np.ndarray
    r2: np.ndarray
    rmse: np.ndarray

    @property
    def well_known(self) -> np.ndarray:
        """Joints (n,) whose inertia is positive and known to MAX_RELATIVE_STD."""
        return np.asarray((self.value > 0) & (self.std < MAX_RELATIVE_STD * self.value))


def rotor_inertia(robot: RobotFile, data: DriveData, inertia: np.ndarray | None = None) -> RotorInertia:
    """Motor and reducer inertia from the controller's model torque, or the fit of a given `inertia` (n,)
    [kg m2] on other data.

    B = pinv(qdd_d) (tau_d - f_link(q_d, qd_d, qdd_d)) [Clochiatti2024, eq. 8-9].
    Raises DataError where the desired state is not recorded.
    """
    if not data.desired:
        raise DataError("the desired state (q_d, qd_d, qdd_d, tau_d) is not recorded: rotor inertia stays as it is")
    q, qd, qdd, tau = (np.ascontiguousarray(data.desired[k]) for k in DESIRED)
    rest = tau - RobotModel(robot.chain()).rnea(q, qd, qdd)
    power = np.sum(qdd**2, axis=0)
    seen = np.sqrt(power / len(qdd)) > EXCITED
    safe = np.where(seen, power, 1.0)
    found = np.where(seen, np.sum(rest * qdd, axis=0) / safe, np.nan) if inertia is None else inertia
    error = rest - qdd * np.nan_to_num(found)
    std = np.where(seen, np.sqrt(np.mean(error**2, axis=0) * data.every / safe), np.nan)
    fit = metrics(tau, tau - error)
    return RotorInertia(found, std, fit["r2"], fit["rmse"])


@dataclass(frozen=True)
class CurrentFit:
    """One joint: values and standard deviations by TERMS (Nm/A, Nm s/rad, Nm, Nm, A), smoothing eps [rad/s] and band
    [W]; share: deviation of the current that the load alone explains over that of what is left.
    """

    values: dict[str, float]
    std: dict[str, float]
    eps: float
    band: float
    x: np.ndarray
    share: float

    @property
    def well_known(self) -> bool:
        """Whether the torque constant is positive and known to MAX_RELATIVE_STD, and the load explains more of the
        current than what the law misses, whose error else is taken for load.
        """
        K, std = self.values["torque_constant"], self.std["torque_constant"]
        return bool(K > 0 and std < MAX_RELATIVE_STD * K and self.share > 1)

    def current(self, qd: np.ndarray, load: np.ndarray) -> np.ndarray:
        """Predicted current (N,) [A]."""
        return columns(qd, load, self.eps, self.band) @ self.x


def columns(qd: np.ndarray, load: np.ndarray, eps: float, band: float) -> np.ndarray:
    """(N, 5): load, velocity, Coulomb in direct and in reverse power flow, one [Clochiatti2024, eq. 18]."""
    v, tau = (np.ascontiguousarray(x).reshape(-1, 1) for x in (qd, load))
    zero = {"kv": 0.0, "tc_dir": 0.0, "tc_rev": 0.0, "eps": eps, "band": band}
    parts = [FrictionModel("clochiatti", zero | {k: 1.0}, 1).torque(v, tau) for k in ("kv", "tc_dir", "tc_rev")]
    return np.hstack([tau, *parts, np.ones_like(v)])


def current_fit(data: DriveData, load: np.ndarray, joint: int) -> CurrentFit:
    """Torque constant and friction of one joint in one regression of its current [Clochiatti2024, eq. 17-18].

    load (N, n) [Nm]: torque without friction. Raises DataError where the joint hardly moves.
    """
    use = np.flatnonzero(data.moving(joint))[:: data.every]
    if len(use) < 50:
        raise DataError(f"joint {joint + 1} moves in {len(use)} independent samples only")
    v, tau, i = (x[use, joint] for x in (data.qd, load, data.current))
    fits = [(regression(columns(v, tau, eps, band), i), eps, band) for eps in EPS for band in BANDS]
    (x, variance, left), eps, band = min(fits, key=lambda fit: fit[0][2])
    unit = covariance(columns(v, tau, eps, band))
    alone = 1 / np.sqrt(unit[0, 0])  # of the load, what no other column explains
    share = float(abs(x[0]) * alone / max(np.sqrt(left), 1e-12))
    K = 1 / x[0] if x[0] != 0 else np.inf
    values = np.array([K, x[1] * K, x[2] * K, x[3] * K, x[4]])
    J = np.diag([-(K**2), K, K, K, 1.0])
    J[1:4, 0] = -values[1:4] * K
    std = np.sqrt(np.maximum(variance * np.diag(J @ unit @ J.T), 0.0))
    named, deviations = ({k: float(v) for k, v in zip(TERMS, row, strict=True)} for row in (values, std))
    return CurrentFit(named, deviations, eps, band, x, share)


def figures(data: DriveData, load: np.ndarray, fits: Sequence[CurrentFit | None]) -> dict[str, np.ndarray]:
    """Per joint (n,), while moving: R2, RMS, largest and mean error of the filtered current [A], RMS of the raw one."""
    out = {name: np.full(data.n, np.nan) for name in ("r2", "rms", "max", "mean", "rms_raw")}
    for j, fit in enumerate(fits):
        use = data.moving(j)
        if fit is None or use.sum() < 10:
            continue
        p = fit.current(data.qd[use, j], load[use, j])
        found: dict[str, Any] = dict(metrics(data.current[use, j : j + 1], p[:, None]))
        found |= {"rms": found["rmse"], "rms_raw": rms(data.raw[use, j] - p)}
        for name, values in out.items():
            values[j] = np.squeeze(found[name])
    return out


def model_load(robot: RobotFile, data: DriveData, inertia: np.ndarray) -> np.ndarray:
    """Torque without friction (N, n) [Nm]: rigid body and reflected rotor inertia (n,) [Clochiatti2024, eq. 2]."""
    return RobotModel(robot.chain()).rnea(data.q, data.qd, data.qdd) + np.nan_to_num(inertia) * data.qdd
