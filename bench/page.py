"""Pages of bench/results: tables between marks, each with the command that made it, the machine and the day."""

from __future__ import annotations

import os
import platform
from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path

import click

from robot_dynamics_ros.cli.options import NewPath
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


def written_by(command: str) -> str:
    """The line over a generated table: the day, the command that made it, and the machine."""
    machine = f"{processor()}, {os.cpu_count()} cores, load {os.getloadavg()[1]:.1f}"
    return f"Written on {datetime.now(timezone.utc):%Y-%m-%d} by `{command}` ({machine})."


def markdown_table(rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table of rows of texts, the first one their titles."""
    lines = ["| " + " | ".join(cell.strip() for cell in row) + " |" for row in rows]
    return "\n".join([lines[0], "|" + "---|" * len(rows[0]), *lines[1:]])


def save(page: str, name: str, content: str) -> None:
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
