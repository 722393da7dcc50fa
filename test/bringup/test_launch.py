"""Launch files executed by the launch package: real processes, topics that arrive, errors that are reported."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("launch_ros", reason="launch_ros comes with a ROS installation, not from the Python index")
pytest.importorskip("rclpy", reason="rclpy is not installed")

from ros_graph import Listener

from robot_dynamics_ros.nodes.tables import NODES
from robot_dynamics_ros.simulation.server.launcher import SimulatedController, loopback_address

pytestmark = [pytest.mark.long, pytest.mark.realtime]

ROOT = Path(__file__).resolve().parents[2]
LAUNCH = """
import sys
from launch import LaunchDescription, LaunchService
from launch.actions import IncludeLaunchDescription
from launch.launch_description_sources import AnyLaunchDescriptionSource
file, *given = sys.argv[1:]
included = IncludeLaunchDescription(
    AnyLaunchDescriptionSource(file), launch_arguments=[tuple(a.split(":=", 1)) for a in given])
service = LaunchService(noninteractive=True)
service.include_launch_description(LaunchDescription([included]))
sys.exit(service.run())
"""


@pytest.fixture
def prefix(tmp_path):
    """What an installation is to launch: a package in the index, its executables below lib/."""
    index = tmp_path / "share/ament_index/resource_index/packages"
    index.mkdir(parents=True)
    for package in ("robot_dynamics_ros", "ros2bag"):
        (index / package).touch()
        (tmp_path / "share" / package).mkdir()
    folder = tmp_path / "lib/robot_dynamics_ros"
    folder.mkdir(parents=True)
    for node in NODES:
        file = folder / node
        file.write_text(f"#!{sys.executable}\nfrom robot_dynamics_ros.nodes.executables import {node}\n{node}()\n")
        file.chmod(0o755)
    return tmp_path


class Launched:
    """`ros2 launch FILE name:=value ...` in a process group of its own."""

    def __init__(self, prefix, file, *given):
        paths = os.pathsep.join(p for p in (str(ROOT), os.environ.get("PYTHONPATH", "")) if p)
        environment = os.environ | {"PYTHONPATH": paths, "AMENT_PREFIX_PATH": str(prefix), "ROS_LOG_DIR": str(prefix)}
        command = [sys.executable, "-c", LAUNCH, str(ROOT / "launch" / file), *given]
        printed = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
        self.process = subprocess.Popen(command, env=environment, start_new_session=True, **printed)

    def end(self, timeout=90.0):
        """Ctrl-C as a terminal sends it, to the whole group; launch passes it on, so that nodes get it twice."""
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGINT)
        return self.wait(timeout)

    def wait(self, timeout=90.0):
        try:
            return self.process.communicate(timeout=timeout)[0]
        finally:
            if self.process.poll() is None:
                os.killpg(self.process.pid, signal.SIGKILL)


def test_the_graph_comes_up_in_its_namespace_and_ends_cleanly(prefix):
    from geometry_msgs.msg import WrenchStamped
    from sensor_msgs.msg import JointState

    topics = {"/left/joint_states": JointState, "/left/robot_dynamics/external_wrench": WrenchStamped}
    host, listener = loopback_address(), Listener("launch_listener")
    with SimulatedController("ur5e", host=host):
        launched = Launched(prefix, "robot.launch.py", "robot:=ur5e", f"ip:={host}", "namespace:=left")
        try:
            for topic, kind in topics.items():
                listener.hear(kind, topic, 5)
            listener.spin(lambda: all(len(listener.heard[topic]) > 50 for topic in topics), 90.0)
        finally:
            output = launched.end()
            listener.close()
    assert "process has finished cleanly" in output and "Traceback" not in output, output
    assert launched.process.returncode == 0


@pytest.mark.parametrize(
    ("given", "text"), [("robot:=ur55", "did you mean"), ("driver:=pneumatic", "none of"), ("rviz:=true", "rviz2")]
)
def test_what_is_wrong_is_reported_and_nothing_starts(prefix, given, text):
    launched = Launched(prefix, "robot.launch.py", given)
    output = launched.wait()
    assert launched.process.returncode == 1 and text in output and "process started" not in output, output


def test_an_unreachable_controller_fails_the_launch(prefix):
    launched = Launched(prefix, "robot.launch.py", "robot:=ur5e", "ip:=127.254.254.99")
    output = launched.wait()
    assert launched.process.returncode == 1 and "composed_node failed (exit status 1)" in output, output


@pytest.mark.parametrize("status", [0, 1])
def test_a_replay_ends_with_its_player_and_as_it_ends(prefix, tmp_path, monkeypatch, status):
    player, done = tmp_path / "bin" / "ros2", tmp_path / "done"
    player.parent.mkdir()
    wait = f'while ! test -e "{done}"; do sleep 0.1; done'
    player.write_text(f'#!/bin/sh\necho "played: $*"\n{wait}\nexit {status}\n')
    player.chmod(0o755)
    monkeypatch.setenv("PATH", str(player.parent), prepend=os.pathsep)
    listener = Listener("replay_listener")
    launched = Launched(prefix, "replay.launch.py", f"bag:={tmp_path}", "rate:=2.0", "namespace:=played")
    try:
        listener.spin(lambda: ("composed_node", "/played") in listener.node.get_node_names_and_namespaces(), 90.0)
        done.touch()
        output = launched.wait()
    finally:
        launched.end()
        listener.close()
    left_out = "--exclude-regex .*/(robot_dynamics/.*|diagnostics)"
    assert f"played: bag play {tmp_path} --clock --delay 2 --rate 2.0 {left_out}" in output, output
    assert launched.process.returncode == status, output
    left = subprocess.run(["pgrep", "-f", "__ns:=/played"], capture_output=True, text=True).stdout
    assert not left, left
