"""What the recorded effort is: the decision of effort/decision.py applied to a recording that is to be identified.

Where the robot file has no masses, unit and gravity are as it declares, and the sign comes from dissipation alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from robot_dynamics_ros.effort.decision import OVERRULE, Decision, sure_sign
from robot_dynamics_ros.effort.evidence import EffortEvidence
from robot_dynamics_ros.effort.meaning import CURRENT_GRAVITY_FREE, Meaning, chosen, declared, printed_unit, stating
from robot_dynamics_ros.effort.recording import constants_of_masses, recorded_meaning, with_constants
from robot_dynamics_ros.effort.rest import stuck_friction
from robot_dynamics_ros.errors import CapabilityError, DataError
from robot_dynamics_ros.identification.arm.friction_columns import simple_friction
from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.robot_file.gaps import in_ampere

TEXTS = {"torque": "a torque in Nm", "current": "a current in {}", "gravity-free": "a torque without gravity"}


@dataclass(frozen=True)
class EffortMeaning:
    """meaning: unit, and whether gravity is in it. scale, scale_std (n,): torque per recorded unit, signed, and its
    standard deviation. slope, slope_std (n,): effort per Nm of gravity torque, NaN where gravity does not show.
    stated: the unit that a table says (`stating`). in_ampere: no torque constant is known, scale is 1 Nm/A.
    """

    meaning: Meaning
    scale: np.ndarray
    scale_std: np.ndarray
    slope: np.ndarray
    slope_std: np.ndarray
    statements: tuple[str, ...]
    warnings: tuple[str, ...] = ()
    stated: str = ""
    in_ampere: bool = False

    @property
    def unit(self) -> str:
        """Unit of the recorded effort in reports."""
        return printed_unit(self.meaning.unit, self.stated)

    def to_dict(self) -> dict[str, Any]:
        """Values for the report."""
        return {
            "kind": self.meaning.word,
            "unit": self.unit,
            "includes_gravity": self.meaning.includes_gravity,
            "torque_per_unit": self.scale,
            "torque_per_unit_std": self.scale_std,
            "gravity_slope": self.slope,
            "gravity_slope_std": self.slope_std,
        }


def recognise(robot: RobotFile, motion: Motion, given: str = "auto", stated: str = "") -> EffortMeaning:
    """Semantics of a recording's effort for a robot file. `given` (a word of effort.meaning.WORDS) overrides; stated:
    the unit that a table says (`stating`).

    Raises DataError for a word that is none (`chosen`), or when it is ambiguous, a current has no torque constants, or
    friction would create energy: the message says what was found and which option settles it.
    """
    wanted, robot = chosen(given, stated), stating(robot, stated)
    found, known = _recognised(robot, motion, wanted, stated), has_masses(robot) or robot.has("drives.torque_constant")
    unknown = found.meaning.unit == "A" and (not known or in_ampere(robot))
    return replace(found, stated=stated, in_ampere=unknown)


def refuse_unlike(robot: RobotFile, names: Sequence[str], motions: Sequence[Motion], stated: str = "") -> None:
    """Raise DataError where the efforts of two recordings, each by itself, are different quantities, or have different
    signs in some joint: taken as one, they look like another load, or like contact. What a recording does not show is
    no difference. names: of the recordings.
    """
    robot, one = stating(robot, stated), "identify from recordings of one driver"
    alone: list[tuple[str, Decision]] = []
    for name, motion in zip(names, motions, strict=True):
        with suppress(DataError, CapabilityError):
            decision = _energy_checked(_decided(robot, motion, None))
            if decision.votes.any():
                _found(robot, decision, stated)
            if not decision.refused:
                alone.append((name, decision))
    for (first, found), (name, other) in combinations(alone, 2):
        if found.meaning and other.meaning and not other.meaning.same_as(found.meaning):
            texts = [_text(meaning.word, stated) for meaning in (found.meaning, other.meaning)]
            raise DataError(f"effort looks like {texts[0]} in {first}, like {texts[1]} in {name}: {one}")
        shown = found.confirms(found.signs, robot) & other.confirms(other.signs, robot)
        if (odd := shown & (found.signs != other.signs)).any():
            joints = ", ".join(np.array(robot.joint_names)[odd])
            raise DataError(f"effort of {joints} has the other sign in {name} than in {first}: {one}")


def _recognised(robot: RobotFile, motion: Motion, given: Meaning | None, stated: str) -> EffortMeaning:
    if not has_masses(robot):
        return _by_friction(robot, motion, given, stated)
    decision = _decided(robot, motion, given)
    if given is not None:
        return _semantics(robot, decision, given, (_asked(given, stated),), signed=False)
    if decision.refused:
        raise DataError(decision.refused)
    if decision.meaning is None and not decision.votes.any():
        source = "its columns" if stated else "the robot file"
        text = f"gravity is not visible in the effort: its unit is taken from {source}"
        decision = _energy_checked(_decided(robot, motion, declared(robot)))
        return _semantics(robot, decision, declared(robot), (_taken(robot, stated), text), (text,))
    return _found(robot, _energy_checked(decision), stated)


def _text(word: str, stated: str) -> str:
    return TEXTS[word].format(printed_unit("A", stated))


def _asked(meaning: Meaning, stated: str) -> str:
    return f"effort is {_text(meaning.word, stated)}, as asked"


def _decided(robot: RobotFile, motion: Motion, meaning: Meaning | None) -> Decision:
    q, qd, qdd = (np.ascontiguousarray(x) for x in (motion.q, motion.qd, motion.qdd))
    model = RobotModel(robot.chain(), robot.joint_names)
    gravity = model.gravity(q)
    return recorded_meaning(robot, q, qd, qdd, gravity, model.rnea(q, qd, qdd) - gravity, motion.effort, meaning)


def _energy_checked(decision: Decision) -> Decision:
    """The decision. Raises DataError where sliding friction of a joint would create energy."""
    if decision.creates_energy:
        raise DataError(
            f"friction of {', '.join(decision.creates_energy)} would create energy: its effort has the wrong sign "
            "(correct it in the driver; gravity does not show it surely enough, larger motions may), or the arm was "
            f"moved by hand; {OVERRULE}"
        )
    return decision


def _found(robot: RobotFile, decision: Decision, stated: str) -> EffortMeaning:
    found, meaning = decision.slopes(robot.joint_names) or "of no joint alone", decision.meaning
    if meaning is None or meaning.same_as(CURRENT_GRAVITY_FREE):
        raise DataError(decision.ambiguity(robot))
    known = declared(robot).same_as(meaning)
    if meaning.unit == "Nm":
        text = f"effort {'is' if known else 'looks like'} a torque in Nm (effort over gravity torque: {found})"
        if not meaning.includes_gravity:
            text = f"effort contains no gravity (effort over gravity torque: {found}): identified without it"
        return _semantics(robot, decision, meaning, (text,), () if known else (text,))
    source = "gravity (the masses of the robot file)" if decision.of_masses else "the robot file"
    shown = ", ".join(f"{1 / g:.3g} +- {s / g**2:.2g}" for g, s in zip(decision.gain, decision.gain_std, strict=True))
    what, unit = _text("current", stated), printed_unit("A", stated)
    is_a = f"is {what}, as declared" if known else f"looks like {what}"
    text = f"effort {is_a} (effort over gravity torque: {found}); K_tau from {source}: {shown} Nm/{unit}"
    return _semantics(robot, decision, meaning, (text,), () if known else (text,))


def _semantics(
    robot: RobotFile,
    decision: Decision,
    meaning: Meaning,
    statements: tuple[str, ...],
    warnings: tuple[str, ...] = (),
    signed: bool = True,
) -> EffortMeaning:
    """Scales from the decision's gains and signs, or with the sign of the robot file."""
    e, sign = decision.evidence, float(robot.drives.effort.sign)
    with_constants(decision, robot.with_updates(meaning.updates))  # raises where nothing shows them
    gain, std = decision.gain, decision.gain_std
    warnings = (*warnings, *constants_of_masses(decision))
    signs = decision.signs if signed else np.full(robot.n_joints, sign)
    if signed:
        doubts = tuple(text for text in (_reversed(signs, robot.joint_names), decision.warning) if text)
        statements, warnings = (*statements, *doubts), (*warnings, *doubts)
    slope_std = np.hypot(e.gravity_std, e.stuck * gain)
    return EffortMeaning(meaning, signs / gain, std / gain**2, e.gravity, slope_std, statements, warnings)


