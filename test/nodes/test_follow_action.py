"""FollowJointTrajectory of a node of ours: goals on a robot that the test steps; test_real_time: by `play`.

joint_trajectory_controller itself is not tested.
"""

from types import SimpleNamespace

import numpy as np
import pytest
from rclpy.action import CancelResponse, GoalResponse
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from stepped import Stepped, SteppedDriver
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.drivers.interface import MotionState
from robot_dynamics_ros.errors import ConnectionFailed, DataError
from robot_dynamics_ros.nodes.robot import follow_action, motion_interface
from robot_dynamics_ros.nodes.topics.encoding import trajectory
from robot_dynamics_ros.nodes.topics.follow_client import FollowClient
from robot_dynamics_ros.robot_file import load_robot

ROBOT = load_robot("ur5e")
SUCCEEDED, CANCELED, ABORTED = 4, 5, 6
MOTION = "composed_node/motion"
KIND = SimpleNamespace(  # the fields that the action uses of control_msgs.action.FollowJointTrajectory
    Feedback=lambda **fields: SimpleNamespace(header=SimpleNamespace(stamp=None), **fields), Result=SimpleNamespace
)


class Server:
    """As rclpy's ActionServer calls it, without messages."""

    def __init__(self, node, kind, name, execute, goal_callback, handle_accepted_callback, cancel_callback):
        self.execute, self.ask, self.cancel = execute, goal_callback, cancel_callback
        self.accept, self.destroy = handle_accepted_callback, lambda: None


class Goal:
    """A goal handle that is executed as far as it goes; status None while it runs."""

    def __init__(self, server, request, number):
        self.request, self.goal_id = request, SimpleNamespace(uuid=number.to_bytes(16, "big"))
        self.status, self.result, self.feedback, self._server = None, None, [], server
        self.succeed, self.canceled, self.abort = (
            lambda s=s: setattr(self, "status", s) for s in (SUCCEEDED, CANCELED, ABORTED)
        )

    def publish_feedback(self, message):
        self.feedback.append(message)

    def execute(self):
        self._running = self._server.execute(self)

    @property
    def ended(self):
        try:
            if self.result is None:
                self._running.send(None)
        except StopIteration as end:
            self.result = end.value
        return self.result is not None


@pytest.fixture(scope="module")
def rig():
    servers = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(motion_interface, "action_type", lambda: KIND)
        patch.setattr(follow_action, "ActionServer", lambda *a, **k: servers.append(Server(*a, **k)) or servers[-1])
        made = Stepped(SteppedDriver())
    (made.server,), made.goals = servers, 0
    made.hear(String, MOTION, 100)
    made.seconds(0.1)
    yield made
    made.close()


@pytest.fixture(autouse=True)
def at_rest(rig):
    yield
    rig.driver.late, rig.driver.silent = 0, False
    rig.driver.stop()
    rig.settled()


def goal(seconds, q, names=tuple(ROBOT.joint_names), path=(), reach=(), patience=0.0):
    made = SimpleNamespace(trajectory=trajectory(names, [seconds], [q]))
    made.path_tolerance, made.goal_tolerance = path, reach
    made.goal_time_tolerance = SimpleNamespace(sec=int(patience), nanosec=int(1e9 * (patience % 1)))
    return made


def tolerance(position, name="wrist_3_joint"):
    return SimpleNamespace(name=name, position=position)


def sent(rig, request):
    """The handle of an accepted goal."""
    assert rig.server.ask(request) == GoalResponse.ACCEPT
    rig.goals += 1
    handle = Goal(rig.server, request, rig.goals)
    rig.server.accept(handle)
    return handle


def result(rig, handle):
    rig.until(lambda: handle.ended)
    return handle.status, handle.result.error_code, handle.result.error_string


def test_a_goal_succeeds_with_feedback(rig):
    target = rig.driver.held + [0.1, 0, 0, 0, 0, 0.1]
    handle = sent(rig, goal(2, target))
    assert result(rig, handle) == (SUCCEEDED, 0, "")
    np.testing.assert_allclose(rig.driver.state.q, target, atol=0.005)
    last = handle.feedback[-1]
    assert 38 <= len(handle.feedback) <= 42 and last.joint_names == list(ROBOT.joint_names)  # 20 Hz for 2 s
    np.testing.assert_allclose(np.subtract(last.desired.positions, last.actual.positions), last.error.positions)


