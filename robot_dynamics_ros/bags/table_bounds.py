"""Bounds of a file of numbers, checked before its numbers are read: what it says of itself is little beside them."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.errors import DataError

MAX_FILE_BYTES = 1 << 29
MAX_LINE = 1 << 20  # characters of a line of text
MAX_COLUMNS = 4096
MAX_NAME = 1000  # characters of the name of a column
MAX_CELLS = 1 << 26  # numbers of a file: 28 h of 6 joints and 5 signals at 22 Hz, 1.2 h at 500 Hz; 512 MB in memory
MAX_OBJECTS = 4096  # groups and data sets of an HDF5 file, arrays of an npz


def within(path: Path, value: int, bound: int, what: str) -> int:
    """The value. Raises DataError naming file and bound where it is larger."""
    if value > bound:
        raise DataError(f"{path}: {value} {what} are more than {bound}")
    return value


def refuse_text(path: Path, lines: list[str], delimiter: str) -> None:
    """Raise DataError for lines that are too long, or too many columns or cells."""
    within(path, max(map(len, lines)), MAX_LINE, "characters in a line")
    columns = max(line.count(delimiter) + 1 for line in lines[:50])
    within(path, columns, MAX_COLUMNS if delimiter != " " else MAX_LINE, "columns")
    within(path, columns * len(lines), MAX_CELLS, "cells")


def refuse_npz(path: Path) -> None:
    """Raise DataError for arrays that are too large unpacked, by the head of each."""
    with zipfile.ZipFile(path) as archive:
        entries = archive.infolist()
        within(path, len(entries), MAX_OBJECTS, "arrays")
        cells = 0
        for entry in entries:
            with archive.open(entry) as stream:
                version = np.lib.format.read_magic(stream)
                read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
                shape, _, dtype = read(stream)
            cells = within(path, cells + math.prod(shape) * max(dtype.itemsize, 1) // 8, MAX_CELLS, "numbers")


def refuse_parquet(path: Path, metadata: Any) -> None:
    """Raise DataError for too many rows, columns or values, by the footer of a parquet file."""
    within(path, metadata.num_columns, MAX_COLUMNS, "columns")
    groups = [metadata.row_group(k) for k in range(within(path, metadata.num_row_groups, MAX_CELLS, "row groups"))]
    cells = sum(group.column(c).num_values for group in groups for c in range(group.num_columns))
    within(path, max(cells, metadata.num_rows * metadata.num_columns), MAX_CELLS, "values")
