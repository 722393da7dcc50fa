"""A message with an impossible time, or garbage, is counted and refused: it ends nothing and nothing of it stays."""

import gc
import tracemalloc
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
from builtin_interfaces.msg import Duration, Time
from sensor_msgs.msg import JointState
from std_msgs.msg import Header
from stepped_driver import START
from trajectory_msgs.msg import JointTrajectoryPoint

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.nodes.diagnostics import ERROR, OK, STALE, WARN, worst
from robot_dynamics_ros.nodes.part import LONGEST_REASON
from robot_dynamics_ros.nodes.robot import motion_interface
from robot_dynamics_ros.nodes.robot.joint_trajectory import read_points
from robot_dynamics_ros.nodes.topics.encoding import trajectory
from robot_dynamics_ros.nodes.topics.inputs import MAX_REASONS, OTHER, TopicInputs
from robot_dynamics_ros.nodes.topics.sources import StampJoin
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.trajectories.files import resample

ROBOT = load_robot("ur5e")
FAR = [Time(sec=2147483647, nanosec=0), Time(sec=-1, nanosec=0), Time(sec=-(2**31), nanosec=5)]
FAR.append(Time(sec=1, nanosec=4294967295))


class Inputs(TopicInputs):
    """Without subscriptions; now [s]: of the node's clock; values of parameters."""

    def __init__(self, now=None, **values):
        log = SimpleNamespace(warning=lambda *a, **k: None, error=lambda *a, **k: None)
        clock = SimpleNamespace(now=lambda: SimpleNamespace(nanoseconds=now * 10**9))
        self._node = SimpleNamespace(get_logger=lambda: log, get_clock=lambda: clock, context=None)
        self._node.value = ({"stamps": "header", "max_age": 0.0} | values).get
        self._node.count_publishers = lambda name: 2 * (name != "/clock")
        self._refused, self.taken, self._seen, self.main = Counter(), [], (0, 0), "/joint_states"
        self.last_refusal, self._known, self._ends = "", frozenset(ROBOT.joint_aliases), {}
        self._join = SimpleNamespace(take=lambda *a: self.taken.append(a), counts=Counter())

    def hear(self, stamp, topic="joint_states"):
        self._message(topic, None, JointState(header=Header(stamp=stamp)))


def test_messages_with_an_impossible_stamp_are_counted_and_the_next_are_taken():
    inputs = Inputs()
    for stamp in [Time(sec=1_700_000_000, nanosec=0), *FAR, Time(sec=0, nanosec=0), Time(sec=1_700_000_001, nanosec=7)]:
        inputs.hear(stamp)
    assert len(inputs.taken) == 3 and sum(inputs._refused.values()) == len(FAR)


def test_a_refused_message_of_another_topic_is_not_blamed_on_the_joint_states():
    """Temperatures stamped by another clock: 'a message is stamped ...: set the parameter stamps to receive'."""
    inputs = Inputs()
    for name in ("joint_temperatures", "joint_states"):
        inputs.hear(FAR[0], name)
    why = "a message is stamped with an impossible time"
    assert list(inputs._refused) == [f"joint_temperatures: {why}", why]


def test_why_messages_are_refused_stands_beside_the_absence_of_samples():
    silent, refused = (STALE, "no samples"), (WARN, "500 messages refused: older than max_age")
    assert worst(silent, (OK, "fine"), refused) == (STALE, f"no samples; {refused[1]}")
    assert worst(silent, (OK, "fine")) == silent and worst(refused, (ERROR, "stopped")) == (ERROR, "stopped")


SLOW = "older than max_age 0.5 s: this machine is too slow, or synchronise"
AGES = [(-0.6, SLOW), (-0.4, ""), (0.4, ""), (3600.0, "in the future by more than max_age 0.5 s: synchronise")]