def test_goals_that_cannot_be_followed_are_rejected(rig):
    here = rig.driver.held
    far, few = goal(1, here + 6.0), goal(2, here[:2], ROBOT.joint_names[:2])
    for bad in (far, few, goal(1, here, path=[tolerance(0.1, "wheel")]), goal(1, here, reach=[tolerance(-0.5)])):
        assert rig.server.ask(bad) == GoalResponse.REJECT
    assert not rig.driver.motion.active


def test_a_goal_is_canceled_when_the_robot_has_stopped(rig):
    handle = sent(rig, goal(30, rig.driver.held + 0.4))
    rig.seconds(1.0)
    assert rig.server.cancel(handle) == CancelResponse.ACCEPT and not handle.ended
    assert result(rig, handle)[0] == CANCELED and rig.driver.motion.state == "stopped"


def test_a_new_goal_replaces_the_one_that_runs(rig):
    start = rig.driver.held.copy()
    first = sent(rig, goal(30, start + 0.4))
    rig.seconds(1.0)
    second = sent(rig, goal(3, start))
    assert result(rig, first)[0] == ABORTED and "replaced by another trajectory" in first.result.error_string
    assert result(rig, second)[0] == SUCCEEDED


def test_a_goal_that_is_refused_after_it_was_accepted_leaves_the_one_that_runs_alone(rig, monkeypatch):
    """Its motion went on, but it was reported as aborted and could not be canceled any more."""

    def refuse(_):
        raise DataError("its end is over")

    first = sent(rig, goal(30, rig.driver.held + 0.4))
    rig.seconds(1.0)
    with monkeypatch.context() as late:
        late.setattr(rig.robot_node._driver_interface._motion, "plan", refuse)
        assert result(rig, sent(rig, goal(3, rig.driver.held))) == (ABORTED, -1, "its end is over")
    rig.seconds(0.5)
    assert not first.ended and rig.driver.motion.active
    assert rig.server.cancel(first) == CancelResponse.ACCEPT and result(rig, first)[0] == CANCELED


def test_canceling_a_goal_that_was_replaced_leaves_the_new_one_alone(rig):
    first = sent(rig, goal(30, rig.driver.held + 0.4))
    rig.seconds(0.5)
    second = sent(rig, goal(2, rig.driver.held))
    assert rig.server.cancel(first) == CancelResponse.REJECT  # its result is not sent yet
    assert result(rig, second)[0] == SUCCEEDED and result(rig, first)[0] == ABORTED


def test_a_goal_ends_with_the_reason_when_no_samples_come(rig):
    handle = sent(rig, goal(30, rig.driver.held + 0.4))
    rig.seconds(0.5)
    rig.driver.silent, rig.driver._motion = True, MotionState("failed", "the controller is silent")
    assert result(rig, handle) == (ABORTED, -1, "failed: the controller is silent")
    rig.spin(lambda: rig.heard[MOTION] and rig.heard[MOTION][-1].data == "failed: the controller is silent")


def test_a_goal_that_is_canceled_while_the_robot_fails_is_not_reported_as_canceled(rig):
    handle = sent(rig, goal(30, rig.driver.held + 0.4))
    rig.seconds(0.5)
    rig.server.cancel(handle)
    rig.driver._motion = MotionState("failed", "protective stop")
    assert result(rig, handle) == (ABORTED, -1, "failed: protective stop")


def test_a_goal_ends_when_the_node_is_deactivated(rig):
    handle = sent(rig, goal(30, rig.driver.held + 0.4))
    rig.seconds(0.5)
    rig.robot_node.trigger_deactivate()
    assert handle.ended and (handle.status, handle.result.error_string) == (ABORTED, "the node was deactivated")
    rig.spin(lambda: rig.heard[MOTION] and rig.heard[MOTION][-1].data == "stopped: the node was deactivated")
    rig.driver.stop()
    rig.robot_node.trigger_activate()


def test_a_trajectory_on_the_topic_replaces_a_goal(rig):
    start = rig.driver.held.copy()
    publisher = rig.node.create_publisher(JointTrajectory, "composed_node/joint_trajectory", 5)
    rig.spin(publisher.get_subscription_count)
    handle = sent(rig, goal(30, start + 0.4))
    rig.seconds(1.0)
    publisher.publish(goal(2, start).trajectory)
    rig.spin(lambda: handle.ended)
    rig.node.destroy_publisher(publisher)
    assert handle.status == ABORTED and "replaced by another trajectory" in handle.result.error_string
    assert rig.settled() == "done"
    np.testing.assert_allclose(rig.driver.state.q, start, atol=0.005)


