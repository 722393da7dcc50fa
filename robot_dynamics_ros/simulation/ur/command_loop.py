"""The program of an uploaded script, and the loop of the vendor client's control script.

The control script is not interpreted: it is recognised, and its loop is followed cycle by cycle. A command register is
read, the command carried out, the result reported.
"""

from __future__ import annotations

from robot_dynamics_ros.simulation.ur.commands import COMMANDS, CommandContext
from robot_dynamics_ros.simulation.ur.controller import Controller
from robot_dynamics_ros.simulation.ur.script import Program, Script, Waiting
from robot_dynamics_ros.simulation.ur.urscript import Interpreter

READY, DONE = 1, 2  # handshake values of output_int_register_0 [ur_rtde 1.6.5]
STOP_SCRIPT = 255


def load_program(controller: Controller, script: Script) -> Program:
    """The program that runs an uploaded script. Raises ProgramError for one that cannot be read."""
    return (CommandLoop if script.is_command_loop else Interpreter)(controller, script)


class CommandLoop:
    """The control script's loop: reads a command register, runs the command, reports in the output registers."""

    def __init__(self, controller: Controller, script: Script) -> None:
        self.controller, self.script = controller, script
        self._context = CommandContext(controller, script.register_offset)
        self._offset = script.register_offset
        self._blocking: Waiting | None = None
        self._executing = False
        self._ready()

    @property
    def blocked(self) -> bool:
        """True while a command runs whose end the client waits for."""
        return self._blocking is not None

    # -- one controller cycle -------------------------------------------------------------------------------------
    def step(self) -> bool:
        """Follow the main loop of the uploaded script once."""
        self._context.advance_asynchronous()
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
            command.action(self._context)
            self._ready()
        elif not self._executing:
            self._executing = True
            if command is None:
                self.controller.report(f"command {identifier} is not simulated")
            self._blocking = (command.action(self._context) if command is not None else None) or iter(())
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
