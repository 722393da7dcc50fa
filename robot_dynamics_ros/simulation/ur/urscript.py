"""Programs that are run statement by statement: assignments, while, if, registers, direct_torque, moves and stops.

The part of URScript that torque programs and short scripts need. A line is read once, when the program starts; what is
not understood ends the program with a message, as the real interpreter refuses a script it cannot parse. Every call
that waits for the controller (direct_torque, sync, sleep, movej, stopj) takes at least one cycle; a program that never
does is stopped, as on the robot.
"""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from robot_dynamics_ros.simulation.ur.arm import DT, JOINTS
from robot_dynamics_ros.simulation.ur.controller import Controller
from robot_dynamics_ros.simulation.ur.motion import MoveJ
from robot_dynamics_ros.simulation.ur.script import DEFINITION, MAX_ARGUMENT, MAX_LINE, ProgramError, Script, Waiting

MAX_STATEMENTS = 10_000  # within one controller cycle
MAX_LINES = 2_000
MAX_DEPTH = 50  # of blocks; an elif counts as one
VISCOUS_DEFAULT = (0.9, 0.9, 0.8, 0.9, 0.9, 0.9)  # of direct_torque [ur_rtde 1.6.5, directTorque]
COULOMB_DEFAULT = (0.8, 0.8, 0.7, 0.8, 0.8, 0.8)
_HEAD = re.compile(r"^(while|if|elif)\b\s*(.+?)\s*:$")
_ASSIGN = re.compile(r"^(?:local\s+|global\s+)?([A-Za-z_]\w*)\s*=\s*(?!=)(.+)$")
_OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}

Block = list[tuple[str, Any, "Block", "Block"]]  # kind, expression, body, else body


def parse_block(lines: Iterator[str], depth: int, ends: tuple[str, ...] = ("end",)) -> tuple[Block, str]:
    """Statements up to one of `ends`; returns them and the line that ended them. Raises ProgramError."""
    if depth > MAX_DEPTH:
        raise ProgramError(f"its blocks are nested more than {MAX_DEPTH} deep")
    block: Block = []
    for line in lines:
        if line in ends or (_HEAD.match(line) and line.startswith("elif") and "elif" in ends):
            return block, line
        block.append(_statement(line, lines, depth + 1))
    raise ProgramError("the program has no end")


def _statement(line: str, lines: Iterator[str], depth: int) -> tuple[str, Any, Block, Block]:
    if len(line) > MAX_LINE:
        raise ProgramError(f"line of {len(line)} characters")
    head = _HEAD.match(line)
    if head and head[1] == "while":
        return "while", _expression(head[2]), parse_block(lines, depth)[0], []
    if head and head[1] == "if":
        return _branches(head[2], lines, depth)
    assigned = _ASSIGN.match(line)
    if assigned and not line.startswith("def "):
        return "assign", (assigned[1], _expression(assigned[2])), [], []
    return "call", _expression(line), [], []


def _branches(condition: str, lines: Iterator[str], depth: int) -> tuple[str, Any, Block, Block]:
    body, ended = parse_block(lines, depth, ("end", "else:", "elif"))
    other: Block = []
    if ended == "else:":
        other = parse_block(lines, depth)[0]
    elif ended != "end":
        other = [_branches(_HEAD.match(ended)[2], lines, depth + 1)]  # type: ignore[index]
    return "if", _expression(condition), body, other


def _expression(text: str) -> ast.expr:
    try:
        return ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ProgramError(f"{text[:80]!r} is not understood") from error


