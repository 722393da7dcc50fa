"""Questions about the robot's state, dynamics and kinematics."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.simulation.ur.arm import DT
from robot_dynamics_ros.simulation.ur.commands.table import command
from robot_dynamics_ros.simulation.ur.kinematics import matrix_to_pose, pose_to_matrix

if TYPE_CHECKING:
    from robot_dynamics_ros.simulation.ur.command_loop import CommandLoop


@command(26, "GET_STEPTIME", realtime=True)
def get_steptime(loop: CommandLoop) -> None:
    """Controller cycle [s]."""
    loop.answer(np.array([DT]))


@command(27, "GET_ACTUAL_JOINT_POSITIONS_HISTORY", realtime=True)
def joint_positions_history(loop: CommandLoop) -> None:
    """Measured joint positions a number of cycles ago."""
    loop.answer(loop.controller.arm.position_history(loop.integers(1, 1)[0]))


@command(38, "GET_JOINT_TORQUES", realtime=True)
def get_joint_torques(loop: CommandLoop) -> None:
    """Measured torque of each joint less what moves the robot itself: rigid-body torque and friction by the model."""
    loop.answer(loop.controller.arm.joint_torques(*loop.controller.target[1:]))


@command(67, "GET_MASS_MATRIX", realtime=True)
def get_mass_matrix(loop: CommandLoop) -> None:
    """Joint-space mass matrix at the present position, without rotor inertia, by columns."""
    _answer_matrix(loop, loop.controller.arm.model.mass_matrix(loop.controller.arm.q))


@command(68, "GET_CORIOLIS_AND_CENTRIFUGAL_TORQUES", realtime=True)
def get_coriolis(loop: CommandLoop) -> None:
    """Coriolis and centrifugal torques at the present state."""
    arm = loop.controller.arm
    loop.answer(arm.model.coriolis(arm.q, arm.qd))


@command(69, "GET_TARGET_JOINT_ACCELERATIONS", realtime=True)
def get_target_qdd(loop: CommandLoop) -> None:
    """target_qdd."""
    loop.answer(loop.controller.target[2])


@command(70, "GET_JACOBIAN", realtime=True)
def get_jacobian(loop: CommandLoop) -> None:
    """Jacobian of the TCP at the present position, by columns."""
    _answer_matrix(loop, loop.controller.kinematics.jacobian(loop.controller.arm.q))


@command(71, "GET_JACOBIAN_TIME_DERIVATIVE", realtime=True)
def get_jacobian_derivative(loop: CommandLoop) -> None:
    """Time derivative of the Jacobian, by a central difference along the joint velocity."""
    arm, step = loop.controller.arm, 1e-5
    ahead = loop.controller.kinematics.jacobian(arm.q + step * arm.qd)
    behind = loop.controller.kinematics.jacobian(arm.q - step * arm.qd)
    _answer_matrix(loop, (ahead - behind) / (2 * step))


def _answer_matrix(loop: CommandLoop, matrix: np.ndarray) -> None:
    columns = np.asarray(matrix).T.ravel()
    loop.answer(columns[:24])
    loop.answer(columns[24:], first=36)


@command(28, "GET_TARGET_WAYPOINT")
def get_target_waypoint(loop: CommandLoop) -> None:
    """Tool pose at which the present motion aims: the present target pose."""
    loop.answer(matrix_to_pose(loop.controller.kinematics.tcp(loop.controller.target[0])))


@command(30, "GET_INVERSE_KINEMATICS_ARGS")
def inverse_kinematics_near(loop: CommandLoop) -> None:
    """Joint positions of a tool pose, near the given ones."""
    loop.answer(loop.controller.inverse_kinematics(loop.doubles(0, 6), loop.doubles(6, 6)))


@command(46, "GET_INVERSE_KINEMATICS_DEFAULT")
def inverse_kinematics(loop: CommandLoop) -> None:
    """Joint positions of a tool pose, near the present ones."""
    loop.answer(loop.controller.inverse_kinematics(loop.doubles(0, 6)))


@command(60, "GET_INVERSE_KINEMATICS_HAS_SOLUTION_DEFAULT")
def has_solution(loop: CommandLoop) -> None:
    """Whether a tool pose can be reached."""
    goal = pose_to_matrix(loop.doubles(0, 6))
    loop.answer_int(loop.controller.kinematics.solve(goal, loop.controller.arm.q) is not None)


@command(61, "GET_INVERSE_KINEMATICS_HAS_SOLUTION_ARGS")
def has_solution_near(loop: CommandLoop) -> None:
    """Whether a tool pose can be reached from the given joint positions."""
    goal = pose_to_matrix(loop.doubles(0, 6))
    loop.answer_int(loop.controller.kinematics.solve(goal, loop.doubles(6, 6)) is not None)


@command(36, "IS_POSE_WITHIN_SAFETY_LIMITS")
def pose_within_limits(loop: CommandLoop) -> None:
    """Whether a tool pose can be reached within the joint limits."""
    q = loop.controller.kinematics.solve(pose_to_matrix(loop.doubles(0, 6)), loop.controller.arm.q)
    loop.answer_int(q is not None and loop.controller.arm.within_limits(q))


@command(37, "IS_JOINTS_WITHIN_SAFETY_LIMITS")
def joints_within_limits(loop: CommandLoop) -> None:
    """Whether joint positions are within the joint limits."""
    loop.answer_int(loop.controller.arm.within_limits(loop.doubles(0, 6)))


@command(39, "POSE_TRANS")
def pose_trans(loop: CommandLoop) -> None:
    """Second pose seen from the first."""
    product = pose_to_matrix(loop.doubles(0, 6)) @ pose_to_matrix(loop.doubles(6, 6))
    loop.answer(matrix_to_pose(product))


@command(40, "GET_TCP_OFFSET")
def get_tcp_offset(loop: CommandLoop) -> None:
    """TCP pose relative to the flange."""
    loop.answer(loop.controller.kinematics.tcp_offset)


@command(43, "GET_FORWARD_KINEMATICS_DEFAULT")
def forward_kinematics(loop: CommandLoop) -> None:
    """Tool pose at the present position."""
    loop.answer(loop.controller.forward_kinematics(loop.controller.arm.q))


@command(44, "GET_FORWARD_KINEMATICS_ARGS")
def forward_kinematics_of(loop: CommandLoop) -> None:
    """Tool pose at given joint positions with a given TCP offset."""
    flange = loop.controller.kinematics.flange(loop.doubles(0, 6))
    loop.answer(matrix_to_pose(flange @ pose_to_matrix(loop.doubles(6, 6))))


@command(47, "IS_STEADY")
def is_steady(loop: CommandLoop) -> None:
    """Whether the robot stands still."""
    loop.answer_int(loop.controller.motion.finished)


@command(58, "GET_ACTUAL_TOOL_FLANGE_POSE", realtime=True)
def flange_pose(loop: CommandLoop) -> None:
    """Flange pose at the measured position."""
    loop.answer(matrix_to_pose(loop.controller.kinematics.flange(loop.controller.arm.q)))
