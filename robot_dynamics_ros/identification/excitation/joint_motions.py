"""Motions that show one property of a joint, made from what the robot file allows and checked against it."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from robot_dynamics_ros.errors import CapabilityError, DataError
from robot_dynamics_ros.identification.dataset.segments import JointRecord
from robot_dynamics_ros.identification.excitation.limits import usual_limits
from robot_dynamics_ros.identification.excitation.plan import Plan, checked
from robot_dynamics_ros.identification.joint.friction import LAW, least_samples
from robot_dynamics_ros.identification.joint.sliding import measured_sliding
from robot_dynamics_ros.models.friction import law_named
from robot_dynamics_ros.models.robot_model import RobotModel
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals.speeds import MOVING
from robot_dynamics_ros.trajectories import motions
from robot_dynamics_ros.trajectories.files import refuse_long
from robot_dynamics_ros.trajectories.limits import JointLimits

_MARGIN = 0.9  # share of a limit that these motions use at most
_STEADY = 0.45  # s at constant speed, at least
_LEAST = 0.05  # rad of travel that shows anything
_EDGE = 0.02  # rad kept from position limits
_CHECK_RATE = 250.0  # Hz of the samples by which a plan is judged
_HOURS_RATE = 500.0  # Hz of a motion of hours, which is 3 GB at 1 kHz; with fewer, its corners take more points
_FEW, _MANY = 14, 40  # speeds of velocity steps
_RAMP = 4.0  # rad/s2: of velocity steps, and of the rest where the robot file has no acceleration limit


def velocity_steps(
    robot: RobotFile,
    joint: int,
    start: Any,
    *,
    count: int = _FEW,
    slowest: float = 0.01,
    fastest: float | None = None,
    travel: float = 1.5,
    rate: float = 500.0,
) -> Plan:
    """One joint back and forth at `count` constant speeds, geometrically spaced up to 0.8 of the speed limit (0.9 of
    the TCP's).

    Slow speeds travel less (2 s, at least 0.2 rad), so that the whole takes minutes. [Madsen2020, ch4 4.2.1]
    Raises CapabilityError where the speeds asked for are above the limit.
    """
    limits = usual_limits(robot)
    a = min(_ramp(limits, joint), _RAMP)
    room, sign = _room(limits, joint, start, travel)
    reach = 0.5 * a * (np.sqrt(_STEADY**2 + 4 * room / a) - _STEADY)  # room = v^2/a + v _STEADY
    allowed = min(0.8 * limits.velocity[joint], _fastest(robot, limits, joint, start))
    top = min(allowed, reach, fastest or np.inf)
    if not 0 < slowest < top:
        raise CapabilityError(f"slowest speed {slowest:g} rad/s is not below the fastest possible, {top:.3g} rad/s")
    q = np.asarray(start, dtype=float)
    parts = []
    for v in np.geomspace(slowest, top, count):
        end = q.copy()
        end[joint] += sign * min(max(2.0 * v + v * v / a, 0.2), room)
        parts += [motions.trapezoid(q, end, rate, v, a), motions.trapezoid(end, q, rate, v, a)]
    return checked(robot, "velocity-steps", [joint], motions.join(*parts), rate)


def reversals(
    robot: RobotFile, joint: int, start: Any, *, turn: float = 2 * np.pi, count: int = 120, rate: float = 500.0
) -> Plan:
    """Slow reciprocating motion: `count` cycles of two steps forward and one back over `turn` [rad].

    120 cycles over a whole turn are the 240 reversals of [Madsen2020, ch4 4.3, ch6 eq. 21].
    """
    limits = usual_limits(robot)
    room, sign = _room(limits, joint, start, turn + turn / count)
    step = sign * (room - room / (count + 1)) / count
    motion = motions.reversals(start, joint, count, step, rate=rate)
    return checked(robot, "reversals", [joint], motion, rate)


def duty_cycles(
    robot: RobotFile,
    joint: int,
    start: Any,
    *,
    duties: Sequence[float] = (1.0, 0.75, 0.5, 0.25),
    minutes: float = 30.0,
    amplitude: float = 1.0,
    period: float = 4.0,
    rate: float = 500.0,
) -> Plan:
    """Oscillation for a share of every minute, `minutes` per duty, hardest first from a cold start [Simoni2017, IV], at
    no more than _HOURS_RATE.
    """
    limits = usual_limits(robot)
    room, sign = _room(limits, joint, start, amplitude)
    fastest = min(_fastest(robot, limits, joint, start), _MARGIN * np.sqrt(limits.acceleration[joint] * room / 2))
    period = max(period, np.pi * room / fastest)
    swing = np.zeros(robot.n_joints)
    swing[joint] = sign * room
    whole = period * max(round(60.0 * minutes / period), 1)  # each duty ends at rest, at the start
    refuse_long(round(whole * rate) * len(duties), rate)
    rate = min(rate, _HOURS_RATE)
    parts = [motions.duty_cycle(start, swing, period, duty, whole, rate) for duty in duties]
    return checked(robot, "duty-cycles", [joint], motions.join(*parts), rate)


def stiffness(
    robot: RobotFile,
    joint: int,
    start: Any,
    *,
    duration: float = 35.0,
    travel: float = 2.0,
    seed: int = 0,
    rate: float = 500.0,
) -> Plan:
    """Bang-coast-bang moves at 30..100 % of speed and acceleration with waits of 0..1 s [Madsen2020, ch3 VII-A]."""
    refuse_long(round(duration * rate), rate)
    limits, draw = usual_limits(robot), np.random.default_rng(seed)
    room, sign = _room(limits, joint, start, travel)
    v_max, a_max = _fastest(robot, limits, joint, start), _ramp(limits, joint)
    here, parts, samples = np.asarray(start, dtype=float), [], 0
    while samples < duration * rate:
        share = draw.uniform(0.3, 1.0, 3)
        end = here.copy()
        far = here[joint] * sign > (start[joint] + sign * room / 2) * sign
        end[joint] = start[joint] + sign * room * (0.5 - share[0] / 2 if far else 0.5 + share[0] / 2)
        parts.append(motions.trapezoid(here, end, rate, share[1] * v_max, share[2] * a_max))
        wait = draw.uniform(0.0, 1.0)
        if wait * rate >= 1:
            parts.append(motions.hold(end, wait, rate))
        samples, here = sum(len(p[0]) for p in parts), end
    return checked(robot, "stiffness", [joint], motions.join(*parts), rate)


JOINT_MOTIONS: dict[str, Callable[..., Plan]] = {
    "velocity-steps": velocity_steps,
    "reversals": reversals,
    "duty-cycles": duty_cycles,
    "stiffness": stiffness,
}


def joined(robot: RobotFile, plans: Sequence[Plan]) -> Plan:
    """One plan after another, moved from the end of each to the start of the next inside the robot's limits."""
    rate, parts, limits = plans[0].rate, [plans[0].motion], usual_limits(robot)
    acceleration = min(1.0, _MARGIN * limits.acceleration.min())
    for before, plan in itertools.pairwise(plans):
        here = parts[-1][0][-1]
        moved = [robot.joint_names.index(name) for name in before.joints]
        velocity = min(0.5, *(_fastest(robot, limits, j, here) for j in moved))
        parts += [motions.quintic(here, plan.start, rate, velocity, acceleration), plan.motion]
    torque = np.max([p.torque for p in plans], axis=0)
    joints = tuple(dict.fromkeys(j for p in plans for j in p.joints))
    return Plan(plans[0].name, joints, motions.join(*parts), rate, torque)


def enough_velocity_steps(robot: RobotFile, joint: int, start: Any, **sizes: Any) -> Plan:
    """`velocity_steps` that are enough for a fit of friction: without `count` the fewest speeds of _FEW to _MANY.

    Raises CapabilityError naming joint, samples of steady sliding and how many a fit of LAW needs.
    """
    need = least_samples(law_named(LAW))
    for count in [sizes.pop("count")] if "count" in sizes else range(_FEW, _MANY + 1, 2):
        plan = velocity_steps(robot, joint, start, count=count, **sizes)
        if (found := _slides(plan, joint)) >= need:
            return plan
    raise CapabilityError(
        f"{plan.name}: {plan.joints[0]} would slide steadily in {found} samples, a fit of {LAW} needs {need}: take "
        "more speeds (--count), more travel (--travel), or a start farther from its limits (--start)"
    )


def _slides(plan: Plan, joint: int) -> int:
    """Samples of steady sliding that velocity steps of one joint (its number) give."""
    every = max(int(plan.rate // _CHECK_RATE), 1)
    q, qd, _ = (x[::every] for x in plan.motion)
    stamps = (np.arange(len(q)) * (1e9 * every / plan.rate)).astype(np.int64)
    nothing, name = np.zeros(len(q)), plan.joints[0]
    try:
        v = measured_sliding(JointRecord(name, stamps, q[:, joint], qd[:, joint], nothing, nothing)).data.v
    except DataError:
        v = np.zeros(0)
    return int((np.abs(v) >= MOVING).sum())


def _fastest(robot: RobotFile, limits: JointLimits, joint: int, start: Any) -> float:
    """Speed [rad/s] of one joint inside its limit and that of the TCP, whose distance from the axis stays as it is."""
    J = RobotModel(robot.kinematic_chain(), robot.joint_names).jacobian(np.array([start], dtype=float))[0]
    radius, most = float(np.linalg.norm(J[:3, joint])), robot.limits.tcp_speed
    fastest = limits.velocity[joint] if most is None else min(limits.velocity[joint], most / max(radius, 1e-9))
    return float(_MARGIN * fastest)


def _ramp(limits: JointLimits, joint: int) -> float:
    a = limits.acceleration[joint]
    return float(_MARGIN * a) if np.isfinite(a) else _RAMP


def _room(limits: JointLimits, joint: int, start: Any, wanted: float) -> tuple[float, float]:
    """Travel [rad] of at most `wanted` and its direction, inside the position limits."""
    q = float(start[joint])
    up, down = limits.upper[joint] - _EDGE - q, q - limits.lower[joint] - _EDGE
    sign = 1.0 if up >= wanted or up >= down else -1.0
    room = min(wanted, up if sign > 0 else down)
    if not wanted > _LEAST:
        raise CapabilityError(f"a travel of {wanted:g} rad must be above {_LEAST:g} rad (--travel)")
    if not room > _LEAST:
        raise CapabilityError(f"joint {joint + 1} stands at {q:.3f} rad, at its limit: choose another start (--start)")
    return float(room), sign
