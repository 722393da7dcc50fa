"""What every command prints and writes: console, notes, verdict, tables of joints, progress bars, JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from textwrap import wrap
from typing import Any, TypeVar

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from robot_dynamics_ros.errors import printable
from robot_dynamics_ros.outputs import plain, write_atomically
from robot_dynamics_ros.signals import WRENCH_AXES, WRENCH_UNITS
from robot_dynamics_ros.verdict import word

T = TypeVar("T")

WHOLE: Any = {"break_long_words": False, "break_on_hyphens": False}
WIDE = 190  # characters of a line in a file or pipe: the table of `bench`


class PlainConsole(Console):
    """A console without markup, colours of numbers, or control characters in text of files and robots.

    A terminal breaks sentences between words and never a path; in files and pipes no line and no table is broken.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, highlight=False, **options)
        if not self.is_terminal and self._width is None:  # nor in COLUMNS
            self.width = WIDE

    def print(self, *objects: Any, **options: Any) -> None:
        """Print; sentences as above."""
        if len(objects) == 1 and isinstance(objects[0], str):
            lines = objects[0].split("\n")
            if self.is_terminal:
                lines = [line for long in lines for line in wrap(long, self.width, **WHOLE) or [""]]
            objects, options = ("\n".join(lines),), {"soft_wrap": True} | options
        super().print(*objects, **options)

    def render_str(self, text: str, **options: Any) -> Text:
        """Text of a print or of a cell of a table."""
        return super().render_str("\n".join(printable(line, len(line) + 1) for line in text.split("\n")), **options)


console = PlainConsole()
stderr = PlainConsole(stderr=True)


def write_json(path: Path | None, result: dict[str, Any]) -> None:
    """Write a command's numbers, NaN as null, as a whole or not at all; None: nothing. Raises OSError with the path."""
    if path is not None:
        write_atomically(path, json.dumps(plain(result), indent=1) + "\n")


def print_notes(notes: Iterable[str], warnings: Iterable[str] = ()) -> None:
    """A line for each note, then for each warning."""
    for text in notes:
        console.print(f"- {text}")
    for text in warnings:
        console.print(f"warning: {text}", style="yellow")


def print_files(files: Mapping[str, Any]) -> None:
    """A line for each file of a result, by what it is."""
    for what, path in files.items():
        console.print(f"{what.replace('_', ' ')}: {path}")


STYLES = {"good": "green", "fair": "yellow", "bad": "red"}  # of a headline, by its level
NOT_USABLE = 3  # exit status of a result that is written but not usable


def show_verdict(result: Mapping[str, Any]) -> None:
    """Print headline and reasons of `verdict.verdict`."""
    headline, *reasons = result["verdict"]
    console.print(headline, style=STYLES[result["level"]])
    for text in reasons:
        console.print(text)


def print_next(result: Mapping[str, Any]) -> None:
    """The next command of a verdict, where it has one."""
    if result["next"]:
        console.print(f"next: {result['next']}")


def print_identify(bag: Path, robot: str | None, options: str = "") -> None:
    """`identify` as the next command after a recording of `robot`."""
    console.print(
        f"next: robot-dynamics identify {word(bag)} --robot {word(robot or 'ROBOT')}{options} --out identified"
    )


def end_with(result: Mapping[str, Any]) -> None:
    """Print the next command; a result that is not usable has exit status NOT_USABLE."""
    print_next(result)
    if result["level"] == "bad":
        click.get_current_context().exit(NOT_USABLE)


LONGEST = 24  # characters of a joint name in one line


def joint_table(names: Iterable[str], *heads: str, first: str = "joint") -> Any:
    """Table of numbers, whose first column holds joint names: never cut, those above LONGEST characters in several
    lines.
    """
    from rich.table import Column, Table

    widest = max(min(max((len(name) for name in names), default=0), LONGEST), len(first))
    numbers = (Column(head, justify="right") for head in heads)
    return Table(Column(first, overflow="fold", width=widest), *numbers, box=None, pad_edge=False)


def wrench_table(rows: Mapping[str, Mapping[str, float]], first: str = "") -> Any:
    """Table of wrenches by name, a column per axis."""
    heads = [f"{axis} {unit}" for axis, unit in zip(WRENCH_AXES, WRENCH_UNITS, strict=True)]
    table = joint_table(rows, *heads, first=first)
    for name, values in rows.items():
        table.add_row(name, *(f"{values[axis]:.2f}" for axis in WRENCH_AXES))
    return table


def progress_bar() -> Progress:
    """On stderr; silent where that is no terminal."""
    share = TextColumn("{task.percentage:>3.0f}%")
    columns = (TextColumn("{task.description}"), BarColumn(), share, TimeRemainingColumn())
    return Progress(*columns, console=stderr, transient=True, disable=not stderr.is_terminal)


def progress(items: Iterable[T], text: str, total: int | None = None) -> Iterator[T]:
    """Iterate with a progress bar."""
    with progress_bar() as bar:
        yield from bar.track(items, total=total, description=text)
