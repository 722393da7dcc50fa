"""The commands of the ur_rtde 1.6.5 control script: register value -> what the controller does.

A real-time command is carried out in every cycle in which the command register holds it. Any other command runs once;
an action that is a generator takes as many cycles as it yields.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.simulation.ur_controller import motion
from robot_dynamics_ros.simulation.ur_controller.kinematics import matrix_to_pose, pose_to_matrix
from robot_dynamics_ros.simulation.ur_controller.program import CommandLoop, Waiting

Action = Callable[[CommandLoop], "Waiting | None"]


@dataclass(frozen=True)
class Command:
    """One row of the table."""

    identifier: int
    name: str
    realtime: bool
    action: Action
    help: str


COMMANDS: dict[int, Command] = {}


def command(identifier: int, name: str, realtime: bool = False) -> Callable[[Action], Action]:
    """Enter a function into the table; its docstring is the documentation."""

    def enter(action: Action) -> Action:
        COMMANDS[identifier] = Command(identifier, name, realtime, action, (action.__doc__ or "").strip())
        return action

    return enter


# -- moves ------------------------------------------------------------------------------------------------------------
def _run_move(loop: CommandLoop, build: Callable[[np.ndarray], motion.Motion]) -> Waiting:
    loop.stop_asynchronous()
    if loop.integers(1, 1)[0] == 1:
        loop.start_asynchronous(_move(loop, build))
    else:
        yield from _move(loop, build)


def _move(loop: CommandLoop, build: Callable[[np.ndarray], motion.Motion]) -> Waiting:
    yield from loop.controller.wait_for(loop.controller.start(build))


def _joint_move(loop: CommandLoop, target: np.ndarray) -> Waiting:
    velocity, acceleration = loop.doubles(6, 2)
    return _run_move(loop, lambda q: motion.MoveJ(q, [(target, velocity, acceleration, 0.0)]))


def _tool_move(loop: CommandLoop, pose: np.ndarray) -> Waiting:
    velocity, acceleration = loop.doubles(6, 2)
    return _run_move(loop, lambda q: motion.MoveL(loop.controller.kinematics, q, pose, velocity, acceleration))


@command(1, "MOVEJ")
def movej(loop: CommandLoop) -> Waiting:
    """Joint move on a trapezoidal profile, blocking or asynchronous."""
    return _joint_move(loop, loop.doubles(0, 6))


@command(2, "MOVEJ_IK")
def movej_ik(loop: CommandLoop) -> Waiting:
    """Joint move to a tool pose."""
    return _joint_move(loop, loop.controller.inverse_kinematics(loop.doubles(0, 6)))


@command(3, "MOVEL")
def movel(loop: CommandLoop) -> Waiting:
    """Straight tool move to a pose."""
    return _tool_move(loop, loop.doubles(0, 6))


@command(4, "MOVEL_FK")
def movel_fk(loop: CommandLoop) -> Waiting:
    """Straight tool move to joint positions."""
    return _tool_move(loop, loop.controller.forward_kinematics(loop.doubles(0, 6)))


@command(45, "MOVE_PATH")
def move_path(loop: CommandLoop) -> Waiting:
    """The waypoints injected into the uploaded script, blended where they ask for it."""
    path = loop.path(loop.script.path)
    loop.stop_asynchronous()
    if loop.integers(1, 1)[0] == 1:
        loop.start_asynchronous(path)
        return iter(())
    return path


# -- streamed motion --------------------------------------------------------------------------------------------------
@command(9, "SPEEDJ", realtime=True)
def speedj(loop: CommandLoop) -> None:
    """Joint velocity, ramped with the given acceleration; holds until SPEED_STOP."""
    loop.controller.speed(loop.doubles(0, 6), loop.double(6), tool=False)


@command(10, "SPEEDL", realtime=True)
def speedl(loop: CommandLoop) -> None:
    """Tool twist in the base frame, ramped with the given acceleration; holds until SPEED_STOP."""
    loop.controller.speed(loop.doubles(0, 6), loop.double(6), tool=True)


@command(11, "SERVOJ", realtime=True)
def servoj(loop: CommandLoop) -> None:
    """Follow a streamed joint position with lookahead and gain; holds the last one until SERVO_STOP."""
    lookahead, gain = loop.doubles(9, 2)
    loop.controller.servo(loop.doubles(0, 6), lookahead, gain)


@command(24, "SERVOL", realtime=True)
def servol(loop: CommandLoop) -> None:
    """Follow a streamed tool pose with lookahead and gain."""
    lookahead, gain = loop.doubles(9, 2)
    loop.controller.servo(loop.controller.inverse_kinematics(loop.doubles(0, 6)), lookahead, gain)


@command(15, "SPEED_STOP")
def speed_stop(loop: CommandLoop) -> Waiting:
    """Decelerate and hold."""
    return _stop(loop, joints=True)


@command(16, "SERVO_STOP")
def servo_stop(loop: CommandLoop) -> Waiting:
    """Decelerate along the tool path and hold."""
    return _stop(loop, joints=False)


@command(33, "STOPL")
def stopl(loop: CommandLoop) -> Waiting:
    """Decelerate with a tool deceleration, blocking or asynchronous; ends an asynchronous move."""
    return _stop_command(loop, joints=False)


@command(34, "STOPJ")
def stopj(loop: CommandLoop) -> Waiting:
    """Decelerate with a joint deceleration, blocking or asynchronous; ends an asynchronous move."""
    return _stop_command(loop, joints=True)


def _stop(loop: CommandLoop, joints: bool) -> Waiting:
    controller, deceleration = loop.controller, loop.double(0)
    yield from controller.wait_for(
        controller.stop_joints(deceleration) if joints else controller.stop_tool(deceleration)
    )


def _stop_command(loop: CommandLoop, joints: bool) -> Waiting:
    loop.stop_asynchronous()
    stopping = _stop(loop, joints)
    if loop.integers(1, 1)[0] == 1:
        loop.start_asynchronous(stopping)
        return iter(())
    return stopping


# -- force, torque, hand guiding --------------------------------------------------------------------------------------
@command(6, "FORCE_MODE", realtime=True)
def force_mode(loop: CommandLoop) -> None:
    """Acknowledged and shown in the state query; the robot does not become compliant."""
    loop.controller.force_mode = {
        "type": loop.integers(1, 1)[0],
        "selection": loop.integers(2, 6),
        "frame": loop.doubles(0, 6).tolist(),
        "wrench": loop.doubles(6, 6).tolist(),
        "limits": loop.doubles(12, 6).tolist(),
    }


@command(7, "FORCE_MODE_STOP")
def force_mode_stop(loop: CommandLoop) -> Waiting:
    """Leave force mode and stop."""
    loop.controller.force_mode = None
    return loop.controller.wait_for(loop.controller.stop_tool(10.0))


@command(8, "ZERO_FT_SENSOR")
def zero_ft_sensor(loop: CommandLoop) -> None:
    """Subtract the present reading from the force sensor."""
    loop.controller.arm.zero_force_sensor()


@command(18, "TEACH_MODE")
def teach_mode(loop: CommandLoop) -> None:
    """Let the robot be pushed by external wrenches: gravity compensated, damped."""
    loop.controller.free_drive(True)


@command(19, "END_TEACH_MODE")
def end_teach_mode(loop: CommandLoop) -> None:
    """Hold the position reached."""
    loop.controller.free_drive(False)


@command(52, "FREEDRIVE_MODE")
def freedrive_mode(loop: CommandLoop) -> None:
    """As teach mode; locked axes and the feature frame are ignored."""
    loop.controller.free_drive(True)


@command(53, "END_FREEDRIVE_MODE")
def end_freedrive_mode(loop: CommandLoop) -> None:
    """Hold the position reached."""
    loop.controller.free_drive(False)


@command(54, "GET_FREEDRIVE_STATUS")
def get_freedrive_status(loop: CommandLoop) -> None:
    """0 normal, 1 near a singularity: always 0."""
    loop.answer_int(0)


@command(66, "DIRECT_TORQUE", realtime=True)
def direct_torque(loop: CommandLoop) -> None:
    """Torque per joint on top of gravity, with the friction scales the uploaded script passes; lasts one cycle."""
    call = loop.script.torque
    if call is not None:
        loop.controller.command_torque(
            loop.source(call.torque), loop.source(call.viscous_scale), loop.source(call.coulomb_scale)
        )


# -- settings ---------------------------------------------------------------------------------------------------------
@command(17, "SET_PAYLOAD")
def set_payload(loop: CommandLoop) -> None:
    """Payload mass and centre of gravity the controller assumes; a zero centre keeps the present one."""
    center = loop.doubles(1, 3)
    loop.controller.set_payload(loop.double(0), center if np.any(center) else None)


@command(65, "SET_TARGET_PAYLOAD")
def set_target_payload(loop: CommandLoop) -> None:
    """As SET_PAYLOAD, with the inertia about the centre of gravity (Ixx Iyy Izz Ixy Ixz Iyz)."""
    center = loop.doubles(1, 3)
    loop.controller.set_payload(loop.double(0), center if np.any(center) else None, loop.doubles(4, 6))


@command(29, "SET_TCP")
def set_tcp(loop: CommandLoop) -> None:
    """TCP pose relative to the flange."""
    loop.controller.kinematics.set_tcp(loop.doubles(0, 6))


@command(59, "SET_GRAVITY")
def set_gravity(loop: CommandLoop) -> None:
    """Acknowledged; the plant's gravity does not change."""


