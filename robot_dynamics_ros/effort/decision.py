"""The decision about what an effort means: one set of thresholds for live nodes, replay, identification and the guard.

Unit and gravity: unit.py. Sign, per joint, by two indicators: the rigid body (the slope on gravity, or where gravity
does not show the inertia, which is positive) and the dissipation of sliding friction (on the link side of the gear,
where friction hardly shows, the inertia, if friction does not contradict it). A sign is flipped only where both say so
beyond SIGNIFICANCE standard deviations.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.effort.evidence import Evidence, gains
from robot_dynamics_ros.effort.meaning import Meaning, declared
from robot_dynamics_ros.effort.unit import FACTOR, likeliest, load_share, of_masses, unit_error, voting

if TYPE_CHECKING:
    from robot_dynamics_ros.robot_file import RobotFile

SIGNIFICANCE = 3.0  # standard deviations of evidence below which no sign is decided
SIGN_ERROR = 0.1  # MODEL_ERROR for the sign: slopes below SIGNIFICANCE times this share are not gravity torque
SEVERAL = 2  # joints with a doubtful sign from which on the effort is refused
HALF = 0.5  # share of the declared slope that neither payload, masses nor friction leave in all voting joints
OVERRULE = "--effort torque, current or gravity-free takes the signs of the robot file"
STATE = ", or --effort torque, current (of any unit, also a percentage) or gravity-free"


@dataclass(frozen=True)
class Decision:
    """What an effort means. meaning None: not decided. signs (n,): torque of joint j is signs[j] effort[j] / gain[j].

    gain, gain_std (n,): effort per Nm, positive. flipped: joints whose sign is not that of the other joints.
    doubtful: joints whose gravity or friction contradicts the sign. creates_energy: joints whose sliding friction
    would create energy with that sign. unseen: of the doubtful, those whose gravity shows no sign. votes (n,) bool:
    joints that decided the meaning. of_masses: whether the gain of a current is that of the masses (the file has no
    constants, or some that do not fit). unit_error: a sentence, or "".
    """

    meaning: Meaning | None
    signs: np.ndarray
    gain: np.ndarray
    gain_std: np.ndarray
    flipped: tuple[str, ...]
    doubtful: tuple[str, ...]
    creates_energy: tuple[str, ...]
    unseen: tuple[str, ...]
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
        return self.unit_error or (self.doubt if len(self.doubtful) >= SEVERAL else "")

    @property
    def doubt(self) -> str:
        """Which signs are doubtful, with what to check."""
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
        if self.unseen:
            return (
                f"{self.doubtful[0]}: effort has the opposite sign of the other joints, or it was moved by hand: "
                "its friction would create energy, and gravity does not show its sign: kept; reverse it in the driver"
            )
        return (
            f"{self.doubtful[0]}: effort may have the opposite sign of the other joints; gravity and friction do not "
            "agree on it: kept"
        )

    @property
    def ambiguous(self) -> bool:
        """Whether gravity shows and no meaning fits."""
        return self.meaning is None and bool(self.votes.any())

    def contradicts(self, robot: RobotFile) -> str:
        """How slopes on gravity surely differ from what the robot file declares: below HALF in their mean over the
        voting joints, and in each of them; or above FACTOR, beside a load that the file does not have, in each that
        carries more than that load. "" where they do not surely.
        """
        meaning, e, v = declared(robot), self.evidence, self.votes
        if v.sum() < SEVERAL or not meaning.includes_gravity or not meaning.has_gain(robot):
            return ""
        share, std = (x[v] for x in self._shares(meaning.gain(robot)))
        weight = 1 / std**2
        sure = (share @ weight) / weight.sum() + SIGNIFICANCE / np.sqrt(weight.sum()) < HALF
        if sure and (share < HALF).all():
            return "less than half of"
        load = load_share(e, robot)[v]
        beyond = (share - SIGNIFICANCE * std > FACTOR * (1 + load))[load < 1]
        return f"more than {FACTOR:g} times" if len(beyond) >= SEVERAL and beyond.all() else ""

    def unlike(self, robot: RobotFile) -> np.ndarray:
        """Slopes (n,) over those that the robot file declares, of joints where that is surely more than FACTOR, beside
        a load that the file does not have, and FACTOR times that of every other joint; 0 of other joints, NaN where
        nothing shows.
        """
        meaning, load = self.meaning or declared(robot), load_share(self.evidence, robot)
        nothing, votes = np.full(len(load), np.nan), self.votes & (load < 1)
        if not meaning.includes_gravity or not meaning.has_gain(robot):
            return nothing
        share, std = self._shares(meaning.gain(robot))
        share = np.where(votes, share, 0.0)
        far = share - SIGNIFICANCE * std > FACTOR * (1 + load)
        usual = share[~far].max(initial=0.0)
        return np.where(votes, np.where(far & (share > FACTOR * usual), share, 0.0), np.nan) if usual > 0 else nothing

    def _shares(self, gain: np.ndarray | float) -> tuple[np.ndarray, np.ndarray]:
        """Absolute slopes on gravity over the gain of an effort, and their deviation (n,)."""
        e = self.evidence
        return np.abs(e.gravity) / gain, np.hypot(e.gravity_std / gain, e.stuck)

    def ambiguity(self, robot: RobotFile) -> str:
        """What was found instead of a meaning, and what to do."""
        found = self.slopes(robot.joint_names)
        return (
            f"effort is ambiguous: effort over gravity torque of {robot.name} is {found}; check the order of the joint "
            "names, the robot, contact, its payload and mounting (kinematics.gravity), move the arm between more poses "
            "(on one path gravity and friction look alike; excite designs a motion), or state what it is: "
            f"drives.effort in the robot file{STATE}"
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


def without_options(text: str) -> str:
    """A reason of a Decision as a node says it, which has no options: keys of the robot file are left."""
    return text.replace(f"; {OVERRULE}", "").replace(STATE, "")


def decide(evidence: Evidence, robot: RobotFile, meaning: Meaning | None = None, unit: str = "") -> Decision:
    """Meaning of an effort from the evidence of a robot's joints; `meaning` sets unit and gravity instead, `unit` the
    unit alone.
    """
    votes = voting(evidence)
    error = unit_error(evidence, votes, robot)
    if meaning is None and not error:
        meaning = likeliest(evidence, votes, robot, unit)
    side = robot.drives.torque_side
    found = None if meaning is None else replace(meaning, side=side)
    by_masses = found is not None and of_masses(evidence, votes, found, robot)
    gain, std = gains(evidence, found, robot, by_masses)
    gravity, inertia, friction = _indicators(evidence, robot, found or declared(robot), gain)
    first = np.where((gravity == 0) & (side == "motor"), inertia, gravity)  # elsewhere inertia is the second indicator
    signs = _signs(first, friction, int(robot.drives.effort.sign))
    sign = 1 if signs.sum() >= 0 else -1
    found = None if found is None else replace(found, sign=sign)
    names = np.array(robot.joint_names, dtype=object)
    creates = (friction == -signs) & (side == "motor")
    doubtful = (gravity == -signs) | creates
    rows = signs != sign, doubtful, creates, doubtful & (gravity == 0)
    flipped, doubted, energy, unseen = (tuple(names[joints]) for joints in rows)
    return Decision(found, signs, gain, std, flipped, doubted, energy, unseen, votes, evidence, by_masses, error)


def _indicators(
    e: Evidence, robot: RobotFile, meaning: Meaning, gain: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """What gravity, inertia and friction say about each joint's sign (n,): 1, -1, or 0 where they are not sure.

    On the link side, where friction hardly shows, inertia is the second indicator instead of it, unless friction surely
    contradicts it: gravity and inertia of a wrist that carries nothing are both of where the file has its centre.
    """
    unit = np.where(np.isfinite(gain), gain, 1.0)
    gravity = sure_sign(e.gravity, np.sqrt(e.gravity_std**2 + (e.stuck**2 + SIGN_ERROR**2) * unit**2))
    contact = np.abs(e.gravity) > FACTOR * unit  # a slope of -3 is no gravity torque of the other sign
    gravity = np.where(contact | (not meaning.includes_gravity), 0.0, gravity)
    inertia = sure_sign(e.inertial, np.hypot(e.inertial_std, SIGN_ERROR * unit))
    if robot.drives.effort.includes_rotor_inertia:  # otherwise what is left of the rotors' may be negative
        inertia = np.where(inertia == 0, sure_sign(e.inertia, e.inertia_std), inertia)
    friction = sure_sign(e.friction, e.friction_std)
    if robot.drives.torque_side == "link":
        friction = np.where(inertia == -friction, 0.0, inertia)
    return gravity, inertia, friction


def sure_sign(value: np.ndarray, std: np.ndarray) -> np.ndarray:
    """Sign of values (n,), or an array of any shape, 0 within SIGNIFICANCE of their standard deviations."""
    with np.errstate(invalid="ignore"):
        return np.where(np.abs(value) > SIGNIFICANCE * std, np.sign(value), 0.0)


def _signs(first: np.ndarray, second: np.ndarray, declared_sign: int) -> np.ndarray:
    """Sign per joint (n,) where both indicators agree; the others follow their majority, or the robot file."""
    agreed = np.where(first == second, first, 0.0)
    majority = np.sign(agreed.sum()) or float(declared_sign)
    return np.where(agreed == 0, majority, agreed)
