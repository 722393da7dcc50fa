"""One description of the graph: for `up`, for launch files, checked against parameter files; recording."""

import ast
import os
import signal
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from queue import Queue
from types import ModuleType, SimpleNamespace

import pytest
from command_line import printed, robot_dynamics

from robot_dynamics_ros.bringup import declared, describe, find_config
from robot_dynamics_ros.cli import up
from robot_dynamics_ros.errors import ConfigError, RobotDynamicsError
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.nodes import executables
from robot_dynamics_ros.nodes.executables import EXECUTABLES
from robot_dynamics_ros.nodes.interfaces import EXTRA_TOPICS
from robot_dynamics_ros.nodes.tables import NODES
from robot_dynamics_ros.robot_file import load_robot, save_robot
from robot_dynamics_ros.supervisor import Supervisor
from robot_dynamics_ros.topics import PREFIX, TOPICS

ROOT = Path(__file__).resolve().parents[2]
OTHERS = {name.replace("<prefix>", PREFIX).lstrip("/") for name, _, _ in EXTRA_TOPICS["composed_node"]}


def test_composed_and_separate_run_the_same_stages():
    assert [n.executable for n in describe("ur5e").nodes] == ["composed_node"]
    separate = describe("ur5e", composed=False).nodes
    assert separate[0].executable == "hardware_node"
    stages = ["motion", "temperature", "friction", "force", "power"]  # a UR5e has no rotor encoder
    assert [n.parameters["stages"] for n in separate[1:]] == stages
    assert [stage.name for stage in Pipeline(load_robot("ur5e")).stages] == stages  # what the composed node runs
    executables = {n.executable for n in describe("ur10e", driver="none", composed=False).nodes}
    assert executables == {"estimator_node"}


def test_a_robot_of_another_manufacturer_is_observed_unless_an_address_is_given(tmp_path):
    robot = load_robot("ur5e").with_updates({"manufacturer": "Other"})
    save_robot(robot, tmp_path / "arm.yaml")
    (node,) = describe(str(tmp_path / "arm.yaml")).nodes
    assert node.parameters["driver"] == "none"
    with pytest.raises(ConfigError, match="no driver for 'Other'"):
        describe(str(tmp_path / "arm.yaml"), ip="192.168.0.10")


def test_arguments_carry_names_namespace_remappings_and_quoted_values():
    graph = describe("ur5e", "none", namespace="/left/", joint_states="/robot/joint_states", tf_prefix="l_")
    text = " ".join(graph.arguments(graph.nodes[0]))
    for part in ("__ns:=/left", "__node:=composed_node", "joint_states:=/robot/joint_states", 'tf_prefix:="l_"'):
        assert part in text
    assert "use_sim_time" not in text and 'robot:="ur5e"' in text  # a parameter file may set it
    (simulated,) = describe("ur5e", use_sim_time=True).nodes
    assert simulated.parameters["use_sim_time"] is True


def test_every_parameter_given_by_the_description_is_declared():
    for composed in (True, False):
        for driver in ("ur", "none"):
            for node in describe("ur5e", driver, composed=composed).nodes:
                assert set(node.parameters) - {"use_sim_time"} <= set(declared(node.executable))


def test_every_node_of_the_tables_is_an_executable():
    assert set(EXECUTABLES) == set(NODES)


WRONG = {"ur55": {"robot": "ur55"}, "none of": {"robot": "ur5e", "driver": "x"}}
WRONG |= {f"joint_states: '{x}' is no ROS name": {"robot": "ur5e", "joint_states": x} for x in ("", "arm/")}


@pytest.mark.parametrize(("text", "kwargs"), WRONG.items())
def test_wrong_robot_and_driver_are_named(kwargs, text):
    with pytest.raises(ConfigError, match=text):
        describe(**kwargs)


def launch_constant(name):
    """A literal of robot.launch.py, read without the launch package."""
    tree = ast.parse((ROOT / "launch" / "robot.launch.py").read_text())
    return next(ast.literal_eval(n.value) for n in tree.body if isinstance(n, ast.Assign) and n.targets[0].id == name)


