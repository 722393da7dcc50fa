"""What `import robot_dynamics_ros` offers: lazily, the same for type checkers, with a useful repr and tables."""

import ast
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import robot_dynamics_ros
from robot_dynamics_ros.errors import CapabilityError, DataError

STUB = Path(robot_dynamics_ros.__file__).with_suffix(".pyi")


def log():
    names = robot_dynamics_ros.load_robot("ur5e").joint_names
    signals = {"q": np.arange(24.0).reshape(4, 6), "external_wrench": np.ones((4, 6))}
    signals["singular_value"] = np.ones((4, 1))
    return robot_dynamics_ros.Log(names, 1_000_000_000 + np.arange(4) * 8_000_000, signals)


def test_importing_the_package_imports_nothing_else():
    code = "import sys, robot_dynamics_ros;"
    code += "print([m for m in sys.modules if m.startswith(('numpy', 'robot_dynamics_ros.'))])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_stub_names_the_same_objects():
    imported = {}
    for node in ast.parse(STUB.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom):
            module = __import__(node.module, fromlist=["x"])
            imported |= {alias.name: getattr(module, alias.name) for alias in node.names}
    assert set(imported) == set(robot_dynamics_ros.__all__)
    for name, value in imported.items():
        assert getattr(robot_dynamics_ros, name) is value
        assert name in dir(robot_dynamics_ros)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="load_robots"):
        _ = robot_dynamics_ros.load_robots


def test_repr_of_log_and_robot_names_what_is_inside():
    assert "4 samples" in repr(log()) and "125 Hz" in repr(log()) and "external_wrench" in repr(log())
    assert "0 samples" in repr(log()[:0])
    text = repr(robot_dynamics_ros.load_robot("fr3"))
    assert text.startswith("<RobotFile fr3") and "7 joints" in text and len(text) < 300


def test_completion_lists_stored_signals_and_fields_only():
    assert {"q", "external_wrench", "time"} <= set(dir(log()))
    assert "effort" not in dir(log())
    names = dir(robot_dynamics_ros.load_robot("ur5e"))
    assert {"drives", "limits", "to_pandas"} <= set(names) and "model_dump" not in names


def test_log_as_a_table():
    pytest.importorskip("pandas", reason="pandas is an extra")
    table = log().to_pandas()
    assert table.shape == (4, 13)
    assert np.array_equal(table["q"].to_numpy(), log().q)
    assert table["external_wrench"].columns.tolist() == ["Fx", "Fy", "Fz", "Mx", "My", "Mz"]
    assert table.index.as_unit("ns").asi8.tolist() == log().stamp_ns.tolist()
    assert log().to_pandas("singular_value").shape == (4, 1)
    with pytest.raises(DataError, match="effort"):
        log().to_pandas("effort")


def test_robot_as_a_table():
    pytest.importorskip("pandas", reason="pandas is an extra")
    robot = robot_dynamics_ros.load_robot("ur5e")
    table = robot.to_pandas()
    assert table.index.tolist() == robot.joint_names
    assert np.array_equal(table["drives.torque_constant"], robot.array("drives.torque_constant"))
    assert np.array_equal(table["friction.parameters.fc"], robot.array("friction.parameters.fc"))


@pytest.mark.parametrize("value", [log(), robot_dynamics_ros.load_robot("ur5e")], ids=["log", "robot"])
def test_without_pandas_the_error_names_the_extra(value, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(CapabilityError, match=r"robot_dynamics_ros\[pandas\]"):
        value.to_pandas()
