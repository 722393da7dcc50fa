"""A message with an impossible time, or garbage, is counted and refused: it ends nothing and nothing of it stays."""

import gc
import tracemalloc
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("rclpy")

from builtin_interfaces.msg import Duration, Time
from sensor_msgs.msg import JointState
from std_msgs.msg import Header
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robot_dynamics_ros.drivers.interface import Motion
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.nodes.part import LONGEST_REASON
from robot_dynamics_ros.nodes.robot import motion_interface
from robot_dynamics_ros.nodes.robot.joint_trajectory import read_points
from robot_dynamics_ros.nodes.robot.motion_interface import MotionInterface
from robot_dynamics_ros.nodes.topics.encoding import possible_ns
from robot_dynamics_ros.nodes.topics.inputs import MAX_REASONS, OTHER, TopicInputs
from robot_dynamics_ros.nodes.topics.sources import StampJoin
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


def motions(monkeypatch):
    """A MotionInterface without ROS whose driver moves nothing, and what it logs and publishes."""
    monkeypatch.setattr(motion_interface, "refuse_strangers", lambda node: None)
    lines, now = [], SimpleNamespace(nanoseconds=10**18)
    log = SimpleNamespace(warning=lambda text, **limits: lines.append((text, limits)))
    values = {"approach_speed": 0.3, "max_start_distance": 0.5}
    interface = MotionInterface.__new__(MotionInterface)
    interface._node = SimpleNamespace(
        active=True, get_logger=lambda: log, value=values.get, get_clock=lambda: SimpleNamespace(now=lambda: now)
    )
    interface._driver = SimpleNamespace(
        capabilities={"servo"}, robot=ROBOT, info=SimpleNamespace(rate=500.0), speed_limit=None, motion=Motion("done")
    )
    interface._action, interface._published, interface._position = None, "", np.zeros(6)
    interface._state = SimpleNamespace(publish=lambda message: lines.append((message.data, None)))
    return interface, lines


def test_a_refusal_is_short_however_long_the_names_of_a_message_are(monkeypatch):
    interface, lines = motions(monkeypatch)
    interface._take(trajectory(0.0, name="x" * 60_000), interface._approach)
    assert [limits for _, limits in lines] == [{"throttle_duration_sec": 2.0}, None]
    assert all(len(text) <= LONGEST_REASON + 30 for text, _ in lines)


def test_a_refusal_stays_the_last_state_until_the_robot_moves_again(monkeypatch):
    """A listener keeps one message: what follows a refusal at once would hide it."""
    interface, lines = motions(monkeypatch)
    interface._pace = SimpleNamespace(due=lambda stamp_ns, rate: True)
    driver, sample = interface._driver, SimpleNamespace(n_joints=6, q=np.zeros(6), stamp_ns=0, receive_ns=0)

    def published():
        interface.on_sample(sample)
        return [text for text, limits in lines if limits is None]

    assert published() == ["done"]
    for _ in range(2):
        interface._take(trajectory(np.nan), interface._approach)
    assert [text.split(":")[0] for text in published()] == ["done", "refused", "refused"]
    driver.play = lambda *_: setattr(driver, "motion", Motion("moving"))
    interface._take(trajectory(0.0), interface._approach)
    assert published()[3:] == ["moving"]
    interface._take(trajectory(0.0), interface._approach)
    assert published()[3:] == ["moving", "moving"]  # a new motion is reported also where the state is the same


def garbage(rng):
    """A trajectory with one thing wrong."""
    out, kind = trajectory(0.0), rng.integers(6)
    out.header.stamp = rng.choice([Time(), *FAR])
    if kind == 0:
        out.joint_names = [str(rng.integers(10**9)) * 3000, *out.joint_names[1:]]
    elif kind == 1:
        out.points[1].positions = [rng.choice([np.nan, np.inf, -np.inf, 1e300])] * 6
    elif kind == 2:
        out.points[1].positions = list(rng.normal(size=rng.choice([0, 5, 5000])))
    elif kind == 3:
        out.points[-1].time_from_start = Duration(sec=int(rng.choice([2**31 - 1, -(2**31), 1])))
    elif kind == 4:
        q = rng.normal(size=(500, 6)) * 20
        out.points = [JointTrajectoryPoint(positions=row, time_from_start=Duration(sec=k)) for k, row in enumerate(q)]
    else:
        out.points = []
    return out


def refuse_many(interface, rng, count):
    for k in range(count):
        interface._take(garbage(rng), interface.begin if k % 2 else interface._approach)


def test_nothing_of_garbage_trajectories_stays_and_their_log_is_bounded(monkeypatch):
    interface, lines = motions(monkeypatch)
    rng = np.random.default_rng(3)
    refuse_many(interface, rng, 50)  # what is imported and cached at the first use
    gc.collect()
    gc.disable()  # a running node collects rarely
    tracemalloc.start()
    try:
        for _ in range(4):
            refuse_many(interface, rng, 100)
            assert len(lines) >= 200  # each refused: one line in the log, one on the topic
            assert all(limits in (None, {"throttle_duration_sec": 2.0}) for _, limits in lines)
            assert max(len(text) for text, _ in lines) <= LONGEST_REASON + 30
            lines.clear()
        kept, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        gc.enable()
    assert kept < 1e6 and most < 10e6  # bytes


def test_a_long_motion_outside_the_limits_is_refused_before_it_is_computed(monkeypatch):
    interface, lines = motions(monkeypatch)
    long = trajectory(0.0)
    long.points[1].positions, long.points[-1].time_from_start = [50.0] * 6, Duration(sec=3000)
    monkeypatch.setattr(motion_interface, "resample", lambda *a, **k: pytest.fail("1.5 million samples were computed"))
    interface._take(long, interface._approach)
    assert "position 50.000 rad" in lines[0][0]


def test_reasons_with_names_of_messages_are_counted_within_bounds():
    inputs = Inputs()
    inputs._join = StampJoin(ROBOT.joint_names, {}, (), (), lambda sample: None)
    for k in range(500):
        names = [f"{k:03d}" + "x" * 200, *ROBOT.joint_names[1:]]
        stamp = Time(sec=1_700_000_000 + k, nanosec=0)
        inputs._message("joint_states", JointState(header=Header(stamp=stamp), name=names, position=[0.0] * 6), None)
    counts = inputs.counts()
    assert len(counts) == MAX_REASONS + 1 and sum(counts.values()) == 500
    assert counts[f"refused: {OTHER}"] == 500 - MAX_REASONS
    assert max(map(len, counts)) <= LONGEST_REASON + len("refused: ")
