"""Motions that follow a stream of commands, and stopping them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.simulation.ur import motion
from robot_dynamics_ros.simulation.ur.commands.table import command
from robot_dynamics_ros.simulation.ur.kinematics import pose_to_matrix
from robot_dynamics_ros.simulation.ur.program import ProgramError, Waiting

if TYPE_CHECKING:
    from robot_dynamics_ros.simulation.ur.command_loop import CommandLoop


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


@command(12, "SERVOC")
def servoc(loop: CommandLoop) -> None:
    """A straight tool move to a pose, without the circular blend of the robot; holds it until SERVO_STOP."""
    pose, (velocity, acceleration) = loop.doubles(0, 6), loop.doubles(6, 2)
    controller = loop.controller
    controller.start(lambda q: motion.MoveL(controller.kinematics, q, pose, velocity, acceleration))


@command(41, "JOG_START")
def jog_start(loop: CommandLoop) -> None:
    """Tool twist in the base (0), tool (1) or a custom (2) frame until JOG_STOP; other features are refused."""
    controller, twist = loop.controller, loop.doubles(0, 6)
    feature, acceleration = loop.doubles(6, 2)
    frames = {
        0: lambda: np.eye(4),
        1: lambda: controller.kinematics.tcp(controller.arm.q),
        2: lambda: pose_to_matrix(loop.doubles(8, 6)),
    }
    if int(feature) not in frames:
        raise ProgramError(f"jog feature {feature} is not 0, 1 or 2")
    rotation = frames[int(feature)]()[:3, :3]
    controller.speed(np.concatenate([rotation @ twist[:3], rotation @ twist[3:]]), acceleration, tool=True)


@command(42, "JOG_STOP")
def jog_stop(loop: CommandLoop) -> Waiting:
    """Decelerate and hold."""
    return loop.controller.wait_for(loop.controller.stop_tool(1.2))