class Interpreter:
    """A running program; step() is one controller cycle."""

    def __init__(self, controller: Controller, script: Script) -> None:
        self.controller, self.script = controller, script
        self._names: dict[str, Any] = {"True": True, "False": False}
        self._spent = 0
        lines = [line.split("#", 1)[0].strip() for line in script.text.splitlines()]
        lines = [line for line in lines if line]
        lines = lines[1:] if DEFINITION.match(script.text) else [*lines, "end"]
        if len(lines) > MAX_LINES:
            raise ProgramError(f"{len(lines)} lines are more than {MAX_LINES}")
        self._steps = self._run(parse_block(iter(lines), 0)[0])

    def step(self) -> bool:
        """Run until the next call that waits; False when the program has ended."""
        self._spent = 0
        try:
            return next(self._steps, self) is not self
        except (TypeError, ValueError, IndexError, ZeroDivisionError, OverflowError, KeyError, RecursionError) as error:
            raise ProgramError(f"{type(error).__name__}: {error}") from error

    # -- statements ---------------------------------------------------------------------------------------------------
    def _run(self, block: Block) -> Waiting:
        for kind, expression, body, other in block:
            self._count()
            if kind == "assign":
                self._names[expression[0]] = self._value(expression[1])
            elif kind == "call":
                yield from self._call(expression)
            elif kind == "if":
                yield from self._run(body if self._value(expression) else other)
            else:
                while self._value(expression):
                    self._count()
                    yield from self._run(body)

    def _count(self) -> None:
        self._spent += 1
        if self._spent > MAX_STATEMENTS:
            raise ProgramError("infinite loop: the program never waits for the controller")

    def _call(self, node: ast.expr) -> Waiting:
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            raise ProgramError(f"{ast.unparse(node)[:80]!r} is no statement")
        action = ACTIONS.get(node.func.id)
        if action is None:
            self._value(node)
            return
        arguments = [self._value(a) for a in node.args]
        named = {k.arg: self._value(k.value) for k in node.keywords if k.arg}
        for _ in action(self.controller, *arguments, **named) or ():
            self._spent = 0
            yield

    # -- expressions --------------------------------------------------------------------------------------------------
    def _value(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Constant) and isinstance(node.value, (bool, int, float, str)):
            return node.value
        if isinstance(node, ast.Name):
            return self._names[node.id]
        if isinstance(node, ast.List):
            return [_number(self._value(e)) for e in node.elts]
        if isinstance(node, ast.UnaryOp):
            value = self._value(node.operand)
            return (not value) if isinstance(node.op, ast.Not) else -value
        if isinstance(node, ast.BoolOp):
            values = (bool(self._value(v)) for v in node.values)
            return all(values) if isinstance(node.op, ast.And) else any(values)
        if isinstance(node, ast.BinOp):
            left, right = _number(self._value(node.left)), _number(self._value(node.right))
            return _number(_OPERATORS[type(node.op)](left, right))
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return _OPERATORS[type(node.ops[0])](self._value(node.left), self._value(node.comparators[0]))
        if isinstance(node, ast.Subscript):
            return self._value(node.value)[int(self._value(node.slice))]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in FUNCTIONS:
            return FUNCTIONS[node.func.id](self.controller, *[self._value(a) for a in node.args])
        raise ProgramError(f"{ast.unparse(node)[:80]!r} is not simulated")


def _number(value: Any) -> Any:
    """Operands, results and entries of lists: bounded scalars only, checked before they are used, so that no program
    grows without bound.
    """
    if not isinstance(value, (int, float)):
        raise ProgramError(f"arithmetic with a {type(value).__name__}")
    if not abs(value) <= 1e15:
        raise ProgramError("arithmetic gives a number beyond 1e15")
    return value


def _six(values: Any, name: str) -> np.ndarray:
    vector = np.asarray(values, dtype=float)
    if vector.shape != (JOINTS,) or not np.all(np.abs(vector) <= MAX_ARGUMENT):
        raise ProgramError(f"{name} = {values} are not six usable numbers")
    return vector


def _direct_torque(
    controller: Controller, torque: Any, viscous_scale: Any = VISCOUS_DEFAULT, coulomb_scale: Any = COULOMB_DEFAULT
) -> Waiting:
    controller.command_torque(
        _six(torque, "torque"), _six(viscous_scale, "viscous_scale"), _six(coulomb_scale, "coulomb_scale")
    )
    yield  # takes the step itself [UR direct_torque]


def _sync(controller: Controller) -> Waiting:
    yield


def _sleep(controller: Controller, seconds: float) -> Waiting:
    until = controller.time + float(seconds)
    while controller.time < until:
        yield


def _movej(controller: Controller, q: Any, a: Any = 1.4, v: Any = 1.05) -> Waiting:
    target, velocity, acceleration = _six(q, "movej: q"), float(_number(v)), float(_number(a))
    yield from controller.wait_for(controller.start(lambda start: MoveJ(start, target, velocity, acceleration)))


def _stopj(controller: Controller, deceleration: float = 2.0) -> Waiting:
    if not 0 < deceleration <= MAX_ARGUMENT:
        raise ProgramError(f"stopj: deceleration {deceleration}")
    yield from controller.wait_for(controller.stop_joints(float(deceleration)))


ACTIONS: dict[str, Callable[..., Waiting | None]] = {
    "direct_torque": _direct_torque,
    "sync": _sync,
    "sleep": _sleep,
    "movej": _movej,
    "stopj": _stopj,
    "textmsg": lambda controller, *values: controller.report(f"textmsg: {' '.join(map(str, values))[:200]}"),
    "write_output_integer_register": lambda controller, i, value: controller.registers.write_int(int(i), int(value)),
    "write_output_float_register": lambda controller, i, value: controller.registers.write_double(int(i), value),
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "read_input_integer_register": lambda controller, i: controller.registers.int_in(int(i)),
    "read_input_float_register": lambda controller, i: controller.registers.doubles_in(int(i), 1)[0],
    "get_steptime": lambda controller: DT,
    "norm": lambda controller, value: float(np.linalg.norm(value)),
}
