"""Tables that the commands show, and the pages of bench/results that keep them between marks: each with the command
that made it, the machine and the day.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

import click

from bench.running import command_line
from robot_dynamics_ros.cli.options import NewPath
from robot_dynamics_ros.cli.printed import console
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.outputs import write_atomically

RESULTS = Path(__file__).with_name("results")
BEGIN, END = "<!-- generated: {} -->", "<!-- end: {} -->"
json_option = click.option("--json", "json_file", type=NewPath(), help="Also write the numbers to this FILE.")
save_option = click.option("--save", is_flag=True, help="Write the table into its page of bench/results.")


def processor() -> str:
    """Name of this machine's processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.machine()


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table of rows of texts, the first one their titles."""
    lines = ["| " + " | ".join(cell.strip() for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def show(rows: Sequence[Sequence[str]]) -> None:
    """Print rows of texts as a table; the first one holds the titles."""
    from rich.table import Column, Table

    head, *others = (text.replace("\\|", "|") for text in rows[0])
    shown = Table(Column(head, no_wrap=True), *others, box=None, pad_edge=False)
    for row in rows[1:]:
        shown.add_row(*row)
    console.print(shown)


def report(rows: Sequence[Sequence[str]], save: bool, page: str, name: str, words: str = "") -> None:
    """Print rows, the first one their titles, and words; `save`: also into a page of bench/results."""
    show(rows)
    if words:
        console.print(words)
    if save:
        keep(rows, page, name, words)


def keep(rows: Sequence[Sequence[str]], page: str, name: str, words: str = "") -> None:
    """Write rows and words into a page of bench/results, with the day, the machine and the running command."""
    machine = f"{processor()}, {os.cpu_count()} cores, load {os.getloadavg()[1]:.1f}"
    origin = f"Written on {datetime.now(timezone.utc):%Y-%m-%d} by `{command_line()}` ({machine})."
    write(page, name, "\n\n".join([origin, markdown_table(rows), *([words] if words else [])]) + "\n")


def write(page: str, name: str, content: str) -> None:
    """Replace what stands between the marks of `name` in a page of RESULTS, so that the words around it stay.

    A page without marks gets them at its end, a new page gets a title. Raises DataError when it cannot be read or
    written.
    """
    path, begin, end = RESULTS / f"{page}.md", BEGIN.format(name), END.format(name)
    try:
        text = path.read_text(encoding="utf-8") if path.exists() else f"# {page.capitalize()}\n"
        if begin not in text:
            text = f"{text.rstrip()}\n\n{begin}\n{end}\n"
        head, _, tail = text.partition(begin)
        write_atomically(path, f"{head}{begin}\n\n{content}\n{end}{tail.partition(end)[2]}")
    except OSError as error:
        raise DataError(f"{path}: cannot be read or written ({error.strerror or error})") from error
