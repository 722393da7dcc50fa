"""Whole graphs in real time, one of each robot family: simulated controller, node, recorder as processes."""

import importlib.util
import os
import re
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from ros_graph import Listener, Process, motion_file
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from bench.faults.ur_controller import FaultyController
from robot_dynamics_ros.bags import load_bag
from robot_dynamics_ros.estimators.replay import replay
from robot_dynamics_ros.nodes.topics.encoding import to_ns, trajectory
from robot_dynamics_ros.nodes.topics.qos import LATCHED
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.server.launcher import SimulatedController

pytestmark = [pytest.mark.realtime, pytest.mark.timeout(900)]

MAIN = "robot_dynamics_ros.cli.main"
GAPS = "    degraded_gap: 0.5\n    safe_gap: 1.0\n    frozen_repeats: 200\n"  # a busy machine is no real-time system
# its watchdog waits for the client's process, which may get no processor for 0.2 s there
PATIENT = {"controller": FaultyController, "lockstep": True}
BASE, MOTION = "robot_dynamics/external_wrench_base", "composed_node/motion"


def shared_memory(pid):
    """Segments of Fast DDS that the children of a process have made for themselves."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    maps = "".join(Path(f"/proc/{child}/maps").read_text() for child in children)
    return {Path(name) for name in re.findall(r"/dev/shm/fastdds_[0-9a-f]{16}\b", maps)}


class Graph:
    """`up` of a robot's simulated controller, and a listener."""

    def __init__(self, robot, folder, parameters="", controller=SimulatedController, **options):
        file = folder / "nodes.yaml"
        file.write_text(f"composed_node:\n  ros__parameters:\n{GAPS}{parameters}")
        self.before = set(Path("/dev/shm").glob("fastdds_*"))  # of other tests' nodes in this process
        self.robot, self.listener = load_robot(robot), Listener()
        self.sim = controller(robot, **options).__enter__()
        self.node = Process(MAIN, "up", "--robot", robot, "--ip", self.sim.host, "--params", str(file))
        self.listener.hear(JointState, "joint_states", 5)  # what is older is not waited for
        self.listener.hear(WrenchStamped, BASE, 5)
        self.listener.hear(DiagnosticArray, "/diagnostics")
        self.listener.hear(String, MOTION, LATCHED)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        """Ctrl-C twice ends the node once and in order; nothing of it stays in shared memory."""
        memory = shared_memory(self.node.process.pid) - self.before
        self.node.process.send_signal(2)
        status, output = self.node.end()
        self.listener.close()
        self.sim.stop()
        assert kind is not None or (status == 0 and "Traceback" not in output and "terminate" not in output), output
        assert kind is not None or (memory and not [file for file in memory if file.exists()]), memory

    def recent(self, topic, count):
        self.listener.heard[topic].clear()
        self.listener.spin(lambda: len(self.listener.heard[topic]) >= count)
        return self.listener.heard[topic][:count]

    def in_step(self):
        """State at the robot's rate, all joints by name, stamps of the source."""
        messages = self.recent("joint_states", 300)
        stamps = np.array([to_ns(m.header.stamp) for m in messages])
        assert tuple(messages[0].name) == tuple(self.robot.joint_names) and (np.diff(stamps) > 0).all()
        assert np.median(np.diff(stamps)) == pytest.approx(1e9 / self.robot.sensing.sample_rate, rel=0.02)

    def force(self):
        return np.mean([[m.wrench.force.x, m.wrench.force.y, m.wrench.force.z] for m in self.recent(BASE, 20)], axis=0)

    def pushed(self, client):
        """A push of 40 N downward is seen."""
        before = self.force()
        client.command("set_wrench", wrench=[0, 0, -40, 0, 0, 0])
        client.wait(1.5)
        assert self.force()[2] - before[2] < -15.0
        client.command("set_wrench", wrench=[0] * 6)

    def stream(self):
        """Values of the next diagnostics of the stream."""
        heard = self.listener.heard["/diagnostics"]
        heard.clear()
        self.listener.spin(lambda: any("stream" in s.name for m in heard for s in m.status))
        return {v.key: v.value for m in heard for s in m.status if "stream" in s.name for v in s.values}

    def play(self, target, seconds, *words):
        """Publish a motion from here; wait until one of the words is reported."""
        publisher = self.listener.publisher(JointTrajectory, "composed_node/play_trajectory", "composed_node")
        here = self.recent("joint_states", 1)[0].position
        heard = self.listener.heard[MOTION]
        heard.clear()
        publisher.publish(trajectory(self.robot.joint_names, (0, seconds), (here, target)))
        ends = (*words, "refused", "failed")
        self.listener.spin(lambda: any(m.data.startswith(ends) for m in heard))
        assert not any(m.data.startswith(("refused", "failed")) for m in heard), [m.data for m in heard]

    def moved(self):
        """It goes where it is told, slowly: a simulated controller that gets little processor time meets a stream that
        is faster than its own time, and stops beyond the end. How exactly it arrives, stepped robots prove.
        """
        target = np.array(self.recent("joint_states", 1)[0].position) + 0.025
        self.play(target, 2, "done")
        self.listener.spin(lambda: np.allclose(self.recent("joint_states", 1)[0].position, target, atol=0.012))


