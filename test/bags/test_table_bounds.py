"""Files beyond a bound are refused in one line that names it, without the time or memory of reading them."""

import io
import zipfile

import numpy as np
import pytest
from command_line import robot_dynamics

from robot_dynamics_ros.bags import table_bounds
from robot_dynamics_ros.bags.table_columns import chosen, natural
from robot_dynamics_ros.bags.tables import READERS, Table, read_table
from robot_dynamics_ros.errors import ConfigError, DataError
from robot_dynamics_ros.trajectories.files import load_waypoints


def head_only(path, shape):
    """An npz whose array says a shape and holds nothing of it."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "<f8", "fortran_order": False, "shape": shape})
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("q.npy", stream.getvalue())
    return path


def test_an_npz_that_says_it_is_large_is_refused_by_its_head(tmp_path):
    with pytest.raises(DataError, match="numbers are more than"):
        read_table(head_only(tmp_path / "a.npz", (1_500_000_000,)))


def test_a_line_and_the_columns_and_cells_of_a_text_are_bounded(tmp_path, monkeypatch):
    path = tmp_path / "a.csv"
    path.write_text("1," * table_bounds.MAX_LINE)
    with pytest.raises(DataError, match="characters in a line"):
        read_table(path)
    path.write_text(",".join(f"q{k}" for k in range(20_000)) + "\n" + ",".join("1" for _ in range(20_000)))
    with pytest.raises(DataError, match="20000 columns are more than 4096"):
        read_table(path)
    monkeypatch.setattr(table_bounds, "MAX_CELLS", 10)
    path.write_text("a,b,c\n" + "1,2,3\n" * 10)
    with pytest.raises(DataError, match="33 cells are more than 10"):
        read_table(path)


def test_a_name_of_many_characters_is_refused(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(f"t,{'q' * (table_bounds.MAX_NAME + 1)}\n" + "1,2\n" * 9)
    with pytest.raises(DataError, match="characters in the name of a column are more than"):
        read_table(path)


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    path = tmp_path / "a.csv"
    with path.open("wb") as stream:
        stream.truncate(table_bounds.MAX_FILE_BYTES + 1)  # sparse
    with pytest.raises(DataError, match="bytes are more than"):
        read_table(path)


def test_ragged_lists_of_parquet_are_no_rows(tmp_path):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    lists = [[1.0, 2.0], [3.0], [4.0, 5.0, 6.0]]  # as many numbers as three rows of two
    even = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]
    parquet.write_table(arrow.table({"q": lists, "qd": even, "t": [0.0, 0.1, 0.2], "text": ["a", "b", "c"]}), path)
    table = read_table(path)
    assert set(table.columns) == {"qd[0]", "qd[1]", "t"}
    np.testing.assert_array_equal(table.columns["qd[1]"], [2.0, 4.0, 6.0])


def test_parquet_that_unpacks_to_more_than_it_is_is_refused_by_its_footer(tmp_path, monkeypatch):
    arrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "a.parquet"
    parquet.write_table(arrow.table({"q": np.zeros(100_000)}), path)  # some 100 bytes
    monkeypatch.setattr(table_bounds, "MAX_CELLS", 10_000)
    monkeypatch.setattr(parquet.ParquetFile, "read", lambda *a, **k: pytest.fail("it was read"))
    with pytest.raises(DataError, match="100000 values are more than 10000"):
        READERS[".parquet"](path)


def test_hdf5_of_many_groups_or_numbers_is_refused(tmp_path, monkeypatch):
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file.create_dataset("q", shape=(10_000_000_000,), dtype="f8", chunks=(1000,))  # nothing is stored
    with pytest.raises(DataError, match="numbers are more than"):
        read_table(path)
    with h5py.File(path, "w") as file:
        group = file
        for _ in range(200):
            group = group.create_group("g")
    monkeypatch.setattr("robot_dynamics_ros.bags.tables.MAX_OBJECTS", 100)
    with pytest.raises(DataError, match="101 objects are more than 100"):
        READERS[".h5"](path)


def test_a_library_that_ends_its_process_on_a_file_is_one_line(tmp_path, monkeypatch):
    pytest.importorskip("h5py")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    (tmp_path / "h5py.py").write_text("import os\nos.abort()")
    (tmp_path / "a.h5").write_bytes(b"")
    with pytest.raises(DataError, match=r"a\.h5: ends the process"):
        read_table(tmp_path / "a.h5")


def test_a_pattern_of_many_stars_is_matched_in_one_pass(tmp_path):
    names = ["a" * 60, "xayaz", "q[3]", "q[12]"]
    table = Table(tmp_path, {name: np.zeros(1) for name in names})
    with pytest.raises(DataError, match="no column"):
        chosen(table, "*a" * 25 + "*b")
    assert chosen(table, "q[*]") == ["q[3]", "q[12]"]
    assert chosen(table, "x*a*z") == ["xayaz"]
    with pytest.raises(DataError):
        chosen(table, "xay*yaz")  # the ends overlap


def test_digits_that_are_no_numbers_and_too_many_joints_are_one_line(tmp_path):
    assert natural("q²") > [] and natural("q2") < natural("q10")
    path = tmp_path / "a.csv"
    names = ["t", *(f"q{k}" for k in range(1200))]
    path.write_text("\n".join([",".join(names)] + [",".join([str(0.01 * k)] * len(names)) for k in range(5)]))
    result = robot_dynamics("import", path, "--map", "q=1-999", "--out", tmp_path / "bag")
    assert isinstance(result.exception, DataError) and "999 columns of joint" in str(result.exception)


def test_aliases_in_a_waypoints_file_are_refused(tmp_path):
    path = tmp_path / "w.yaml"
    rows = "a0: &a0 [1,1,1,1,1,1,1,1,1,1]\n"
    rows += "".join(f"a{k}: &a{k} [" + ",".join([f"*a{k - 1}"] * 10) + "]\n" for k in range(1, 9))
    path.write_text(rows + "joint_names: [a]\nwaypoints: *a8\n")
    with pytest.raises(ConfigError, match="aliases are not supported"):
        load_waypoints(path, ["a"])


@pytest.mark.parametrize(("kind", "library"), [("parquet", "pyarrow"), ("h5", "h5py")])
def test_a_text_that_is_called_a_table_is_refused_by_name(tmp_path, kind, library):
    pytest.importorskip(library)
    (tmp_path / f"text.{kind}").write_text("no table")
    with pytest.raises(DataError, match=rf"text\.{kind}: cannot be read as {kind} \("):
        read_table(tmp_path / f"text.{kind}")
