"""Without a driver of ours: another joint order, effort in ampere, old and malformed messages; recording."""

import contextlib
import resource
import signal

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from ros_graph import Listener, Process
from sensor_msgs.msg import JointState
from stepped import Observed

from robot_dynamics_ros.bags.live_writer import recover
from robot_dynamics_ros.bags.storage import read_topics
from robot_dynamics_ros.bringup import describe
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.nodes.topics.encoding import to_ns, to_time
from robot_dynamics_ros.robot_file import load_robot

ROBOT = load_robot("ur5e")
ORDER = [2, 1, 0, 3, 4, 5]  # as the vendor's driver publishes them
NAMES = [ROBOT.joint_names[i] for i in ORDER]
REST = np.array([0.3, -0.4, 0.3, -0.5, 0.2, 0.0])
CURRENT = RobotModel(ROBOT.chain(), ROBOT.joint_names).gravity(REST) / ROBOT.array("drives.torque_constant")
WRENCH = "robot_dynamics/external_wrench"


@pytest.fixture
def observed(request):
    made = Observed(describe("ur5e", "none", joint_states="vendor/joint_states"), max_age=request.param)
    made.vendor = made.node.create_publisher(JointState, "vendor/joint_states", 10)
    made.spin(made.vendor.get_subscription_count)
    made.hear(WrenchStamped, WRENCH, 3000)
    made.spin(lambda: made.nodes[0].count_subscribers(WRENCH))
    yield made
    made.close()


def diagnosed(observed):
    """The node's diagnostics of its estimates: message and values."""
    (found,) = (s for s in observed.nodes[0].diagnose() if s.name.endswith("estimates"))
    return found.message, {value.key: value.value for value in found.values}


@pytest.mark.parametrize("observed", [0.0], indirect=True)
def test_current_in_another_joint_order_is_recognised_and_gives_no_false_force(observed):
    rng = np.random.default_rng(3)

    def state():
        observed.tell(observed.vendor, NAMES, REST[ORDER], (CURRENT + rng.normal(0, 0.02, 6))[ORDER])

    for _ in range(2000):  # 4 s
        state()
    assert diagnosed(observed)[1]["effort"] == "effort recognised at rest: A, gravity included"
    for _ in range(300):
        state()
    observed.spin(lambda: to_ns(observed.heard[WRENCH][-1].header.stamp) == observed.stamp_ns)
    forces = [m.wrench.force for m in observed.heard[WRENCH]]
    assert max(np.linalg.norm([force.x, force.y, force.z]) for force in forces) < 15.0


@pytest.mark.parametrize("observed", [0.0], indirect=True)
@pytest.mark.parametrize(("effort", "why"), [(np.zeros(6), "never changes"), ([], "effort is absent")])
def test_without_an_effort_nothing_is_ready_or_estimated_and_the_reason_is_logged_once(observed, capfd, effort, why):
    for _ in range(1200):  # 2.4 s
        observed.tell(observed.vendor, NAMES, REST[ORDER], effort)
    message, log = diagnosed(observed)[0], capfd.readouterr().err
    assert why in message and "withheld" in message and log.count(why) == 1
    assert "ready:" not in log and "recognised" not in log
    observed.heard[WRENCH].clear()
    for _ in range(100):
        observed.tell(observed.vendor, NAMES, REST[ORDER], effort)
    assert not observed.heard[WRENCH]


@pytest.mark.parametrize("observed", [0.0], indirect=True)
def test_degrees_are_never_published_as_a_force_and_named_once(observed, capfd):
    for k in range(1600):  # 3.2 s
        observed.tell(observed.vendor, NAMES, np.degrees(REST[ORDER]) + 0.01 * k, CURRENT[ORDER] + 0.01 * (k % 7))
    assert capfd.readouterr().err.count("they are not radians") == 1
    assert not observed.heard[WRENCH]


@pytest.mark.parametrize("observed", [30.0], indirect=True)
def test_old_and_incomplete_messages_are_refused_and_reported(observed):
    now = observed.node.get_clock().now().nanoseconds
    for names, stamp, speed in ((NAMES[:5], now, 0.0), (NAMES, now - 60_000_000_000, 0.0), (NAMES, now, 500.0)):
        message = JointState(name=names, position=[0.0] * len(names), velocity=[speed] * len(names))
        message.header.stamp = to_time(stamp)
        observed.vendor.publish(message)
    observed.spin(lambda: sum(key.startswith("refused") for key in diagnosed(observed)[1]) == 3)
    assert any("max_age" in key for key in diagnosed(observed)[1]) and observed.processed == 0


@pytest.mark.parametrize("observed", [0.0], indirect=True)
def test_refused_messages_of_one_of_two_publishers_name_both(observed):
    other = observed.node.create_publisher(JointState, "vendor/joint_states", 10)
    observed.spin(other.get_subscription_count)

    def told():
        other.publish(JointState(name=NAMES, position=[np.nan] * 6))
        observed.tell(observed.vendor, NAMES, REST[ORDER], CURRENT[ORDER])
        return "not finite; 2 nodes publish on /vendor/joint_states" in diagnosed(observed)[0]

    observed.spin(told)