def test_a_prefix_names_topics_and_nodes_and_an_existing_driver_describes_its_robot():
    (node,) = describe("ur5e", "none", prefix="left").nodes
    assert node.name == "left_composed_node" and node.parameters["prefix"] == "left"
    assert node.parameters["publish_description"] is False
    assert "publish_description" not in describe("ur5e").nodes[0].parameters
    with pytest.raises(ConfigError, match="common prefix"):
        describe("ur5e", composed=False, prefix="~")


def test_rviz_shows_topics_that_are_published():
    import yaml

    shown = yaml.safe_load(find_config("contact_force.rviz").read_text())["Visualization Manager"]["Displays"]
    of_topics = [display for display in shown if "Topic" in display]
    topics = {display["Topic"]["Value"] for display in of_topics}
    assert topics == {f"{PREFIX}/{name}" for name in launch_constant("SHOWN")}
    assert all(d["Class"].startswith("rviz_default_plugins/") and d["Topic"]["Depth"] > 0 for d in of_topics)


def test_foxglove_shows_topics_and_fields_that_are_published():
    import json

    panels = json.loads(find_config("foxglove_layout.json").read_text())["configById"]
    known = {f"{PREFIX}/{name}": topic for name, topic in TOPICS.items()}
    shown = [path["value"] for panel in panels.values() for path in panel.get("paths", [])]
    for path in shown:
        topic, _, field = path.lstrip("/").partition(".")
        assert field.split(".")[0].removesuffix("[:]") in known[topic].fields, path
    others = {*panels["3D!robot"]["topics"], panels["Indicator!contact"]["path"].partition(".")[0]}
    assert shown and {name.lstrip("/") for name in others} <= {*OTHERS, "robot_description"}


def test_plotjuggler_layout_names_topics_and_fields_that_exist():
    root = ElementTree.fromstring(find_config("plotjuggler_layout.xml").read_bytes())
    own = {snippet.get("name") for snippet in root.iter("snippet")}
    sources = [e.text for s in root.iter("snippet") for e in (s.find("linked_source"), *s.find("additional_sources"))]
    shown = [curve.get("name") for curve in root.iter("curve")]
    assert shown and own <= set(shown)
    for name in {*shown, *sources} - own:
        topic, _, field = name.removeprefix(f"/{PREFIX}/").partition("/")
        assert f"{PREFIX}/{topic}" in OTHERS or field.split("/")[0] in TOPICS[topic].fields, name


def test_up_with_a_wrong_address_is_one_line_and_fails():
    pytest.importorskip("rclpy", reason="rclpy is not installed")
    up = [sys.executable, "-m", "robot_dynamics_ros.cli.main", "up", "--robot", "ur5e", "--ip", "127.254.254.99"]
    done = subprocess.run(up, env=os.environ | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=40)
    lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    lines = [line for line in lines if "Failed init_port" not in line and "RTPS_TRANSPORT_SHM" not in line]
    assert done.returncode == 1 and len(lines) == 1 and "Traceback" not in lines[0], lines


def test_every_option_of_up_reaches_the_graph(monkeypatch, tmp_path):
    given, file = {}, tmp_path / "p.yaml"
    file.touch()
    monkeypatch.setattr(up, "require_ros", lambda: None)
    monkeypatch.setattr(up, "describe", lambda **options: given.update(options) or 1 / 0)
    words = "--robot ur10e --ip 10.0.0.2 --driver none --separate --namespace left --joint-states /a/js --view --params"
    assert isinstance(robot_dynamics("up", *words.split(), file).exception, ZeroDivisionError)
    expected = {"robot": "ur10e", "ip": "10.0.0.2", "driver": "none", "composed": False, "namespace": "left"}
    assert given == expected | {"joint_states": "/a/js", "view": True, "params_file": str(file)}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_up_ends_its_nodes_in_order_although_it_is_interrupted_twice(monkeypatch, number):
    pytest.importorskip("rclpy", reason="rclpy is not installed")
    numbers = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
    ended, before = [], [(n, signal.signal(n, lambda *_: 1 / 0)) for n in numbers]
    monkeypatch.setattr(Supervisor, "start", lambda *_: None)
    monkeypatch.setattr(Supervisor, "wait", lambda *_: signal.raise_signal(number))
    monkeypatch.setattr(Supervisor, "stop", lambda *_: ended.append(signal.raise_signal(number)))
    try:
        done = robot_dynamics("up", "--robot", "ur5e")
    finally:
        for name, handler in before:
            signal.signal(name, handler)
    assert done.exit_code == 0 and len(ended) == 1


