"""Unit of an effort, and whether gravity is in it: the likeliest of the meanings (torque, current, both with gravity
removed) over the joints' slopes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.effort.evidence import RANGE, Evidence, own_gains
from robot_dynamics_ros.effort.likelihood import VOTE_AT_REST, of_any_gain, of_gains
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

FACTOR = 2.5  # recorded over expected gravity torque, or its inverse, that payload, tool and initial masses may explain
NO_GRAVITY = 0.15  # share of the gravity torque below which gravity has been removed
LOAD = 0.5  # of the payload limit: standard deviation of what the arm may carry beyond the robot file
LOAD_OF_LINKS = 0.2  # of the links' mass, the payload limit where it is unknown
LEVER = 0.15  # m, distance of that load from the axis of every joint
VOTE = 0.2  # standard deviation of a slope, as a share of it (or of SMALL), below which the joint votes on the meaning
SMALL = 0.05  # effort per Nm
CLEAR = 3.0  # log likelihood by which a meaning must be ahead of every other one (20 to 1)
DECLARED = 1.0  # the same of what the robot file declares
RARE = 3.0  # log odds against a current without gravity, which no drive has
MEANINGS = (TORQUE, CURRENT, GRAVITY_FREE, CURRENT_GRAVITY_FREE)
UNIT_ERROR = 100.0  # median effort per Nm above which, or below 1 / (4 UNIT_ERROR), the unit is off by 1000
LEAST_ERROR = 10.0  # effort per Nm of every joint then: friction of a wrist that begins to turn shows hundreds alone


def voting(e: Evidence) -> np.ndarray:
    """Joints (n,) bool whose slope on gravity is known well enough to distinguish the meanings."""
    inertial = np.where(_known(e.inertial, e.inertial_std, SMALL), np.abs(e.inertial), SMALL)
    return _known(e.gravity, e.gravity_std, inertial) & (e.stuck < VOTE_AT_REST)


def _known(slope: np.ndarray, std: np.ndarray, least: np.ndarray | float) -> np.ndarray:
    """Whether slopes (n,) are known to VOTE of themselves, or of `least`, the effort per Nm that is usual."""
    return np.isfinite(slope) & (std < VOTE * np.maximum(np.abs(slope), least))


def unit_error(e: Evidence, votes: np.ndarray, robot: RobotFile) -> str:
    """Why the unit is off by 1000, "" where it is not, or not surely; votes (n,): see `voting`."""
    if not votes.any():
        return ""
    k = np.abs(e.gravity)
    typical = float(np.median(k[votes]))
    clear = bool((k > 5 * e.gravity_std)[votes].all() and (e.stuck[votes] == 0).all())
    if typical > UNIT_ERROR and k[votes].min() > LEAST_ERROR:
        factor = f"1000 times too large ({thousandth(robot)}?)"
    elif typical < 0.25 / UNIT_ERROR and clear:
        factor = "1000 times too small (kNm?)"
    else:
        return ""
    found = ", ".join(f"{robot.joint_names[j]} {e.gravity[j]:.3g}" for j in np.flatnonzero(votes))
    return f"effort is about {factor}: effort over gravity torque is {found}; convert it to Nm or A"


def likeliest(e: Evidence, votes: np.ndarray, robot: RobotFile, unit: str = "") -> Meaning | None:
    """The meaning that fits and is ahead of every other one, None where there is none; votes (n,): see `voting`. unit:
    the only possible one, "": any. At rest a current looks like what friction holds of a torque without gravity. Where
    no joint votes, only a unit that is surely not that of the robot file is a decision.
    """
    seen = bool(_inertial_votes(e, votes).any())  # the unit of an effort without gravity is only known in motion
    possible = MEANINGS if not _any_unit(robot) else (CURRENT, CURRENT_GRAVITY_FREE)[: 1 + seen]
    possible = possible if votes.any() else tuple(m for m in possible if m.includes_gravity)
    score = {m: _score(e, m, robot) for m in possible if unit in ("", m.unit)}
    if not score:
        return None
    best, *others = sorted(score, key=score.__getitem__, reverse=True)
    if not votes.any() and not any(m.same_as(declared(robot)) for m in others):
        return None
    if not _fits(e, votes, best, robot):
        return None
    rivals = [m for m in others if seen or best.includes_gravity or m.includes_gravity]
    if not best.includes_gravity and not seen:
        best = GRAVITY_FREE
    ahead = score[best] - max((score[m] for m in rivals), default=-np.inf)
    clear = ahead >= (DECLARED if best.same_as(declared(robot)) else CLEAR)
    loaded = [m for m in rivals if not seen or m.same_as(declared(robot))]  # inertia tells the others apart
    return best if clear and _beyond_load(e, best, loaded, robot) else None


def _beyond_load(e: Evidence, meaning: Meaning, rivals: list[Meaning], robot: RobotFile) -> bool:
    """Whether a meaning is that of the robot file, or ahead of it, and behind no other one, although the arm may carry
    what the file does not have. Joints that carry little are loaded several times as much then, so that a current looks
    like a torque.
    """
    if meaning.same_as(declared(robot)):
        return True
    load = load_share(e, robot)
    new = _score(e, meaning, robot, load)
    return all(new - _score(e, m, robot, load) >= CLEAR * m.same_as(declared(robot)) for m in rivals)


def _score(e: Evidence, meaning: Meaning, robot: RobotFile, load: np.ndarray | float = 0.0) -> float:
    """Log likelihood of a meaning and its log odds before the data. load (n,): see `load_share`."""
    rare = meaning.same_as(CURRENT_GRAVITY_FREE) and not meaning.same_as(declared(robot))
    return _log_likelihood(e, meaning, robot, load) - RARE * rare


def _any_unit(robot: RobotFile) -> bool:
    """Whether the robot file declares a current without torque constants: those of small drives look like a torque, so
    nothing contradicts it, and one of the rated current is a unit like any other.
    """
    return robot.drives.effort.unit == "A" and not CURRENT.has_gain(robot)


def _range(robot: RobotFile) -> tuple[float, float]:
    """Least and largest effort per Nm of a current without torque constants."""
    return RANGE[0], UNIT_ERROR if _any_unit(robot) else RANGE[1]


def load_share(e: Evidence, robot: RobotFile) -> np.ndarray:
    """Standard deviation (n,) of what the arm carries beyond the robot file, as a share of each joint's torque."""
    limit = robot.limits.payload or LOAD_OF_LINKS * float(robot.link_parameters[:, 9].sum())
    return np.asarray(LOAD * limit * float(np.linalg.norm(robot.gravity)) * LEVER / np.maximum(e.torque, 1e-9))


