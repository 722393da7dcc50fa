"""What the result tables of papers and faults share: rows in JSON, and the table of the documentation."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from robot_dynamics_ros.pages import written_by

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def as_dicts(rows: Iterable[DataclassInstance]) -> list[dict[str, Any]]:
    """Rows (dataclasses) as JSON holds them, by field name."""
    return [asdict(row) for row in rows]


def markdown_table(header: Sequence[str], rows: Iterable[Sequence[str]], command: str) -> str:
    """A table with the date and the command that made it; rows hold one text per column of the header."""
    lines = [written_by(command), "", "| " + " | ".join(header) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(cell.strip() for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"
