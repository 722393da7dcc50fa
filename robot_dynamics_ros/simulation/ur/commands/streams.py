"""Motions that follow a stream of commands, and stopping them."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.simulation.ur import motion
from robot_dynamics_ros.simulation.ur.commands.table import CommandContext, command
from robot_dynamics_ros.simulation.ur.kinematics import pose_to_matrix
from robot_dynamics_ros.simulation.ur.program import ProgramError, Waiting


@command(9, "SPEEDJ", realtime=True)
def speedj(context: CommandContext) -> None:
    """Joint velocity, ramped with the given acceleration; holds until SPEED_STOP."""
    context.controller.speed(context.doubles(0, 6), context.double(6), tool=False)


@command(10, "SPEEDL", realtime=True)
def speedl(context: CommandContext) -> None:
    """Tool twist in the base frame, ramped with the given acceleration; holds until SPEED_STOP."""
    context.controller.speed(context.doubles(0, 6), context.double(6), tool=True)


@command(11, "SERVOJ", realtime=True)
def servoj(context: CommandContext) -> None:
    """Follow a streamed joint position with lookahead and gain; holds the last one until SERVO_STOP."""
    lookahead, gain = context.doubles(9, 2)
    context.controller.servo(context.doubles(0, 6), lookahead, gain)


@command(24, "SERVOL", realtime=True)
def servol(context: CommandContext) -> None:
    """Follow a streamed tool pose with lookahead and gain."""
    lookahead, gain = context.doubles(9, 2)
    context.controller.servo(context.controller.inverse_kinematics(context.doubles(0, 6)), lookahead, gain)


@command(15, "SPEED_STOP")
def speed_stop(context: CommandContext) -> Waiting:
    """Decelerate and hold."""
    return _stop(context, joints=True)


@command(16, "SERVO_STOP")
def servo_stop(context: CommandContext) -> Waiting:
    """Decelerate along the tool path and hold."""
    return _stop(context, joints=False)


@command(33, "STOPL")
def stopl(context: CommandContext) -> Waiting:
    """Decelerate with a tool deceleration, blocking or asynchronous; ends an asynchronous move."""
    return _stop_command(context, joints=False)


@command(34, "STOPJ")
def stopj(context: CommandContext) -> Waiting:
    """Decelerate with a joint deceleration, blocking or asynchronous; ends an asynchronous move."""
    return _stop_command(context, joints=True)


def _stop(context: CommandContext, joints: bool) -> Waiting:
    controller, deceleration = context.controller, context.double(0)
    yield from controller.wait_for(
        controller.stop_joints(deceleration) if joints else controller.stop_tool(deceleration)
    )


def _stop_command(context: CommandContext, joints: bool) -> Waiting:
    context.stop_asynchronous()
    stopping = _stop(context, joints)
    if context.integers(1, 1)[0] == 1:
        context.start_asynchronous(stopping)
        return iter(())
    return stopping


@command(12, "SERVOC")
def servoc(context: CommandContext) -> None:
    """A straight tool move to a pose, without the circular blend of the robot; holds it until SERVO_STOP."""
    pose, (velocity, acceleration) = context.doubles(0, 6), context.doubles(6, 2)
    controller = context.controller
    controller.start(lambda q: motion.MoveL(controller.kinematics, q, pose, velocity, acceleration))


@command(41, "JOG_START")
def jog_start(context: CommandContext) -> None:
    """Tool twist in the base (0), tool (1) or a custom (2) frame until JOG_STOP; other features are refused."""
    controller, twist = context.controller, context.doubles(0, 6)
    feature, acceleration = context.doubles(6, 2)
    frames = {
        0: lambda: np.eye(4),
        1: lambda: controller.kinematics.tcp(controller.arm.q),
        2: lambda: pose_to_matrix(context.doubles(8, 6)),
    }
    if int(feature) not in frames:
        raise ProgramError(f"jog feature {feature} is not 0, 1 or 2")
    rotation = frames[int(feature)]()[:3, :3]
    controller.speed(np.concatenate([rotation @ twist[:3], rotation @ twist[3:]]), acceleration, tool=True)


@command(42, "JOG_STOP")
def jog_stop(context: CommandContext) -> Waiting:
    """Decelerate and hold."""
    return context.controller.wait_for(context.controller.stop_tool(1.2))
