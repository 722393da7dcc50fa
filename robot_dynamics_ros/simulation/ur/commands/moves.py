"""Moves to a target, blocking or asynchronous."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robot_dynamics_ros.simulation.ur import motion
from robot_dynamics_ros.simulation.ur.commands.table import CommandContext, command
from robot_dynamics_ros.simulation.ur.program import Waiting


def _run_move(context: CommandContext, build: Callable[[np.ndarray], motion.Motion]) -> Waiting:
    context.stop_asynchronous()
    if context.integers(1, 1)[0] == 1:
        context.start_asynchronous(_move(context, build))
    else:
        yield from _move(context, build)


def _move(context: CommandContext, build: Callable[[np.ndarray], motion.Motion]) -> Waiting:
    yield from context.controller.wait_for(context.controller.start(build))


def _joint_move(context: CommandContext, target: np.ndarray) -> Waiting:
    velocity, acceleration = context.doubles(6, 2)
    return _run_move(context, lambda q: motion.MoveJ(q, [(target, velocity, acceleration, 0.0)]))


def _tool_move(context: CommandContext, pose: np.ndarray) -> Waiting:
    velocity, acceleration = context.doubles(6, 2)
    return _run_move(context, lambda q: motion.MoveL(context.controller.kinematics, q, pose, velocity, acceleration))


@command(1, "MOVEJ")
def movej(context: CommandContext) -> Waiting:
    """Joint move on a trapezoidal profile, blocking or asynchronous."""
    return _joint_move(context, context.doubles(0, 6))


@command(2, "MOVEJ_IK")
def movej_ik(context: CommandContext) -> Waiting:
    """Joint move to a tool pose."""
    return _joint_move(context, context.controller.inverse_kinematics(context.doubles(0, 6)))


@command(3, "MOVEL")
def movel(context: CommandContext) -> Waiting:
    """Straight tool move to a pose."""
    return _tool_move(context, context.doubles(0, 6))


@command(4, "MOVEL_FK")
def movel_fk(context: CommandContext) -> Waiting:
    """Straight tool move to joint positions."""
    return _tool_move(context, context.controller.forward_kinematics(context.doubles(0, 6)))


@command(45, "MOVE_PATH")
def move_path(context: CommandContext) -> Waiting:
    """The waypoints injected into the uploaded script, blended where they ask for it."""
    path = context.path(context.script.path)
    context.stop_asynchronous()
    if context.integers(1, 1)[0] == 1:
        context.start_asynchronous(path)
        return iter(())
    return path
