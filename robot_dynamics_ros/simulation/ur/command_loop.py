"""The loop of an uploaded control script: a command register is read, the command carried out, the result reported.

The script that clients upload is not interpreted: it is recognised, the parts that matter are read out of it
(script.py), and its loop is followed cycle by cycle as its text prescribes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.simulation.ur.commands import COMMANDS, contact
from robot_dynamics_ros.simulation.ur.program import ABSURD, ProgramError, Waiting, follow_path
from robot_dynamics_ros.simulation.ur.script import PathMove, Script, Source

if TYPE_CHECKING:
    from robot_dynamics_ros.simulation.ur.controller import Controller

READY, DONE = 1, 2  # handshake values of output_int_register_0 [ur_rtde 1.6.5]
STOP_SCRIPT = 255


class CommandLoop:
    """The control script's loop: reads a command register, runs the command, reports in the output registers."""

    def __init__(self, controller: Controller, script: Script) -> None:
        self.controller, self.script = controller, script
        self.contact_direction: np.ndarray | None = None  # tool direction watched for contact
        self.contact_steps = 0  # cycles since it was found
        self._offset = script.register_offset
        self._blocking: Waiting | None = None
        self._executing = False
        self._asynchronous: Waiting | None = None
        self._async_writes = self._async_operations = 0
        self.signal_async(-1)
        self._ready()

    @property
    def blocked(self) -> bool:
        """True while a command runs whose end the client waits for."""
        return self._blocking is not None

    # -- one controller cycle -------------------------------------------------------------------------------------
    def step(self) -> bool:
        """Follow the main loop of the uploaded script once."""
        contact.watch_contact(self)
        self._advance_asynchronous()
        if self._blocking is not None:
            self._advance_blocking()
            return True
        identifier = self.controller.registers.int_in(self._offset)
        if identifier == STOP_SCRIPT:
            return False
        command = COMMANDS.get(identifier)
        if identifier == 0:
            self._executing = False
            self._ready()
        elif command is not None and command.realtime:
            command.action(self)
            self._ready()
        elif not self._executing:
            self._executing = True
            if command is None:
                self.controller.say(f"command {identifier} is not simulated")
            self._blocking = (command.action(self) if command is not None else None) or iter(())
            self._advance_blocking()
        return True

    def _advance_blocking(self) -> None:
        if self._blocking is not None and next(self._blocking, self) is self:
            self._blocking = None
            self._done()

    def _ready(self) -> None:
        self.controller.registers.write_int(self._offset, READY)

    def _done(self) -> None:
        self.controller.registers.write_int(self._offset, DONE)

    # -- arguments and results of commands ------------------------------------------------------------------------
    def integers(self, first: int, count: int) -> list[int]:
        """Input integer registers, counted from the script's offset."""
        return [self.controller.registers.int_in(self._offset + first + i) for i in range(count)]

    def doubles(self, first: int, count: int) -> np.ndarray:
        """Input double registers; one that is no number, or an absurd one, stops the program."""
        values = np.array(self.controller.registers.doubles_in(self._offset + first, count))
        if not np.all(np.abs(values) <= ABSURD):
            raise ProgramError(f"input_double_register_{self._offset + first}.. holds {values}, not usable numbers")
        return values

    def double(self, index: int) -> float:
        """A number of the command, from the input registers."""
        return float(self.doubles(index, 1)[0])

    def source(self, source: Source) -> np.ndarray:
        """Value of an argument of the uploaded script."""
        return self.doubles(source.register, 6) if source.register is not None else np.array(source.constants)

    def answer(self, values: np.ndarray, first: int = 0) -> None:
        """Write output double registers."""
        self.controller.registers.write_doubles(self._offset + first, values)

    def answer_int(self, value: int) -> None:
        """Write the integer result register."""
        self.controller.registers.write_int(self._offset + 1, value)

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

    def _advance_asynchronous(self) -> None:
        if self._asynchronous is not None and next(self._asynchronous, self) is self:
            self._asynchronous = None
            self.signal_async(-1)

    def path(self, moves: tuple[PathMove, ...]) -> Waiting:
        """Follow the injected move path, reporting progress."""
        for waypoint in follow_path(self.controller, moves):
            if waypoint is not None:
                self.signal_async(waypoint)
            yield
