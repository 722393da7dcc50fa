"""Names of a table's columns: those that a text of --map names, their order, and a list of them for a message."""

from __future__ import annotations

import re
from collections.abc import Sequence

from robot_dynamics_ros.bags.tables import Table
from robot_dynamics_ros.errors import DataError

MOST = 30  # names in a message


def chosen(table: Table, wanted: str) -> list[str]:
    """Columns that a text of --map names: a column, an array, FIRST..LAST, numbers A-B from 1, or a pattern with *.

    Raises DataError where it names none.
    """
    names = list(table.columns)
    if wanted in table.columns:
        return [wanted]
    if entries := [n for n in names if re.fullmatch(re.escape(wanted) + r"(\[\d+\]|_\d+|\..+)", n)]:
        return entries
    first, dots, last = wanted.partition("..")
    if dots and first in names and last in names and names.index(first) <= names.index(last):
        return names[names.index(first) : names.index(last) + 1]
    if numbers := re.fullmatch(r"(\d+)(?:-(\d+))?", wanted):
        a, b = int(numbers[1]), int(numbers[2] or numbers[1])
        if 1 <= a <= b <= len(names):
            return names[a - 1 : b]
    if "*" in wanted and (matching := [n for n in names if _fits(n, wanted.split("*"))]):
        return sorted(matching, key=natural)
    raise DataError(f"{table.path}: no column {wanted!r}; columns: {listed(names)}")


def _fits(name: str, parts: list[str]) -> bool:
    """Whether the parts follow each other in a name, the first at its begin, the last at its end."""
    first, *middle, last = parts
    at, end = len(first), len(name) - len(last)
    for part in middle:
        found = name.find(part, at, end)
        if found < 0:
            return False
        at = found + len(part)
    return name.startswith(first) and name.endswith(last) and at <= end


def natural(name: str) -> list[tuple[int, str, int]]:
    """Key that sorts q2 before q10."""
    return [(1, "", int(part)) if part.isdecimal() else (0, part, 0) for part in re.findall(r"\d+|\D+", name)]


def listed(names: Sequence[str]) -> str:
    """Names in one line, the first ones of many."""
    more = f", ... ({len(names)} in all)" if len(names) > MOST else ""
    return ", ".join(names[:MOST]) + more
