"""What the recorded effort is: torque or current, with or without gravity, sign and unit, found by regression on
gravity.

Slow samples of each joint: effort = k g(q) + l (rest of the rigid-body torque) + fc tanh(v / 0.03) + fv v + b a +
offset, from the robot file's masses. k near 1 is a torque in Nm, near 0 a torque without gravity, near 1 / K_tau a
current in A, a negative k a flipped sign, k near 1000 another unit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robot_dynamics_ros.effort.meaning import WORDS
from robot_dynamics_ros.errors import CapabilityError, DataError
from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.models import RobotModel

TORQUE = (
    0.4,
    4.0,
)  # k of a torque: initial masses are within this of the true ones, tools and covers included
NO_GRAVITY = 0.15  # |k| below this is no gravity at all
CURRENT = (1 / 400, 0.4)  # k of a current: K_tau between 2.5 and 400 Nm/A, the range of geared arms
SURE = 0.2  # a joint votes when the standard deviation of k is below this share of |k|, or of SMALL where k is less
SMALL = 0.05


@dataclass(frozen=True)
class EffortMeaning:
    """kind, torque per recorded unit `scale` (n,), whether gravity is included, k per joint (NaN: no gravity
    there), words.
    """

    kind: str  # a word of effort_meaning.WORDS
    scale: np.ndarray
    includes_gravity: bool
    slope: np.ndarray
    statements: tuple[str, ...]
    warnings: tuple[str, ...] = ()

    @property
    def unit(self) -> str:
        """Unit of the recorded effort."""
        return WORDS[self.kind].unit

    def to_dict(self) -> dict[str, Any]:
        """Plain values for the report."""
        slope = [None if not np.isfinite(k) else float(k) for k in self.slope]
        return {
            "kind": self.kind,
            "unit": self.unit,
            "includes_gravity": self.includes_gravity,
            "torque_per_unit": self.scale.tolist(),
            "gravity_slope": slope,
            "statements": list(self.statements),
        }


def gravity_slopes(model: RobotModel, motion: Motion) -> tuple[np.ndarray, np.ndarray]:
    """k and its standard deviation (n,) per joint; NaN where gravity varies by less than 5 % of what the rest of the
    rigid-body torque does.
    """
    g = model.gravity(np.ascontiguousarray(motion.q))
    k, std = np.full(motion.n, np.nan), np.full(motion.n, np.inf)
    dynamic = model.rnea(*(np.ascontiguousarray(x) for x in (motion.q, motion.qd, motion.qdd))) - g
    for j in range(motion.n):
        v, a = motion.qd[:, j], motion.qdd[:, j]
        if np.ptp(g[:, j]) < 1e-6 + 0.05 * np.ptp(dynamic[:, j]):
            continue
        X = np.column_stack([g[:, j], dynamic[:, j], np.tanh(v / 0.03), v, a, np.ones_like(v)])
        k[j], std[j] = _slope(X, motion.effort[:, j])
    return k, std


def _slope(X: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    scale = np.maximum(np.linalg.norm(X, axis=0), 1e-12)
    x, *_ = np.linalg.lstsq(X / scale, y, rcond=1e-8)
    r = y - (X / scale) @ x
    rho = float(np.clip(r[1:] @ r[:-1] / max(r @ r, 1e-300), 0, 0.999))
    inverse = np.linalg.pinv((X / scale).T @ (X / scale), rcond=1e-10)
    variance = (r @ r) / max(len(y) - X.shape[1], 1) * inverse[0, 0] * (1 + rho) / (1 - rho)
    return float(x[0] / scale[0]), float(np.sqrt(variance) / scale[0])


def recognise(robot: Any, motion: Motion, given: str = "auto") -> EffortMeaning:
    """Semantics of a recording's effort for a robot file. `given` (a word of effort_meaning.WORDS) overrides.

    Raises DataError for another word, or when it is ambiguous: the message says what was found and which option
    settles it.
    """
    if given not in ("auto", *WORDS):
        raise DataError(f"effort = {given!r} is none of auto, {', '.join(WORDS)}")
    constants = robot.array("drives.torque_constant") if robot.has("drives.torque_constant") else None
    if robot.links is None or not has_masses(robot):
        return _by_friction(robot, motion, _declared(robot, given, constants))
    k, std = gravity_slopes(RobotModel(robot.chain(), robot.joint_names), motion)
    if given != "auto":
        return _settled(given, k, constants, robot.drives.effort.sign)
    sure = np.isfinite(k) & (std < SURE * np.maximum(np.abs(k), SMALL))
    if not sure.any():
        text = "gravity is not visible in the effort: semantics are taken from the robot file"
        base = _declared(robot, given, constants)
        return EffortMeaning(base.kind, base.scale, base.includes_gravity, k, (*base.statements, text), (text,))
    return _voted(robot, k, std, sure, constants)


def has_masses(robot: Any) -> bool:
    """Whether the robot file has masses that somebody measured: not none, and not the same number for every link."""
    try:
        masses = robot.inertial_parameters.reshape(-1, 10)[:, 9]
    except CapabilityError:
        return False
    return bool(masses.sum() > 0 and (robot.n_joints < 3 or np.ptp(masses) > 1e-6 * masses.max()))


def _declared(robot: Any, given: str, constants: np.ndarray | None) -> EffortMeaning:
    effort = robot.drives.effort
    kind = given
    if given == "auto":
        kind = "current" if effort.unit == "A" else "torque" if effort.includes_gravity else "gravity-free"
    unchecked = "" if has_masses(robot) else ": no masses to check it against"
    text = f"effort is taken as {_words(kind)}, as the robot file says{unchecked}"
    scale = np.full(robot.n_joints, float(effort.sign))
    if kind == "current" and constants is not None:
        scale = scale * constants
    elif kind == "current":
        text += "; torque constants are unknown, so all torques of the result are in amperes"
    return EffortMeaning(kind, scale, kind != "gravity-free", np.full(robot.n_joints, np.nan), (text,))


def _by_friction(robot: Any, motion: Motion, found: EffortMeaning) -> EffortMeaning:
    """Without masses the sign still shows: friction takes energy out, sum f v > 0 for a torque with the joint's
    sign.
    """
    signs = dissipation_signs(robot, motion)
    if robot.drives.torque_side != "motor" or (signs * np.sign(found.scale) >= 0).mean() > 0.5:
        return found
    text = "friction would drive the joints: effort of all joints has the opposite sign of the torque: corrected"
    return replace(found, scale=-found.scale, statements=(*found.statements, text), warnings=(*found.warnings, text))


def dissipation_signs(robot: Any, motion: Motion) -> np.ndarray:
    """Sign (n,) of the power of friction in the effort; each joint fitted on its own base columns."""
    W = RigidModel(robot).base_regressor(motion.q, motion.qd, motion.qdd)
    signs = np.zeros(motion.n)
    for j in range(motion.n):
        v = motion.qd[:, j]
        friction = np.column_stack([np.tanh(v / 0.03), v])
        X = np.column_stack([W[j], motion.qdd[:, j], np.ones_like(v), friction])
        x = np.linalg.lstsq(X, motion.effort[:, j], rcond=1e-8)[0]
        signs[j] = np.sign((friction @ x[-2:]) @ v)
    return signs


def _words(kind: str) -> str:
    return {"torque": "a torque in Nm", "current": "a current in A", "gravity-free": "a torque without gravity"}[kind]


def _settled(kind: str, k: np.ndarray, constants: np.ndarray | None, sign: int) -> EffortMeaning:
    scale = np.full(len(k), float(sign))
    text = f"effort is {_words(kind)}, as asked"
    if kind == "current":
        scale = scale * (constants if constants is not None else _constants_of(np.abs(k), np.isfinite(k)))
    return EffortMeaning(kind, scale, kind != "gravity-free", k, (text,))


def _voted(robot: Any, k: np.ndarray, std: np.ndarray, sure: np.ndarray, constants: np.ndarray | None) -> EffortMeaning:
    names = robot.joint_names
    votes = np.flatnonzero(sure)
    sizes = np.abs(k[votes])
    typical = float(np.median(sizes))
    found = ", ".join(f"{names[j]} {k[j]:.3g}" for j in votes)
    if typical > 100 or (typical < 1 / 400 and (std[votes] < 0.2 * sizes).all()):
        factor = "1000 times too large (mNm?)" if typical > 100 else "1000 times too small (kNm?)"
        raise DataError(f"effort is about {factor}: effort over gravity torque is {found}; convert it to Nm or A")
    if (
        (sizes < NO_GRAVITY).all()
        and (constants is None or _not_current(k, constants, votes))
        and not _current(sizes, std[votes])
    ):
        text = f"effort contains no gravity (effort over gravity torque: {found}): identified without it"
        return EffortMeaning("gravity-free", np.ones(len(k)), False, k, (text,))
    signs, flips, warnings = _signs(k, sure, names)
    if TORQUE[0] <= typical <= TORQUE[1]:
        text = f"effort is a torque in Nm (effort over gravity torque: {found})"
        odd = [names[j] for j in votes if not TORQUE[0] <= abs(k[j]) <= TORQUE[1]]
        if odd:
            warnings = (
                *warnings,
                f"gravity of {', '.join(odd)} is far from the robot file's masses: wrong robot or payload?",
            )
        return EffortMeaning("torque", signs, True, k, (text, *flips), warnings)
    if CURRENT[0] <= typical < CURRENT[1]:
        scale = signs * (constants if constants is not None else _constants_of(np.abs(k), sure))
        source = "the robot file" if constants is not None else "gravity (the masses of the robot file)"
        shown = ", ".join(f"{x:.3g}" for x in np.abs(scale))
        text = (
            f"effort looks like a current in A (effort over gravity torque: {found}); K_tau from {source}: {shown} Nm/A"
        )
        return EffortMeaning("current", scale, True, k, (text, *flips), (text, *warnings))
    raise DataError(
        f"effort is ambiguous: it is {typical:.3g} times the gravity torque of {robot.name} ({found}); "
        "check the robot and its payload, or give --effort torque, current or gravity-free"
    )


def _current(sizes: np.ndarray, std: np.ndarray) -> bool:
    """Small slopes that are clearly not zero, on every voting joint: a current, not a gravity-free torque."""
    return bool(
        (sizes > 6 * std).all() and (sizes > CURRENT[0]).all() and len(sizes) >= 2 and np.ptp(np.log(sizes)) < 2.5
    )


def _not_current(k: np.ndarray, constants: np.ndarray, votes: np.ndarray) -> bool:
    ratio = np.abs(k[votes]) * constants[votes]
    return not bool(((ratio > 0.4) & (ratio < 2.5)).all())


def _signs(
    k: np.ndarray, sure: np.ndarray, names: Sequence[str]
) -> tuple[np.ndarray, tuple[str, ...], tuple[str, ...]]:
    """Sign per joint: joints that cannot be seen follow the majority; a single flipped joint is stated and
    warned about.
    """
    majority = -1.0 if (k[sure] < 0).mean() > 0.5 else 1.0
    signs = np.where(sure, np.sign(np.nan_to_num(k, nan=1.0)), majority)
    signs[signs == 0] = majority
    if (signs == 1).all():
        return signs, (), ()
    who = "all joints" if (signs == -1).all() else ", ".join(n for n, s in zip(names, signs, strict=True) if s < 0)
    text = f"effort of {who} has the opposite sign of the torque: corrected"
    return signs, (text,), (text,)


def _constants_of(k: np.ndarray, sure: np.ndarray) -> np.ndarray:
    """K_tau (n,) [Nm/A] from slopes; a joint without gravity takes the value of its nearest neighbour that has one."""
    known = np.flatnonzero(sure & (k > 0))
    nearest = [known[np.argmin(np.abs(known - j))] for j in range(len(k))]
    return 1 / k[nearest]
