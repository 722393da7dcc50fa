"""The documentation's table: written between two marks of a page, so that the words around it stay."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from robot_dynamics_ros.config.store import write_atomically
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.reproduction.table import Row, markdown

BEGIN, END = "<!-- generated: {} -->", "<!-- end: {} -->"
LAST = "<!-- end: reproduce "  # of a protocol


def write_section(path: Path, rows: Sequence[Row], command: str, name: str = "reproduce") -> None:
    """The table between the marks of `name`. Raises DataError when the page cannot be read or written."""
    write_between(path, name, markdown(rows, command))


def write_between(path: Path, name: str, content: str) -> None:
    """Replace what stands between the marks of `name`; a page without marks gets them at its end, a new one is begun.

    Raises DataError when the page cannot be read or written.
    """
    text = _read(path)
    if BEGIN.format(name) not in text:
        text = f"{text.rstrip()}\n\n{_marks(name)}\n"
    _write(path, _filled(text, content, name))


def write_protocol(path: Path, protocol: str, rows: Sequence[Row], command: str) -> None:
    """The table of one protocol under its own heading: a protocol that is run again replaces its own rows only.

    A protocol the page does not have yet comes after the last one it has, else at its end. Raises DataError when the
    page cannot be read or written.
    """
    name, text = f"reproduce {protocol}", _read(path)
    if BEGIN.format(name) not in text:
        place = text.rfind(LAST)
        place = text.index("\n", place) if place >= 0 else len(text.rstrip())
        text = f"{text[:place]}\n\n### {protocol}\n\n{_marks(name)}{text[place:].rstrip()}\n"
    _write(path, _filled(text, markdown(rows, command), name))


def _marks(name: str) -> str:
    return f"{BEGIN.format(name)}\n{END.format(name)}"


def _filled(text: str, content: str, name: str) -> str:
    """The page with the content between the marks of `name`."""
    begin, end = BEGIN.format(name), END.format(name)
    head, _, tail = text.partition(begin)
    return f"{head}{begin}\n\n{content}\n{end}{tail.partition(end)[2]}"


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8") if path.exists() else "# Reproduction\n"
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error})") from error


def _write(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, text)
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error})") from error
