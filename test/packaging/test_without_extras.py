"""The package in a Python without ROS 2 and without any extra: it imports, computes, and says what is missing."""

import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).resolve().parents[2]
MESSAGES = ("std_msgs", "sensor_msgs", "geometry_msgs", "diagnostic_msgs", "trajectory_msgs", "visualization_msgs")
ABSENT = (
    *("rclpy", "std_srvs", "lifecycle_msgs", *MESSAGES),
    *(
        "rerun",
        "pandas",
        "matplotlib",
        "jinja2",
        "pylibfranka",
        "distributed",
        "mujoco",
        "hypothesis",
        "pytest",
    ),
)
PRELUDE = f"import sys\nfor name in {ABSENT}: sys.modules[name] = None\n"
IMPORT_ALL = """
import importlib, pathlib
root = pathlib.Path(sys.argv[1])
count = 0
for path in sorted((root / "robot_dynamics_ros").rglob("*.py")):
    parts = path.relative_to(root).with_suffix("").parts
    if parts[1] == "nodes":
        continue
    importlib.import_module(".".join(parts).removesuffix(".__init__"))
    count += 1
print(count)
"""
COMPUTE = """
import numpy as np
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.robot_file import load_robot
model = RobotModel.load("ur5e")
print(np.isfinite(model.rnea(np.zeros(6), np.zeros(6), np.zeros(6))).all(), len(Pipeline(load_robot("ur5e")).stages))
"""


def run(code, *arguments):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", PRELUDE + code, *arguments]
    return subprocess.run(command, env=environment, text=True, capture_output=True, timeout=120)


def test_every_module_outside_the_nodes_imports():
    done = run(IMPORT_ALL, str(ROOT))
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 150


def test_the_pipeline_runs():
    done = run(COMPUTE)
    assert done.stdout.split()[0] == "True" and int(done.stdout.split()[1]) >= 3, done.stderr


@pytest.mark.parametrize("node", ["hardware_node", "estimator_node", "composed_node", "viewer_node"])
def test_a_node_says_in_one_line_that_ros_is_missing(node):
    done = run(f"from robot_dynamics_ros.nodes.executables import {node}; {node}()")
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "rclpy" in done.stderr, done.stderr


@pytest.mark.parametrize("arguments", [["up", "-r", "ur5e"], ["demo"], ["record", "--out", "none_such"]])
def test_a_command_that_needs_ros_says_so_in_one_line(arguments):
    done = run("from robot_dynamics_ros.cli.main import main; main()", *arguments)
    assert done.returncode == 1 and done.stderr.count("\n") == 1 and "rclpy" in done.stderr, done.stderr
    assert not Path("none_such").exists()


def test_the_demo_runs_offline_without_ros(tmp_path):
    arguments = ["demo", "--offline", "--as-shipped", "--duration", "15", "--out", str(tmp_path / "out")]
    done = run("from robot_dynamics_ros.cli.main import main; main()", *arguments)
    assert done.returncode == 0, done.stderr
    assert "force RMS error" in done.stdout and "matplotlib is missing" in done.stdout


def test_every_ros_package_that_is_imported_is_a_dependency():
    declared = {entry.text for entry in ElementTree.parse(ROOT / "package.xml").getroot() if "depend" in entry.tag}
    pattern = r"^\s*(?:from|import) (rclpy|launch|launch_ros|ament_index_python|std_srvs|\w+_(?:msgs|interfaces))\b"
    files = [*(ROOT / "robot_dynamics_ros").rglob("*.py"), *(ROOT / "launch").glob("*.py")]
    used = {name for file in files for name in re.findall(pattern, file.read_text(encoding="utf-8"), re.MULTILINE)}
    assert len(used) > 8 and used <= declared, used - declared