def test_a_supervisor_ends_all_when_one_crashes_and_names_it():
    supervisor = Supervisor()
    wait = "import time; time.sleep(60)"
    supervisor.start("steady", [sys.executable, "-c", wait], {})
    supervisor.start("brittle", [sys.executable, "-c", wait], {})
    os.kill(supervisor.children["brittle"].pid, signal.SIGKILL)
    with pytest.raises(RobotDynamicsError, match="brittle ended .signal 9."):
        supervisor.wait()
    supervisor.stop()
    assert all(child.poll() is not None for child in supervisor.children.values())


def test_a_supervisor_passes_on_what_its_children_print():
    lines = Queue()
    supervisor = Supervisor(lines.put)
    supervisor.start("one", [sys.executable, "-c", "import sys; print('ready', file=sys.stderr)"], {})
    assert lines.get(timeout=60.0) == "ready" and supervisor.wait() == 0


def test_a_ctrl_c_while_the_modules_of_a_node_load_is_no_traceback(monkeypatch):
    pytest.importorskip("rclpy")
    set_to, at_import = [], []
    monkeypatch.setattr(signal, "signal", lambda number, handler: set_to.append((number, handler)))
    module = SimpleNamespace(main=str)
    monkeypatch.setattr(executables, "import_module", lambda name: at_import.append(len(set_to)) or module)
    executables.composed_node()
    assert len(at_import) > 1 and min(at_import) > 0 and set_to[0] == (signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("words", [["-r", "joint_states:="], ["--params-file", "nosuch.yaml"], ["--nosuch"]])
def test_wrong_arguments_of_ros_are_one_line(words, capfd, monkeypatch):
    pytest.importorskip("rclpy")
    from robot_dynamics_ros.nodes.run import run

    monkeypatch.setattr(sys, "argv", ["composed_node", "--ros-args", *words])
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setattr(sys, "setswitchinterval", lambda _: None)
    assert run(lambda: pytest.fail("no node is made")) == 1
    (line,) = [line for line in capfd.readouterr().err.splitlines() if not line.startswith("[ERROR]")]
    assert line.startswith("error: ROS cannot start with these arguments: ") and words[-1] in line


def test_the_driver_of_another_vendor_can_be_chosen():
    assert describe("fr3", "franka", "172.16.0.2").nodes[0].parameters["driver"] == "franka"


def test_without_rerun_the_graph_starts_without_the_viewer_and_names_the_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "rerun", ModuleType("rerun"))
    assert "viewer_node" in [node.name for node in describe("ur5e", view_file=str(tmp_path / "a.rrd")).nodes]
    monkeypatch.setitem(sys.modules, "rerun", None)
    for options in ({"view_file": str(tmp_path / "a.rrd")}, {"view": True}):
        graph = describe("ur5e", **options)
        assert graph.nodes == describe("ur5e").nodes
        assert len(graph.notes) == 1 and "robot_dynamics_ros[viewer]" in graph.notes[0]
    assert describe("ur5e").notes == ()


def test_up_prints_what_the_graph_leaves_out(monkeypatch):
    pytest.importorskip("rclpy")
    monkeypatch.setitem(sys.modules, "rerun", None)
    started = []
    monkeypatch.setattr(Supervisor, "start", lambda self, name, *_: started.append(name))
    monkeypatch.setattr(Supervisor, "wait", lambda *_: 0)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    done = printed("up", "--robot", "ur5e", "--view")
    assert started == ["composed_node"]
    assert "no viewer" in done and "[viewer]" in done
