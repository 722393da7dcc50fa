"""Questions about the robot's state, dynamics and kinematics."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.simulation.ur.arm import DT
from robot_dynamics_ros.simulation.ur.commands.table import CommandContext, command
from robot_dynamics_ros.simulation.ur.kinematics import matrix_to_pose, pose_to_matrix


@command(26, "GET_STEPTIME", realtime=True)
def get_steptime(context: CommandContext) -> None:
    """Controller cycle [s]."""
    context.answer(np.array([DT]))


@command(27, "GET_ACTUAL_JOINT_POSITIONS_HISTORY", realtime=True)
def joint_positions_history(context: CommandContext) -> None:
    """Measured joint positions a number of cycles ago."""
    context.answer(context.controller.arm.position_history(context.integers(1, 1)[0]))


@command(38, "GET_JOINT_TORQUES", realtime=True)
def get_joint_torques(context: CommandContext) -> None:
    """Measured torque of each joint less what moves the robot itself: rigid-body torque and friction by the model."""
    context.answer(context.controller.arm.joint_torques(*context.controller.target[1:]))


@command(67, "GET_MASS_MATRIX", realtime=True)
def get_mass_matrix(context: CommandContext) -> None:
    """Joint-space mass matrix at the present position, without rotor inertia, by columns."""
    _answer_matrix(context, context.controller.arm.model.mass_matrix(context.controller.arm.q))


@command(68, "GET_CORIOLIS_AND_CENTRIFUGAL_TORQUES", realtime=True)
def get_coriolis(context: CommandContext) -> None:
    """Coriolis and centrifugal torques at the present state."""
    arm = context.controller.arm
    context.answer(arm.model.coriolis(arm.q, arm.qd))


@command(69, "GET_TARGET_JOINT_ACCELERATIONS", realtime=True)
def get_target_qdd(context: CommandContext) -> None:
    """target_qdd."""
    context.answer(context.controller.target[2])


@command(70, "GET_JACOBIAN", realtime=True)
def get_jacobian(context: CommandContext) -> None:
    """Jacobian of the TCP at the present position, by columns."""
    _answer_matrix(context, context.controller.kinematics.jacobian(context.controller.arm.q))


@command(71, "GET_JACOBIAN_TIME_DERIVATIVE", realtime=True)
def get_jacobian_derivative(context: CommandContext) -> None:
    """Time derivative of the Jacobian, by a central difference along the joint velocity."""
    arm, step = context.controller.arm, 1e-5
    ahead = context.controller.kinematics.jacobian(arm.q + step * arm.qd)
    behind = context.controller.kinematics.jacobian(arm.q - step * arm.qd)
    _answer_matrix(context, (ahead - behind) / (2 * step))


def _answer_matrix(context: CommandContext, matrix: np.ndarray) -> None:
    columns = np.asarray(matrix).T.ravel()
    context.answer(columns[:24])
    context.answer(columns[24:], first=36)


@command(28, "GET_TARGET_WAYPOINT")
def get_target_waypoint(context: CommandContext) -> None:
    """Tool pose at which the present motion aims: the present target pose."""
    context.answer(matrix_to_pose(context.controller.kinematics.tcp(context.controller.target[0])))


@command(30, "GET_INVERSE_KINEMATICS_ARGS")
def inverse_kinematics_near(context: CommandContext) -> None:
    """Joint positions of a tool pose, near the given ones."""
    context.answer(context.controller.inverse_kinematics(context.doubles(0, 6), context.doubles(6, 6)))


@command(46, "GET_INVERSE_KINEMATICS_DEFAULT")
def inverse_kinematics(context: CommandContext) -> None:
    """Joint positions of a tool pose, near the present ones."""
    context.answer(context.controller.inverse_kinematics(context.doubles(0, 6)))


@command(60, "GET_INVERSE_KINEMATICS_HAS_SOLUTION_DEFAULT")
def has_solution(context: CommandContext) -> None:
    """Whether a tool pose can be reached."""
    goal = pose_to_matrix(context.doubles(0, 6))
    context.answer_int(context.controller.kinematics.solve(goal, context.controller.arm.q) is not None)


@command(61, "GET_INVERSE_KINEMATICS_HAS_SOLUTION_ARGS")
def has_solution_near(context: CommandContext) -> None:
    """Whether a tool pose can be reached from the given joint positions."""
    goal = pose_to_matrix(context.doubles(0, 6))
    context.answer_int(context.controller.kinematics.solve(goal, context.doubles(6, 6)) is not None)


@command(36, "IS_POSE_WITHIN_SAFETY_LIMITS")
def pose_within_limits(context: CommandContext) -> None:
    """Whether a tool pose can be reached within the joint limits."""
    q = context.controller.kinematics.solve(pose_to_matrix(context.doubles(0, 6)), context.controller.arm.q)
    context.answer_int(q is not None and context.controller.arm.within_limits(q))


@command(37, "IS_JOINTS_WITHIN_SAFETY_LIMITS")
def joints_within_limits(context: CommandContext) -> None:
    """Whether joint positions are within the joint limits."""
    context.answer_int(context.controller.arm.within_limits(context.doubles(0, 6)))


@command(39, "POSE_TRANS")
def pose_trans(context: CommandContext) -> None:
    """Second pose seen from the first."""
    product = pose_to_matrix(context.doubles(0, 6)) @ pose_to_matrix(context.doubles(6, 6))
    context.answer(matrix_to_pose(product))


@command(40, "GET_TCP_OFFSET")
def get_tcp_offset(context: CommandContext) -> None:
    """TCP pose relative to the flange."""
    context.answer(context.controller.kinematics.tcp_offset)


@command(43, "GET_FORWARD_KINEMATICS_DEFAULT")
def forward_kinematics(context: CommandContext) -> None:
    """Tool pose at the present position."""
    context.answer(context.controller.forward_kinematics(context.controller.arm.q))


@command(44, "GET_FORWARD_KINEMATICS_ARGS")
def forward_kinematics_of(context: CommandContext) -> None:
    """Tool pose at given joint positions with a given TCP offset."""
    flange = context.controller.kinematics.flange(context.doubles(0, 6))
    context.answer(matrix_to_pose(flange @ pose_to_matrix(context.doubles(6, 6))))


@command(47, "IS_STEADY")
def is_steady(context: CommandContext) -> None:
    """Whether the robot stands still."""
    context.answer_int(context.controller.motion.finished)


@command(58, "GET_ACTUAL_TOOL_FLANGE_POSE", realtime=True)
def flange_pose(context: CommandContext) -> None:
    """Flange pose at the measured position."""
    context.answer(matrix_to_pose(context.controller.kinematics.flange(context.controller.arm.q)))
