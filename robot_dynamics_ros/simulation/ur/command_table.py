"""The table of commands of the ur_rtde 1.6.5 control script: register value -> what the controller does.

A real-time command is carried out in every cycle in which the command register holds it. Any other command runs once;
an action that is a generator takes as many cycles as it yields.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.simulation.ur.controller import Controller
from robot_dynamics_ros.simulation.ur.program import MAX_ARGUMENT, ProgramError, Waiting
from robot_dynamics_ros.simulation.ur.script import PathMove, Script, Source


class CommandContext:
    """What a command acts on: the controller, its arguments and results in the registers, and asynchronous motions."""

    def __init__(self, controller: Controller, script: Script) -> None:
        self.controller, self.script = controller, script
        self._offset = script.register_offset
        self._asynchronous: Waiting | None = None
        self._async_writes = self._async_operations = 0
        self.signal_async(-1)

    # -- arguments of commands ------------------------------------------------------------------------
    def integers(self, first: int, count: int) -> list[int]:
        """Input integer registers, counted from the script's offset."""
        return [self.controller.registers.int_in(self._offset + first + i) for i in range(count)]

    def doubles(self, first: int, count: int) -> np.ndarray:
        """Input double registers; one that is no number, or an absurd one, stops the program."""
        values = np.array(self.controller.registers.doubles_in(self._offset + first, count))
        if not np.all(np.abs(values) <= MAX_ARGUMENT):
            raise ProgramError(f"input_double_register_{self._offset + first}.. holds {values}, not usable numbers")
        return values

    def double(self, index: int) -> float:
        """A number of the command, from the input registers."""
        return float(self.doubles(index, 1)[0])

    def source(self, source: Source) -> np.ndarray:
        """Value of an argument of the uploaded script."""
        return self.doubles(source.register, 6) if source.register is not None else np.array(source.constants)

    # -- asynchronous operations ----------------------------------------------------------------------------------
    def signal_async(self, value: int) -> None:
        """Progress register: bits 24-30 operation, 16-22 write count, 15 running, 0-14 progress [ur_rtde script]."""
        self._async_writes = (self._async_writes + 1) % 128
        if value == 0:
            self._async_operations = (self._async_operations + 1) % 128
        status = self._async_writes << 16 | self._async_operations << 24
        if value >= 0:
            status |= 1 << 15 | min(value, 0x7FFF)
        self.controller.registers.write_int(self._offset + 2, status)

    def start_asynchronous(self, waiting: Waiting) -> None:
        """Run a motion beside the command loop."""
        self.stop_asynchronous()
        self.signal_async(0)
        self._asynchronous = waiting

    def stop_asynchronous(self) -> None:
        """Kill the thread of an asynchronous move, if any."""
        if self._asynchronous is not None:
            self._asynchronous = None
            self.signal_async(-1)

    def advance_asynchronous(self) -> None:
        """One cycle of the asynchronous motion, if there is one."""
        if self._asynchronous is not None and next(self._asynchronous, self) is self:
            self._asynchronous = None
            self.signal_async(-1)

    def path(self, moves: tuple[PathMove, ...]) -> Waiting:
        """Follow the injected move path, reporting progress."""
        for waypoint in self.controller.follow_path(moves):
            if waypoint is not None:
                self.signal_async(waypoint)
            yield


Action = Callable[[CommandContext], "Waiting | None"]


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
