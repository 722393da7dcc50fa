"""Files of numbers and mappings of columns that were damaged: a recording, or one line that says what is wrong."""

import random
import warnings

import numpy as np
import pytest
from fuzz import SEED, mutated, tries

from robot_dynamics_ros.bags import load_bag
from robot_dynamics_ros.bags.table_log import SIGNALS, UNITS, TableOptions
from robot_dynamics_ros.cli.import_table import _mapping
from robot_dynamics_ros.errors import CapabilityError, DataError

TRIES = tries(20)
NAMES = ["t", *(f"{signal}_{k}" for signal in ("q", "qd", "tau") for k in range(3))]
T = np.arange(40) / 100.0
VALUES = np.column_stack([T, *(np.sin(T * k) for k in range(1, 10))])
CELLS = ["", "nan", "1e400", "-", "1,5", '"', "\0", "é", "x" * 70_000, "1\n", ";", "\t", "0x10", "1_0", "+"]
PARTS = ["q", "qd", "effort", "t", "*", "q_*", "q_0..q_2", "q_2..q_0", "1-3", "3-1", "0-999", "..", "-", "[", "²", ""]


def written(path, kind):
    """The bytes of a good file."""
    columns = dict(zip(NAMES, VALUES.T, strict=True))
    if kind == "csv":
        path.write_text("\n".join([",".join(NAMES), *(",".join(map(repr, row)) for row in VALUES.tolist())]))
    elif kind == "npz":
        np.savez_compressed(path, **columns)
    elif kind == "parquet":
        arrow = pytest.importorskip("pyarrow")
        pytest.importorskip("pyarrow.parquet").write_table(arrow.table(columns), path)
    else:
        with pytest.importorskip("h5py").File(path, "w") as file:
            for name, column in columns.items():
                file[name] = column
    return path.read_bytes()


def read(path, options=None) -> bool:
    """Whether a file is taken; what it then holds is whole."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            log, _ = load_bag(path, require=("q",), table=options or TableOptions())
        except (DataError, CapabilityError) as error:
            assert "\n" not in str(error) and len(str(error)) < 5000
            return False
    assert all(len(values) == len(log) for values in log.signals.values()) and (np.diff(log.stamp_ns) > 0).all()
    return True


@pytest.mark.parametrize("kind", ["csv", "npz", "parquet", "h5"])
def test_damaged_files_of_numbers_are_read_or_refused(tmp_path, kind, tried):
    count = TRIES // 20 if kind in ("parquet", "h5") else TRIES  # a process each
    tried("files of numbers (csv, npz, parquet, HDF5)", count)
    path = tmp_path / f"a.{kind}"
    good, rng = written(path, kind), random.Random(SEED + 1)
    assert read(path)
    for _ in range(count):
        path.write_bytes(mutated(good, rng))
        read(path)


def test_odd_cells_of_a_text_are_left_out_or_refused(tmp_path, tried):
    tried("files of numbers (csv, npz, parquet, HDF5)", TRIES)
    path, rng, taken = tmp_path / "a.csv", random.Random(SEED + 2), 0
    good = [line.split(",") for line in written(path, "csv").decode().splitlines()]
    for _ in range(TRIES):
        rows = [list(row) for row in good]
        for _ in range(rng.randint(1, 4)):
            row = rows[rng.choice([0, rng.randrange(len(rows))])]
            row[rng.randrange(len(row))] = rng.choice(CELLS)
            if rng.random() < 0.2:
                del row[rng.randrange(len(row)) :]
                row.append("")
        delimiter = rng.choice([",", ",", ";", "\t", " "])
        path.write_text("\n".join(delimiter.join(row) for row in rows))
        taken += read(path)
    assert taken


def test_odd_mappings_are_taken_or_refused(tmp_path, tried):
    tried("mappings of columns (import --map)", TRIES)
    path, rng = tmp_path / "a.csv", random.Random(SEED + 3)
    written(path, "csv")
    for _ in range(TRIES):
        words = [f"{rng.choice([*SIGNALS, ''])}={''.join(rng.choices(PARTS, k=rng.randint(1, 3)))}" for _ in range(2)]
        try:
            columns = _mapping(tuple(words))
        except DataError:
            continue
        rate = rng.choice([None, 100.0, 1e-300, 1e300])
        units = tuple(rng.sample(UNITS, rng.randrange(3)))
        read(path, TableOptions(columns, rng.choice(["", "t", "q_0", "no"]), rate, units))
