"""Scripts as they arrive on the script port: where one ends, what of its text must be honoured, and the server."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from robot_dynamics_ros.simulation.server.sockets import Connection

MAX_SCRIPT = 1 << 20  # bytes
MAX_LINE = 2000  # characters of a line that is looked at

# URScript: default friction compensation of direct_torque [ur_rtde 1.6.5, directTorque]
VISCOUS_DEFAULT = (0.9, 0.9, 0.8, 0.9, 0.9, 0.9)
COULOMB_DEFAULT = (0.8, 0.8, 0.7, 0.8, 0.8, 0.8)

_DEFINITION = re.compile(r"^(?:def|sec)\s+(\w+)\s*\(\s*\)\s*:")
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_NUMBERS = rf"\s*{_NUMBER}(?:\s*,\s*{_NUMBER})*\s*"
_MOVE = re.compile(rf"\bmovej\(\s*\[({_NUMBERS})\](.*)\)")
_KEYWORD = re.compile(rf"\b([avrt])\s*=\s*({_NUMBER})")
_ASSIGNMENT = re.compile(r"^\s*(\w+)\s*=\s*(.+?)\s*$")
_REGISTERS = re.compile(r"^q_from_input_float_registers\(\s*(\d+)\s*\)$")
_LIST = re.compile(rf"^\[({_NUMBERS})\]$")


@dataclass(frozen=True)
class Source:
    """Where an argument of six numbers comes from: constants, or input double registers from `register` on."""

    constants: tuple[float, ...] = ()
    register: int | None = None


@dataclass(frozen=True)
class TorqueCall:
    """The arguments of the uploaded direct_torque line."""

    torque: Source
    viscous_scale: Source = Source(VISCOUS_DEFAULT)
    coulomb_scale: Source = Source(COULOMB_DEFAULT)


@dataclass(frozen=True)
class PathMove:
    """One joint waypoint of a move path."""

    target: tuple[float, ...]
    velocity: float
    acceleration: float
    blend: float


@dataclass(frozen=True)
class Script:
    """An uploaded program: its text and what its commands depend on."""

    name: str
    text: str
    register_offset: int = 0
    torque: TorqueCall | None = None
    path: tuple[PathMove, ...] = field(default=())

    @property
    def is_command_loop(self) -> bool:
        """True for the ur_rtde control script, which serves commands from a register."""
        return "def process_cmd(" in self.text


def parse_script(text: str) -> Script:
    """Read name, register offset, direct_torque call and injected move path of a complete script."""
    definition = _DEFINITION.match(text)
    offset = re.search(r"reg_offset_int\s*=[^\n]*\n\s*(\d+)|reg_offset_int\s*=\s*(\d+)", text)
    return Script(
        name=definition[1] if definition else "",
        text=text,
        register_offset=int(offset[1] or offset[2]) if offset else 0,
        torque=_torque_call(text),
        path=tuple(_moves(_function(text, "exec_move_path"))),
    )


def _function(text: str, name: str) -> str:
    """Body of a function defined inside the script."""
    found = re.search(rf"^([ \t]*)def {name}\(\):\n(.*?)^\1end\b", text, re.S | re.M)
    return found[2] if found else ""


def _numbers(text: str) -> tuple[float, ...]:
    return tuple(float(value) for value in re.findall(_NUMBER, text))


def parse_move(line: str) -> PathMove | None:
    """A movej with literal joint positions; URScript defaults where a keyword is missing."""
    found = _MOVE.search(line) if len(line) <= MAX_LINE else None
    if not found or len(_numbers(found[1])) != 6:
        return None
    keywords = {"a": 1.4, "v": 1.05, "r": 0.0} | {key: float(value) for key, value in _KEYWORD.findall(found[2])}
    return PathMove(_numbers(found[1]), keywords["v"], keywords["a"], keywords["r"])


def _moves(body: str) -> Iterator[PathMove]:
    for line in body.splitlines():
        move = parse_move(line.split("#", 1)[0])
        if move is not None:
            yield move


def _source(expression: str, names: dict[str, Source]) -> Source | None:
    if len(expression) > MAX_LINE:
        return None
    registers, constants = _REGISTERS.match(expression), _LIST.match(expression)
    if registers:
        return Source(register=int(registers[1])) if len(registers[1]) < 3 else None
    if constants and len(_numbers(constants[1])) == 6:
        return Source(constants=_numbers(constants[1]))
    return names.get(expression)


def _torque_call(text: str) -> TorqueCall | None:
    """Evaluate the assignments around the direct_torque line the way the interpreter would."""
    call = re.search(r"^[^#\n]*\bdirect_torque\(([^#\n]*)\)", text, re.M)
    if not call:
        return None
    names: dict[str, Source] = {}
    block = text[: call.start()].rsplit("cmd ==", 1)[-1]
    for line in block.splitlines():
        assignment = _ASSIGNMENT.match(line.split("#", 1)[0])
        assigned = _source(assignment[2], names) if assignment else None
        if assignment and assigned is not None:
            names[assignment[1]] = assigned
    positional = ["torque", "viscous_scale", "coulomb_scale"]
    arguments: dict[str, Source] = {}
    for expression in re.split(r",(?![^\[]*\])", call[1]):
        key, _, value = expression.rpartition("=")
        source = _source(value.strip(), names)
        if source is not None and (key.strip() or len(arguments) < len(positional)):
            arguments[key.strip() or positional[len(arguments)]] = source
    known = {name: source for name, source in arguments.items() if name in positional}
    return TorqueCall(**known) if "torque" in known else None


class ScriptReceiver:
    """Collects script text and hands out complete scripts; one ends at an `end` in the first column."""

    def __init__(self) -> None:
        self._lines: list[str] = []
        self._rest = ""
        self._size = 0

    def feed(self, data: bytes) -> Iterator[str]:
        """Append received bytes and yield each complete script, or single lines outside any definition."""
        self._rest += data.decode("utf-8", "replace")
        *lines, self._rest = self._rest.split("\n")
        for line in lines:
            yield from self._line(line.rstrip("\r"))
        if self._size + len(self._rest) > MAX_SCRIPT:
            self._lines, self._rest, self._size = [], "", 0

    def _line(self, line: str) -> Iterator[str]:
        if not self._lines and not _DEFINITION.match(line):
            if line.strip():
                yield line.strip() + "\n"
            return
        self._lines.append(line)
        self._size += len(line) + 1
        if line.split("#", 1)[0].rstrip() == "end" and not line[0].isspace():
            text = "\n".join(self._lines) + "\n"
            self._lines, self._size = [], 0
            yield text


class ScriptServer:
    """The script port: collects programs and hands them to the controller."""

    def __init__(self, upload: Callable[[str], None]) -> None:
        self._upload = upload
        self._receivers: dict[Connection, ScriptReceiver] = {}

    def opened(self, connection: Connection) -> None:
        """Nothing to send first: the script port only listens."""
        self._receivers[connection] = ScriptReceiver()

    def received(self, connection: Connection, data: bytes) -> None:
        """Upload every script that the bytes complete."""
        for text in self._receivers[connection].feed(data):
            self._upload(text)

    def closed(self, connection: Connection) -> None:
        """Forget an incomplete script."""
        self._receivers.pop(connection, None)
