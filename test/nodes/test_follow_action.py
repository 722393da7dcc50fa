"""FollowJointTrajectory of a node of ours, driven by a client and by `play --action`.

control_msgs is generated here where it is not installed; joint_trajectory_controller itself is not tested.
"""

import csv
import os
import sys
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")
pytest.importorskip("rosidl_generator_py", reason="the generators of ROS interfaces are not installed")

from ros_graph import Listener, Process  # isort: skip  (sets the domain before rclpy is initialised)

from generated_control_msgs import generate
from rclpy.action import ActionClient
from sensor_msgs.msg import JointState
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.nodes.robot.follow_action import FollowAction
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.server.launcher import SimulatedUR, loopback_address

pytestmark = pytest.mark.realtime

ROBOT = load_robot("ur5e")
ACTION = "composed_node/follow_joint_trajectory"


@pytest.fixture(scope="module")
def control_msgs(tmp_path_factory):
    try:
        import control_msgs.action
    except ImportError:
        tree = str(generate(tmp_path_factory.mktemp("control_msgs")))
        sys.path.insert(0, tree)
        os.environ["PYTHONPATH"] = os.pathsep.join(p for p in (tree, os.environ.get("PYTHONPATH", "")) if p)
    import control_msgs.action

    return control_msgs


@pytest.fixture(scope="module")
def robot(control_msgs):
    host = loopback_address()
    with SimulatedUR("ur5e", host=host):
        node, listener = (
            Process("robot_dynamics_ros.cli.main", "up", "--robot", "ur5e", "--ip", host),
            Listener("goals"),
        )
        listener.hear(JointState, "joint_states")
        client = ActionClient(listener.node, control_msgs.action.FollowJointTrajectory, ACTION)
        listener.spin(lambda: listener.heard["joint_states"] and client.server_is_ready(), 60.0)
        yield listener, client, control_msgs
        client.destroy()
        listener.close()
        status, output = node.end()
        assert status == 0 and "Traceback" not in output, output


def position(listener):
    return np.array(listener.fresh("joint_states").position)


def goal(kind, seconds, q, names=tuple(ROBOT.joint_names)):
    made = kind.action.FollowJointTrajectory.Goal()
    made.trajectory.joint_names = list(names)
    point = type(kind.action.FollowJointTrajectory.Feedback().desired)(positions=list(map(float, q)))
    point.time_from_start.sec = seconds
    made.trajectory.points = [point]
    return made


def sent(robot, wanted, feedback=None):
    listener, client, _ = robot
    future = client.send_goal_async(wanted, feedback_callback=feedback)
    listener.spin(future.done)
    return future.result()


def result(robot, handle):
    future = handle.get_result_async()
    robot[0].spin(future.done)
    return future.result().status, future.result().result


def test_a_goal_succeeds_with_feedback(robot):
    goal_position, heard = position(robot[0]) + [0.1, 0, 0, 0, 0, 0.1], []
    status, answer = result(robot, sent(robot, goal(robot[2], 2, goal_position), heard.append))
    assert (status, answer.error_code) == (4, 0)
    np.testing.assert_allclose(position(robot[0]), goal_position, atol=0.01)
    last = heard[-1].feedback
    assert len(heard) > 5 and last.joint_names == ROBOT.joint_names
    np.testing.assert_allclose(np.subtract(last.desired.positions, last.actual.positions), last.error.positions)


def test_goals_that_cannot_be_followed_are_rejected(robot):
    here = position(robot[0])
    assert not sent(robot, goal(robot[2], 2, here[:2], ROBOT.joint_names[:2])).accepted
    assert not sent(robot, goal(robot[2], 1, here + 6.0)).accepted
    unknown = goal(robot[2], 1, here)
    unknown.goal_tolerance = [robot[2].msg.JointTolerance(name="wheel", position=0.1)]
    assert not sent(robot, unknown).accepted


def test_a_goal_is_canceled_and_a_new_one_replaces_the_one_that_runs(robot):
    start = position(robot[0])
    handle = sent(robot, goal(robot[2], 30, start + 0.4))
    assert handle.accepted
    answered = handle.cancel_goal_async()
    robot[0].spin(answered.done)
    assert result(robot, handle)[0] == 5  # canceled
    first = sent(robot, goal(robot[2], 30, start + 0.4))
    second = sent(robot, goal(robot[2], 3, start))
    status, answer = result(robot, first)
    assert status == 6 and "replaced" in answer.error_string
    assert result(robot, second)[0] == 4


def test_a_path_tolerance_ends_the_motion(robot):
    start = position(robot[0])
    strict = goal(robot[2], 2, start + 0.4)
    strict.path_tolerance = [robot[2].msg.JointTolerance(name=name, position=1e-6) for name in ROBOT.joint_names]
    status, answer = result(robot, sent(robot, strict))
    assert (status, answer.error_code) == (6, -4) and "is off by" in answer.error_string


