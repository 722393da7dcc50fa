"""Columns of a text file: delimiter, names and decimal comma as the file has them."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import numpy as np

from robot_dynamics_ros.bags.table_bounds import refuse_text
from robot_dynamics_ros.errors import DataError

DATE = re.compile(r"(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d)(\.\d+)?(Z|[+-]\d\d:\d\d)?")
DELIMITERS = (";", "\t", ",", " ")


def text_columns(path: Path) -> dict[str, np.ndarray]:
    """Columns of a text file with a line of names, or named 1, 2, ... without; columns of neither numbers nor
    dates are left out, an empty cell is NaN. Raises DataError for a file beyond the bounds, or without numbers.
    """
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as stream:
        lines = [line for line in stream.read().splitlines() if line.strip()]
    first = next((k for k, line in enumerate(lines) if line[0] not in "#%"), None)
    if first is None:
        return {}
    delimiter = next((d for d in DELIMITERS if d in lines[first].strip()), ",")
    refuse_text(path, lines, delimiter)
    point = (lambda cell: cell.replace(",", ".")) if delimiter == ";" else str
    split = _splitter(delimiter)
    names = split(lines[first])
    if any(_is_number(point(cell)) for cell in names):
        above = split(lines[first - 1].lstrip("#% ")) if first else []
        names = above if len(above) == len(names) else [str(k + 1) for k in range(len(names))]
    else:
        first += 1
    body = [line for line in lines[first:] if line[0] not in "#%"]
    if not body:
        raise DataError(f"{path}: holds names of columns and no numbers")
    sample = [split(line) for line in body[:50]]
    use = [k for k in range(len(names)) if any(k < len(r) and _is_number(point(r[k])) for r in sample)]
    values = _numbers(body, delimiter, split, point, use)
    return {name: values[:, at] for at, name in enumerate(_unique([names[k].strip() for k in use]))}


def _splitter(delimiter: str) -> Callable[[str], list[str]]:
    if delimiter == " ":
        return str.split
    return lambda line: next(csv.reader([line], delimiter=delimiter))


def _numbers(
    body: list[str], delimiter: str, split: Callable[[str], list[str]], point: Callable[[str], str], use: list[int]
) -> np.ndarray:
    """Numbers (N, columns) of the used columns; NaN for a cell that is none or is missing."""
    try:
        text = (point(line) for line in body) if delimiter == ";" else body
        return np.loadtxt(text, delimiter=None if delimiter == " " else delimiter, usecols=use, ndmin=2, comments=None)
    except ValueError:
        rows = (split(line) for line in body)
        return np.array([[_number(point(row[k])) if k < len(row) else np.nan for k in use] for row in rows])


def _is_number(cell: str) -> bool:
    return not np.isnan(_number(cell)) or cell.strip().lower() == "nan"


def _number(cell: str) -> float:
    """A number, or seconds since 1970 (UTC where it does not say) of a date with its time; NaN for anything else."""
    try:
        return float(cell)
    except ValueError:
        return _seconds(cell.strip().replace("/", "-"))


def _seconds(date: str) -> float:
    if found := DATE.fullmatch(date):
        zone = (found[3] or "Z").replace("Z", "+00:00")
        with suppress(ValueError):  # a month 13
            return datetime.fromisoformat(found[1] + zone).timestamp() + float(found[2] or 0)
    return np.nan


def _unique(names: Sequence[str]) -> list[str]:
    count: Counter[str] = Counter()
    found = []
    for k, name in enumerate(names):
        name = name or str(k + 1)
        count[name] += 1
        found.append(name if count[name] == 1 else f"{name} ({count[name]})")
    return found
