"""The documentation's table: written between two marks of a page, so that the words around it stay."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from robot_dynamics_ros.config.store import write_atomically
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.reproduction.table import Row, markdown

BEGIN, END = "<!-- generated: {} -->", "<!-- end: {} -->"


def write_section(path: Path, rows: Sequence[Row], command: str, name: str = "reproduce") -> None:
    """Replace what stands between the marks of `name`; a page without marks gets them at its end, a new one is begun.

    Raises DataError when the page cannot be read or written.
    """
    begin, end = BEGIN.format(name), END.format(name)
    section = f"{begin}\n\n{markdown(rows, command)}\n{end}"
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else "# Reproduction\n"
        head, mark, tail = text.partition(begin)
        rest = tail.partition(end)[2] if mark else "\n"
        path.parent.mkdir(parents=True, exist_ok=True)
        write_atomically(path, (head if mark else head.rstrip() + "\n\n") + section + rest)
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error})") from error