def test_a_goal_tolerance_is_judged_until_the_time_tolerance_is_over(robot):
    wanted = goal(robot[2], 1, position(robot[0]) + [0, 0, 0, 0, 0, 0.1])
    wanted.goal_tolerance = [robot[2].msg.JointTolerance(name="wrist_3_joint", position=1e-9)]  # below the noise
    wanted.goal_time_tolerance.sec = 1
    heard = []
    status, answer = result(robot, sent(robot, wanted, heard.append))
    assert (status, answer.error_code) == (6, -5) and "wrist_3_joint is off by" in answer.error_string
    stamps = [m.feedback.header.stamp.sec + 1e-9 * m.feedback.header.stamp.nanosec for m in heard]
    assert np.ptp(stamps) > 1.5  # 1 s of motion and 1 s after it
    wanted.goal_tolerance[0].position, wanted.goal_time_tolerance.sec = 0.05, 0
    assert result(robot, sent(robot, wanted))[0] == 4


def test_a_trajectory_on_the_topic_replaces_a_goal(robot):
    listener, start = robot[0], position(robot[0])
    publisher = listener.publisher(JointTrajectory, "composed_node/joint_trajectory", "composed_node")
    handle = sent(robot, goal(robot[2], 30, start + 0.4))
    assert handle.accepted
    publisher.publish(goal(robot[2], 2, start).trajectory)
    status, answer = result(robot, handle)
    assert status == 6 and "replaced" in answer.error_string
    listener.spin(lambda: np.allclose(position(listener), start, atol=0.005))
    listener.node.destroy_publisher(publisher)


def test_a_goal_has_begun_before_any_later_message_is_handled(control_msgs):
    """Accepted goals used to begin in a task of their own: a trajectory or a cancel before that task was lost."""
    begun = []
    action = FollowAction.__new__(FollowAction)
    action._kind, action._robot, action._ends, action._goal, action._done = control_msgs, ROBOT, {}, None, None
    action._follower = SimpleNamespace(begin=lambda t: begun.append(t) or np.zeros((1, 6)))
    request = goal(control_msgs, 1, np.zeros(6))
    handle = SimpleNamespace(request=request, goal_id=SimpleNamespace(uuid=bytes(16)), execute=lambda: None)
    action._accept(handle)
    assert begun == [request.trajectory]
    action.replaced("replaced by a trajectory on a topic")
    assert action._ends[bytes(16)].result()[1:] == ("replaced by a trajectory on a topic", "abort")


def play_wave(file, start, height, seconds, speed):
    """`play --action` of a motion of the last wrist to start + height and back."""
    times = np.linspace(0.0, seconds, 30)
    with open(file, "w", newline="") as out:
        table = csv.writer(out)
        table.writerow(["time", *ROBOT.joint_names])
        wave = height * (1 - np.cos(2 * np.pi * times / seconds)) / 2
        table.writerows([t, *(start + w * (np.arange(6) == 5))] for t, w in zip(times, wave, strict=True))
    arguments = ("play", str(file), "--robot", "ur5e", "--action", ACTION, "--speed", str(speed), "--yes")
    return Process("robot_dynamics_ros.cli.main", *arguments)


def test_ctrl_c_of_play_stops_the_robot(robot, tmp_path):
    start = position(robot[0])
    process = play_wave(tmp_path / "wave.csv", start, 0.6, 10.0, 0.3)
    robot[0].spin(lambda: abs(position(robot[0]) - start)[5] > 0.05, 60.0)
    status, output = process.end()
    assert status == 0 and "canceled" in output and "Traceback" not in output, output
    stopped = position(robot[0])
    for _ in range(100):
        np.testing.assert_allclose(position(robot[0]), stopped, atol=2e-3)
    assert abs(stopped - start)[5] < 0.55


def test_play_drives_the_action_at_a_share_of_the_speed(robot, tmp_path):
    start = position(robot[0])
    process = play_wave(tmp_path / "wave.csv", start, 0.1, 1.0, 0.3)
    robot[0].heard["joint_states"].clear()
    robot[0].spin(lambda: process.process.poll() is not None, 60.0)
    status, output = process.wait()
    assert status == 0 and "wave.csv: done" in output, output
    wrist = np.array([m.position[5] for m in robot[0].heard["joint_states"]]) - start[5]
    stamps = np.array([m.header.stamp.sec + 1e-9 * m.header.stamp.nanosec for m in robot[0].heard["joint_states"]])
    moving = stamps[np.abs(wrist) > 0.02]
    assert wrist.max() == pytest.approx(0.1, abs=0.01)
    assert np.ptp(moving) > 1.0  # 0.7 s at full speed, 2.3 s at this one; a busy machine loses messages
