"""Columns of a text file: delimiter, names and decimal comma as the file has them."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path

import numpy as np

from robot_dynamics_ros.bags.table_bounds import refuse_text
from robot_dynamics_ros.errors import DataError

# 2026-05-01 or 01.05.2026 before the time of day; 05/01/2026 has no order of its own: its time of day alone is taken
DATE = r"(?:(\d{4})-(\d\d)-(\d\d)[T ]|(\d\d?)\.(\d\d?)\.(\d{4})[T ]|\d\d?-\d\d?-\d{4} )?"
TIME = re.compile(DATE + r"(\d\d?):(\d\d):(\d\d)(?:[.,:](\d+))?(Z|[+-]\d\d:?\d\d)?")
TIME_OF_DAY = re.compile(r"\d:\d\d")
DELIMITERS = (";", "\t", "|", ",", " ")
DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
BELOW_ONE = re.compile(r"[+-]?0?,\d+")  # with a decimal comma: "1,250" in quotes may be a thousand
SAMPLE = 50  # rows at the begin, and as many of all, that show which columns hold numbers


def text_columns(path: Path) -> dict[str, np.ndarray]:
    """Columns of a text file with one or two lines of names below any title, or named 1, 2, ... without; columns of
    neither numbers nor times are left out, an empty cell is NaN. Raises DataError for a file beyond the bounds, or
    without numbers.
    """
    lines = [line for line in _text(path).replace("\r", "\n").split("\n") if line.strip()]  # splitlines takes \x85, too
    plain = [k for k, line in enumerate(lines) if line[0] not in "#%"]
    if not plain:
        return {}
    row = lines[plain[len(plain) // 2]].strip()
    delimiter = next((d for d in DELIMITERS if d in row), ",")
    cells = row.split()
    if delimiter == "," and len(cells) > 1 and all(map(DECIMAL_COMMA.fullmatch, cells)):
        delimiter = " "
    refuse_text(path, lines, delimiter)
    split = _splitter(delimiter)
    comma = BELOW_ONE if delimiter == "," else DECIMAL_COMMA
    decimal = delimiter == ";" or any(comma.fullmatch(cell.strip()) for cell in split(row))
    point = (lambda cell: cell.replace(",", ".")) if decimal else str
    names, start = _names([split(lines[k]) for k in plain[: 2 * SAMPLE]], split(row), point)
    first = plain[start] if start < len(plain) else len(lines)
    if not names:
        above = split(lines[first - 1].lstrip("#% ")) if first else []
        width = len(split(lines[first]))
        names = above if len(above) == width else [str(k + 1) for k in range(width)]
    body = [line for line in lines[first:] if line[0] not in "#%"]
    if not body:
        raise DataError(f"{path}: holds names of columns and no numbers")
    sample = [split(line) for line in [*body[:SAMPLE], *body[:: -(-len(body) // SAMPLE)]]]
    shown = [[r[k] for r in sample if k < len(r)] for k in range(len(names))]
    use = [k for k, c in enumerate(shown) if any(_is_number(point(x)) or TIME_OF_DAY.search(x) for x in c)]
    values = _numbers(body, delimiter, split, point, use)
    return {name: values[:, at] for at, name in enumerate(_unique([names[k].strip() for k in use]))}


def _text(path: Path) -> str:
    """A file's text: UTF-8, UTF-16 where it says so, else as Windows writes it; without the zeros of a lost end."""
    data = path.read_bytes()
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError:
        text = data.decode(encoding, "replace") if encoding == "utf-16" else data.decode("latin-1")
    return text.replace("\0", "")


def _names(head: list[list[str]], row: list[str], point: Callable[[str], str]) -> tuple[list[str], int]:
    """Names of the columns out of the last lines without a number above the first row like `row`, and the line after
    them; none where there is no such line. Of two lines the second holds the units, or the joints of each quantity.
    """
    head = [cells if any(map(str.strip, cells)) else [] for cells in head]
    numbers = [sum(_is_number(point(cell)) for cell in cells) for cells in head]
    usual = sum(_is_number(point(cell)) for cell in row)
    start = next((k for k, count in enumerate(numbers) if count and 2 * count > usual), len(head))
    last = next((k for k in reversed(range(start)) if not numbers[k] and 2 * len(head[k]) > len(row)), None)
    if last is None:
        return [], 0
    names = [cell.strip() for cell in head[last]]
    above = [cell.strip() for cell in head[last - 1]] if last and not numbers[last - 1] else []
    if len(above) != len(names) or above == names:
        return names, last + 1
    if len(set(above)) == len(above):
        return [f"{name} [{unit}]" if unit else name for name, unit in zip(above, names, strict=True)], last + 1
    for k in range(1, len(above)):  # merged cells of a spreadsheet
        above[k] = above[k] or above[k - 1]
    return [f"{a} {name}".strip() for a, name in zip(above, names, strict=True)], last + 1


def _splitter(delimiter: str) -> Callable[[str], list[str]]:
    if delimiter == " ":
        return str.split
    return lambda line: next(csv.reader([line], delimiter=delimiter))


def _numbers(
    body: list[str], delimiter: str, split: Callable[[str], list[str]], point: Callable[[str], str], use: list[int]
) -> np.ndarray:
    """Numbers (N, columns) of the used columns; NaN for a cell that is none or is missing, and for all of a row with
    more cells than the others: two lines in one.
    """
    widths = Counter(len(line.split()) if delimiter == " " else line.count(delimiter) for line in body)
    with suppress(ValueError):
        if max(widths) == widths.most_common(1)[0][0]:
            text = body if point is str else (point(line) for line in body)
            separator = None if delimiter == " " else delimiter
            return np.loadtxt(text, delimiter=separator, usecols=use, ndmin=2, comments=None)
    rows = [split(line) for line in body]
    usual = Counter(map(len, rows)).most_common(1)[0][0]
    rows = [row if len(row) <= usual or not any(row[usual:]) else [] for row in rows]
    return np.array([[_number(point(row[k])) if k < len(row) else np.nan for k in use] for row in rows])


def _is_number(cell: str) -> bool:
    return not np.isnan(_number(cell)) or cell.strip().lower() == "nan"


def _number(cell: str) -> float:
    """A number, or seconds since 1970 (UTC where it does not say) of a date with its time, since midnight of a time;
    NaN for anything else.
    """
    try:
        return float(cell)
    except ValueError:
        return _seconds(cell.strip().replace("/", "-"))


def _seconds(text: str) -> float:
    if found := TIME.fullmatch(text):
        date = found.group(1, 2, 3) if found[1] else found.group(6, 5, 4) if found[4] else ("1970", "1", "1")
        year, month, day, hour, minute, second = map(int, (*date, *found.group(7, 8, 9)))
        zone = (found[11] or "Z").replace("Z", "+0000").replace(":", "")
        ahead = (60 * int(zone[1:3]) + int(zone[3:])) * (-60 if zone[0] == "-" else 60)
        with suppress(ValueError):  # a month 13
            whole = datetime(year, month, day, hour, minute, second, tzinfo=timezone.utc)
            return whole.timestamp() - ahead + float(f"0.{found[10] or 0}")
    return np.nan


def _unique(names: Sequence[str]) -> list[str]:
    count: Counter[str] = Counter()
    found = []
    for k, name in enumerate(names):
        name = name or str(k + 1)
        count[name] += 1
        found.append(name if count[name] == 1 else f"{name} ({count[name]})")
    return found
