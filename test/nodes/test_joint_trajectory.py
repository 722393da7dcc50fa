"""~/joint_trajectory as joint_trajectory_controller has it: the start, the order of joints, refusals, empty = stop."""

import numpy as np
import pytest
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.nodes.robot.joint_trajectory import from_here
from robot_dynamics_ros.nodes.topics.encoding import to_time, trajectory
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.trajectories.files import resample

ROBOT = load_robot("ur5e")
NAMES = list(ROBOT.joint_names)
HERE = np.array([0.3, -1.2, 1.4, -0.5, 0.2, 0.1])
NOW = 1_700_000_000_000_000_000


def message(points, names=NAMES, stamp_ns=0, velocities=None):
    """points: (seconds, positions)."""
    out = trajectory(names, [seconds for seconds, _ in points], [q for _, q in points], velocities)
    out.header.stamp = to_time(stamp_ns)
    return out


def test_it_begins_where_the_robot_is_and_reaches_each_point_at_its_time():
    goals = HERE + [[0.1] * 6, [0.2] * 6]
    points = from_here(message([(1.0, goals[0]), (3.0, goals[1])]), ROBOT, HERE, NOW)
    q = resample(*points, rate=100.0)
    np.testing.assert_allclose(q[[0, 100, 300]], [HERE, *goals], atol=1e-12)
    assert np.abs(np.diff(q[:2], axis=0)).max() < 1e-4  # from rest


@pytest.mark.parametrize("ahead", [0.0, 0.5, -0.5])
def test_times_count_from_the_stamp_and_what_is_over_is_left_out(ahead):
    stamp = NOW + int(1e9 * ahead)
    points = from_here(message([(0.25, HERE), (1.0, HERE + 0.1)], stamp_ns=stamp), ROBOT, HERE, NOW)
    assert points.times[-1] == pytest.approx(1.0 + ahead, abs=1e-6)
    assert len(points.times) == (2 if ahead < 0 else 3) and points.times[0] == 0.0


def test_a_first_point_at_time_zero_is_where_the_robot_is_or_refused():
    near = from_here(message([(0.0, HERE + 0.01), (1.0, HERE + 0.1)]), ROBOT, HERE, NOW)
    np.testing.assert_array_equal(near.q[0], HERE)
    far = HERE + [0, 0, 0.2, 0, 0, 0]
    with pytest.raises(DataError, match="elbow_joint is 0.20 rad"):
        from_here(message([(0.0, far), (1.0, HERE)]), ROBOT, HERE, NOW)


@pytest.mark.parametrize(
    ("bad", "text"),
    [
        (message([(1.0, HERE[:3])], NAMES[:3]), "3 of 6 joints"),
        (message([(1.0, HERE)], [*NAMES[:5], "wheel"]), "'wheel' is no joint of ur5e"),
        (message([(1.0, HERE), (1.0, HERE)]), "increase"),
        (message([(2.0, HERE), (1.0, HERE)]), "increase"),
        (message([(1.0, HERE[:5])]), "one position per joint"),
        (message([(1.0, HERE)], velocities=[[0.1] * 6]), "velocity of the last point"),
        (message([(1.0, HERE)], stamp_ns=NOW - 3_000_000_000), "over since 2.0 s"),
        (message([(1.0, HERE)], stamp_ns=NOW + 3600 * 10**9), r"stamp 1700003600\.0 s is 3600\.0 s .* more than 60 s"),
        (message([]), "no points"),
    ],
)
def test_what_is_refused_says_why(bad, text):
    with pytest.raises(DataError, match=text):
        from_here(bad, ROBOT, HERE, NOW)


@pytest.fixture
def publish(rig):
    publisher = rig.node.create_publisher(JointTrajectory, "composed_node/joint_trajectory", 5)
    rig.spin(publisher.get_subscription_count)
    yield publisher.publish
    rig.driver.late = 0
    rig.driver.stop()
    rig.settled()
    rig.node.destroy_publisher(publisher)


def started(rig, publish, motion):
    """Publish; the node has handled it when the driver has its positions."""
    count = len(rig.driver.streams)
    publish(motion)
    rig.spin(lambda: len(rig.driver.streams) > count)


def test_the_robot_follows_and_stops(rig, publish):
    goal = rig.driver.held + [0.15, 0, 0, 0, 0, -0.1]
    started(rig, publish, message([(2.0, goal[::-1])], NAMES[::-1]))
    assert rig.settled() == "done"
    np.testing.assert_allclose(rig.driver.state.q, goal, atol=0.005)
    rig.spin(lambda: [m.data for m in rig.heard["composed_node/motion"]][-2:] == ["moving", "done"])
    started(rig, publish, message([(20.0, goal + 0.5)]))
    rig.seconds(2.0)
    publish(message([]))
    rig.spin(lambda: rig.driver.ending)
    assert rig.settled() == "stopped" and 0.01 < np.abs(rig.driver.state.q - goal).max() < 0.2


@pytest.mark.parametrize(("ahead", "said"), [(0, []), (30, ["the trajectory begins in 30.0 s, by its stamp"])])
def test_the_console_says_that_a_trajectory_waits_for_its_stamp(stand, ahead, said):
    node, driver = stand
    stamp_ns = node.get_clock().now().nanoseconds + ahead * 10**9
    node.callbacks["~/joint_trajectory"](message([(2.0, driver.state.q + 0.1)], stamp_ns=stamp_ns))
    assert driver.motion.active and [text.partition(";")[0] for text, _ in node.log] == said


REFUSED = [([(1.0, HERE[:2])], NAMES[:2], "2 of 6 joints"), ([(0.1, HERE + 0.5)], NAMES, "velocity")]


@pytest.mark.parametrize(("points", "names", "why"), REFUSED)
def test_what_cannot_be_followed_is_refused_on_the_topic_of_the_motion(rig, publish, points, names, why):
    rig.heard["composed_node/motion"].clear()
    publish(message(points, names))
    said = rig.heard["composed_node/motion"]
    rig.spin(lambda: any(m.data.startswith(f"refused: trajectory: {why}") for m in said))
    assert not rig.driver.motion.active


@pytest.mark.parametrize("late", [0, 50])
def test_a_new_trajectory_replaces_the_one_that_runs_from_where_the_robot_has_stopped(rig, publish, late):
    """Also where a busy machine has not yet processed what the robot measured meanwhile."""
    start = rig.driver.held.copy()
    started(rig, publish, message([(3.0, start + 0.5)]))
    rig.driver.late = late  # samples, 0.1 s
    rig.seconds(1.5)
    moving = rig.driver.held.copy()
    started(rig, publish, message([(3.0, start)]))
    assert np.abs(moving - start).min() > 0.2
    np.testing.assert_allclose(rig.driver.streams[-1][0], rig.driver.state.q, atol=0.005)
    assert rig.settled() == "done"
    np.testing.assert_allclose(rig.driver.state.q, start, atol=0.005)
