"""What several commands of the laboratory show and read: a table of texts, a list of numbers."""

from __future__ import annotations

from collections.abc import Sequence

from bench import page
from bench.running import command_line
from robot_dynamics_ros.cli.printed import console
from robot_dynamics_ros.errors import ConfigError


def counts(text: str) -> tuple[int, ...]:
    """Rising numbers of recordings of a list by commas. Raises ConfigError."""
    try:
        found = tuple(int(part) for part in text.split(","))
    except ValueError:
        found = (-1,)
    if list(found) != sorted(set(found)) or not 0 <= found[0] or not 1 <= found[-1] <= 1000:
        raise ConfigError("bench", "--recordings", f"{text!r} is no list of rising numbers up to 1000")
    return found


def show(rows: Sequence[Sequence[str]]) -> None:
    """Print rows of texts as a table; the first one holds the titles."""
    from rich.table import Column, Table

    head, *others = (text.replace("\\|", "|") for text in rows[0])
    shown = Table(Column(head, no_wrap=True), *others, box=None, pad_edge=False)
    for row in rows[1:]:
        shown.add_row(*row)
    console.print(shown)


def report(rows: Sequence[Sequence[str]], save: bool, place: str, name: str, words: str = "") -> None:
    """Print rows, the first one their titles, and words; `save`: also into a page of bench/results."""
    show(rows)
    if words:
        console.print(words)
    if save:
        keep(rows, place, name, words)


def keep(rows: Sequence[Sequence[str]], place: str, name: str, words: str = "") -> None:
    """Write rows and words into a page of bench/results, with the day and the command that made them."""
    text = f"{page.written_by(command_line())}\n\n{page.markdown_table(rows)}\n"
    page.save(place, name, f"{text}\n{words}\n" if words else text)
