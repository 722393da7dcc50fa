"""Contact detection: how long the environment has been pushing against a direction."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.simulation.ur import motion
from robot_dynamics_ros.simulation.ur.commands.table import CommandContext, command
from robot_dynamics_ros.simulation.ur.controller import Controller
from robot_dynamics_ros.simulation.ur.program import Waiting

CONTACT_FORCE = 10.0  # N against the direction of motion
RETREAT = (1.05, 1.4)  # rad/s, rad/s2 of the move back to the first point of contact


def tool_contact(controller: Controller, direction: np.ndarray) -> int:
    """Cycles since contact began, 0 without contact; a zero direction means any."""
    force = controller.arm.external_wrench[:3]
    length = float(np.linalg.norm(direction[:3]))
    against = -float(force @ direction[:3]) / length if length > 0 else float(np.linalg.norm(force))
    return controller.contact_cycles if against > CONTACT_FORCE else 0


@command(25, "TOOL_CONTACT", realtime=True)
def tool_contact_command(context: CommandContext) -> None:
    """Cycles since the tool made contact along a direction, 0 without contact."""
    context.answer_int(tool_contact(context.controller, context.doubles(0, 6)))


@command(51, "MOVE_UNTIL_CONTACT")
def move_until_contact(context: CommandContext) -> Waiting:
    """Move the tool with a twist until contact, then back to where it began."""
    controller = context.controller
    twist, direction, acceleration = context.doubles(0, 6), context.doubles(6, 6), context.double(12)
    direction = direction if np.any(direction) else twist
    while not (steps := tool_contact(controller, direction)):
        controller.speed(twist, acceleration, tool=True)
        yield
    yield from _return(controller, steps)


@command(62, "START_CONTACT_DETECTION")
def start_contact_detection(context: CommandContext) -> None:
    """Watch for contact along a direction beside other commands; contact ends the motion."""
    context.contact_direction, context.contact_steps = context.doubles(0, 6), 0


@command(63, "STOP_CONTACT_DETECTION")
def stop_contact_detection(context: CommandContext) -> None:
    """Stop watching; answers the cycles since contact began, 0 if there was none."""
    context.contact_direction = None
    context.answer_int(context.contact_steps)


@command(64, "READ_CONTACT_DETECTION")
def read_contact_detection(context: CommandContext) -> None:
    """Cycles since contact began, 0 if there was none."""
    context.answer_int(context.contact_steps)


def watch_contact(context: CommandContext) -> None:
    """One cycle of contact detection beside the command context."""
    if context.contact_direction is None:
        return
    controller = context.controller
    moving = (controller.kinematics.jacobian(controller.target[0]) @ controller.target[1])[:3]
    direction = context.contact_direction if np.any(context.contact_direction) else moving
    context.contact_steps = tool_contact(controller, direction)
    if context.contact_steps:
        context.contact_direction = None
        context.start_asynchronous(_return(controller, context.contact_steps))


def _return(controller: Controller, steps: int) -> Waiting:
    """Stop, then move back to where contact began."""
    first = controller.arm.position_history(steps)
    yield from controller.wait_for(controller.stop_tool(3.0))
    yield from controller.wait_for(controller.start(lambda q: motion.MoveJ(q, [(first, *RETREAT, 0.0)])))
