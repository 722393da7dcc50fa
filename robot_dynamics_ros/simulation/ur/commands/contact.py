"""Contact detection: how long the environment has been pushing against a direction."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.simulation.ur import motion
from robot_dynamics_ros.simulation.ur.commands.table import command
from robot_dynamics_ros.simulation.ur.program import Waiting

if TYPE_CHECKING:
    from robot_dynamics_ros.simulation.ur.command_loop import CommandLoop
    from robot_dynamics_ros.simulation.ur.controller import Controller

CONTACT_FORCE = 10.0  # N against the direction of motion
RETREAT = (1.05, 1.4)  # rad/s, rad/s2 of the move back to the first point of contact


def tool_contact(controller: Controller, direction: np.ndarray) -> int:
    """Cycles since contact began, 0 without contact; a zero direction means any."""
    force = controller.arm.external_wrench[:3]
    length = float(np.linalg.norm(direction[:3]))
    against = -float(force @ direction[:3]) / length if length > 0 else float(np.linalg.norm(force))
    return controller.contact_cycles if against > CONTACT_FORCE else 0


@command(25, "TOOL_CONTACT", realtime=True)
def tool_contact_command(loop: CommandLoop) -> None:
    """Cycles since the tool made contact along a direction, 0 without contact."""
    loop.answer_int(tool_contact(loop.controller, loop.doubles(0, 6)))


@command(51, "MOVE_UNTIL_CONTACT")
def move_until_contact(loop: CommandLoop) -> Waiting:
    """Move the tool with a twist until contact, then back to where it began."""
    controller = loop.controller
    twist, direction, acceleration = loop.doubles(0, 6), loop.doubles(6, 6), loop.double(12)
    direction = direction if np.any(direction) else twist
    while not (steps := tool_contact(controller, direction)):
        controller.speed(twist, acceleration, tool=True)
        yield
    yield from _return(controller, steps)


@command(62, "START_CONTACT_DETECTION")
def start_contact_detection(loop: CommandLoop) -> None:
    """Watch for contact along a direction beside other commands; contact ends the motion."""
    loop.contact_direction, loop.contact_steps = loop.doubles(0, 6), 0


@command(63, "STOP_CONTACT_DETECTION")
def stop_contact_detection(loop: CommandLoop) -> None:
    """Stop watching; answers the cycles since contact began, 0 if there was none."""
    loop.contact_direction = None
    loop.answer_int(loop.contact_steps)


@command(64, "READ_CONTACT_DETECTION")
def read_contact_detection(loop: CommandLoop) -> None:
    """Cycles since contact began, 0 if there was none."""
    loop.answer_int(loop.contact_steps)


def watch_contact(loop: CommandLoop) -> None:
    """One cycle of contact detection beside the command loop."""
    if loop.contact_direction is None:
        return
    controller = loop.controller
    moving = (controller.kinematics.jacobian(controller.target[0]) @ controller.target[1])[:3]
    direction = loop.contact_direction if np.any(loop.contact_direction) else moving
    loop.contact_steps = tool_contact(controller, direction)
    if loop.contact_steps:
        loop.contact_direction = None
        loop.start_asynchronous(_return(controller, loop.contact_steps))


def _return(controller: Controller, steps: int) -> Waiting:
    """Stop, then move back to where contact began."""
    first = controller.arm.position_history(steps)
    yield from controller.wait_for(controller.stop_tool(3.0))
    yield from controller.wait_for(controller.start(lambda q: motion.MoveJ(q, [(first, *RETREAT, 0.0)])))
