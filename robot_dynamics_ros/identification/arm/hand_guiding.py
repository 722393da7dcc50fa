"""Recordings in which a hand moved the arm: refused.

The controller holds the weight and the hand does the rest, so effort follows gravity and not the inertia of the links,
and what it adds comes tens of milliseconds after the hand.
"""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.effort.decision import SIGNIFICANCE
from robot_dynamics_ros.effort.evidence import EffortEvidence
from robot_dynamics_ros.effort.rest import stuck_friction
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.estimators.motion import rotor_torque
from robot_dynamics_ros.identification.arm.contact import OVERRULE
from robot_dynamics_ros.identification.arm.friction_columns import SPANS, simple_friction
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals.runs import pieces_of

# deviation over gravity slope, of gravity and of the inertial slope, of a joint that votes
GRAVITY, INERTIA = 0.1, 0.15
GUIDED = 0.5  # inertial over gravity slope below which effort does not move the links
SHOWN = 0.15  # RMS inertial torque over sliding friction above which a joint votes
ABSENT = 0.2  # sliding friction over RMS inertial torque below which there is none
LATE = 0.02  # s; friction later than this means hand guiding
LAGS = np.arange(-0.04, 0.0601, 0.005)  # s
PRESLIDING = np.array(SPANS[1:5])  # rad of travel before breakaway, which looks like a lag, too
VOTES = 2
# s of a part that is looked at by itself; share of such parts that is refused: 126 driven recordings of 14 arms, pushed
# or with a payload, had none; of 24 simulated ones that a hand moved for 0.3 of the time all were refused
PART, SHARE = 5.0, 0.25
HAND_GUIDED_ADVICE = (
    f"effort follows a hand and does not show friction; record a motion that the controller drives ({OVERRULE})"
)


def guided_joints(robot: RobotFile, motion: Motion) -> list[str]:
    """Names of the joints whose effort follows gravity, not inertia, and whose friction is absent or LATE behind the
    motion; empty where other joints show the contrary.

    motion: filtered, effort in any unit: effort over gravity torque is compared with effort over inertial torque, whose
    inertia is the links' of this motion and what the effort shows of the robot file's rotors. A joint whose inertial
    torque is small beside its friction does not vote, nor one whose links other joints accelerate the other way.
    Raises CapabilityError without masses.
    """
    q, qd, qdd = (np.ascontiguousarray(x) for x in (motion.q, motion.qd, motion.qdd))
    model = RobotModel(robot.chain(), robot.joint_names)
    gravity = model.gravity(q)
    inertial = model.rnea(q, qd, qdd) - gravity + rotor_torque(robot, qdd)
    evidence = EffortEvidence(stuck_friction(robot))
    evidence.add_motion(gravity, inertial, qd, qdd, motion.effort)
    e = evidence.evidence()
    with np.errstate(invalid="ignore", divide="ignore"):
        along = (inertial * qdd).sum(axis=0) / (qdd**2).sum(axis=0)
        expected = e.gravity * along
        ratio, std = e.inertia / expected, e.inertia_std / np.abs(expected)
        size, friction = np.sqrt((inertial**2).mean(axis=0)), np.abs(e.friction / e.gravity)
        votes = (e.gravity_std < GRAVITY * np.abs(e.gravity)) & (std < INERTIA)
        votes &= (size > SHOWN * friction) & (along > 0)
        follows = votes & (ratio + SIGNIFICANCE * std < GUIDED)
        moves = votes & (ratio - SIGNIFICANCE * std > GUIDED)
    for j in np.flatnonzero(follows & (friction > ABSENT * size)).tolist():
        follows[j] = friction_lag(motion, gravity[:, j], inertial[:, j], j) >= LATE
    if follows.sum() < VOTES or follows.sum() <= 2 * moves.sum():
        return []
    return [name for name, f in zip(robot.joint_names, follows, strict=True) if f]


def friction_lag(motion: Motion, gravity: np.ndarray, inertial: np.ndarray, j: int) -> float:
    """Time [s] by which the part of joint j's effort that depends on velocity is later than the velocity: the lag in
    LAGS with the smallest residual; 0 where presliding friction leaves less. gravity, inertial (N,) [Nm].
    """
    y, v, q = motion.effort[:, j], motion.qd[:, j], np.ascontiguousarray(motion.q[:, j])
    presliding = np.column_stack([_core.presliding_elements(q, PRESLIDING, motion.start), v, np.ones_like(v)])
    parts = [(motion.t[a:b], v[a:b]) for a, b in pieces_of(motion.start)]
    late = [np.concatenate([np.interp(t - lag, t, part) for t, part in parts]) for lag in LAGS]
    errors = []
    for friction in (presliding, *(simple_friction(shifted) for shifted in late)):
        A = np.column_stack([gravity, inertial, motion.qdd[:, j], friction])
        errors.append(float(((y - A @ np.linalg.lstsq(A, y, rcond=1e-8)[0]) ** 2).sum()))
    return float([0.0, *LAGS][int(np.argmin(errors))])


def refuse_guided(robot: RobotFile, motion: Motion, name: str) -> None:
    """Raises DataError for a recording in which a hand moved the arm, in all of it or in SHARE of its parts."""
    found, where = guided_joints(robot, motion), ""
    if not found:
        found, where = _guided_parts(robot, motion)
    if found:
        raise DataError(
            f"{name}: the arm was guided by hand{where}: effort of {', '.join(found)} holds the weight but does not "
            f"accelerate the links; {HAND_GUIDED_ADVICE}"
        )


def _guided_parts(robot: RobotFile, motion: Motion) -> tuple[list[str], str]:
    """Joints of the plainest part, and where the parts are; nothing where they are fewer than SHARE."""
    seconds = len(motion) / motion.rate
    parts = np.array_split(np.arange(len(motion)), max(round(seconds / PART), 1))
    guided = {k: joints for k, rows in enumerate(parts) if (joints := guided_joints(robot, motion.take(rows)))}
    if len(guided) < max(2, SHARE * len(parts)):
        return [], ""
    begin, end = (k * seconds / len(parts) for k in (min(guided), max(guided) + 1))
    return max(guided.values(), key=len), (
        f" in {len(guided)} of {len(parts)} parts of {PART:g} s, about {begin:.0f} to {end:.0f} s from the beginning "
        "without gaps (--exclude leaves them out)"
    )
