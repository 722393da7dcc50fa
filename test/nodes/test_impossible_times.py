"""Times are bounded where they enter: a message with an impossible one is counted and refused, never more."""

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy")

from builtin_interfaces.msg import Duration, Time
from sensor_msgs.msg import JointState
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.nodes.robot.joint_trajectory import read_points
from robot_dynamics_ros.nodes.robot.motion_interface import LONGEST_REASON, MotionInterface
from robot_dynamics_ros.nodes.topics.encoding import possible_ns
from robot_dynamics_ros.nodes.topics.inputs import TopicInputs
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.trajectories.files import resample

ROBOT = load_robot("ur5e")
FAR = [Time(sec=2147483647, nanosec=0), Time(sec=-1, nanosec=0), Time(sec=-(2**31), nanosec=5)]
FAR.append(Time(sec=1, nanosec=4294967295))


@pytest.mark.parametrize("stamp", FAR, ids=str)
def test_an_impossible_stamp_is_refused(stamp):
    with pytest.raises(DataError, match="impossible time"):
        possible_ns(stamp)


class Inputs(TopicInputs):
    """Without subscriptions."""

    def __init__(self):
        log = SimpleNamespace(warning=lambda *a, **k: None)
        values = {"stamps": "header", "max_age": 0.0}
        self._node = SimpleNamespace(value=values.get, get_logger=lambda: log, context=None)
        self._refused, self.taken = Counter(), []
        self._join = SimpleNamespace(take=lambda *a: self.taken.append(a), counts={})


def test_messages_with_an_impossible_stamp_are_counted_and_the_next_are_taken():
    inputs = Inputs()
    for stamp in [Time(sec=1_700_000_000, nanosec=0), *FAR, Time(sec=0, nanosec=0), Time(sec=1_700_000_001, nanosec=7)]:
        inputs._message("joint_states", JointState(header=Header(stamp=stamp)), None)
    assert len(inputs.taken) == 3 and sum(inputs._refused.values()) == len(FAR)


def trajectory(velocity, name="shoulder_pan_joint"):
    names = [name, *ROBOT.joint_names[1:]]
    points = [JointTrajectoryPoint(positions=[0.1 * k] * 6, velocities=[velocity] * 6) for k in range(3)]
    for k, point in enumerate(points):
        point.time_from_start = Duration(sec=k)
    return JointTrajectory(joint_names=names, points=points)


@pytest.mark.parametrize("velocity", [np.nan, np.inf, -np.inf])
def test_a_trajectory_with_velocities_that_are_not_finite_is_refused(velocity):
    with pytest.raises(DataError, match="velocities must be finite"):
        resample(*read_points(trajectory(velocity), ROBOT))


def test_a_refusal_is_short_however_long_the_names_of_a_message_are():
    said, driver = [], SimpleNamespace(capabilities={"servo"}, robot=ROBOT, info=SimpleNamespace(rate=500.0))
    log = SimpleNamespace(warning=lambda text, **limits: said.append((text, limits)))
    interface = MotionInterface.__new__(MotionInterface)
    interface._node = SimpleNamespace(active=True, get_logger=lambda: log)
    interface._driver, interface._published = driver, ""
    interface._state = SimpleNamespace(publish=lambda message: said.append((message.data, None)))
    interface._take(trajectory(0.0, name="x" * 60_000), interface._approach)
    assert [limits for _, limits in said] == [{"throttle_duration_sec": 2.0}, None]
    assert all(len(text) <= LONGEST_REASON + 30 for text, _ in said)
