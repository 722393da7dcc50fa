"""The decision about what an effort means: one set of thresholds for live nodes, replay, identification and the guard.

Unit and gravity: the likeliest of the meanings (torque, current, both with gravity removed) over the joints' slopes.
Sign, per joint, by two indicators: the rigid body (the slope on gravity, or where gravity does not show the
inertia, which is positive) and the dissipation of sliding friction (on the link side of the gear, where friction does
not show, the inertia). A sign is flipped only where both say so beyond SIGNIFICANCE standard deviations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.effort.evidence import RANGE, Evidence, gains
from robot_dynamics_ros.effort.meaning import (
    CURRENT,
    CURRENT_GRAVITY_FREE,
    GRAVITY_FREE,
    TORQUE,
    Meaning,
    declared,
    thousandth,
)

if TYPE_CHECKING:
    from robot_dynamics_ros.robot_file import RobotFile

SIGNIFICANCE = 3.0  # standard deviations of evidence below which no sign is decided
FACTOR = 2.5  # recorded over expected gravity torque, or its inverse, that payload, tool and initial masses may explain
NO_GRAVITY = 0.15  # share of the gravity torque below which gravity has been removed
MODEL_ERROR = 0.25  # standard deviation of a joint's slope for errors of the model, as a share of it
LOAD = 0.5  # of the payload limit: standard deviation of what the arm may carry beyond the robot file
LOAD_OF_LINKS = 0.2  # of the links' mass, the payload limit where it is unknown
LEVER = 0.15  # m, distance of that load from the axis of every joint
SIGN_ERROR = 0.1  # the same for its sign: smaller slopes, SIGNIFICANCE times this share, are not gravity torque
VOTE = 0.2  # standard deviation of a slope, as a share of it (or of SMALL), below which the joint votes on the meaning
SMALL = 0.05  # effort per Nm
VOTE_AT_REST = 0.5  # the same for a joint at rest, where friction may hold part of gravity
CLEAR = 3.0  # log likelihood by which a meaning must be ahead of every other one (20 to 1)
SEVERAL = 2  # joints with a doubtful sign from which on the effort is refused
GUARD_SHARE = 0.25  # of gravity that each joint's torque at rest may deviate by before torque mode, beside friction
GUARD_TELLING = 0.9  # share of gravity that ampere for Nm, or gravity removed, would be wrong by
GUARD_NOISE = 2.0  # Nm
MEANINGS = (TORQUE, CURRENT, GRAVITY_FREE, CURRENT_GRAVITY_FREE)
UNIT_ERROR = 100.0  # median effort per Nm above which, or below 1 / (4 UNIT_ERROR), the unit is off by 1000
OVERRULE = "--effort torque, current or gravity-free takes the signs of the robot file"


@dataclass(frozen=True)
class Decision:
    """What an effort means. meaning None: not decided. signs (n,): torque of joint j is signs[j] effort[j] / gain[j].

    gain, gain_std (n,): effort per Nm, positive. flipped: joints whose sign is not that of the other joints.
    doubtful: joints whose gravity or friction contradicts the sign. creates_energy: joints whose sliding friction
    would create energy with that sign. votes (n,) bool: joints that decided the meaning. of_masses: whether the gain of
    a current is that of the masses (the file has no constants, or some that do not fit). unit_error: a sentence, or "".
    """

    meaning: Meaning | None
    signs: np.ndarray
    gain: np.ndarray
    gain_std: np.ndarray
    flipped: tuple[str, ...]
    doubtful: tuple[str, ...]
    creates_energy: tuple[str, ...]
    votes: np.ndarray
    evidence: Evidence
    of_masses: bool = False
    unit_error: str = ""

    @property
    def sign(self) -> int:
        """Sign of most joints."""
        return 1 if self.signs.sum() >= 0 else -1

    @property
    def refused(self) -> str:
        """Why nothing may be computed from this effort, with the option that overrules it; "" where it may."""
        if self.unit_error or len(self.doubtful) < SEVERAL:
            return self.unit_error
        turned = f"{', '.join(self.flipped)} is reversed, that of " if self.flipped else ""
        return (
            f"the sign of the effort of {turned}{', '.join(self.doubtful)} is doubtful: gravity and dissipation of "
            "friction contradict each other or the robot file; check drives.effort.sign, the order of the efforts, "
            "mounting and contact; "
            f"{OVERRULE}"
        )

    @property
    def warning(self) -> str:
        """The doubt about a single joint, which is not enough to refuse; "" without."""
        if len(self.doubtful) != 1:
            return ""
        return (
            f"{self.doubtful[0]}: effort may have the opposite sign of the other joints; gravity and friction do not "
            "agree on it: kept"
        )

    @property
    def ambiguous(self) -> bool:
        """Whether gravity shows and no meaning fits."""
        return self.meaning is None and bool(self.votes.any())

    def ambiguity(self, robot: RobotFile) -> str:
        """What was found instead of a meaning, and what to do."""
        found = self.slopes(robot.joint_names)
        return (
            f"effort is ambiguous: effort over gravity torque of {robot.name} is {found}; check the order of the joint "
            "names, the robot, its payload and mounting (kinematics.gravity), or state what it is: drives.effort in "
            "the robot file, or --effort torque, current (of any unit, also a percentage) or gravity-free"
        )

    def confirms(self, signs: np.ndarray, robot: RobotFile) -> np.ndarray:
        """Joints (n,) bool whose slope on gravity, or where it does not show whose friction, has these signs (n,)."""
        gravity, _, friction = _indicators(self.evidence, robot, self.meaning or declared(robot), self.gain)
        return np.asarray(np.where(gravity == 0, friction, gravity) == signs)

    def slopes(self, names: list[str]) -> str:
        """Effort over gravity torque of the joints that voted, with standard deviations, for people."""
        e = self.evidence
        std = np.hypot(e.gravity_std, e.stuck * np.where(np.isfinite(self.gain), self.gain, 1.0))
        return ", ".join(f"{names[j]} {e.gravity[j]:.3g} +- {std[j]:.2g}" for j in np.flatnonzero(self.votes))


def decide(evidence: Evidence, robot: RobotFile, meaning: Meaning | None = None) -> Decision:
    """Meaning of an effort from the evidence of a robot's joints; `meaning` sets unit and gravity instead."""
    votes = _votes(evidence)
    error = _unit_error(evidence, votes, robot)
    if meaning is None and votes.any() and not error:
        meaning = _likeliest(evidence, votes, robot)
        if meaning is not None and not _beyond_load(evidence, votes, meaning, robot):
            meaning = None
    side = robot.drives.torque_side
    found = None if meaning is None else replace(meaning, side=side)
    of_masses = found is not None and _of_masses(evidence, votes, found, robot)
    gain, std = gains(evidence, found, robot, of_masses)
    gravity, inertia, friction = _indicators(evidence, robot, found or declared(robot), gain)
    first = np.where((gravity == 0) & (side == "motor"), inertia, gravity)  # elsewhere inertia is the second indicator
    signs = _signs(first, friction, int(robot.drives.effort.sign))
    sign = 1 if signs.sum() >= 0 else -1
    found = None if found is None else replace(found, sign=sign)
    names = np.array(robot.joint_names, dtype=object)
    creates = (friction == -signs) & (side == "motor")
    flipped, doubtful, energy = (tuple(names[rows]) for rows in (signs != sign, (gravity == -signs) | creates, creates))
    return Decision(found, signs, gain, std, flipped, doubtful, energy, votes, evidence, of_masses, error)


