"""The package in a Python without ROS 2 and without any extra: it imports, computes, and says what is missing."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[2]
MESSAGES = ("std_msgs", "sensor_msgs", "geometry_msgs", "diagnostic_msgs", "trajectory_msgs", "visualization_msgs")
ABSENT = (
    *("rclpy", "std_srvs", "lifecycle_msgs", *MESSAGES),
    *("rerun", "pandas", "matplotlib", "jinja2", "pylibfranka", "distributed", "mujoco", "hypothesis", "pytest"),
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
CALL = """
import contextlib, io, json
from robot_dynamics_ros.cli.main import main
from robot_dynamics_ros.nodes import executables
ended = {}
for line in sys.argv[1:]:
    words = line.split()
    sys.argv = ["robot-dynamics", *words]
    out, err, code = io.StringIO(), io.StringIO(), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            getattr(executables, words[0], main)()
        except SystemExit as end:
            code = end.code
    ended[line] = code, out.getvalue(), err.getvalue()
print(json.dumps(ended))
"""
NEED_ROS = ("hardware_node", "estimator_node", "composed_node", "viewer_node")
NEED_ROS += ("up -r ur5e", "demo", "record --out none_such")


def run(code, *arguments, cwd=None):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", PRELUDE + code, *arguments]
    done = subprocess.run(command, env=environment, cwd=cwd, text=True, capture_output=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_module_outside_the_nodes_imports():
    assert int(run(IMPORT_ALL, str(ROOT))) > 150


def test_what_needs_ros_says_so_in_one_line_and_the_demo_runs_offline(tmp_path):
    demo = "demo --offline --as-shipped --duration 15 --out out"
    ended = json.loads(run(CALL, *NEED_ROS, demo, cwd=tmp_path))
    for line in NEED_ROS:
        code, _, err = ended[line]
        assert code == 1 and err.count("\n") == 1 and "rclpy" in err, (line, err)
    code, out, err = ended[demo]
    assert code == 0 and "force RMS error" in out and "matplotlib is missing" in out, err
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


OLD = "sys.modules['pydantic'] = type(sys)('pydantic'); sys.modules['pydantic'].VERSION = '1.10.14'\n"


def test_an_old_or_missing_package_is_one_line():
    for spoiled, name in ((OLD, "pydantic 1.10.14 is too old"), ("sys.modules['yaml'] = None\n", "yaml")):
        for code, out, err in json.loads(run(spoiled + CALL, "check ur5e")).values():
            assert code == 1 and not out and err.count("\n") == 1 and name in err and "install" in err, err


def test_every_ros_package_that_is_imported_is_a_dependency():
    declared = {entry.text for entry in ElementTree.parse(ROOT / "package.xml").getroot() if "depend" in entry.tag}
    pattern = r"^\s*(?:from|import) (rclpy|launch|launch_ros|ament_index_python|std_srvs|\w+_(?:msgs|interfaces))\b"
    files = [*(ROOT / "robot_dynamics_ros").rglob("*.py"), *(ROOT / "launch").glob("*.py")]
    used = {name for file in files for name in re.findall(pattern, file.read_text(encoding="utf-8"), re.MULTILINE)}
    assert len(used) > 8 and used <= declared, used - declared
