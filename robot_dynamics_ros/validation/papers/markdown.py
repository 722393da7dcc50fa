"""The documentation's tables of protocols, each between marks of its own (pages.py)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from robot_dynamics_ros.pages import BEGIN, filled, marks, read_text, write_between, write_text
from robot_dynamics_ros.validation.papers.table import Row, markdown

TITLE = "Reproduction"
LAST = "<!-- end: reproduce "  # of a protocol


def write_section(path: Path, rows: Sequence[Row], command: str, name: str = "reproduce") -> None:
    """The table between the marks of `name`. Raises DataError when the page cannot be read or written."""
    write_between(path, name, markdown(rows, command), TITLE)


def write_protocol(path: Path, protocol: str, rows: Sequence[Row], command: str) -> None:
    """The table of one protocol under its own heading: a protocol that is run again replaces its own rows only.

    A protocol the page does not have yet comes after the last one it has, else at its end. Raises DataError when the
    page cannot be read or written.
    """
    name, text = f"reproduce {protocol}", read_text(path, TITLE)
    if BEGIN.format(name) not in text:
        place = text.rfind(LAST)
        place = text.index("\n", place) if place >= 0 else len(text.rstrip())
        text = f"{text[:place]}\n\n### {protocol}\n\n{marks(name)}{text[place:].rstrip()}\n"
    write_text(path, filled(text, name, markdown(rows, command)))
