"""What effort means in a recording, moving or at rest: unit, sign, and whether gravity is in it.

Per joint, over samples at rest and in motion:  effort = a g(q) + b (tau_model - g) + c tanh(v/v0) + d v + e.
a close to +-1 is torque with gravity, close to +-1/K_tau current, close to 0 gravity already taken out (b then tells
unit and sign). A joint that gravity and acceleration hardly load is left undecided.
effort_rest.py decides sample by sample while a live robot rests; this needs a whole log and also uses its motion.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.errors import CapabilityError, DataError
from robot_dynamics_ros.estimators.motion import MotionStage
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.signals import Log

if TYPE_CHECKING:
    from robot_dynamics_ros.robot_file import RobotFile

MAX_ROWS = 5000
V0 = 0.02  # rad/s, width of the friction step
SIGNIFICANT = 8.0  # estimate over its standard error
KNOWN = 0.01  # standard error of a scale that is known, whatever it is
NEAR = (0.5, 2.0)  # scale that still counts as the expected one: payloads and tools are often not in the model
GONE = 0.25  # gravity scale over inertial scale below which gravity has been taken out


@dataclass
class EffortSemantics:
    """Recognised meaning; None = undecided. `scale` (n,) is effort per Nm of model torque, NaN where undecided."""

    unit: str | None
    sign: int | None
    includes_gravity: bool | None
    scale: np.ndarray
    joint_names: list[str]
    flipped: list[str] = field(default_factory=list)  # joints whose sign differs from the others'

    @property
    def ambiguous(self) -> bool:
        """True when the data do not settle unit, sign and gravity."""
        return None in (self.unit, self.sign, self.includes_gravity) or bool(self.flipped)

    def problems(self, robot: RobotFile) -> list[str]:
        """Where the data contradict the robot file, as sentences; empty when they agree or decide nothing."""
        effort = robot.drives.effort
        found = [f"{j}: effort has the opposite sign of the other joints" for j in self.flipped]
        if self.unit is not None and self.unit != effort.unit:
            found.append(f"effort looks like {self.unit}, {robot.name} declares {effort.unit}")
        if self.sign is not None and self.sign != effort.sign:
            found.append(f"effort has sign {self.sign:+d}, {robot.name} declares {effort.sign:+d}")
        if self.includes_gravity is not None and self.includes_gravity != effort.includes_gravity:
            words = ("without", "with")
            has, says = words[self.includes_gravity], words[effort.includes_gravity]
            found.append(f"effort is {has} gravity, {robot.name} declares {says}")
        return found

    def apply(self, robot: RobotFile) -> RobotFile:
        """The robot with effort declared as recognised; undecided parts stay. Raises DataError for a flipped joint."""
        if self.flipped:
            raise DataError(
                f"effort of {', '.join(self.flipped)} has the opposite sign of the other joints; fix the data"
            )
        recognised = {"unit": self.unit, "sign": self.sign, "includes_gravity": self.includes_gravity}
        updates = {f"drives.effort.{k}": v for k, v in recognised.items() if v is not None}
        return robot.with_updates(updates)

    def describe(self) -> str:
        """One line for people."""
        unit = self.unit or "unknown unit"
        sign = "unknown sign" if self.sign is None else f"sign {self.sign:+d}"
        gravity = {True: "with gravity", False: "without gravity", None: "gravity undecided"}[self.includes_gravity]
        decided = int(np.isfinite(self.scale).sum())
        return f"effort: {unit}, {sign}, {gravity} (from {decided} of {len(self.scale)} joints)"


def effort_semantics(log: Log, robot: RobotFile) -> EffortSemantics:
    """Unit, sign and gravity of `effort` in a log of this robot (a few seconds at rest suffice).

    Raises DataError without effort, CapabilityError when the links are unknown.
    """
    if not log.has("effort"):
        raise DataError("effort is absent: its meaning cannot be checked")
    rows, qd, gravity, inertial = _loads(log, robot)
    n = robot.n_joints
    a, b = np.full(n, np.nan), np.full(n, np.nan)
    for j in range(n):
        a[j], b[j] = _scales(log.effort[rows, j], gravity[:, j], inertial[:, j], qd[:, j])
    return _decide(a, b, robot)


def _loads(log: Log, robot: RobotFile) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Rows used (m,), velocity [rad/s], gravity torque and the rest of the model torque [Nm] at them (m, n)."""
    copy = Log(log.joint_names, log.stamp_ns, {k: log.get(k).copy() for k in ("q", "qd") if log.has(k)})
    stage = MotionStage()
    stage.configure(robot, {"effort_unit": "Nm"})
    good = stage.run(copy) == 0
    rows = np.flatnonzero(good & np.isfinite(log.effort).all(axis=1))
    if len(rows) < 10:
        raise DataError(f"{len(rows)} usable samples with effort; its meaning cannot be checked")
    rows = rows[:: max(len(rows) // MAX_ROWS, 1)]
    gravity = RobotModel(robot.chain(), robot.joint_names).gravity(log.q[rows])
    qd = (log if log.has("qd") else copy).qd[rows]  # reported, else differentiated
    return rows, qd, gravity, copy.model_torque[rows] - gravity


def _scales(effort: np.ndarray, gravity: np.ndarray, inertial: np.ndarray, v: np.ndarray) -> tuple[float, float]:
    """a and b of the regression above, NaN where the data do not determine them."""
    columns: list[np.ndarray] = []
    has_gravity = np.sqrt(np.mean(gravity**2)) > 1e-3
    moving = np.std(inertial) > 0.02 * (np.std(gravity) + np.abs(gravity).mean() + 0.1)
    varied = np.std(gravity) > 0.05 * np.abs(gravity).mean()
    if has_gravity:
        columns.append(gravity)
    if moving:
        columns.append(inertial)
    if not columns:
        return np.nan, np.nan
    if np.std(v) > 0.2 * V0:
        columns += [np.tanh(v / V0), v]
    if varied or not has_gravity:
        columns.append(np.ones_like(v))
    X = np.column_stack(columns)
    estimate, error = _least_squares(X, effort)
    scales = [value if _settled(value, std) else np.nan for value, std in zip(estimate, error, strict=True)]
    a = scales[0] if has_gravity else np.nan
    b = scales[int(has_gravity)] if moving else np.nan
    return a, b


def _settled(value: float, error: float) -> bool:
    """Significant by itself, or known well against what torque (1) or current (about 0.1) would be."""
    return abs(value) > SIGNIFICANT * error or error < KNOWN


def _least_squares(X: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Estimate and standard errors; neighbouring samples are not independent, so the count is deflated by 20."""
    scale = np.sqrt((X**2).mean(axis=0)) + 1e-12
    estimate, *_ = np.linalg.lstsq(X / scale, y, rcond=1e-9)
    residual = y - X / scale @ estimate
    information = np.linalg.pinv((X / scale).T @ (X / scale))
    variance = (residual**2).mean() * np.diag(information) * min(20.0, len(y) / 5)
    return estimate / scale, np.sqrt(variance) / scale


def _decide(a: np.ndarray, b: np.ndarray, robot: RobotFile) -> EffortSemantics:
    names = robot.joint_names
    try:
        constant = robot.array("drives.torque_constant")
    except CapabilityError:
        constant = np.full(len(a), np.nan)
    with np.errstate(invalid="ignore"):
        both = np.isfinite(a) & np.isfinite(b)
        gone = both & (np.abs(a) < GONE * np.abs(b))
        scale = np.where(gone | ~np.isfinite(a), b, a)
        torque = (np.abs(scale) >= NEAR[0]) & (np.abs(scale) <= NEAR[1])
        current = (np.abs(scale * constant) >= NEAR[0]) & (np.abs(scale * constant) <= NEAR[1]) & ~torque
        small = (
            np.isfinite(a)
            & ~np.isfinite(b)
            & (np.abs(a) < 0.5 * GONE * np.minimum(1.0, np.nan_to_num(1 / constant, nan=1.0)))
        )
    decided = torque | current
    unit = None
    if decided.any():
        unit = "Nm" if torque.sum() > current.sum() else "A"
    usable = torque if unit == "Nm" else current
    signs = np.sign(scale[usable])
    sign = int(np.sign(signs.sum())) or None if len(signs) else None
    flipped = [names[j] for j in np.flatnonzero(usable) if sign is not None and np.sign(scale[j]) != sign]
    gravity = _gravity(gone & usable, usable & np.isfinite(a) & ~gone, small & ~usable)
    return EffortSemantics(unit, sign, gravity, np.where(usable, scale, np.nan), names, flipped)


def _gravity(gone: np.ndarray, present: np.ndarray, nothing: np.ndarray) -> bool | None:
    """Majority over the joints: gravity taken out (or effort about zero under load), or present."""
    without, with_ = int(gone.sum() + nothing.sum()), int(present.sum())
    if without == with_:
        return None
    return with_ > without