@command(20, "FORCE_MODE_SET_DAMPING")
def force_mode_set_damping(loop: CommandLoop) -> None:
    """Acknowledged."""


@command(21, "FORCE_MODE_SET_GAIN_SCALING")
def force_mode_set_gain_scaling(loop: CommandLoop) -> None:
    """Acknowledged."""


@command(35, "SET_WATCHDOG")
def set_watchdog(loop: CommandLoop) -> None:
    """Stop the program when the command register is not written at this rate; ends with the program."""
    loop.controller.set_watchdog(f"input_int_register_{loop.script.register_offset}", loop.double(0))


@command(31, "PROTECTIVE_STOP")
def protective_stop(loop: CommandLoop) -> None:
    """Stop protectively, as a collision would."""
    loop.controller.protective_stop("requested by the program")


# -- questions --------------------------------------------------------------------------------------------------------
@command(26, "GET_STEPTIME", realtime=True)
def get_steptime(loop: CommandLoop) -> None:
    """Controller cycle [s]."""
    loop.answer(np.array([0.002]))


@command(27, "GET_ACTUAL_JOINT_POSITIONS_HISTORY", realtime=True)
def joint_positions_history(loop: CommandLoop) -> None:
    """Measured joint positions a number of cycles ago."""
    loop.answer(loop.controller.position_history(loop.integers(1, 1)[0]))


@command(38, "GET_JOINT_TORQUES", realtime=True)
def get_joint_torques(loop: CommandLoop) -> None:
    """Torque of each joint less gravity and the controller's model of friction."""
    loop.answer(loop.controller.joint_torques())


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


def implemented() -> Iterator[Command]:
    """The table in order of identifiers."""
    return iter(sorted(COMMANDS.values(), key=lambda entry: entry.identifier))
