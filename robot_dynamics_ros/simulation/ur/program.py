"""What every robot program is: one call of step() per controller cycle of 2 ms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from robot_dynamics_ros.simulation.ur.script import Script

MAX_ARGUMENT = 1e6  # no argument of any command is larger, in SI units
Waiting = Iterator[None]  # yields once per cycle that a command takes


class ProgramError(Exception):
    """The real interpreter stops a program that does this."""


class Program(Protocol):
    """A running program; step() is one controller cycle and returns False when the program has ended."""

    script: Script

    def step(self) -> bool: ...
