"""Messages to samples and back: joint order, aliases, missing and repeated joints, empty arrays, byte layouts."""

from contextlib import nullcontext

import numpy as np
import pytest
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState, Temperature
from stepped import NodeDouble
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.bags.rows import possible_speed
from robot_dynamics_ros.errors import ConfigError, DataError
from robot_dynamics_ros.nodes.topics.encoding import MESSAGE_TYPES, MessageReader, SampleWriter, to_ns, topic_names
from robot_dynamics_ros.nodes.topics.outputs import Pace, SampleOutputs, contact_arrow
from robot_dynamics_ros.nodes.topics.sources import MAX_WAITING, StampJoin
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import Sample
from robot_dynamics_ros.topics import ARRAY, FRAMED, PREFIX, TOPICS, below, check_prefix

ROBOT = load_robot("ur5e")
NAMES, ALIASES = ROBOT.joint_names, ROBOT.joint_aliases


def joint_state(names, stamp=0, **arrays):
    message = JointState(name=list(names), **{k: [float(x) for x in v] for k, v in arrays.items()})
    message.header.stamp.sec, message.header.stamp.nanosec = stamp // 10**9, stamp % 10**9
    return message


def read(message):
    sample = Sample(NAMES)
    MessageReader(TOPICS["joint_states"], NAMES, ALIASES).read(message, sample)
    return sample


def test_joint_order_does_not_matter():
    order = np.random.default_rng(1).permutation(6)
    values = np.arange(6.0)
    message = joint_state([NAMES[i] for i in order], position=values[order], velocity=-values[order])
    assert np.array_equal(read(message).q, values) and np.array_equal(read(message).qd, -values)


def test_aliases_and_extra_joints():
    spelled = [next(a for a, n in ALIASES.items() if n == name and a != name) for name in NAMES]
    sample = read(joint_state(["gripper", *spelled], position=[9, 0, 1, 2, 3, 4, 5]))
    assert np.array_equal(sample.q, np.arange(6.0))


def test_empty_effort_stays_absent_and_wrong_lengths_are_refused():
    sample = read(joint_state(NAMES, position=np.zeros(6)))
    assert np.isnan(sample.effort).all() and np.isnan(sample.qd).all()
    with pytest.raises(DataError, match="3 numbers in effort for 6 joints"):
        read(joint_state(NAMES, position=np.zeros(6), effort=np.zeros(3)))


def test_of_a_message_that_is_refused_nothing_stays():
    """The positions of one with too few velocities stayed among the held values and were used for a second."""
    joined, held = StampJoin(NAMES, ALIASES, [], ["motor_states"], list), {"position": np.zeros(6)}
    joined.take("motor_states", joint_state(NAMES, 1, **held), 1, 0)
    with pytest.raises(DataError, match="3 numbers in velocity"):
        joined.take("motor_states", joint_state(NAMES, 2, position=np.ones(6), velocity=np.zeros(3)), 2, 0)
    assert not joined._slow.theta.any()


def test_what_a_message_has_no_more_is_absent():
    """A velocity that came no more was held for as long as positions came, and was taken for that of now."""
    joined = StampJoin(NAMES, ALIASES, [], ["motor_states"], list)
    joined.take("motor_states", joint_state(NAMES, 1, position=np.zeros(6), velocity=np.ones(6)), 1, 0)
    joined.take("motor_states", joint_state(NAMES, 2, position=np.ones(6)), 2, 0)
    assert (joined._slow.theta == 1.0).all() and np.isnan(joined._slow.omega).all()


class Kept(list):
    publish = list.append


