"""The commands of the ur_rtde 1.6.5 control script that are simulated: register value -> what the controller does.

A real-time command is carried out in every cycle in which the command register holds it. Any other command runs once;
an action that is a generator takes as many cycles as it yields. The script itself is not interpreted: it is recognised,
and its loop is followed cycle by cycle: a command register is read, the command carried out, the result reported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.simulation.ur.controller import Controller
from robot_dynamics_ros.simulation.ur.motion import MoveJ
from robot_dynamics_ros.simulation.ur.script import MAX_ARGUMENT, Program, ProgramError, Script, Waiting
from robot_dynamics_ros.simulation.ur.urscript import Interpreter

READY, DONE = 1, 2  # handshake values of output_int_register_0 [ur_rtde 1.6.5]
STOP_SCRIPT = 255


class CommandContext:
    """What a command acts on: controller, arguments and results in the registers, and an asynchronous motion."""

    def __init__(self, controller: Controller, offset: int) -> None:
        self.controller, self.offset = controller, offset
        self._asynchronous: Waiting | None = None
        self._async_writes = self._async_operations = 0
        self.signal_async(running=False)

    def integer(self, index: int) -> int:
        """Input integer register, counted from the script's offset."""
        return self.controller.registers.int_in(self.offset + index)

    def doubles(self, first: int, count: int) -> np.ndarray:
        """Input double registers; one that is no number, or an absurd one, stops the program."""
        values = np.array(self.controller.registers.doubles_in(self.offset + first, count))
        if not np.all(np.abs(values) <= MAX_ARGUMENT):
            raise ProgramError(f"input_double_register_{self.offset + first}.. holds {values}, not usable numbers")
        return values

    def double(self, index: int) -> float:
        """A number of the command, from the input registers."""
        return float(self.doubles(index, 1)[0])

    def signal_async(self, running: bool) -> None:
        """Progress register: bits 24-30 operation, 16-22 write count, 15 running, 0-14 progress [ur_rtde script]."""
        self._async_writes = (self._async_writes + 1) % 128
        self._async_operations = (self._async_operations + running) % 128
        status = self._async_writes << 16 | self._async_operations << 24 | running << 15
        self.controller.registers.write_int(self.offset + 2, status)

    def run(self, waiting: Waiting) -> Waiting:
        """A motion beside the command loop when the client asks for that, else one that the loop waits for."""
        if self._asynchronous is not None:
            self._end_asynchronous()
        if self.integer(1) != 1:
            return waiting
        self.signal_async(running=True)
        self._asynchronous = waiting
        return iter(())

    def advance_asynchronous(self) -> None:
        """One cycle of the asynchronous motion, if there is one."""
        if self._asynchronous is not None and next(self._asynchronous, self) is self:
            self._end_asynchronous()

    def _end_asynchronous(self) -> None:
        self._asynchronous = None
        self.signal_async(running=False)


Action = Callable[[CommandContext], "Waiting | None"]


@dataclass(frozen=True)
class Command:
    """What is done, named and described by its function; realtime: in every cycle."""

    action: Action
    realtime: bool


COMMANDS: dict[int, Command] = {}


def command(identifier: int, realtime: bool = False) -> Callable[[Action], Action]:
    """Enter a function into the table; its name and its docstring are the documentation."""

    def enter(action: Action) -> Action:
        COMMANDS[identifier] = Command(action, realtime)
        return action

    return enter


@command(1)
def movej(context: CommandContext) -> Waiting:
    """Joint move on a trapezoidal profile, blocking or asynchronous."""
    controller, target, (velocity, acceleration) = context.controller, context.doubles(0, 6), context.doubles(6, 2)

    def move() -> Waiting:
        yield from controller.wait_for(controller.start(lambda q: MoveJ(q, target, velocity, acceleration)))

    return context.run(move())


@command(11, realtime=True)
def servoj(context: CommandContext) -> None:
    """Follow a streamed joint position with lookahead and gain; holds the last one until SERVO_STOP."""
    lookahead, gain = context.doubles(9, 2)
    context.controller.servo(context.doubles(0, 6), lookahead, gain)


@command(16)
def servo_stop(context: CommandContext) -> Waiting:
    """Decelerate along the tool path and hold."""
    yield from context.controller.wait_for(context.controller.stop_tool(context.double(0)))


@command(34)
def stopj(context: CommandContext) -> Waiting:
    """Decelerate with a joint deceleration, blocking or asynchronous; ends an asynchronous move."""

    def stop() -> Waiting:
        yield from context.controller.wait_for(context.controller.stop_joints(context.double(0)))

    return context.run(stop())


@command(35)
def set_watchdog(context: CommandContext) -> None:
    """Stop the program when the command register is not written at this rate; ends with the program."""
    register = f"input_int_register_{context.offset}"
    context.controller.watchdogs.arm(register, context.double(0), context.controller.time)


@command(8)
def zero_ft_sensor(context: CommandContext) -> None:
    """Subtract the present reading from the force sensor."""
    context.controller.arm.zero_force_sensor()


@command(17)
def set_payload(context: CommandContext) -> None:
    """Payload that the controller assumes: mass and centre (zero keeps the present) of a point mass."""
    center = context.doubles(1, 3)
    context.controller.set_payload(context.double(0), center if np.any(center) else None)


@command(65)
def set_target_payload(context: CommandContext) -> None:
    """Payload that the controller assumes: mass, centre (zero keeps the present), inertia Ixx Iyy Izz Ixy Ixz Iyz."""
    center = context.doubles(1, 3)
    context.controller.set_payload(context.double(0), center if np.any(center) else None, context.doubles(4, 6))


def load_program(controller: Controller, script: Script) -> Program:
    """The program that runs an uploaded script. Raises ProgramError for one that cannot be read."""
    return (CommandLoop if script.is_command_loop else Interpreter)(controller, script)


class CommandLoop:
    """The control script's loop: reads a command register, runs the command, reports in the output registers."""

    def __init__(self, controller: Controller, script: Script) -> None:
        self.controller, self.script = controller, script
        self._context = CommandContext(controller, script.register_offset)
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
        identifier = self.controller.registers.int_in(self.script.register_offset)
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
        self.controller.registers.write_int(self.script.register_offset, READY)

    def _done(self) -> None:
        self.controller.registers.write_int(self.script.register_offset, DONE)
