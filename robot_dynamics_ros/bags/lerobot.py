"""LeRobot data sets (v3.0): their files and names of columns, and copies with the estimates as further columns."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robot_dynamics_ros.bags.reader import load_bag
from robot_dynamics_ros.bags.tables import data_files, library
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.outputs import new_bag, replacing, write_atomically
from robot_dynamics_ros.signals import WRENCH_AXES, Log

if TYPE_CHECKING:
    from robot_dynamics_ros.robot_file import RobotFile

VERSION = "v3.0"
QUANTILES = {"q01": 0.01, "q10": 0.1, "q50": 0.5, "q90": 0.9, "q99": 0.99}  # of meta/stats.json
COLUMNS = {  # column -> signal, names of its entries
    "observation.external_wrench": ("external_wrench", WRENCH_AXES),
    "observation.external_wrench_std": ("external_wrench_std", WRENCH_AXES),
    "observation.contact": ("contact", ("contact",)),
}


def write_dataset(source: Path, out: Path, robot: RobotFile, log: Log, inputs: Iterable[str | Path] = ()) -> Path:
    """Copy of a data set whose frames have the COLUMNS of a log with estimates of it; returns `out`.

    Wrenches at the TCP in base axes, environment on robot; NaN in frames without an estimate. Raises DataError for
    another version, or frames that the log does not know.
    """
    info = json.loads((source / "meta" / "info.json").read_text(encoding="utf-8"))
    if (version := info.get("codebase_version")) != VERSION:
        raise DataError(f"{source}: codebase_version is {version}, expected {VERSION}: convert it with LeRobot")
    columns = _frames(source, robot, log)
    with new_bag(out, inputs=[source, *inputs]) as place:
        shutil.copytree(source, place)
        begin = 0
        for file in data_files(place):
            begin += _extend(file, columns, begin)
        if begin != len(columns["observation.contact"]):
            raise DataError(f"{source}: {begin} frames, {len(columns['observation.contact'])} with a time")
        for name, (_, names) in COLUMNS.items():
            info["features"][name] = {"dtype": "float32", "shape": [len(names)], "names": list(names)}
        write_atomically(place / "meta" / "info.json", json.dumps(info, indent=4))
        _write_stats(place / "meta" / "stats.json", columns)
    return out


def _frames(source: Path, robot: RobotFile, log: Log) -> dict[str, np.ndarray]:
    """Column -> float32 (frames, width) in the order of the data set."""
    every, _ = load_bag(source, robot, require=("q",), repair=False)
    at = np.searchsorted(log.stamp_ns, every.stamp_ns).clip(0, len(log) - 1)
    known = log.stamp_ns[at] == every.stamp_ns
    found = {}
    for name, (signal, names) in COLUMNS.items():
        values = np.asarray(getattr(log, signal), dtype=np.float32)[at]
        if len(names) == 1:  # contact of any joint or the TCP
            values = values.max(axis=1, keepdims=True)
        found[name] = np.where(known[:, None], values, np.float32("nan"))
    return found


def _extend(file: Path, columns: dict[str, np.ndarray], begin: int) -> int:
    """Write the rows from `begin` on into a parquet file; returns how many it has."""
    arrow, parquet = library("pyarrow", file), library("pyarrow.parquet", file)
    table = parquet.read_table(file)
    about = json.loads((table.schema.metadata or {}).get(b"huggingface", b"{}"))
    features = about.get("info", {}).get("features")
    for name, values in columns.items():
        rows = values[begin : begin + len(table)]
        flat = arrow.array(np.ascontiguousarray(rows).ravel(), arrow.float32())
        wide = values.shape[1] > 1
        column = arrow.FixedSizeListArray.from_arrays(flat, values.shape[1]) if wide else flat
        if name in table.column_names:
            table = table.drop_columns([name])
        table = table.append_column(name, column)
        if features is not None:  # how `datasets` reads the file without meta/info.json
            one = {"dtype": "float32", "_type": "Value"}
            kind = (features.get("observation.state") or {}).get("_type", "List")
            features[name] = {"feature": one, "length": values.shape[1], "_type": kind} if wide else one
    if features is not None:
        metadata = {**(table.schema.metadata or {}), b"huggingface": json.dumps(about).encode()}
        table = table.replace_schema_metadata(metadata)
    with replacing(file) as temporary:
        parquet.write_table(table, temporary)
    return len(table)


def _write_stats(path: Path, columns: dict[str, np.ndarray]) -> None:
    """Statistics of the columns beside those that meta/stats.json has, of the same kinds."""
    stats: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    kinds = {kind for values in stats.values() for kind in values} or {"min", "max", "mean", "std", "count"}
    for name, values in columns.items():
        known = values[np.isfinite(values).all(axis=1)].astype(float)
        if not len(known):
            raise DataError(f"{path.parent.parent}: no frame has an estimate")
        all_kinds = {k: getattr(known, k)(axis=0).tolist() for k in ("min", "max", "mean", "std")}
        all_kinds |= {k: np.quantile(known, q, axis=0).tolist() for k, q in QUANTILES.items()}
        stats[name] = {k: v for k, v in {**all_kinds, "count": [len(known)]}.items() if k in kinds}
    write_atomically(path, json.dumps(stats, indent=4))