@pytest.mark.parametrize("name", list(TOPICS))
def test_every_topic_comes_back_as_it_was_written(name):
    topic, rng = TOPICS[name], np.random.default_rng(7)
    sample = Sample(NAMES, 1_700_000_000_123_456_789)
    for signal in topic.fields.values():
        getattr(sample, signal)[:] = rng.normal(size=len(getattr(sample, signal)))
    outputs = [Kept() for _ in topic_names(topic, NAMES, PREFIX)]
    assert SampleWriter(topic, NAMES, "base", outputs).publish(sample)
    back, reader = Sample(NAMES), MessageReader(topic, NAMES)
    for joint, output in enumerate(outputs):
        message = deserialize_message(output[0], MESSAGE_TYPES[topic.type])
        if topic.type == ARRAY:
            assert message.layout.dim[0].label == ",".join([*NAMES, "total"])
        else:
            assert to_ns(message.header.stamp) == sample.stamp_ns and message.header.frame_id == "base"
        reader.read(message, back, joint)
    for signal in topic.fields.values():
        assert np.array_equal(getattr(back, signal), getattr(sample, signal)), signal


def test_absent_signals_are_not_published():
    out = [Kept()]
    assert not SampleWriter(TOPICS["joint_states"], NAMES, "base", out).publish(Sample(NAMES, 5)) and not out[0]


def test_a_desired_state_has_one_point():
    reader = MessageReader(TOPICS["desired_state"], NAMES)
    with pytest.raises(DataError, match="exactly one point"):
        reader.read(JointTrajectory(joint_names=NAMES), Sample(NAMES))


def companion(stamp):
    return joint_state(NAMES, stamp, effort=np.full(6, stamp))


def join():
    out = []
    joined = StampJoin(NAMES, ALIASES, ["friction_torque"], ["joint_temperatures"], lambda s: out.append(s.copy()))
    return joined, out


def test_samples_wait_for_their_companion_in_whatever_order_it_comes():
    joined, out = join()
    joined.take("joint_states", joint_state(NAMES, 1, position=np.zeros(6)), 1, 0)
    assert not out
    joined.take("friction_torque", companion(2), 2, 0)
    joined.take("friction_torque", companion(1), 1, 0)
    joined.take("joint_states", joint_state(NAMES, 2, position=np.zeros(6)), 2, 0)
    assert [(s.stamp_ns, s.friction_torque[0]) for s in out] == [(1, 1.0), (2, 2.0)]


@pytest.mark.parametrize("order", [1, -1])
def test_a_rotor_angle_that_comes_behind_the_joint_angle_of_its_instant_is_that_of_its_sample(order):
    """It was used one sample late: theta - q was off by 2 mrad at 500 Hz and 1 rad/s, as much as a spring deflects."""
    out = []
    joined = StampJoin(NAMES, ALIASES, [], ["motor_states"], lambda s: out.append(s.copy()))
    for k in range(1, 9):
        for name in ("joint_states", "motor_states")[::order]:
            if (name, k) != ("motor_states", 6):  # it is lost; its sample waits until the next one
                joined.take(name, joint_state(NAMES, k, position=np.full(6, float(k))), k, 0)
    found = {1: [np.nan, 1.0, 3.0, 4.0, 5.0, 5.0, 5.0, 8.0], -1: [1.0, 2.0, 3.0, 4.0, 5.0, 5.0, 7.0, 8.0]}
    np.testing.assert_array_equal([s.theta[0] for s in out], found[order])


def test_a_companion_that_never_comes_does_not_block():
    joined, out = join()
    for stamp in range(1, MAX_WAITING + 3):
        joined.take("joint_states", joint_state(NAMES, stamp, position=np.zeros(6)), stamp, 0)
    assert [s.stamp_ns for s in out] == [1, 2] and np.isnan(out[0].friction_torque).all()
    assert joined.counts["incomplete"] == 2


def test_a_sample_without_a_companion_that_others_have_is_left_out_until_the_companion_has_been_away_for_a_second():
    joined, out = join()
    stamps = range(0, 2_000_000_000, 100_000_000)
    for stamp in stamps:
        if stamp in stamps[:2] or stamp == stamps[3]:
            joined.take("friction_torque", companion(stamp), stamp, 0)
        joined.take("joint_states", joint_state(NAMES, stamp, position=np.zeros(6)), stamp, 0)
    assert [s.stamp_ns for s in out] == [*stamps[:2], *stamps[3:-MAX_WAITING]]
    assert joined.counts["incomplete"] == len(stamps) - MAX_WAITING - 3


