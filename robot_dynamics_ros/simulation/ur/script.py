"""Scripts as they arrive on the script port: where one ends, what kind it is, the server, and what runs of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Protocol

from robot_dynamics_ros.simulation.server.sockets import Connection

MAX_SCRIPT = 1 << 20  # bytes
MAX_LINE = 2000  # characters of a line that is looked at

DEFINITION = re.compile(r"^(?:def|sec)\s+(\w+)\s*\(\s*\)\s*:")
_OFFSET = re.compile(r"reg_offset_int\s*=[^\n]*\n\s*(\d+)|reg_offset_int\s*=\s*(\d+)")
MAX_ARGUMENT = 1e6  # no argument of any command is larger, in SI units
Waiting = Iterator[None]  # yields once per cycle that a command takes


@dataclass(frozen=True)
class Script:
    """An uploaded program: its text, and the first register of its commands."""

    name: str
    text: str
    register_offset: int = 0

    @property
    def is_command_loop(self) -> bool:
        """True for the ur_rtde control script, which serves commands from a register."""
        return "def process_cmd(" in self.text


def parse_script(text: str) -> Script:
    """Name and register offset of a complete script."""
    definition, offset = DEFINITION.match(text), _OFFSET.search(text)
    return Script(definition[1] if definition else "", text, int(offset[1] or offset[2]) if offset else 0)


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
        if not self._lines and not DEFINITION.match(line):
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


class ProgramError(Exception):
    """The real interpreter stops a program that does this."""


class Program(Protocol):
    """A running program; step() is one controller cycle and returns False when the program has ended."""

    script: Script

    def step(self) -> bool: ...
