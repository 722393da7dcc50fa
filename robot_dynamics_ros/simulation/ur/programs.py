"""The kinds of robot programs: which one an uploaded script is, and the short script of moves and settings.

The others are the command loop of a control script (command_loop.py) and the torque program (urscript.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np

from robot_dynamics_ros.simulation.ur.arm import DT
from robot_dynamics_ros.simulation.ur.command_loop import CommandLoop
from robot_dynamics_ros.simulation.ur.controller import Controller
from robot_dynamics_ros.simulation.ur.program import MAX_ARGUMENT, Program, ProgramError, Waiting
from robot_dynamics_ros.simulation.ur.script import MAX_LINE, Script, parse_move
from robot_dynamics_ros.simulation.ur.urscript import Interpreter, is_torque_program


def load_program(controller: Controller, script: Script) -> Program:
    """The program that runs an uploaded script. Raises ProgramError for one that cannot be read."""
    if script.is_command_loop:
        return CommandLoop(controller, script)
    return Interpreter(controller, script) if is_torque_program(script) else Statements(controller, script)


class Statements:
    """A short script run line by line: moves, stops, sleeps, registers and settings; any other call ends it."""

    blocked = waits_for_torque = False

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
            for _ in self.controller.follow_path((move,)):
                yield
            return
        call = re.match(r"^(\w+)\((.*)\)$", line)
        action = STATEMENTS.get(call[1]) if call else None
        if call is None or action is None or len(line) > MAX_LINE:
            raise ProgramError(f"script {self.script.name!r}: {line[:80]!r} is not among the supported statements")
        try:
            values = [float(v) for v in re.findall(r"[-+\d.eE]*\d[-+\d.eE]*", call[2])]
            if not all(abs(value) <= MAX_ARGUMENT for value in values):
                raise ValueError("a number is out of range")
            waiting = action(self.controller, values)
        except (ValueError, IndexError, OverflowError) as error:
            raise ProgramError(f"script {self.script.name!r}: {line[:80]!r}: {error}") from error
        yield from waiting or ()


def _sleep(controller: Controller, values: list[float]) -> Waiting:
    until = controller.time + (values[0] if values else DT)
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
