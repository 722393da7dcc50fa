"""The parameters of an identification: bodies and friction of the robot file, solved together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robot_dynamics_ros.effort.decision import SIGNIFICANCE
from robot_dynamics_ros.identification.arm.beside import direction_beside
from robot_dynamics_ros.identification.arm.contact import OVERRULE
from robot_dynamics_ros.identification.arm.effort_meaning import EffortMeaning, has_masses
from robot_dynamics_ros.identification.arm.live_model import LiveModel, fit_live
from robot_dynamics_ros.identification.arm.model import IdentifiedModel, Structure, coupled_statement, motor_inertia
from robot_dynamics_ros.identification.arm.mounting import acting
from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.identification.arm.solvers.consistency import make_consistent, rotor_included
from robot_dynamics_ros.identification.arm.solvers.fitting import fitted, known_rotors, prior_of
from robot_dynamics_ros.identification.arm.solvers.rest_weights import recording_weights, slow_stretches, slow_weights
from robot_dynamics_ros.identification.arm.solvers.uncertainty import between_recordings, widened, with_uncertainty
from robot_dynamics_ros.identification.arm.state import Identification, note
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.models.robot_report import POSES
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.verdict import CLEAR

TURNS = 2  # steps towards the direction of gravity
OTHER_MASSES = 1.4  # factor of gravity torque: masses of an individual differ by 15 %, torque constants by a quarter
APART = 1.8  # the same between two joints; 1 kg makes it 3 at a UR5e, whose wrists carry little
OFF_CENTRE = 0.01  # m, deviation of the centres of mass of a robot file
OTHER_ROTOR = 3.0  # factor between identified and initial rotor inertia beyond which it is reported
LOST_ROTOR = 0.1  # identified over initial rotor inertia below which it is suspicious
OTHER_ROBOT = 1.7  # factor of gravity torque and rotor inertia: arms of neighbouring sizes differ by 1.9 and more


def fit_parameters(state: Identification) -> None:
    """Fill fit, rotor_included, consistent and rotor with presliding elements of all spans beside the simple law: what
    the shape and the load of friction are found beside.

    Raises CapabilityError where rotors to be held are not known, DataError where the solver finds no physically
    consistent model.
    """
    structure = state.structure.remembering(loaded=True)
    first = _fitted(state, structure, rough=True)  # whose links load friction of the second
    state.rotor_included, rotors = rotor_included(state.robot, first)
    if not state.rotor_included:  # by deviations that cover what the law leaves of the effort
        state.rotor_included, rotors = rotor_included(state.robot, with_uncertainty(first, state.motion))
    state.fit = _fitted(state, structure, first, rough=True)
    turn_gravity(state, structure)
    state.consistent, state.rotor = make_consistent(state.robot, state.fit, state.rotor_included)
    note(state.statements, rotors)


def turn_gravity(state: Identification, structure: Structure) -> None:
    """Robot and rigid get the direction of gravity that joint torque sensors show, or the given file's where it may be
    that one, and the fit follows. Friction of motors leaves it as far off as the masses of the file leave the first
    one (nine UR5e at 5 degrees: 1.2 instead of 1.0 N moving).
    """
    if state.robot.drives.torque_side != "link" or not state.rigid.gravity.any() or not has_masses(state.robot):
        return
    for _ in range(TURNS):
        prior = prior_of(state.robot, state.rigid, structure, state.options.prior, state.motion)
        state.robot, state.mounting = acting(state.given, *direction_beside(state.fit, state.motion, prior))
        if np.array_equal(state.robot.gravity, state.rigid.gravity):
            return
        state.rigid = RigidModel(state.robot)
        state.fit = _fitted(state, structure, state.fit, rough=True)


def fit_together(state: Identification) -> None:
    """Fill live, the model as a robot file holds it: bodies and coefficients of friction are one convex problem, with
    the shape and the load of friction that the first solution shows.
    """
    if len(state.training) > 1:
        state.motion = replace(state.motion, weight=recording_weights(state.fit, state.motion, state.edges))
    live, laws = fit_live(state.consistent, np.nan_to_num(state.rotor), state.motion)
    structure = state.structure.turning([motor.place for motor in live.motors])
    state.structure = structure.with_laws([a.columns(b) for a, b in zip(laws, structure.laws, strict=True)])
    state.fit = _fitted(state, state.structure, live)
    state.consistent, state.rotor = make_consistent(state.robot, state.fit, state.rotor_included)
    state.fit, rotor = with_uncertainty(state.fit, state.motion), np.nan_to_num(state.rotor)
    inertia = motor_inertia(state.fit, rotor * state.rotor_included, [motor.place for motor in live.motors])
    motors = [replace(motor, inertia=float(x)) for motor, x in zip(live.motors, inertia, strict=True)]
    state.live, _ = fit_live(state.consistent, rotor, state.motion, laws, motors)
    note(state.statements, widen(state), coupled_statement(state.robot, state.structure))


def _fitted(
    state: Identification, structure: Structure, before: IdentifiedModel | LiveModel | None = None, rough: bool = False
) -> IdentifiedModel:
    """The model of a structure, as fitted(); before: a model whose links load friction, and whose errors give samples
    less weight where joints stand; rotor inertias that are not sought are known then.
    """
    prior = prior_of(state.robot, state.rigid, structure, state.options.prior, state.motion)
    if before is None:
        return fitted(state.rigid, structure, state.motion, prior, rough=rough)
    known, motion = None, state.motion
    if state.options.known_rotor:
        known = known_rotors(state.robot, state.rigid, structure, state.rotor_included)
    if any(stretches := slow_stretches(motion)):
        motion = replace(motion, weight=slow_weights(motion.effort - before.predict(motion), motion, stretches))
    return fitted(state.rigid, structure, motion, prior, known, before.phi, rough)


def widen(state: Identification) -> str:
    """Add the scatter of sliding friction between the recordings to its deviations; what these cover, as a sentence."""
    if len(state.training) < 2:
        return (
            "standard deviations of friction hold for this recording: on another day (temperature, running-in, load) "
            "friction differs by 5 to 10 %; with recordings of several days they include that scatter"
        )
    state.fit = widened(state.fit, between_recordings(state.fit, state.motions))
    return f"deviations of friction contain its scatter between the {len(state.training)} recordings"


def check_rotors(state: Identification) -> None:
    """Fill friction_invalid_reason where rotor inertias fell far below the initial model (external work), and
    other_robot where gravity torque is another one too.
    """
    if state.options.contact != "auto" or not state.rotor_included or state.robot.drives.torque_side != "motor":
        return
    places, s = state.structure.places("ia", state.rigid.base.size), state.solution
    std = np.array([s.std[places[j]] if j in places else np.inf for j in range(state.robot.n_joints)])
    note(state.statements, far_rotors(state.robot, state.rotor))
    low = lost_rotors(state.robot, state.rotor, std)
    state.other_robot = other_robot(state.robot, state.effort, state.rotor)
    if len(low) >= max(2, len(places) // 3):
        state.friction_invalid_reason = state.friction_invalid_reason or "rotor inertias far below the initial model"
        if not state.other_robot:
            state.warnings.append(
                f"rotor inertia of {', '.join(low)}: the arm was pushed or guided, or the initial model is of another "
                f"drive; friction is not called identified ({OVERRULE})"
            )


def rotor_ratios(robot: RobotFile, rotor: np.ndarray) -> np.ndarray:
    """Identified rotor inertias (n,) over those of the robot file; NaN where either is unknown."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(rotor / robot.array_or("drives.rotor_inertia", np.nan))