def _reversed(signs: np.ndarray, names: list[str]) -> str:
    if (signs > 0).all():
        return ""
    who = "all joints" if (signs < 0).all() else ", ".join(n for n, s in zip(names, signs, strict=True) if s < 0)
    return f"effort of {who} has the opposite sign of the torque: corrected"


# -- without masses ---------------------------------------------------------------------------------------------------
def has_masses(robot: RobotFile) -> bool:
    """Whether the robot file has measured masses: not none, and not the same number for every link."""
    try:
        masses = robot.link_parameters[:, 9]
    except CapabilityError:
        return False
    return bool(masses.sum() > 0 and (robot.n_joints < 3 or np.ptp(masses) > 1e-6 * masses.max()))


def _taken(robot: RobotFile, stated: str) -> str:
    """What an effort that nothing shows is taken as, and who says so."""
    says = "its columns say" if stated else "the robot file says"
    unchecked = "" if has_masses(robot) else ": no masses to check it against"
    return f"effort is taken as {_text(declared(robot).word, stated)}, as {says}{unchecked}"


def _by_friction(robot: RobotFile, motion: Motion, given: Meaning | None, stated: str) -> EffortMeaning:
    """Without masses the sign still shows: friction takes energy out, sum f v > 0 for a torque of the joint's sign."""
    n, sign = robot.n_joints, float(robot.drives.effort.sign)
    meaning, text = declared(robot), _taken(robot, stated)
    if given is not None:
        meaning, text = given, _asked(given, stated)
    scale, std = np.full(n, sign), np.zeros(n)
    if meaning.unit == "A" and robot.has("drives.torque_constant"):
        scale, std = scale * robot.array("drives.torque_constant"), robot.array_or("drives.torque_constant_std", 0.0)
    nothing, inf = np.full(n, np.nan), np.full(n, np.inf)
    found = EffortMeaning(meaning, scale, std, nothing, inf, (text,))
    if robot.drives.torque_side != "motor":
        return found
    rigid = RigidModel(robot).base_regressor(motion.q, motion.qd, motion.qdd)
    if sign * dissipation_signs(robot, motion, rigid).sum() >= 0:
        return found
    text = "friction would drive the joints: effort of all joints has the opposite sign of the torque: corrected"
    return replace(found, scale=-found.scale, statements=(*found.statements, text), warnings=(text,))


def dissipation_signs(robot: RobotFile, motion: Motion, W: np.ndarray) -> np.ndarray:
    """Sign (n,) of the dissipation of sliding friction in the effort, 0 below SIGNIFICANCE standard deviations; the
    rigid-body torque is fitted on the joint's columns of W (n, N, k) first.
    """
    effort = np.empty_like(motion.effort)
    for j in range(motion.n):
        v = motion.qd[:, j]
        X = np.column_stack([W[j], motion.qdd[:, j], simple_friction(v)])
        x = np.linalg.lstsq(X, motion.effort[:, j], rcond=1e-8)[0]
        effort[:, j] = motion.effort[:, j] - W[j] @ x[: W[j].shape[1]]
    evidence, nothing = EffortEvidence(stuck_friction(robot)), np.zeros_like(effort)
    evidence.add_motion(nothing, nothing, motion.qd, motion.qdd, effort)
    e = evidence.evidence()
    return sure_sign(e.friction, e.friction_std)