def _votes(e: Evidence) -> np.ndarray:
    """Joints (n,) bool whose slope on gravity is known well enough to distinguish the meanings."""
    inertial = np.where(_known(e.inertial, e.inertial_std, SMALL), np.abs(e.inertial), SMALL)
    return _known(e.gravity, e.gravity_std, inertial) & (e.stuck < VOTE_AT_REST)


def _known(slope: np.ndarray, std: np.ndarray, least: np.ndarray | float) -> np.ndarray:
    """Whether slopes (n,) are known to VOTE of themselves, or of `least`, the effort per Nm that is usual."""
    return np.isfinite(slope) & (std < VOTE * np.maximum(np.abs(slope), least))


def _unit_error(e: Evidence, votes: np.ndarray, robot: RobotFile) -> str:
    if not votes.any():
        return ""
    k = np.abs(e.gravity)
    typical = float(np.median(k[votes]))
    clear = bool((k > 5 * e.gravity_std)[votes].all() and (e.stuck[votes] == 0).all())
    if typical > UNIT_ERROR:
        factor = f"1000 times too large ({thousandth(robot)}?)"
    elif typical < 0.25 / UNIT_ERROR and clear:
        factor = "1000 times too small (kNm?)"
    else:
        return ""
    found = ", ".join(f"{robot.joint_names[j]} {e.gravity[j]:.3g}" for j in np.flatnonzero(votes))
    return f"effort is about {factor}: effort over gravity torque is {found}; convert it to Nm or A"