@pytest.fixture(scope="class")
def graph(tmp_path_factory):
    with Graph("ur5e", tmp_path_factory.mktemp("ur"), **PATIENT) as made:
        yield made


class TestUr:
    def test_at_its_rate_with_contact_motion_and_a_recording_that_replays_with_it(self, graph, tmp_path):
        bag = tmp_path / "bag"
        topics = "joint_states,motor_currents,joint_temperatures/*,robot_dynamics/external_wrench_base*"
        recorder = Process(MAIN, "record", "--out", str(bag), "--topics", topics)
        graph.in_step()
        with graph.sim.client() as client:
            graph.pushed(client)
        assert graph.stream()["safety mode"] == "normal"
        graph.moved()
        status, output = recorder.end()
        assert status == 0 and "messages" in output, output
        live, _ = load_bag([bag], graph.robot)
        assert len(live) > 1000 and np.ptp(live.external_wrench[500:, 2]) > 15.0
        again = replay([bag], graph.robot).log  # from its first sample on; the same bits as live: test_node_topics
        assert np.ptp(again.external_wrench[500:, 2]) > 15.0

    def test_ctrl_c_of_play_and_the_death_of_the_node_stop_it(self, graph, tmp_path):
        with graph.sim.client() as client:
            start, heard = np.array(graph.recent("joint_states", 1)[0].position), graph.listener.heard[MOTION]
            heard.clear()  # of the test before
            file = motion_file(graph.robot.joint_names, tmp_path / "long.csv", start, 60.0, 1.0)
            playing = Process(MAIN, "play", file, "--robot", "ur5e", "--yes")
            graph.listener.spin(lambda: any(m.data.startswith("moving") for m in heard))
            status, output = playing.end()
            assert status == 0 and "long.csv: stopped" in output and "Traceback" not in output, output
            start = np.array(client.state["target_q"])
            graph.play(start + [1.5, 0, 0, 0, 0, 0], 10, "moving")
            graph.listener.spin(lambda: abs(client.state["target_q"][0] - start[0]) > 0.05)
            graph.node.process.kill()
            graph.node.process.communicate()
            client.wait(1.5)
            stopped = np.array(client.state["target_q"])
            client.wait(0.5)
            assert np.abs(np.array(client.state["target_q"]) - stopped).max() < 1e-6
            assert abs(stopped[0] - start[0]) < 1.4
            heard.clear()
            graph.node = Process(MAIN, "up", "--robot", "ur5e", "--ip", graph.sim.host)
            graph.listener.spin(lambda: any(m.data == "idle" for m in heard))
            assert {m.data for m in heard} <= {"idle", "stopped: the node was deactivated"}  # of the one before
            graph.in_step()


