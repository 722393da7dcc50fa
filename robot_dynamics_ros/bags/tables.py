"""Tables of numbers from files: CSV and other text, npz, parquet, HDF5; one array per column."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.bags.table_bounds import (
    MAX_CELLS,
    MAX_FILE_BYTES,
    MAX_NAME,
    MAX_OBJECTS,
    refuse_npz,
    refuse_parquet,
    within,
)
from robot_dynamics_ros.bags.text_table import text_columns
from robot_dynamics_ros.errors import CapabilityError, DataError, first_line
from robot_dynamics_ros.supervisor import child_environment

MAX_WIDTH = 64  # columns of one array; wider ones are images or features, not joints


@dataclass(frozen=True)
class Table:
    """Columns (N,) by name, in the order of the file; entries of an array are named `array[k]`, from 0."""

    path: Path
    columns: dict[str, np.ndarray]

    @property
    def rows(self) -> int:
        """Length of every column."""
        return len(next(iter(self.columns.values())))


def is_table(path: str | Path) -> bool:
    """Whether a path is a file of numbers, by its suffix, or a LeRobot data set instead of a bag."""
    return Path(path).suffix.lower() in READERS or is_dataset(path)


def is_dataset(path: str | Path) -> bool:
    """Whether a path is the directory of a LeRobot data set."""
    return os.path.isfile(Path(path) / "meta" / "info.json")  # False, too, where nothing may be read


def _described(root: Path) -> dict[str, dict[str, Any]] | None:
    """Columns of a LeRobot data set by its meta/info.json; None where it does not describe them."""
    try:
        features = json.loads((root / "meta" / "info.json").read_text(encoding="utf-8"))["features"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    usable = isinstance(features, dict) and all(isinstance(f, dict) for f in features.values())
    return features if usable else None


def data_files(root: Path) -> list[Path]:
    """The parquet files of a LeRobot data set in the order of its frames."""
    return sorted((root / "data").glob("*/*.parquet"))


def read_table(path: Path) -> Table:
    """Columns of a file or a data set. Raises DataError naming the file and the reason, CapabilityError for a library
    that is not installed.
    """
    if is_dataset(path):
        if _described(path) is None:
            info = path / "meta" / "info.json"
            raise DataError(f"{info}: damaged: it does not describe the columns; copy it from the data set again")
        return _joined(path, [read_table(file) for file in data_files(path)])
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    try:
        within(path, path.stat().st_size, MAX_FILE_BYTES, "bytes")
        columns = (_apart if path.suffix.lower() in NATIVE else READERS[path.suffix.lower()])(path)
        within(path, max(map(len, columns), default=0), MAX_NAME, "characters in the name of a column")
    except (DataError, CapabilityError):
        raise
    except Exception as error:  # the libraries raise their own errors, zip's and the parser's
        raise DataError(f"{path}: cannot be read as {path.suffix.lower()[1:]} ({first_line(error)})") from error
    if not columns:
        raise DataError(f"{path}: holds no columns of numbers")
    return Table(path, columns)


def _joined(path: Path, parts: Sequence[Table]) -> Table:
    """The columns that all files of a data set have, one after the other."""
    names = [n for n in parts[0].columns if all(n in part.columns for part in parts)] if parts else []
    if not names:
        raise DataError(f"{path}: holds no columns of numbers")
    within(path, len(names) * sum(part.rows for part in parts), MAX_CELLS, "numbers")
    return Table(path, {name: np.concatenate([part.columns[name] for part in parts]) for name in names})


def library(name: str, path: Path) -> Any:
    """A module that reads files of a kind. Raises CapabilityError naming the extra that installs it."""
    try:
        return importlib.import_module(name)
    except ImportError:
        package = name.split(".")[0]
        raise CapabilityError(
            f"{path}: {path.suffix} needs {package}: pip install 'robot_dynamics_ros[tables]' (or {package}); "
            ".csv and .npz need nothing"
        ) from None


def _npz(path: Path) -> dict[str, np.ndarray]:
    refuse_npz(path)
    with np.load(path, allow_pickle=False) as arrays:
        return _columns({name: arrays[name] for name in arrays.files})


def _hdf5(path: Path) -> dict[str, np.ndarray]:
    h5py = library("h5py", path)
    arrays: dict[str, np.ndarray] = {}
    objects = cells = 0

    def take(name: str, item: Any) -> None:
        nonlocal objects, cells
        objects = within(path, objects + 1, MAX_OBJECTS, "objects")
        if isinstance(item, h5py.Dataset) and item.ndim in (1, 2) and np.issubdtype(item.dtype, np.number):
            cells = within(path, cells + item.size, MAX_CELLS, "numbers")
            arrays[name] = item[()]

    with h5py.File(path, "r") as file:
        file.visititems(take)
    return _columns(arrays)


def _parquet(path: Path) -> dict[str, np.ndarray]:
    file = library("pyarrow.parquet", path).ParquetFile(path)
    types = library("pyarrow.types", path)
    refuse_parquet(path, file.metadata)
    table = file.read(columns=[f.name for f in file.schema_arrow if _of_numbers(types, f.type)])
    arrays: dict[str, np.ndarray] = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        kind = column.type
        if _vector(types, kind):
            lists = column.combine_chunks()
            if column.null_count == 0 and len(lists.value_lengths().unique()) == 1:  # ragged lists are left out
                arrays[name] = lists.flatten().to_numpy(zero_copy_only=False).reshape(len(column), -1)
        elif _numeric(types, kind):
            arrays[name] = column.to_numpy()
        elif types.is_timestamp(kind):
            stamps = column.to_numpy().astype("datetime64[ns]")
            missing, whole = np.isnat(stamps), stamps.astype(np.int64)
            arrays[f"{name} [ns]"] = np.where(missing, np.nan, whole) if missing.any() else whole
    return _columns(arrays, lerobot_names(path))


def _of_numbers(types: Any, kind: Any) -> bool:
    """Whether a column is of numbers, times or vectors of numbers; others are not read."""
    return _numeric(types, kind.value_type if _vector(types, kind) else kind) or types.is_timestamp(kind)


def _vector(types: Any, kind: Any) -> bool:
    return bool(types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind))


def _numeric(types: Any, kind: Any) -> bool:
    return bool(types.is_floating(kind) or types.is_integer(kind))


def lerobot_names(path: Path) -> dict[str, list[str]]:
    """Names of the entries of the vectors of a LeRobot data set, from the meta/info.json above a parquet file."""
    for folder in list(path.resolve().parents)[:4]:
        if (features := _described(folder)) is not None:
            return {k: n for k, f in features.items() if (n := _flat_names(f.get("names")))}
    return {}


def _flat_names(names: Any) -> list[str]:
    """Names as a list, from a list or from {"motors": [...]}."""
    if isinstance(names, dict) and len(names) == 1:
        names = next(iter(names.values()))
    return [str(n) for n in names] if isinstance(names, list) else []


def _columns(arrays: Mapping[str, np.ndarray], names: Mapping[str, Sequence[str]] = {}) -> dict[str, np.ndarray]:
    """One column per entry of all arrays that have one row per sample; (k, N) arrays are turned."""
    numeric = {k: a for k, a in arrays.items() if a.ndim in (1, 2) and a.dtype.kind in "fiu" and a.size}
    if not numeric:
        return {}
    # features that are wider than joints say nothing of the rows
    lengths = Counter(max(a.shape) for a in numeric.values() if a.ndim == 1 or min(a.shape) <= MAX_WIDTH)
    lengths.pop(1, None)
    rows = max(lengths, key=lambda n: (lengths[n], n), default=1)
    columns: dict[str, np.ndarray] = {}
    for name, a in numeric.items():
        if a.ndim == 2 and a.shape[0] != rows and a.shape[1] == rows:
            a = a.T
        if len(a) != rows or (a.ndim == 2 and a.shape[1] > MAX_WIDTH):
            continue
        if a.ndim == 1:
            columns[name] = a
            continue
        own = names.get(name, ())
        labels = [f".{n}" for n in own] if len(own) == a.shape[1] else [f"[{k}]" for k in range(a.shape[1])]
        columns |= {f"{name}{label}": a[:, k] for k, label in enumerate(labels)}
    return columns


READERS: dict[str, Callable[[Path], dict[str, np.ndarray]]] = {
    ".csv": text_columns,
    ".tsv": text_columns,
    ".txt": text_columns,
    ".npz": _npz,
    ".parquet": _parquet,
    ".h5": _hdf5,
    ".hdf5": _hdf5,
}
NATIVE = {".parquet": "pyarrow.parquet", ".h5": "h5py", ".hdf5": "h5py"}  # on some damaged files they end the process


def _apart(path: Path) -> dict[str, np.ndarray]:
    """Columns as a process of its own reads them. Raises as the reader, DataError where the process was ended."""
    library(NATIVE[path.suffix.lower()], path)
    with tempfile.TemporaryDirectory() as place:
        call = f"from {__name__} import write_columns as w; import sys; sys.exit(w(*sys.argv[1:]))"
        command = [sys.executable, "-c", call, str(path), f"{place}/columns.npz"]
        done = subprocess.run(command, capture_output=True, text=True, env=child_environment())
        if done.returncode:
            why = done.stdout.strip() or f"{path}: ends the process of its library ({done.returncode})"
            raise DataError(why) if str(path) in why else ValueError(why)
        with np.load(f"{place}/columns.npz", allow_pickle=False) as file:
            return {str(name): file[f"arr_{k + 1}"] for k, name in enumerate(file["arr_0"])}


def write_columns(path: str, out: str) -> int:
    """In that process: the columns into an npz, their names first; exit status 1 with the reason on standard output."""
    try:
        columns = READERS[Path(path).suffix.lower()](Path(path))
    except Exception as error:
        print(str(error) or type(error).__name__)
        return 1
    np.savez(out, np.array(list(columns), dtype=str), *columns.values())
    return 0