# -- unit and gravity -------------------------------------------------------------------------------------------------
def _likeliest(e: Evidence, votes: np.ndarray, robot: RobotFile) -> Meaning | None:
    """The meaning that fits and is ahead of every other one; None where there is none."""
    seen = bool(_inertial_votes(e, votes).any())  # the unit of an effort without gravity is only known in motion
    possible = MEANINGS if not _any_unit(robot) else (CURRENT, CURRENT_GRAVITY_FREE)[: 1 + seen]
    score = {m: _log_likelihood(e, votes, m, robot) for m in possible}
    best, *others = sorted(score, key=score.__getitem__, reverse=True)
    if not _fits(e, votes, best, robot):
        return None
    rivals = [m for m in others if seen or best.includes_gravity or m.includes_gravity]
    if not best.includes_gravity and not seen:
        best = GRAVITY_FREE
    return best if score[best] - max((score[m] for m in rivals), default=-np.inf) >= CLEAR else None


def _any_unit(robot: RobotFile) -> bool:
    """Whether the robot file declares a current without torque constants: those of small drives look like a torque, so
    nothing contradicts it, and one of the rated current is a unit like any other.
    """
    return robot.drives.effort.unit == "A" and not CURRENT.has_gain(robot)


def _range(robot: RobotFile) -> tuple[float, float]:
    """Least and largest effort per Nm of a current without torque constants."""
    return RANGE[0], UNIT_ERROR if _any_unit(robot) else RANGE[1]


def _beyond_load(e: Evidence, votes: np.ndarray, meaning: Meaning, robot: RobotFile) -> bool:
    """Whether a meaning is that of the robot file, or ahead of it although the arm may carry what the file does not
    have. Joints that carry little are loaded several times as much then, so that a current looks like a torque.
    """
    if meaning.same_as(declared(robot)):
        return True
    links = float(robot.link_parameters[:, 9].sum())
    limit = robot.limits.payload or LOAD_OF_LINKS * links
    load = LOAD * limit * float(np.linalg.norm(robot.gravity)) * LEVER / np.maximum(e.torque, 1e-9)
    new, old = (_log_likelihood(e, votes, m, robot, load) for m in (meaning, declared(robot)))
    return new - old >= CLEAR


def _log_likelihood(
    e: Evidence, votes: np.ndarray, meaning: Meaning, robot: RobotFile, load: np.ndarray | float = 0.0
) -> float:
    """Log density of the slopes (Student t, 5 degrees of freedom), an unknown 1 / K_tau integrated over its range.
    load (n,): standard deviation of what the arm carries beyond the robot file, as a share of a joint's torque.
    """
    if not meaning.has_gain(robot):
        grid = np.geomspace(*_range(robot), 40)
        each = np.array([_densities(e, votes, meaning, np.full(len(votes), u), load) for u in grid])
        return float((np.logaddexp.reduce(each, axis=0) - np.log(len(grid))).sum())
    unit = np.broadcast_to(meaning.gain(robot), votes.shape)
    return float(_densities(e, votes, meaning, unit, load).sum())


