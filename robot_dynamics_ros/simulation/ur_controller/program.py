"""Robot programs: the command loop of an uploaded control script, or a short script of moves and settings.

The control script that clients upload is not interpreted: it is recognised, the parts that matter are read out of it
(script.py), and its loop is followed cycle by cycle as its text prescribes. Each controller cycle of 2 ms is one call
of step().
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Protocol

import numpy as np

from robot_dynamics_ros.simulation.ur_controller import motion
from robot_dynamics_ros.simulation.ur_controller.script import MAX_LINE, PathMove, Script, Source, parse_move

if TYPE_CHECKING:
    from robot_dynamics_ros.simulation.ur_controller.controller import Controller

READY, DONE = 1, 2  # handshake values of output_int_register_0 [ur_rtde 1.6.5]
STOP_SCRIPT = 255
ABSURD = 1e6  # no argument of any command is larger, in SI units
Waiting = Iterator[None]


class ProgramError(Exception):
    """The program did what the real interpreter stops a program for."""


class Program(Protocol):
    """A running program; step() is one controller cycle and returns False when the program has ended."""

    script: Script

    def step(self) -> bool: ...


class CommandLoop:
    """The control script's loop: reads a command register, runs the command, reports in the output registers."""

    def __init__(self, controller: Controller, script: Script) -> None:
        from robot_dynamics_ros.simulation.ur_controller.commands import COMMANDS, contact  # they act on this class

        self.controller, self.script = controller, script
        self._commands, self._watch_contact = COMMANDS, contact.watch_contact
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
        self._watch_contact(self)
        self._advance_asynchronous()
        if self._blocking is not None:
            self._advance_blocking()
            return True
        identifier = self.controller.registers.int_in(self._offset)
        if identifier == STOP_SCRIPT:
            return False
        command = self._commands.get(identifier)
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


class Statements:
    """A short script run line by line: moves, stops, sleeps, registers and settings; any other call ends it."""

    def __init__(self, controller: Controller, script: Script) -> None:
        self.controller, self.script = controller, script
        self._steps = self._run([line.split("#", 1)[0].strip() for line in script.text.splitlines()])

    def step(self) -> bool:
        return next(self._steps, self) is not self

    def _run(self, lines: list[str]) -> Waiting:
        for line in lines:
            if line and not re.match(r"^(def|sec)\b|^end$", line):
                yield from self._statement(line)

    def _statement(self, line: str) -> Waiting:
        move = parse_move(line)
        if move is not None:
            for _ in follow_path(self.controller, (move,)):
                yield
            return
        call = re.match(r"^(\w+)\((.*)\)$", line)
        action = STATEMENTS.get(call[1]) if call else None
        if call is None or action is None or len(line) > MAX_LINE:
            raise ProgramError(f"script {self.script.name!r}: {line[:80]!r} is not among the supported statements")
        try:
            values = [float(v) for v in re.findall(r"[-+\d.eE]*\d[-+\d.eE]*", call[2])]
            if not all(abs(value) <= ABSURD for value in values):
                raise ValueError("a number is out of range")
            waiting = action(self.controller, values)
        except (ValueError, IndexError, OverflowError) as error:
            raise ProgramError(f"script {self.script.name!r}: {line[:80]!r}: {error}") from error
        yield from waiting or ()


def _sleep(controller: Controller, values: list[float]) -> Waiting:
    until = controller.time + (values[0] if values else 0.002)
    while controller.time < until:
        yield


def _exactly(count: int, values: list[float]) -> np.ndarray:
    if len(values) != count:
        raise ValueError(f"{len(values)} numbers where {count} are needed")
    return np.array(values)


def _write_int(controller: Controller, values: list[float]) -> None:
    controller.registers.write_int(int(sum(values[:-1])), int(values[-1]))


def _write_float(controller: Controller, values: list[float]) -> None:
    controller.registers.write_doubles(int(sum(values[:-1])), values[-1:])


# statement -> action on the controller; register indices may be written as a sum, as clients do
STATEMENTS: dict[str, Callable[[Controller, list[float]], Waiting | None]] = {
    "sync": _sleep,
    "sleep": _sleep,
    "textmsg": lambda controller, values: None,
    "popup": lambda controller, values: None,
    "stopj": lambda controller, values: controller.wait_for(controller.stop_joints(values[0] if values else 2.0)),
    "stopl": lambda controller, values: controller.wait_for(controller.stop_tool(values[0] if values else 2.0)),
    "set_payload": lambda controller, values: controller.set_payload(values[0], _exactly(3, values[1:])),
    "set_tcp": lambda controller, values: controller.kinematics.set_tcp(_exactly(6, values)),
    "zero_ftsensor": lambda controller, values: controller.arm.zero_force_sensor(),
    "protective_stop": lambda controller, values: controller.protective_stop("protective_stop() in a program"),
    "write_output_integer_register": _write_int,
    "write_output_float_register": _write_float,
}


def follow_path(controller: Controller, moves: tuple[PathMove, ...]) -> Iterator[int | None]:
    """Run waypoints; yields the index of a waypoint when its move begins, then None each cycle."""
    running = controller.start(lambda q: _path_motion(controller, q, moves)) if moves else None
    shown = -1
    while running is not None and not running.finished:
        progress = getattr(controller.motion, "progress", shown)
        yield progress if progress != shown else None
        shown = progress


def _path_motion(controller: Controller, q: np.ndarray, moves: tuple[PathMove, ...]) -> motion.Motion:
    """One blended joint motion when every waypoint is a joint target, else the moves one after the other."""
    if all(move.function == "movej" and not move.is_pose for move in moves):
        waypoints = [(np.array(m.target), m.velocity, m.acceleration, m.blend) for m in moves]
        return motion.MoveJ(q, waypoints)
    return motion.Chained(q, [lambda start, m=m: _single(controller, start, m) for m in moves])


def _single(controller: Controller, q: np.ndarray, move: PathMove) -> motion.Motion:
    target = np.array(move.target)
    if move.function == "movej":
        goal = controller.inverse_kinematics(target, q) if move.is_pose else target
        return motion.MoveJ(q, [(goal, move.velocity, move.acceleration, 0.0)])
    pose = target if move.is_pose else controller.forward_kinematics(target)
    return motion.MoveL(controller.kinematics, q, pose, move.velocity, move.acceleration)
