"""The whole graph on loopback: simulated controller, composed node, topics, services, parameters, lifecycle."""

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from ros_graph import Listener, Process, motion_file  # isort: skip  (sets the domain before rclpy is initialised)
from robot_family import LATCHED, play, trajectory  # isort: skip

from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from rcl_interfaces.msg import Parameter, ParameterValue
from rcl_interfaces.srv import DescribeParameters, GetParameters, SetParametersAtomically
from sensor_msgs.msg import JointState, Temperature
from std_msgs.msg import String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.estimators.external_force import TARE_REFUSALS
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.nodes.topics.encoding import to_ns
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.server.launcher import SimulatedUR, loopback_address

pytestmark = pytest.mark.realtime

ROBOT = load_robot("ur5e")
WRENCHES = ("robot_dynamics/external_wrench", "robot_dynamics/external_wrench_base")
HOST = loopback_address()


@pytest.fixture(scope="module")
def graph():
    with SimulatedUR("ur5e", host=HOST) as sim:
        node = Process("robot_dynamics_ros.cli.main", "up", "--robot", "ur5e", "--ip", HOST)
        listener = Listener()
        for kind, topic in ((JointState, "joint_states"), *((WrenchStamped, name) for name in WRENCHES)):
            listener.hear(kind, topic)
        listener.hear(DiagnosticArray, "/diagnostics")
        listener.hear(String, "composed_node/motion", LATCHED)
        try:
            listener.spin(lambda: len(listener.heard["joint_states"]) > 50)
        except AssertionError as error:
            raise AssertionError(f"nothing heard from {listener.node.get_node_names()}: {node.end()}") from error
        yield listener, sim
        listener.close()
        status, output = node.end()
        assert status == 0 and "Traceback" not in output, output


def recent(listener, topic, count):
    listener.heard[topic].clear()
    listener.spin(lambda: len(listener.heard[topic]) >= count)
    return listener.heard[topic][:count]


def test_every_announced_topic_has_its_stamp_in_common(graph):
    listener = graph[0]
    wrench = {to_ns(m.header.stamp) for m in recent(listener, "robot_dynamics/external_wrench", 200)}
    states = {to_ns(m.header.stamp) for m in listener.heard["joint_states"]}
    assert len(wrench & states) > 100


def test_the_wrench_is_in_the_tool_frame_and_beside_it_in_base_axes(graph):
    listener, rigid = graph[0], RobotModel(ROBOT.chain(), ROBOT.joint_names)
    recent(listener, "robot_dynamics/external_wrench", 200)
    heard = {name: {to_ns(m.header.stamp): m for m in listener.heard[name]} for name in ("joint_states", *WRENCHES)}
    common = set.intersection(*map(set, heard.values()))
    assert len(common) > 50
    for stamp in common:
        q, tool, base = (heard[name][stamp] for name in ("joint_states", *WRENCHES))
        assert (tool.header.frame_id, base.header.frame_id) == ("tool0", "base")
        R = rigid.fk(np.array(q.position))[-1][:3, :3]
        for part in ("force", "torque"):
            ours, theirs = (np.array([v.x, v.y, v.z]) for v in (getattr(m.wrench, part) for m in (tool, base)))
            np.testing.assert_allclose(R @ ours, theirs, atol=1e-9 * (1 + np.abs(theirs).max()))


def test_temperatures_come_slowly_per_joint(graph):
    listener = graph[0]
    listener.hear(Temperature, "joint_temperatures/elbow_joint")
    messages = recent(listener, "joint_temperatures/elbow_joint", 5)
    steps = np.diff([to_ns(m.header.stamp) for m in messages]) * 1e-9
    assert np.median(steps) == pytest.approx(0.1, abs=0.03) and 0 < messages[0].temperature < 80


def test_diagnostics_say_rate_latency_and_safety(graph):
    listener = graph[0]
    listener.heard["/diagnostics"].clear()

    def entries():
        return {s.name: s for m in listener.heard["/diagnostics"] for s in m.status}

    listener.spin(lambda: "composed_node: stream" in entries())
    values = {v.key: v.value for v in entries()["composed_node: stream"].values}
    assert values["safety mode"] == "normal" and float(values["receive to published p99 [us]"]) > 0
    assert {"missed", "samples received [Hz]", "condition", "stamp to published max [us]"} <= set(values)
    assert "composed_node: estimates" in entries() and "composed_node: middleware" in entries()


def test_the_description_is_latched(graph):
    graph[0].hear(String, "robot_description", LATCHED)
    assert "<robot" in recent(graph[0], "robot_description", 1)[0].data


def set_atomically(listener, **values):
    parameters = []
    for name, value in values.items():
        kind = {"type": 3, "double_value": value} if isinstance(value, float) else {"type": 4, "string_value": value}
        parameters.append(Parameter(name=name.replace("__", "."), value=ParameterValue(**kind)))
    request = SetParametersAtomically.Request(parameters=parameters)
    return listener.call(SetParametersAtomically, "/composed_node/set_parameters_atomically", request).result


def get(listener, name):
    response = listener.call(GetParameters, "/composed_node/get_parameters", GetParameters.Request(names=[name]))
    return response.values[0]


def test_parameters_change_together_or_not_at_all(graph):
    listener = graph[0]
    refused = set_atomically(listener, force__bandwidth=30.0, marker_scale=-1.0)
    assert not refused.successful and "marker_scale" in refused.reason
    assert get(listener, "force.bandwidth").double_value == 25.0
    assert set_atomically(listener, force__bandwidth=30.0, marker_scale=0.02).successful
    assert get(listener, "force.bandwidth").double_value == 30.0
    assert not set_atomically(listener, force__bandwidth=float("nan")).successful
    assert not set_atomically(listener, robot="ur10e").successful  # read-only
    assert set_atomically(listener, force__bandwidth=25.0).successful