def test_a_companion_of_another_robot_is_none():
    """Its messages were refused but counted as having come: every sample was left out as one that lacks its own."""
    joined, out = join()
    for stamp in range(1, 21):
        with pytest.raises(DataError, match="missing"):
            joined.take("friction_torque", joint_state(["other"], stamp, effort=[0.0]), stamp, 0)
        joined.take("joint_states", joint_state(NAMES, stamp, position=np.zeros(6)), stamp, 0)
    assert len(out) == 20 - MAX_WAITING and not joined._early


def test_a_companion_that_comes_later_is_waited_for():
    joined, out = join()
    ms = 1_000_000
    for k in range(200):
        joined.take("joint_states", joint_state(NAMES, 2 * k * ms, position=np.zeros(6)), 2 * k * ms, 0)
        if k >= 20:
            joined.take("friction_torque", companion(2 * (k - 20) * ms), 2 * (k - 20) * ms, 0)
    late = [s for s in out if np.isnan(s.friction_torque).any()]
    assert len(out) == 180 and len(late) == 16  # before the first one came


def test_a_temperature_of_ten_seconds_is_held_and_one_that_stopped_is_that_of_no_joint():
    """One age of a second for all joints: half of the samples at 0.5 Hz had none, and a dead sensor never ended."""
    joined, out = join()
    for second in range(101):
        for joint in range(6) if second % 10 == 0 else ():
            if joint != 2 or second <= 40:
                given = Temperature(temperature=30.0 + joint)
                joined.take("joint_temperatures", given, second * 10**9, 0, joint)
        joined.take("friction_torque", companion(second * 10**9), second * 10**9, 0)
        joined.take("joint_states", joint_state(NAMES, 1, position=np.zeros(6)), second * 10**9, 0)
    known = np.isfinite([s.temperature for s in out])
    assert len(out) == 101 and known[:, [0, 1, 3, 4, 5]].all()
    assert known[:71, 2].all() and not known[71:, 2].any()
    assert out[60].temperature[2] == 32.0


def test_a_velocity_is_refused_unless_the_robot_file_permits_it():
    out = []
    for limit, taken in ((3.0, 0), (40.0, 1)):
        robot = ROBOT.with_updates({"limits.velocity": [limit] * 6, "limits.source": "x"}, {"x": "data sheet"})
        joined = StampJoin(NAMES, ALIASES, [], [], out.append, possible_speed(robot))
        with nullcontext() if taken else pytest.raises(DataError, match="beyond 30 rad/s"):
            joined.take("joint_states", joint_state(NAMES, 1, position=np.zeros(6), velocity=[50.0] * 6), 1, 0)
        assert len(out) == taken


def test_positions_that_are_not_finite_are_refused():
    joined, _ = join()
    with pytest.raises(DataError, match="positions"):
        joined.take("joint_states", joint_state(NAMES, 1, position=[np.nan] * 6), 1, 0)
    with pytest.raises(DataError, match="positions"):
        joined.take("joint_states", joint_state(NAMES, 1), 1, 0)


def test_the_arrow_is_in_base_axes_and_ends_at_the_tcp_whatever_the_frame_of_the_wrench():
    sample, tcp = Sample(NAMES, 5), np.array([0.4, -0.2, 0.6])
    sample.external_wrench, sample.framed_wrench = [30.0, 0, 40, 0, 0, 0], [0, 0, -50.0, 0, 0, 0]
    sample.external_wrench_std, sample.framed_wrench_std = [1, 2, 3, 0, 0, 0], [9] * 6
    arrow, cloud = contact_arrow(sample, tcp, "l_base", 0.01).markers
    tail, head = (np.array([p.x, p.y, p.z]) for p in arrow.points)
    assert arrow.header.frame_id == cloud.header.frame_id == "l_base"
    np.testing.assert_allclose(head, tcp)
    np.testing.assert_allclose(head - tail, [0.3, 0, 0.4])
    np.testing.assert_allclose([cloud.scale.x, cloud.scale.y, cloud.scale.z], [0.04, 0.08, 0.12])


