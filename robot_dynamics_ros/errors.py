"""The package's one exception tree: every error a user can cause derives from RobotDynamicsError."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

LONGEST = 4000  # characters of a message


def printable(text: str, most: int = LONGEST) -> str:
    """Text for a terminal or a log: at most `most` characters, control characters as `?`, line breaks as spaces.

    Names and values come from files and messages of others: an escape sequence in them must not reach a terminal.
    """
    cut = text if len(text) <= most else text[: most - 3] + "..."
    return "".join(c if c.isprintable() else " " if c.isspace() else "?" for c in cut)


def first_line(error: BaseException) -> str:
    """The first line of what an error of another library says; its type where it says nothing."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def nearest(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'x'?` for the nearest known word, or the list of known ones."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f"; did you mean '{close[0]}'?" if close else f"; known: {', '.join(known)}"


class RobotDynamicsError(Exception):
    """Root of all errors a user can cause; its text is one clear line of printable characters."""

    def __str__(self) -> str:
        return printable(super().__str__())


class ConfigError(RobotDynamicsError):
    """A robot or node file is wrong; names file, field, value and bound."""

    def __init__(self, file: str, field: str, message: str) -> None:
        super().__init__(file, field, message)  # pickle makes an error of its arguments
        self.file, self.field = file, field

    def __str__(self) -> str:
        return printable(": ".join(str(part) for part in self.args if part != ""))


class DataError(RobotDynamicsError):
    """A bag or log cannot be used; names the file and what to record instead."""


class ConnectionFailed(RobotDynamicsError):
    """A controller refuses, is absent or speaks another version."""


class CapabilityError(RobotDynamicsError):
    """The robot does not support the request; names the field of the robot file that is the reason."""
