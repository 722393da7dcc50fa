"""The table of commands of the ur_rtde 1.6.5 control script: register value -> what the controller does.

A real-time command is carried out in every cycle in which the command register holds it. Any other command runs once;
an action that is a generator takes as many cycles as it yields.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from robot_dynamics_ros.simulation.ur.program import Waiting

if TYPE_CHECKING:
    from robot_dynamics_ros.simulation.ur.command_loop import CommandLoop

Action = Callable[["CommandLoop"], "Waiting | None"]


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