def test_a_goal_ends_with_the_reason_when_the_robot_stops_by_itself(rig):
    handle = sent(rig, goal(30, rig.driver.held + 0.4))
    rig.seconds(0.5)
    rig.driver.failure = "protective stop"
    assert result(rig, handle) == (ABORTED, -1, "failed: protective stop")


def test_a_path_tolerance_ends_the_motion(rig):
    strict = goal(2, rig.driver.held + 0.4, path=[tolerance(1e-6, name) for name in ROBOT.joint_names])
    status, code, text = result(rig, sent(rig, strict))
    assert (status, code) == (ABORTED, -4) and "rad, more than 1e-06" in text
    assert rig.settled() == "stopped"


def test_a_goal_tolerance_is_judged_until_the_time_tolerance_is_over(rig):
    target = rig.driver.held + [0, 0, 0, 0, 0, 0.1]
    handle = sent(rig, goal(1, target, reach=[tolerance(1e-9)], patience=1.5))  # below the noise
    begin = rig.driver.now
    status, code, text = result(rig, handle)
    assert (status, code) == (ABORTED, -5) and "wrist_3_joint is off by" in text
    assert 1e-9 * (rig.driver.now - begin) == pytest.approx(2.5, abs=0.02)
    assert result(rig, sent(rig, goal(1, target, reach=[tolerance(0.05)])))[0] == SUCCEEDED


@pytest.mark.parametrize("patience", [0.0, -1.0])
def test_samples_from_before_the_end_of_the_motion_do_not_judge_the_goal(rig, patience):
    """On a busy machine they are processed after the driver has reported the end."""
    target = rig.driver.held + [0, 0, 0, 0, 0, 0.5]
    handle = sent(rig, goal(1, target, reach=[tolerance(0.02)], patience=patience))
    rig.driver.late = 90  # samples: the robot is 0.18 s ahead of what the node knows
    assert result(rig, handle)[0] == SUCCEEDED


def test_the_start_of_a_goal_is_read_from_a_message_that_has_all_joints():
    """That of a gripper on the same topic was an error, and one without positions a traceback."""
    client, q = FollowClient.__new__(FollowClient), list(range(6))
    gripper, empty = JointState(name=["finger"], position=[0.1]), JointState(name=ROBOT.joint_names)
    heard = [gripper, empty, JointState(name=ROBOT.joint_names[::-1], position=[float(x) for x in q[::-1]])]
    client._joint_states, client._state = "joint_states", None
    client._executor = SimpleNamespace(spin_once=lambda timeout_sec: client._keep(heard.pop(0)))
    assert client.position(ROBOT.joint_names, 60.0).tolist() == q
    for message, said in ((gripper, "shoulder_pan_joint"), (empty, "positions are missing")):
        client._keep(message)
        with pytest.raises(DataError, match=said):
            client.position(ROBOT.joint_names, -1.0)
    with pytest.raises(ConnectionFailed, match="no joint states on joint_states"):
        client.position(ROBOT.joint_names, -1.0)


@pytest.mark.parametrize(
    ("cancels", "looks", "said"),
    [
        (True, 0, "not done after .* canceled"),
        (False, 0, "may still move"),
        (True, 1, "answered after .* canceled"),
        (True, 9, "does not answer"),
    ],
)
def test_a_goal_that_takes_too_long_is_canceled_before_it_is_given_up(cancels, looks, said):
    """The robot went on, slowly, and nobody was left who could cancel it; or moved after a late answer."""
    ended, client = [], FollowClient.__new__(FollowClient)
    handle = SimpleNamespace(
        accepted=True,
        get_result_async=lambda: SimpleNamespace(done=lambda: cancels and ended),
        cancel_goal_async=lambda: ended.append(1),
    )
    asked = iter(range(99))
    answer = SimpleNamespace(done=lambda: next(asked) >= looks, result=lambda: handle)
    client._action, client._client = (
        "follow",
        SimpleNamespace(server_is_ready=lambda: True, send_goal_async=lambda _: answer),
    )
    client._executor = SimpleNamespace(spin_once=lambda timeout_sec: None)
    with pytest.raises(ConnectionFailed, match=said):
        client.follow(goal(0, np.zeros(6)), -1.0)
    assert bool(ended) == (looks < 9)
