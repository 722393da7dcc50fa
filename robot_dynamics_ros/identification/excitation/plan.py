"""A desired motion that is checked against the limits of a robot and the space it is given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from robot_dynamics_ros.errors import CapabilityError, DataError
from robot_dynamics_ros.identification.excitation.check import IN_SPACE, Breach, excess
from robot_dynamics_ros.identification.excitation.design import Excitation
from robot_dynamics_ros.identification.excitation.limits import TOLERANCE, Limits, usual_limits
from robot_dynamics_ros.identification.excitation.problem import Criteria
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.models.robot_model import RobotModel
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.trajectories.limits import JointLimits, refuse_outside
from robot_dynamics_ros.trajectories.motions import JointMotion

FRICTION_SHARE = 0.3  # of the torque limit, reserved for friction where the robot file has none
DRAWN = 20_000  # samples of a motion that are drawn and checked against floor, boxes and clearance


@dataclass(frozen=True)
class Plan:
    """A desired motion (q, qd, qdd), each (N, n), sample k at (k + 1)/rate [s]; largest torque of the model (n,)."""

    name: str
    joints: tuple[str, ...]
    motion: JointMotion
    rate: float
    torque: np.ndarray

    @property
    def duration(self) -> float:
        """Seconds."""
        return len(self.motion[0]) / self.rate

    @property
    def start(self) -> np.ndarray:
        """Where the robot has to stand (n,) [rad]."""
        return self.motion[0][0]


def checked(robot: RobotFile, name: str, joints: Sequence[int], motion: JointMotion, rate: float) -> Plan:
    """The motion as a plan; raises CapabilityError naming joint, value and bound where it leaves the robot's limits.

    Torque: |M qdd + C qd + g| with rotor inertia plus friction, 30 % of the limit where friction is unknown.
    """
    limits = usual_limits(robot)
    q, qd, qdd = motion
    if not all(np.isfinite(x).all() for x in motion):
        raise CapabilityError(f"{name}: the motion holds numbers that are not finite")
    names, torque = robot.joint_names, _torque(robot, motion, limits)
    try:
        limits.check(names, q, rate)
        for what, unit, values in (
            ("velocity", "rad/s", qd),
            ("acceleration", "rad/s2", qdd),
            ("torque", "Nm", torque[None]),
        ):
            most = getattr(limits, what)
            refuse_outside(names, np.abs(values).max(axis=0) - 1e-6, -most, most, what, unit)
    except CapabilityError as error:
        raise CapabilityError(f"{name}: {error}: choose another start (--start) or a smaller motion") from None
    return Plan(name, tuple(names[j] for j in joints), motion, rate, torque)


def with_limits_of(robot: RobotFile, limits: Limits) -> Limits:
    """`limits` with the joint limits of the robot file, which a motion of one joint may use in full."""
    own = usual_limits(robot)
    return replace(limits, lower=own.lower, upper=own.upper, velocity=own.velocity, acceleration=own.acceleration)


def sampled(plan: Plan) -> Excitation:
    """About DRAWN samples of a plan for pictures and check_space; uneven: a motion may repeat itself."""
    every = max(1, len(plan.motion[0]) // DRAWN)
    rows = np.arange(0, len(plan.motion[0]) - every + 1, every)
    rows += np.random.default_rng(0).integers(0, every, len(rows))
    q, qd, qdd = (np.ascontiguousarray(x[rows]) for x in plan.motion)
    return Excitation(rows / plan.rate, q, qd, qdd, np.nan)


def check_space(robot: RobotFile, limits: Limits, plan: Plan) -> None:
    """Refuse a plan that leaves floor, boxes, clearance or TCP speed of `limits`.

    Raises DataError with the worst and its time.
    """
    motion = sampled(plan)
    found = excess(Criteria(robot, limits), (motion.q, motion.qd, motion.qdd))
    tops = {name: int(found[name].argmax()) for name in (*IN_SPACE, "tcp_speed") if name in found}
    worst = [Breach(name, float(found[name][k]), float(motion.time[k])) for name, k in tops.items()]
    if broken := [b for b in worst if b.excess > TOLERANCE]:
        raise DataError(f"{plan.name}: {max(broken, key=lambda b: b.excess)}: choose another start (--start)")


def _torque(robot: RobotFile, motion: JointMotion, limits: JointLimits) -> np.ndarray:
    """Largest torque (n,) of the motion [Nm], friction included; zeros where the links are unknown."""
    n = robot.n_joints
    if robot.links is None:
        return np.zeros(n)
    rows = slice(None, None, max(1, len(motion[0]) // 20000))
    q, qd, qdd = (x[rows] for x in motion)
    rotor = robot.array_or("drives.rotor_inertia", 0.0)
    load = RobotModel(robot.chain()).rnea(q, qd, qdd) + rotor * qdd
    return np.abs(load).max(0) + _friction(robot, np.abs(qd).max(0), limits)


def _friction(robot: RobotFile, speed: np.ndarray, limits: JointLimits) -> np.ndarray:
    """Friction (n,) [Nm] at these speeds; a share of the torque limit where the robot file has none."""
    moving = speed > 0
    try:
        return np.where(moving, np.abs(FrictionModel.from_robot(robot).torque(speed)), 0.0)
    except CapabilityError:
        known = np.isfinite(limits.torque)
        return np.where(moving & known, FRICTION_SHARE * np.where(known, limits.torque, 0.0), 0.0)
