"""What a node publishes of robots of all families: topics, names, units, stamps, frames; the robot is stepped."""

import numpy as np
import pytest
from geometry_msgs.msg import WrenchStamped
from sensor_msgs.msg import JointState, Temperature
from std_msgs.msg import String
from stepped import Stepped, SteppedDriver

from robot_dynamics_ros.drivers.franka.driver import FrankaDriver
from robot_dynamics_ros.drivers.ur.driver import UrDriver
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.nodes.topics.encoding import to_ns
from robot_dynamics_ros.nodes.topics.qos import LATCHED
from robot_dynamics_ros.signals import SIGNALS, Log

CAPABILITIES = {
    "ur5e": UrDriver.capabilities,
    "fr3": FrankaDriver.capabilities - {"vendor_force"},  # the plant has no estimate of its own
    "comau_ns16": {"current", "desired_state"},
}
LISTED = ("joint_states", "motor_currents", "motor_states", "desired_state")
WRENCH, BASE = "robot_dynamics/external_wrench", "robot_dynamics/external_wrench_base"


@pytest.fixture(scope="module", params=CAPABILITIES)
def rig(request):
    driver, samples = SteppedDriver(request.param, CAPABILITIES[request.param]), []
    read = driver.read
    driver.read = lambda timeout: samples.append(read(timeout)) or samples[-1]
    made = Stepped(driver)
    made.samples = samples
    for topic in LISTED[:3]:
        made.hear(JointState, topic, 500)
    for topic in (WRENCH, BASE):
        made.hear(WrenchStamped, topic, 500)
    made.spin(lambda: made.robot_node.count_subscribers(BASE))
    made.cycle(300)
    yield made
    made.close()


def of_every_sample(rig):
    """Topics that carry every sample of this robot."""
    extra = [n for n, need in (("motor_currents", "current"), ("motor_states", "rotor")) if need in rig.capabilities]
    return ["joint_states", *extra, *([WRENCH, BASE] if rig.driver.robot.links is not None else [])]


@pytest.fixture(autouse=True)
def capabilities(rig):
    rig.capabilities = rig.driver.capabilities


def test_every_sample_is_published_with_the_robots_names_and_source_stamps_and_nothing_else(rig):
    driver, topics = rig.driver, of_every_sample(rig)
    published = rig.published(300, *topics)
    stamps = driver.now - round(1e9 / driver.sim.rate) * np.arange(300)[::-1]
    for messages in published:
        assert [to_ns(m.header.stamp) for m in messages] == stamps.tolist()
    for message in published[0]:
        assert list(message.name) == list(driver.robot.joint_names)
        assert len(message.position) == len(message.velocity) == len(message.effort) == driver.robot.n_joints
    assert {name for name, found in rig.heard.items() if found} == set(topics)


def test_units_are_si_and_effort_is_what_the_file_says(rig):
    ((message, *_),) = rig.published(10, "joint_states")
    robot, q = rig.driver.robot, np.array(message.position)
    assert np.isfinite(message.effort).all() and np.abs(q - rig.driver.held).max() < 0.02
    if robot.links is not None:
        gravity = RobotModel(robot.chain(), robot.joint_names).gravity(q)
        loaded = np.abs(gravity) > 5.0
        assert loaded.any() and (np.sign(np.array(message.effort)[loaded]) == np.sign(gravity[loaded])).all()


def test_live_is_replay_bit_for_bit_and_a_force_is_seen(rig):
    """From the node's start on: the wrench in base axes against the pipeline over the same samples, in one batch."""
    if rig.driver.robot.links is None:
        assert "links is unknown" in rig.diagnosed("estimates")[0]
        return
    rig.driver.sim.set_wrench([0.0, 0.0, -40.0, 0.0, 0.0, 0.0])
    rig.seconds(0.4)
    (live,) = rig.published(100, BASE)
    rig.driver.sim.set_wrench(np.zeros(6))
    for sample in rig.samples:
        sample.clear_estimates()
    measured = {name: np.array([getattr(s, name) for s in rig.samples]) for name in SIGNALS}
    known = {name: values for name, values in measured.items() if not np.isnan(values).all()}
    replayed = Log(rig.driver.robot.joint_names, [s.stamp_ns for s in rig.samples], known)
    Pipeline(rig.driver.robot).run(replayed)
    force = np.array([[m.wrench.force.x, m.wrench.force.y, m.wrench.force.z] for m in live])
    assert np.array_equal(force, replayed.external_wrench[-100:, :3])
    before = len(replayed) - 100 - round(0.5 * rig.driver.sim.rate)
    assert force[-1, 2] - replayed.external_wrench[before, 2] < -25.0  # N of 40, with friction as shipped


def test_the_wrench_is_in_the_tool_frame_and_beside_it_in_base_axes(rig):
    if rig.driver.robot.links is None:
        pytest.skip("masses are unknown")
    model = RobotModel(rig.driver.robot.chain(), rig.driver.robot.joint_names)
    off = 6 * 0.5 * 2.4e-5  # rad: the estimates take each position within half of its step
    for q, tool, base in zip(*rig.published(50, "joint_states", WRENCH, BASE), strict=True):
        assert base.header.frame_id == rig.driver.robot.kinematics.base_frame != tool.header.frame_id
        R = model.fk(np.array(q.position))[-1][:3, :3]
        for part in ("force", "torque"):
            ours, theirs = (np.array([v.x, v.y, v.z]) for v in (getattr(m.wrench, part) for m in (tool, base)))
            np.testing.assert_allclose(R @ ours, theirs, atol=off * (1 + np.abs(theirs).max()))


def test_temperatures_come_slowly_per_joint(rig):
    topic = f"joint_temperatures/{rig.driver.robot.joint_names[2]}"
    if "temperature" not in rig.capabilities:
        assert not rig.robot_node.count_publishers(topic)
        return
    rig.hear(Temperature, topic, 100)
    rig.spin(lambda: rig.robot_node.count_subscribers(topic))
    rig.seconds(1.5)
    rig.spin(lambda: len(rig.heard[topic]) >= 10)
    steps = np.diff([to_ns(m.header.stamp) for m in rig.heard.pop(topic)])
    assert steps == pytest.approx(1e8, abs=1.1e9 / rig.driver.sim.rate)


def test_the_description_is_latched(rig):
    if rig.driver.robot.links is None:
        pytest.skip("masses are unknown")
    rig.hear(String, "robot_description", LATCHED)
    rig.spin(lambda: rig.heard["robot_description"])
    assert "<robot" in rig.heard.pop("robot_description")[0].data


def test_diagnostics_say_losses_latency_modes_and_what_the_robot_lacks(rig):
    rig.cycle(300)
    text, values = rig.diagnosed("stream")
    assert {"missed", "duplicates", "samples received [Hz]", "version", "receive to published p99 [us]"} <= set(values)
    assert (text, values["safety mode"], values["condition"]) == ("stream ok", "normal", "ok")
    lacks = {"ur5e": "no motor encoder", "fr3": "torque is measured", "comau_ns16": "no estimates"}
    assert lacks[rig.driver.robot.name] in " ".join(rig.diagnosed("estimates")[1].values())
    assert "rmw" in rig.diagnosed("middleware")[1]