def test_parameters_are_described_with_unit_and_range(graph):
    request = DescribeParameters.Request(names=["force.bandwidth"])
    found = graph[0].call(DescribeParameters, "/composed_node/describe_parameters", request).descriptors[0]
    assert "[rad/s]" in found.description and found.floating_point_range[0].to_value == 1000.0


def test_a_trajectory_is_played_and_the_robot_is_where_it_ends(graph):
    listener = graph[0]
    start = np.array(recent(listener, "joint_states", 1)[0].position)
    order = [5, 4, 3, 2, 1, 0]
    goal = start + [0.1, 0, 0, 0, 0, 0.1]
    play(listener, trajectory([ROBOT.joint_names[i] for i in order], start[order], goal[order]), "done")
    assert np.allclose(recent(listener, "joint_states", 100)[-1].position, goal, atol=0.01)


def test_a_trajectory_that_is_too_fast_is_refused_with_the_reason(graph):
    play(graph[0], trajectory(ROBOT.joint_names, [0.0] * 6, [3.0] + [0.0] * 5), "refused: trajectory: velocity")


def test_a_tare_right_after_a_reset_is_refused_with_the_reason(graph):
    listener = graph[0]
    assert listener.call(Trigger, "/composed_node/reset").success
    tare = listener.call(Trigger, "/composed_node/tare")  # too soon after the reset
    assert not tare.success and tare.message in TARE_REFUSALS.values()


def test_a_node_killed_in_motion_stops_the_robot_and_comes_up_idle(graph):
    """With a simulated controller of its own."""
    listener = graph[0]
    with SimulatedUR("ur5e") as sim, sim.client() as client:
        arguments = ("-r", "__ns:=/second", "-p", f"ip:={sim.host}")
        node = Process("robot_dynamics_ros.nodes.executables", "composed_node", "--ros-args", *arguments)
        listener.hear(String, "/second/composed_node/motion", LATCHED)
        listener.hear(JointState, "/second/joint_states", 5)
        listener.spin(lambda: bool(listener.heard["/second/joint_states"]), 60.0)
        publisher = listener.publisher(
            JointTrajectory, "/second/composed_node/play_trajectory", "/second/composed_node"
        )
        start = np.array(client.state["target_q"])
        messages = listener.heard["/second/composed_node/motion"]
        messages.clear()
        publisher.publish(trajectory(ROBOT.joint_names, start, start + [1.5, 0, 0, 0, 0, 0], seconds=10))

        def ended():
            return any("failed" in m.data or "refused" in m.data for m in messages)

        def moving():  # the message too: it must not arrive after the node that sent it has been replaced
            reported = any(m.data.startswith("moving") for m in messages)
            return reported and abs(client.state["target_q"][0] - start[0]) > 0.05

        try:
            listener.spin(lambda: moving() or ended(), 60.0)
            assert not ended(), [m.data for m in messages]
        finally:  # also where it fails: a node that goes on would disturb the tests after this one
            node.process.kill()
            node.process.communicate()
        client.wait(1.5)
        stopped = np.array(client.state["target_q"])
        client.wait(0.5)
        assert np.abs(np.array(client.state["target_q"]) - stopped).max() < 1e-6
        assert abs(stopped[0] - start[0]) < 1.4
        listener.heard["/second/composed_node/motion"].clear()
        again = Process("robot_dynamics_ros.nodes.executables", "composed_node", "--ros-args", *arguments)

        def reported():
            return {entry.name for array in listener.heard["/diagnostics"] for entry in array.status}

        listener.spin(lambda: {"composed_node: stream", "second/composed_node: stream"} <= reported(), 60.0)
        listener.spin(lambda: bool(listener.heard["/second/composed_node/motion"]))
        assert listener.heard["/second/composed_node/motion"][0].data == "idle"
        status, output = again.end(15)
        assert status == 0, output


@pytest.mark.long
def test_a_file_is_played_by_command_refused_by_command_and_stopped_by_ctrl_c(graph, tmp_path):
    listener, motions = graph[0], graph[0].heard["composed_node/motion"]
    command = ("robot_dynamics_ros.cli.main", "play")
    listener.call(Trigger, "/composed_node/stop")  # a motion of an attempt before this one
    here = np.array(recent(listener, "joint_states", 1)[0].position)

    def played(name, travel):
        file = motion_file(ROBOT.joint_names, tmp_path / name, here, 2.0, travel)
        return listener.ended(Process(*command, file, "--robot", "ur5e", "--yes"))

    status, output = played("short.csv", 0.2)
    assert status == 0 and "short.csv: done" in output, output
    listener.spin(lambda: motions and motions[-1].data.startswith("done"))
    motions.clear()
    status, output = played("again.csv", 0.2)
    assert status == 0 and "again.csv: done" in output, output
    listener.spin(lambda: motions and motions[-1].data.startswith("done"))
    words = [m.data.split(":")[0] for m in motions]
    assert words[0] in ("starting", "moving") and words[-1] == "done", words  # not the last one's done
    status, output = played("far.csv", 9.0)
    assert status == 1 and output.startswith("error: trajectory: ") and len(output.splitlines()) == 1, output
    motions.clear()
    long = Process(
        *command, motion_file(ROBOT.joint_names, tmp_path / "long.csv", here, 60.0, 1.0), "--robot", "ur5e", "--yes"
    )
    listener.spin(lambda: any(m.data.startswith("moving") for m in motions), 60.0)
    status, output = long.end()
    assert status == 0 and "long.csv: stopped" in output and "Traceback" not in output, output