def lost_rotors(robot: RobotFile, rotor: np.ndarray, std: np.ndarray) -> list[str]:
    """Joints whose identified rotor inertia (n,) is far below the one of the robot file: contact that moved the arm."""
    initial = robot.array_or("drives.rotor_inertia", np.nan)
    low = (initial > 0) & (rotor < LOST_ROTOR * initial) & (initial - rotor > SIGNIFICANCE * std)
    rows = zip(robot.joint_names, rotor, initial, low, strict=True)
    return [f"{name} {value:.2g} instead of {was:.2g} kg m2" for name, value, was, below in rows if below]


def far_rotors(robot: RobotFile, rotor: np.ndarray) -> str:
    """A sentence about joints whose identified rotor inertia (n,) is far from that of the robot file; else empty."""
    ratios = rotor_ratios(robot, rotor)
    far = np.isfinite(ratios) & ((ratios > OTHER_ROTOR) | (ratios < 1 / OTHER_ROTOR))
    found = [f"{name} {r:.2g}" for name, r, f in zip(robot.joint_names, ratios, far, strict=True) if f]
    if not found:
        return ""
    return (
        f"rotor inertia over that of the initial model: {', '.join(found)}; where that model is right, the motion "
        "does not separate it from the links: add accelerations, or use --known-rotor"
    )


