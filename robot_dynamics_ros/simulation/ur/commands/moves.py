"""Moves to a target, blocking or asynchronous."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.simulation.ur import motion
from robot_dynamics_ros.simulation.ur.commands.table import command
from robot_dynamics_ros.simulation.ur.program import Waiting

if TYPE_CHECKING:
    from robot_dynamics_ros.simulation.ur.command_loop import CommandLoop


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
