"""Pages for people: HTML from the templates of data/, and what is generated between marks of Markdown pages."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from robot_dynamics_ros.errors import CapabilityError, DataError
from robot_dynamics_ros.outputs import write_atomically

TEMPLATES = Path(__file__).resolve().parent / "data"
BEGIN, END = "<!-- generated: {} -->", "<!-- end: {} -->"


def write_html(template: str | Path, path: Path, **values: Any) -> Path:
    """A template (by name: of data/) filled with values, as one HTML file without external resources; returns its path.

    Raises CapabilityError without jinja2, DataError when the file cannot be written.
    """
    try:
        import jinja2
    except ImportError:
        raise CapabilityError('the report needs jinja2: pip install "robot_dynamics_ros[reports]"') from None
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    environment.filters["n"] = number
    write_text(path, environment.from_string((TEMPLATES / template).read_text(encoding="utf-8")).render(**values))
    return path


def number(x: Any, digits: int = 4) -> str:
    """A number for a table; a dash where there is none."""
    return "–" if x is None else f"{x:.{digits}g}"


def written_by(command: str) -> str:
    """The line over a generated table: the day and the command that made it."""
    return f"Written on {datetime.now(timezone.utc):%Y-%m-%d} by `{command}`."


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]], command: str) -> str:
    """A table with the date and the command that made it; rows hold one text per column of the header."""
    lines = [written_by(command), "", "| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(cell.strip() for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def write_between(path: Path, name: str, content: str, title: str) -> None:
    """Replace what stands between the marks of `name`, so that the words around it stay.

    A page without marks gets them at its end, a new page gets the title. Raises DataError when it cannot be read or
    written.
    """
    text = read_text(path, title)
    if BEGIN.format(name) not in text:
        text = f"{text.rstrip()}\n\n{marks(name)}\n"
    write_text(path, filled(text, name, content))


def marks(name: str) -> str:
    """Both marks of a name, with nothing between them."""
    return f"{BEGIN.format(name)}\n{END.format(name)}"


def filled(text: str, name: str, content: str) -> str:
    """The page with the content between the marks of `name`."""
    begin, end = BEGIN.format(name), END.format(name)
    head, _, tail = text.partition(begin)
    return f"{head}{begin}\n\n{content}\n{end}{tail.partition(end)[2]}"


def read_text(path: Path, title: str) -> str:
    """A page, or the beginning of one. Raises DataError when it cannot be read."""
    try:
        return path.read_text(encoding="utf-8") if path.exists() else f"# {title}\n"
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error


def write_text(path: Path, text: str) -> None:
    """Write a page as a whole or not at all. Raises DataError when it cannot be written."""
    try:
        write_atomically(path, text)
    except OSError as error:
        raise DataError(f"{path}: cannot be written ({error.strerror or error})") from error