def other_robot(robot: RobotFile, effort: EffortMeaning, rotor: np.ndarray) -> str:
    """Why a recording is of another robot: gravity torque and rotor inertias (n,) are both far smaller, or both far
    larger, than those of the robot file. Empty where they are not: a payload raises the first, an arm that is moved by
    hand lowers the second.
    """
    ratios = rotor_ratios(robot, rotor)
    if np.isnan(ratios).all():
        return ""
    share, factor = float(np.nanmedian(ratios)), gravity_factor(effort)
    if not (max(factor, share) < 1 / OTHER_ROBOT or min(factor, share) > OTHER_ROBOT):
        return ""
    return f"gravity torque is {factor:.2g} times, rotor inertia in the median {share:.2g} times that of the robot file"


def gravity_factors(effort: EffortMeaning) -> np.ndarray:
    """Recorded over the initial model's gravity torque (n,); NaN where it does not show clearly."""
    known = np.isfinite(effort.slope) & (effort.slope_std > 0) & (np.abs(effort.slope) > CLEAR * effort.slope_std)
    return np.where(known & effort.meaning.includes_gravity, np.abs(effort.slope * effort.scale), np.nan)


def gravity_factor(effort: EffortMeaning) -> float:
    """Their mean over the joints by precision; 1 where gravity does not show."""
    factor = gravity_factors(effort)
    if not (known := np.isfinite(factor)).any():
        return 1.0
    return float(np.exp(np.average(np.log(factor[known]), weights=(effort.slope_std * effort.scale)[known] ** -2.0)))


def _balanced(robot: RobotFile) -> np.ndarray:
    """Joints (n,) whose gravity torque is no more than OFF_CENTRE makes of what they carry: any factor is likely."""
    weight = np.abs(RobotModel(robot.chain(), robot.joint_names).gravity(robot.random_poses(POSES))).max(axis=0)
    carried = np.cumsum(robot.inertial_parameters.reshape(-1, 10)[::-1, 9])[::-1]
    return np.asarray(weight < OFF_CENTRE * np.linalg.norm(robot.gravity) * carried)


def other_masses(robot: RobotFile, effort: EffortMeaning) -> str:
    """What a gravity torque that is far from the robot file's means; empty where it is not."""
    factor, each = gravity_factor(effort), gravity_factors(effort)
    if np.isfinite(each).any():
        each = np.where(_balanced(robot), np.nan, each)
    two = 2.0 * np.abs(effort.slope_std * effort.scale)  # deviations
    low, high = np.nanmin(each + two, initial=factor), np.nanmax(each - two, initial=factor)
    apart = effort.meaning.unit == "Nm" and high > APART * low  # of a current they may be those of its constants
    if 1 / OTHER_MASSES < factor < OTHER_MASSES and not apart:
        return ""
    causes = ["it lacks a tool or payload" if high > OTHER_MASSES else "a spring or counterweight carries the rest"]
    if effort.meaning.unit == "Nm":
        mixed = low < 1 / OTHER_MASSES and high > OTHER_MASSES  # which no load and no spring alone makes
        causes = causes * (not mixed) + ["effort is a current or a percentage (--effort current)"]
    rows = zip(robot.joint_names, each, strict=True)
    shown = f" ({', '.join(f'{name} {x:.2g}' for name, x in rows if np.isfinite(x))})" if apart else ""
    return (
        f"gravity torque is {factor:.2g} times that of the robot file{shown}: {', '.join(causes)}, or this is another "
        f"robot than {robot.name}, and forces would be wrong"
    )