@pytest.mark.parametrize(("rate", "seconds"), [(30.0, 1), (0.5, 6)])
def test_the_arrow_of_a_force_that_comes_no_more_is_shown_for_some_pictures_only(rate, seconds):
    """rviz and Foxglove show a marker for ever where it has no lifetime: of a robot that is silent, too."""
    double, sample = NodeDouble(prefix="arm", marker_rate=rate), Sample(NAMES, 5)
    sample.q, sample.external_wrench, sample.external_wrench_std = [0.0] * 6, [1.0] * 6, [1.0] * 6
    SampleOutputs(double, ROBOT, [], "", arrow=True).publish(sample)
    (shown,) = double.published["arm/contact_markers"]
    assert [marker.lifetime.sec for marker in shown.markers] == [seconds, seconds]


def node():
    return NodeDouble(tf_prefix="l_", publish_description=False, prefix="arm")


@pytest.mark.parametrize(("frame", "named"), [("", "l_tool0"), ("base", "l_base"), ("wrist_1_link", "l_wrist_1_link")])
def test_headers_name_the_frame_of_the_numbers(frame, named):
    double, sample = node(), Sample(NAMES, 5)
    topics = [*FRAMED, "external_wrench_base", "vendor_external_wrench", "joint_states"]
    sample.q, sample.external_wrench, sample.vendor_external_wrench = [0.0] * 6, [1.0] * 6, [2.0] * 6
    sample.framed_wrench, sample.framed_wrench_std = [3.0] * 6, [4.0] * 6
    SampleOutputs(double, ROBOT, topics, frame).publish(sample)
    assert set(double.published) == {below("arm", name) for name in topics}
    published = {name.removeprefix("arm/"): message for name, (message,) in double.published.items()}
    frames = {name: message.header.frame_id for name, message in published.items()}
    assert frames == {name: named if name in FRAMED else "l_base" for name in topics}
    assert published["external_wrench"].wrench.force.x == 3.0
    assert published["external_wrench_std"].wrench.torque.z == 4.0
    assert published["external_wrench_base"].wrench.force.x == 1.0


def test_the_described_links_have_the_prefix_of_the_headers():
    double = NodeDouble(tf_prefix="l_", prefix="arm")
    SampleOutputs(double, ROBOT, [], "").describe()
    (message,) = double.published["robot_description"]
    assert 'link name="l_base"' in message.data and 'link name="base"' not in message.data


def test_the_latency_of_the_wrench_is_reported_while_somebody_listens():
    """Of a listener that has gone, old numbers would stay in the diagnostics."""
    outputs = SampleOutputs(node(), ROBOT, ["external_wrench"], "")
    sample, writer = Sample(NAMES, 5), outputs._writers[0]
    sample.framed_wrench = [3.0] * 6
    while not outputs._wrench.count:  # the first ones are left out
        outputs.publish(sample)
    assert "receive to wrench p99 [us]" in outputs.latencies()
    writer.subscribed = False
    outputs.publish(sample)
    found = outputs.latencies()
    assert "receive to published p99 [us]" in found and not any("wrench" in name for name in found)


@pytest.mark.parametrize(("rate", "expected"), [(0.1, 2), (10.0, 200), (500.0, 10_000)])
def test_what_is_rarer_than_samples_keeps_its_rate_from_the_lowest_to_that_of_the_samples(rate, expected):
    """At 0.1 Hz, which temperature_rate takes, every sample was published, and at the samples' own rate every other."""
    pace, ms = Pace(), 1_000_000
    assert sum(pace.due(1_000_000 * ms + 2 * k * ms, rate) for k in range(10_000)) == expected
    assert pace.due(0, rate)  # the clock was set back


def test_publishers_of_an_unknown_frame_are_refused():
    with pytest.raises(ConfigError, match="'camera' has no known transform"):
        SampleOutputs(node(), ROBOT, ["external_wrench"], "camera")


@pytest.mark.parametrize("prefix", ["", "/left", "left/", "2nd", "a b"])
def test_a_prefix_that_ros_does_not_take_is_refused(prefix):
    with pytest.raises(ConfigError, match="prefix"):
        check_prefix(prefix)
