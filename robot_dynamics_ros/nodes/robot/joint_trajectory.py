"""A JointTrajectory as joint_trajectory_controller takes it: when it begins, in which order its joints are, what is
refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from rclpy.serialization import deserialize_message
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.nodes.topics.encoding import to_ns
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import joint_columns
from robot_dynamics_ros.trajectories.files import MOST_POINTS, Points

# a first point at time zero is where the robot is, within the following error of a controller
START_TOLERANCE = 0.05  # rad
BEYOND_IS_A_WRONG_CLOCK = 60.0  # s that a stamp may lie ahead: planners give fractions of a second

MOST_BYTES = 2_000_000  # of one trajectory: the interpreter is blocked while one is parsed


def parsed(data: bytes) -> JointTrajectory:
    """A serialised trajectory. Raises DataError where it is none, or larger than a robot's motion can be."""
    if len(data) > MOST_BYTES:
        raise DataError(f"trajectory: {len(data)} bytes are more than {MOST_BYTES}")
    try:
        return deserialize_message(data, JointTrajectory)
    except RuntimeError:  # rclpy's RMWError
        raise DataError(f"trajectory: {len(data)} bytes that are no JointTrajectory") from None


def read_points(message: JointTrajectory, robot: RobotFile) -> Points:
    """The points of a message, their times counted from its stamp.

    Raises DataError: no points, a joint is missing, a point without one position per joint.
    """
    columns = joint_columns(message.joint_names, robot.joint_names, robot.joint_aliases)
    count = len(message.joint_names)
    if not message.points:
        raise DataError("trajectory: no points")
    if len(message.points) > MOST_POINTS:
        raise DataError(f"trajectory: {len(message.points)} points are more than {MOST_POINTS}")
    if any(len(p.positions) != count for p in message.points):
        raise DataError("trajectory: every point needs one position per joint")
    times = np.array([p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in message.points])
    q = np.array([p.positions for p in message.points])[:, columns]
    given = all(len(p.velocities) == count for p in message.points)
    return Points(times, q, np.array([p.velocities for p in message.points])[:, columns] if given else None)


def from_here(message: JointTrajectory, robot: RobotFile, here: Any, now_ns: int) -> Points:
    """The motion from `here` (n,) [rad], at rest, through the points, times counted from now.

    Stamp zero: now is the start. Any other stamp: points whose time is over are left out. Raises DataError with the
    reason: not exactly the robot's joints, times that do not increase, a last point with velocity, a stamp far ahead,
    an end that is over, a first point that is due now but is not where the robot is.
    """
    _refuse_joints(message, robot)
    times, q, qd = read_points(message, robot)
    if not (np.diff(times) > 0).all() or times[0] < 0:
        raise DataError("trajectory: time_from_start must be positive and increase strictly")
    if qd is not None and np.abs(qd[-1]).max() > 0:
        raise DataError("trajectory: the velocity of the last point must be zero")
    stamped, ahead = to_ns(message.header.stamp) != 0, seconds_ahead(message, now_ns)
    if ahead > BEYOND_IS_A_WRONG_CLOCK:
        raise DataError(_wrong_clock(message, now_ns))
    times = times + ahead
    if not times[-1] > 0 and (stamped or len(times) > 1):
        raise DataError(f"trajectory: its end is over since {-times[-1]:.1f} s, by its stamp")
    due = times > 0
    if not stamped and not due[0]:
        _refuse_jump(q[0], np.asarray(here), robot)
    times, q = np.r_[0.0, times[due]], np.vstack([here, q[due]])
    return Points(times, q, None if qd is None else np.vstack([np.zeros(q.shape[1]), qd[due]]))


def seconds_ahead(message: JointTrajectory, now_ns: int) -> float:
    """Seconds from now to the stamp of a message, 0 without a stamp."""
    stamp_ns = to_ns(message.header.stamp)
    return 1e-9 * (stamp_ns - now_ns) if stamp_ns else 0.0


def _wrong_clock(message: JointTrajectory, now_ns: int) -> str:
    return (
        f"trajectory: its stamp {1e-9 * to_ns(message.header.stamp):.1f} s is {seconds_ahead(message, now_ns):.1f} s "
        f"after now, {1e-9 * now_ns:.1f} s, more than {BEYOND_IS_A_WRONG_CLOCK:g} s: compare the clocks of the sender "
        "and of this node"
    )


def _refuse_joints(message: JointTrajectory, robot: RobotFile) -> None:
    known = {*robot.joint_names, *robot.joint_aliases}
    unknown = [name for name in message.joint_names if name not in known]
    if unknown:
        raise DataError(f"trajectory: {unknown[0]!r} is no joint of {robot.name}")
    if len(message.joint_names) < robot.n_joints:
        raise DataError(
            f"trajectory: {len(message.joint_names)} of {robot.n_joints} joints; goals for some joints are not taken"
        )


def _refuse_jump(first: NDArray[np.float64], here: NDArray[np.float64], robot: RobotFile) -> None:
    distance = np.abs(first - here)
    if not distance.max() <= START_TOLERANCE:
        joint = robot.joint_names[int(np.argmax(distance))]
        raise DataError(
            f"trajectory: its first point is due at once, but {joint} is {distance.max():.2f} rad from it; "
            "give the first point a time_from_start"
        )