def test_an_fr3_at_its_rate_with_contact_motion_and_torque_and_up_to_date_after_a_stop_of_its_process(tmp_path):
    for module in ("pylibfranka", "franka_sim"):
        pytest.importorskip(module, reason=f"{module} is not installed")
    with Graph("fr3", tmp_path, "    torque: true\n    control.time_scale: 0.05\n") as graph:
        graph.in_step()
        with graph.sim.client() as client:
            graph.pushed(client)
            os.kill(graph.node.process.pid, signal.SIGSTOP)
            client.wait(1.5)
            os.kill(graph.node.process.pid, signal.SIGCONT)
        graph.listener.spin(lambda: time.time_ns() - to_ns(graph.recent("joint_states", 1)[0].header.stamp) < 5e8)
        graph.listener.spin(lambda: graph.stream()["condition"] == "ok")
        graph.moved()
        enabled = graph.listener.call(Trigger, "/composed_node/enable_guiding")
        assert enabled.success, enabled.message
        ended = graph.listener.call(Trigger, "/composed_node/stop")
        assert ended.success, ended.message


def test_a_comau_at_its_rate_moves_and_is_found_again_when_its_controller_returns(tmp_path):
    with Graph("comau_ns16", tmp_path, "    enable_commands: true\n") as graph:
        graph.in_step()
        graph.moved()
        graph.sim.stop()
        graph.listener.spin(lambda: graph.stream()["condition"] in ("fault", "safe"))
        refused = graph.listener.call(Trigger, "/composed_node/rearm")
        assert not refused.success and refused.message
        graph.sim = SimulatedController("comau_ns16", graph.sim.host).__enter__()
        graph.in_step()
        graph.listener.spin(lambda: graph.listener.call(Trigger, "/composed_node/rearm").success)


@pytest.fixture
def control_msgs(tmp_path, monkeypatch):
    """Importable in the processes of this test: generated where they are not installed."""
    if importlib.util.find_spec("control_msgs") is None:
        pytest.importorskip("rosidl_generator_py", reason="the generators of ROS interfaces are not installed")
        from generated_control_msgs import generate

        paths = str(generate(tmp_path / "control_msgs")), os.environ.get("PYTHONPATH", "")
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join(p for p in paths if p))


@pytest.mark.long
@pytest.mark.usefixtures("control_msgs")
def test_play_drives_the_action_at_a_share_of_the_speed_and_ctrl_c_of_either_side_ends_it(tmp_path):
    def wave(height, seconds):
        file = motion_file(graph.robot.joint_names, tmp_path / "wave.csv", start, seconds, height)
        action = ("--action", "composed_node/follow_joint_trajectory", "--speed", "0.3", "--yes")
        return Process(MAIN, "play", file, "--robot", "ur5e", *action)

    with Graph("ur5e", tmp_path, **PATIENT) as graph:
        start, states = np.array(graph.recent("joint_states", 1)[0].position), graph.listener.heard["joint_states"]

        def travel():
            return np.array([m.position[5] for m in states]) - start[5]

        status, output = graph.listener.ended(wave(0.1, 1.0))
        assert status == 0 and "wave.csv: done" in output, output
        stamps = np.array([to_ns(m.header.stamp) for m in states])
        assert travel().max() == pytest.approx(0.1, abs=0.01)
        assert np.ptp(stamps[np.abs(travel()) > 0.02]) > 1.4e9  # ns; 0.7 s at full speed, 2.3 s at this one
        states.clear()
        playing = wave(0.6, 10.0)
        graph.listener.spin(lambda: len(states) and travel()[-1] > 0.05)
        status, output = playing.end()
        assert status == 0 and "canceled" in output and "Traceback" not in output, output
        graph.recent("joint_states", 1)
        graph.listener.spin(lambda: len(states) > 100 and np.ptp(travel()[-100:]) < 2e-3)
        assert 0.04 < travel()[-1] < 0.55
        states.clear()
        playing = wave(0.6, 10.0)
        graph.listener.spin(lambda: len(states) > 0 and np.ptp(travel()) > 0.02)
    status, output = playing.wait()  # the node has been ended in motion
    assert status == 1 and "the node was deactivated" in output, output