def _log_likelihood(e: Evidence, meaning: Meaning, robot: RobotFile, load: np.ndarray | float = 0.0) -> float:
    """Log density of the slopes, an unknown 1 / K_tau integrated over its range. load (n,): see `load_share`."""
    if not meaning.has_gain(robot):
        return of_any_gain(e, meaning.includes_gravity, _range(robot), load)
    return of_gains(e, meaning.includes_gravity, np.broadcast_to(meaning.gain(robot), e.gravity.shape), load)


def _inertial_votes(e: Evidence, votes: np.ndarray) -> np.ndarray:
    return votes & _known(e.inertial, e.inertial_std, SMALL)


def _fits(e: Evidence, votes: np.ndarray, meaning: Meaning, robot: RobotFile) -> bool:
    """Whether the median slope is what the meaning predicts, within FACTOR, or each slope what that of the robot file
    predicts, within FACTOR beside a load that the file does not have; NO_GRAVITY where there is none.
    """
    k = np.where(votes, np.abs(e.gravity), np.nan) if votes.any() else own_gains(e, meaning.includes_gravity)[0]
    rows = np.isfinite(k)
    if not rows.any():
        return False
    k = k[rows]
    if not meaning.has_gain(robot):
        least, most = _range(robot)
        return bool(least <= np.median(k) <= most) or not meaning.includes_gravity
    ratio = k / np.broadcast_to(meaning.gain(robot), votes.shape)[rows]
    if meaning.includes_gravity:
        typical = float(np.median(ratio))
        loaded = meaning.same_as(declared(robot)) and (ratio <= FACTOR * (1.0 + load_share(e, robot)[rows])).all()
        return 1 / FACTOR <= typical and (typical <= FACTOR or bool(loaded))
    return bool(np.median(ratio) < NO_GRAVITY + np.median(e.stuck[rows]))


def of_masses(e: Evidence, votes: np.ndarray, meaning: Meaning, robot: RobotFile) -> bool:
    """Whether the gains of a current are those of the masses: the file has no constants, or it is one in Nm and they do
    not fit, as for a percentage. Those of a file in A are believed against its masses. votes (n,): see `voting`.
    """
    if meaning.unit == "Nm" or not meaning.has_gain(robot):
        return meaning.unit == "A"
    return bool(robot.drives.effort.unit == "Nm" and votes.any() and not _fits(e, votes, meaning, robot))