@pytest.mark.parametrize(("ahead", "refused"), AGES)
def test_a_stamp_far_from_the_clock_of_the_node_is_refused(ahead, refused):
    inputs = Inputs(now=1_700_000_000, max_age=0.5)
    inputs.hear(Time(sec=int(1_700_000_000 + ahead // 1), nanosec=round(ahead % 1 * 1e9)))
    assert len(inputs.taken) == (not refused) and refused in inputs.last_refusal


@pytest.mark.parametrize("now", [0, 1_700_000_000, 1_800_000_000])
def test_stamps_of_a_simulated_clock_lead_to_its_parameter(now):
    inputs = Inputs(now or 1, max_age=0.5, use_sim_time=not now)
    inputs._node.count_publishers = lambda name: 1
    inputs.hear(Time(sec=1_750_000_000))
    assert ("set the parameter use_sim_time" in inputs.last_refusal) == bool(now)


def test_simulated_time_that_nobody_publishes_is_named():
    inputs = Inputs(now=0, max_age=0.5)
    inputs.hear(Time(sec=1_700_000_000))
    assert not inputs.taken and "nothing publishes /clock" in inputs.last_refusal


def test_messages_without_a_stamp_lead_to_the_parameter():
    inputs = Inputs()
    inputs.hear(Time())  # a simulated clock begins
    assert len(inputs.taken) == 1
    for unstamped in (inputs, Inputs(now=1_700_000_000, max_age=0.5)):
        unstamped.hear(Time())
        assert "stamps to receive" in unstamped.last_refusal


def test_two_publishers_whose_stamps_alternate_are_named_once_per_report():
    inputs = Inputs()
    assert inputs.disorder() == (OK, "")
    inputs._join.counts["clock backwards"] += 3
    level, text = inputs.disorder()
    assert level == ERROR and "/joint_states went back 3 times" in text and "2 nodes publish" in text
    assert inputs.disorder() == (OK, "")


def test_a_message_behind_a_newer_one_is_left_out_and_a_clock_that_was_set_is_followed():
    ms, taken = 1_000_000, []
    join = StampJoin(ROBOT.joint_names, {}, (), (), lambda sample: taken.append(sample.stamp_ns // ms))
    for stamp in (1000, 1002, 1001, 1004, 500, 502):
        message = JointState(name=list(ROBOT.joint_names), position=[0.0] * 6, effort=[0.0] * 6)
        join.take("joint_states", message, stamp * ms, stamp * ms)
    assert taken == [1000, 1002, 1004, 500, 502]
    assert (join.counts["out of order"], join.counts["clock backwards"]) == (1, 1)


def test_a_grippers_message_behind_those_of_the_arm_is_not_out_of_order():
    join = StampJoin(ROBOT.joint_names, {}, (), (), lambda sample: None)
    join.take("joint_states", JointState(name=list(ROBOT.joint_names), position=[0.0] * 6), 2_000_000, 0)
    with pytest.raises(DataError, match="is missing"):
        join.take("joint_states", JointState(name=["finger"], position=[0.0]), 1_000_000, 0)
    assert not join.counts["out of order"]


def at_velocity(velocity, name="shoulder_pan_joint"):
    way = START[6] + 0.1 * np.arange(3)[:, None]
    return trajectory([name, *ROBOT.joint_names[1:]], range(3), way, np.full((3, 6), velocity))


@pytest.mark.parametrize("velocity", [np.nan, np.inf, -np.inf])
def test_a_trajectory_with_velocities_that_are_not_finite_is_refused(velocity):
    with pytest.raises(DataError, match="velocities must be finite"):
        resample(*read_points(at_velocity(velocity), ROBOT))


def refused(node):
    """Texts of the log and of ~/motion since the last call; the log is throttled."""
    assert all(limits == {"throttle_duration_sec": 2.0} for _, limits in node.log)
    texts = [text for text, _ in node.log], [message.data for message in node.published["~/motion"]]
    node.log.clear(), node.published["~/motion"].clear()
    return texts


def test_a_refusal_is_short_however_long_the_names_of_a_message_are(stand):
    node, _ = stand
    refused(node)
    node.callbacks["~/play_trajectory"](at_velocity(0.0, name="x" * 60_000))
    (log,), (told,) = refused(node)
    assert max(len(log), len(told)) <= LONGEST_REASON + 30


def test_a_refusal_stays_the_last_state_until_the_robot_moves_again(stand):
    """A listener keeps one message: what follows a refusal at once would hide it."""
    node, driver = stand
    play = node.callbacks["~/play_trajectory"]

    def told():
        node.cycle(50)  # two periods of the state
        return [text.split(":")[0] for text in refused(node)[1]]

    assert told() == ["idle"]
    for _ in range(2):
        play(at_velocity(np.nan))
    assert told() == ["refused", "refused"]
    play(at_velocity(0.0))
    assert told() == ["moving"]
    driver.stop()
    driver.wait_until(lambda: not driver.motion.active, 1.0)
    play(at_velocity(0.0))
    assert told()[-1:] == ["moving"]


def garbage(rng):
    """A trajectory with one thing wrong."""
    out, kind = at_velocity(0.0), rng.integers(6)
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


def test_nothing_of_garbage_trajectories_stays_and_their_log_is_bounded(stand):
    node, _ = stand
    interface, rng = node.parts._motion, np.random.default_rng(3)
    refuse_many(interface, rng, 25)  # what is imported and cached at the first use
    gc.collect()
    gc.disable()  # a running node collects rarely
    tracemalloc.start()
    try:
        for k in range(4):
            refuse_many(interface, rng, 50)
            assert interface._refusals.total == 75 + 50 * k  # each refused, the first ones with their reason
            texts = [text for both in refused(node) for text in both]
            assert all(len(text) <= LONGEST_REASON + 80 for text in texts)  # a reason, and what was dropped
        kept, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
        gc.enable()
    assert kept < 1e6 and most < 10e6  # bytes


@pytest.mark.parametrize("data", [b"", b"garbage", b"\x00\x01\x00\x00" + 40 * b"\xff"])
def test_bytes_that_are_no_trajectory_are_refused(stand, data):
    """Any publisher can send them; they ended the node."""
    node, _ = stand
    interface = node.parts._motion
    refused(node)
    interface._receive(data, interface._follow)
    assert f"{len(data)} bytes that are no JointTrajectory" in refused(node)[0][0]


def test_a_long_motion_outside_the_limits_is_refused_before_it_is_computed(stand, monkeypatch):
    node, _ = stand
    long = at_velocity(0.0)
    long.points[1].positions, long.points[-1].time_from_start = [50.0] * 6, Duration(sec=3000)
    monkeypatch.setattr(motion_interface, "resample", lambda *a, **k: pytest.fail("1.5 million samples were computed"))
    node.callbacks["~/play_trajectory"](long)
    assert "position 50.000 rad" in refused(node)[0][0]


def test_reasons_with_names_of_messages_are_counted_within_bounds():
    inputs = Inputs()
    inputs._join = StampJoin(ROBOT.joint_names, {}, (), (), lambda sample: None)
    for k in range(500):
        names = [f"{k:03d}" + "x" * 200, *ROBOT.joint_names[1:]]
        stamp = Time(sec=1_700_000_000 + k, nanosec=0)
        inputs._message("joint_states", None, JointState(header=Header(stamp=stamp), name=names, position=[0.0] * 6))
    counts = inputs.counts()
    assert len(counts) == MAX_REASONS + 1 and sum(counts.values()) == 500
    assert counts[f"refused: {OTHER}"] == 500 - MAX_REASONS
    assert max(map(len, counts)) <= LONGEST_REASON + len("refused: ")


def test_joints_beside_those_of_the_arm_are_watched_within_bounds():
    inputs = Inputs()
    for k in range(500):
        inputs._look_beside(JointState(name=[f"rail{k}", "nan", *ROBOT.joint_names], position=[0.0, np.nan]))
    assert len(inputs._ends) == MAX_REASONS and not {"nan", *ROBOT.joint_names} & set(inputs._ends)