def _densities(
    e: Evidence, votes: np.ndarray, meaning: Meaning, unit: np.ndarray, load: np.ndarray | float
) -> np.ndarray:
    expected, error = (unit, MODEL_ERROR) if meaning.includes_gravity else (0.0 * unit, NO_GRAVITY / 3)
    spread = np.sqrt(e.gravity_std**2 + unit**2 * (e.stuck**2 + error**2 + load**2))
    total = np.where(votes, _log_density(np.abs(e.gravity) - expected, spread), 0.0)
    spread = np.sqrt(e.inertial_std**2 + unit**2 * (MODEL_ERROR**2 + load**2))
    return total + np.where(_inertial_votes(e, votes), _log_density(np.abs(e.inertial) - unit, spread), 0.0)


def _inertial_votes(e: Evidence, votes: np.ndarray) -> np.ndarray:
    return votes & _known(e.inertial, e.inertial_std, SMALL)


def _log_density(x: np.ndarray, spread: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore", divide="ignore"):
        return -np.log(spread) - 3.0 * np.log1p((x / spread) ** 2 / 5.0)


def _fits(e: Evidence, votes: np.ndarray, meaning: Meaning, robot: RobotFile) -> bool:
    """Whether the median slope is what the meaning predicts, within FACTOR, or NO_GRAVITY where there is none."""
    k = np.abs(e.gravity[votes])
    if not meaning.has_gain(robot):
        least, most = _range(robot)
        return bool(least <= np.median(k) <= most) or not meaning.includes_gravity
    ratio = k / np.broadcast_to(meaning.gain(robot), votes.shape)[votes]
    if meaning.includes_gravity:
        return bool(1 / FACTOR <= np.median(ratio) <= FACTOR)
    return bool(np.median(ratio) < NO_GRAVITY + np.median(e.stuck[votes]))


def _of_masses(e: Evidence, votes: np.ndarray, meaning: Meaning, robot: RobotFile) -> bool:
    """Whether the gains of a current are those of the masses: the file has no constants, or it is one in Nm and they do
    not fit, as for a percentage. Those of a file in A are believed against its masses.
    """
    if meaning.unit == "Nm" or not meaning.has_gain(robot):
        return meaning.unit == "A"
    return bool(robot.drives.effort.unit == "Nm" and votes.any() and not _fits(e, votes, meaning, robot))


# -- signs ------------------------------------------------------------------------------------------------------------
def _indicators(
    e: Evidence, robot: RobotFile, meaning: Meaning, gain: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What gravity, inertia and friction say about each joint's sign (n,): 1, -1, or 0 where they are not sure.

    On the link side, where friction does not show, inertia is the second indicator instead of it.
    """
    unit = np.where(np.isfinite(gain), gain, 1.0)
    gravity = _sure(e.gravity, np.sqrt(e.gravity_std**2 + (e.stuck**2 + SIGN_ERROR**2) * unit**2))
    contact = np.abs(e.gravity) > FACTOR * unit  # a slope of -3 is no gravity torque of the other sign
    gravity = np.where(contact | (not meaning.includes_gravity), 0.0, gravity)
    inertia = _sure(e.inertial, np.hypot(e.inertial_std, SIGN_ERROR * unit))
    if robot.drives.effort.includes_rotor_inertia:  # otherwise what is left of the rotors' may be negative
        inertia = np.where(inertia == 0, _sure(e.inertia, e.inertia_std), inertia)
    friction = _sure(e.friction, e.friction_std) if robot.drives.torque_side == "motor" else inertia
    return gravity, inertia, friction


def _sure(value: np.ndarray, std: np.ndarray) -> np.ndarray:
    with np.errstate(invalid="ignore"):
        return np.where(np.abs(value) > SIGNIFICANCE * std, np.sign(value), 0.0)


def _signs(first: np.ndarray, second: np.ndarray, declared_sign: int) -> np.ndarray:
    """Sign per joint (n,) where both indicators agree; the others follow their majority, or the robot file."""
    agreed = np.where(first == second, first, 0.0)
    majority = np.sign(agreed.sum()) or float(declared_sign)
    return np.where(agreed == 0, majority, agreed)