@pytest.mark.parametrize("observed", [0.0], indirect=True)
def test_a_rail_that_moves_in_the_messages_of_the_arm_is_named(observed, capfd):
    for k in range(20):
        observed.tell(observed.vendor, [*NAMES, "rail", "finger"], [*REST[ORDER], 0.1 * k, 0.002 * k], [0.0] * 8)
    text = "joints beside those of the arm moved: rail (by 1.9 rad or m); accelerations of one that carries it"
    assert diagnosed(observed)[1]["other joints"].startswith(text)
    diagnosed(observed)
    assert capfd.readouterr().err.count(text) == 1


@pytest.mark.parametrize("observed", [0.0], indirect=True)
def test_refused_messages_are_not_blamed_on_the_network_and_a_gripper_is_no_warning(observed, capfd):
    def tell(names, q):
        message = JointState(name=list(names), position=list(q))
        message.header.stamp = to_time(observed.stamp_ns)
        observed.vendor.publish(message)

    for timer in observed.nodes[0].timers:  # of the diagnostics, which would count a part of the messages
        timer.cancel()
    for k in range(800):
        observed.tell(observed.vendor, NAMES, REST[ORDER], CURRENT[ORDER] + 0.01 * (k % 7))
    tell(["finger"], [0.0])
    observed.spin(lambda: diagnosed(observed)[1].get("refused: message of other joints") == "1")
    diagnosed(observed)
    for k in range(200):
        observed.tell(observed.vendor, NAMES, REST[ORDER], CURRENT[ORDER] + 0.01 * (k % 7))
        if k % 10 == 0:
            observed.stamp_ns += 2_000_000  # of the message that is refused
            tell(NAMES, [np.nan] * 6)
        if k == 195:
            tell(["finger"], [0.0])
    text = diagnosed(observed)[0]
    assert "20 messages refused: joint_states: positions are missing or not finite" in text and "network" not in text
    log = capfd.readouterr().err
    assert "finger" not in log and "positions are missing" in log


@pytest.mark.parametrize("observed", [0.0], indirect=True)
def test_a_clock_that_was_set_back_is_not_blamed_on_the_network(observed, capfd):
    for timer in observed.nodes[0].timers:
        timer.cancel()
    for k in range(1000):
        observed.stamp_ns -= 5_000_000_000 * (k == 900)
        observed.tell(observed.vendor, NAMES, REST[ORDER], CURRENT[ORDER] + 0.01 * (k % 7))
        if k == 800:
            diagnosed(observed)
    text = diagnosed(observed)[0]
    assert "went back 1 times" in text
    assert "network" not in text + capfd.readouterr().err


@contextlib.contextmanager
def recording(bag):
    """A vendor's driver, and a recorder that hears it."""
    listener = Listener("foreign")
    vendor = listener.node.create_publisher(JointState, "vendor/joint_states", 10)

    def tick():
        message = JointState(name=NAMES, position=REST[ORDER].tolist())
        message.header.stamp = listener.node.get_clock().now().to_msg()
        vendor.publish(message)

    listener.node.create_timer(0.004, tick)
    recorder = Process("robot_dynamics_ros.cli.main", "record", "--out", str(bag), "--topics", "vendor/*")
    try:
        yield listener, vendor, recorder
    finally:
        listener.close()


def stamps_in_order(bag):
    topic = read_topics(bag, ["sensor_msgs/msg/JointState"])["/vendor/joint_states"]
    assert len(topic.raws) > 100 and (np.diff(topic.stamps()) >= 0).all()
    assert to_ns(Listener.decode(topic.raws[0], JointState).header.stamp) > 0


@pytest.mark.long
@pytest.mark.realtime
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_a_recording_keeps_its_data_however_it_ends(tmp_path, how):
    bag = tmp_path / "bag"
    with recording(bag) as (listener, vendor, recorder):
        listener.spin(lambda: vendor.get_subscription_count() > 0)
        file = bag / "bag.mcap"
        listener.spin(lambda: file.exists() and file.stat().st_size > 50_000)
        status, output = recorder.end(how)
    if how == signal.SIGKILL:
        counts = recover(bag, tmp_path / "whole")
        bag = tmp_path / "whole"
        assert set(counts) == {"/vendor/joint_states"}
    else:
        assert status == 0 and "messages on 1 topics" in output, output
    stamps_in_order(bag)


@pytest.mark.long
@pytest.mark.realtime
def test_a_recording_ends_on_a_full_disk_with_one_line_that_says_how_to_keep_the_data(tmp_path):
    bag = tmp_path / "bag"
    with recording(bag) as (listener, vendor, recorder):
        listener.spin(lambda: vendor.get_subscription_count() > 0)  # the middleware has the files it needs
        limit = 100_000, 100_000  # bytes of a file: writing beyond them fails as on a full disk
        resource.prlimit(recorder.process.pid, resource.RLIMIT_FSIZE, limit)
        status, output = listener.ended(recorder)
    (line,) = output.splitlines()
    assert status == 1 and "File too large" in line and f"record --recover {bag} --out NEW" in line
    recover(bag, tmp_path / "whole")
    stamps_in_order(tmp_path / "whole")
