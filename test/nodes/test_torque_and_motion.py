"""Torque crossed with motion, stops and the enable switch, in simulated time: the test steps the robot."""

import threading
from dataclasses import replace

import numpy as np
import pytest
from sensor_msgs.msg import JointState
from std_msgs.msg import Bool
from trajectory_msgs.msg import JointTrajectoryPoint

from robot_dynamics_ros._core import FreezeReason, GuardReason, GuardState, StreamState
from robot_dynamics_ros.control.adaptation_store import save_adaptation
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.nodes.robot import adaptation, motion_interface, refusals
from robot_dynamics_ros.nodes.robot.joint_trajectory import MOST_BYTES, MOST_POINTS
from robot_dynamics_ros.nodes.topics.encoding import to_time, trajectory
from robot_dynamics_ros.robot_file import load_robot


def to(goal):
    return trajectory(load_robot("ur5e").joint_names, [2.0], [goal])


def guided(node):
    assert node.call("enable_guiding")[0]
    node.cycle(20)


@pytest.mark.parametrize("topic", ["~/joint_trajectory", "~/play_trajectory"])
def test_a_trajectory_is_refused_while_torque_is_live_and_taken_after_it(stand, topic):
    node, driver = stand
    guided(node)
    goal = driver.state.q + 0.1
    node.callbacks[topic](to(goal))
    assert not driver.streams and "torque is live" in node.published["~/motion"][-1].data
    driver.loop.disable()
    node.cycle(20)  # the ramp to zero belongs to it
    node.callbacks[topic](to(goal))
    assert not driver.streams
    node.cycle(60)
    node.callbacks["~/joint_trajectory"](to(goal))
    assert np.abs(driver.streams[0][0] - driver.state.q).max() < 1e-3


def test_the_driver_refuses_a_motion_and_a_setting_itself(stand):
    node, driver = stand
    guided(node)
    for call in (
        lambda: driver.play(None, np.zeros((1, 6))),
        driver.start_torque,
        lambda: driver.refuse_busy("setting"),
    ):
        with pytest.raises(CapabilityError, match="torque is live"):
            call()


@pytest.mark.parametrize("looked", [True, False])
def test_the_end_of_torque_by_the_guard_is_said_once_on_the_console(stand, looked):
    """Of torque that was enabled again and ended between two diagnostics nothing was said."""
    node, driver = stand
    for _ in range(2):
        guided(node)
        if looked:
            node.parts.diagnose_torque()
        node.log.clear()
        driver.loop.trip(GuardReason.publisher)
        node.cycle(60)
        for _ in range(2):
            node.parts.diagnose_torque()
        (text,) = (text for text, _ in node.log)
        assert text == "torque is ramped out, guard safe: publisher; call ~/rearm before it is enabled again"
        assert node.call("rearm")[0]


@pytest.mark.parametrize("estimated", [False, True])
def test_the_hand_that_guides_an_arm_teaches_no_friction(stand, estimated):
    node, driver = stand
    guided(node)
    read = driver.read

    def without_contact(timeout):
        sample = read(timeout)
        sample.contact = 0.0
        return sample

    if estimated:  # a hand too weak to be seen: what it teaches is bounded and unlearned
        driver.read = without_contact
    for k in range(1000):
        driver.sim.set_wrench(np.array([0.0, 25.0 * np.sin(0.01 * k), 0.0, 0.0, 0.0, 0.0]))
        node.cycle(1)
    scales = node.parts._torque._last.coulomb
    assert (np.abs(scales - 1.0).max() > 0.05) == estimated


def test_a_payload_that_is_named_teaches_no_friction(stand):
    node, driver = stand
    read, load = driver.read, [0.0]

    def carrying(timeout):
        sample = read(timeout)
        sample.payload[0] = load[0]
        return sample

    driver.read = carrying
    for load[0], asked in ((np.nan, False), (1.5, True), (0.0, False), (-0.5, True)):
        node.cycle(5)
        assert bool(node.parts._torque._last.frozen & FreezeReason.asked) == asked


@pytest.mark.parametrize("same", [False, True])
def test_scales_that_belong_to_another_friction_are_not_taken_up(make, tmp_path, same):
    path, robot = tmp_path / "kept.json", load_robot("ur5e")
    before = robot if same else robot.with_updates({"hysteresis.parameters.fc0": [6.0] * 6})
    save_adaptation(path, before, np.full(6, 1.4), np.full(6, 1.4))
    node, _ = make(adaptation_file=str(path))
    assert (node.parts._torque._last.coulomb == (1.4 if same else 1.0)).all()
    assert any("of another robot file" in text for text, _ in node.log) != same


def test_a_slow_disk_does_not_keep_torques_waiting(make, tmp_path, monkeypatch):
    """What was learned was written between two samples: a torque of a topic waited, and the guard ended it."""
    writers = []
    monkeypatch.setattr(adaptation, "save_adaptation", lambda *_: writers.append(threading.current_thread()))
    monkeypatch.setattr(adaptation, "SAVE_PERIOD", -1.0)
    torque = make(adaptation_file=str(tmp_path / "kept.json"))[0].parts._torque
    torque._adapted.save_regularly(torque._last)
    torque.destroy()  # waits for it, and writes the last
    assert len(writers) >= 2 and writers[-1] is threading.main_thread() is not writers[-2]


def test_torque_is_not_enabled_while_a_motion_runs(stand):
    node, driver = stand
    driver.play(None, np.tile(driver.state.q, (10, 1)))
    done, text = node.call("enable_guiding")
    assert not done and "a motion is running" in text and driver.motion.active


def test_a_protective_stop_is_the_reason_why_torque_and_rearm_are_refused(stand):
    node, driver = stand
    driver.condition = StreamState.safe
    driver.status = replace(driver.status, safety_normal=False, safety_text="protective stop")
    assert node.call("enable_guiding") == (False, "no torque: safety mode is protective stop")
    assert node.call("rearm")[1] == "the fault is still there: stream safe; safety mode protective stop"


def test_a_robot_without_power_is_not_taken_for_a_wrong_robot_file(stand):
    """After an emergency stop was released the effort is zero: the reason named units, sign and payload of the file."""
    node, driver = stand
    driver.status = replace(driver.status, drives_hold=False, mode_text="power off")
    assert node.call("enable_guiding") == (False, "no torque: robot mode is power off")


def hold(node, pressed=True):
    node.callbacks["~/enable_switch"](Bool(data=pressed))


def test_an_enable_switch_released_while_torque_starts_is_judged_where_torque_begins(make):
    node, driver = make(**{"control.enable_timeout": 0.5})
    for during, word in (
        (lambda: hold(node, False), "disabled, tripped"),  # released once
        (lambda: [hold(node, False), hold(node, True)], "disabled, tripped"),  # and pressed again
        (lambda: node.cycle(300), "not held"),  # silent for 0.6 s
    ):
        hold(node)
        node.cycle(1)
        driver.during = during
        done, text = node.call("enable_guiding")
        assert not done and word in text, text
        assert not any(node.work() and driver.run for _ in range(200)) and driver.loop.state == GuardState.idle
    driver.during = lambda: hold(node)
    hold(node)
    node.cycle(1)
    assert node.call("enable_guiding")[0]


def test_a_command_far_beyond_the_torque_limits_is_refused_and_does_not_move_the_robot(stand):
    node, driver = stand
    names, limit = load_robot("ur5e").joint_names, load_robot("ur5e").array("limits.torque")
    start = driver.state.q.copy()
    assert node.call("enable_torque")[0]
    for effort in (1000.0 * limit, np.where(np.arange(6) == 2, 4.0 * limit, 0.0)):
        message = JointState(name=list(names), effort=list(effort))
        message.header.stamp = to_time(driver.now)
        node.callbacks["robot_dynamics/joint_torque_command"](message)
    node.cycle(600)
    assert np.abs(driver.state.q - start).max() < 1e-3
    assert any("is beyond 450 Nm, 3 times its limit: wrong unit?" in text for text, _ in node.log)


@pytest.mark.parametrize("name", ["disable_torque", "stop"])
def test_torque_that_is_disabled_while_it_starts_does_not_begin(stand, name):
    node, driver = stand
    driver.during = lambda: node.call(name)
    done, text = node.call("enable_guiding")
    assert not done and "disabled" in text
    node.cycle(100)
    assert not driver.loop.running


def test_a_controller_that_takes_torques_is_stopped_where_enabling_is_refused(stand):
    """A Franka arm stayed in torque control for 5 s, without a torque: it gave way to a touch."""
    node, driver = stand
    good, stops = driver.status, []
    driver.stop = lambda: stops.append(driver.loop.running)
    stopped = replace(good, safety_normal=False, safety_text="protective stop")
    for during in (lambda: node.call("disable_torque"), lambda: setattr(driver, "status", stopped)):
        driver.during = during
        assert not node.call("enable_guiding")[0]
    assert stops == [False, False]


@pytest.mark.parametrize("topic", ["~/joint_trajectory", "~/play_trajectory"])
def test_a_stop_while_a_motion_is_planned_is_not_followed_by_the_motion(stand, monkeypatch, topic):
    node, driver = stand
    resample = motion_interface.resample

    def stopped_meanwhile(*points, rate):
        node.call("stop")
        return resample(*points, rate=rate)

    monkeypatch.setattr(motion_interface, "resample", stopped_meanwhile)
    node.callbacks[topic](to(driver.state.q + 0.1))
    assert not driver.streams and "stopped before" in node.published["~/motion"][-1].data


@pytest.mark.parametrize("seconds, read", [(0.0, refusals.REPORTED), (0.125, 3), (0.5, 1)])
def test_a_flood_of_refused_trajectories_is_counted_and_summed_and_no_longer_parsed(stand, monkeypatch, seconds, read):
    node, driver = stand
    parsed, now = [], [0.0]
    parse = motion_interface.parsed

    def slowly(data):
        now[0] += seconds
        parsed.append(1)
        return parse(data)

    monkeypatch.setattr(motion_interface, "parsed", slowly)
    node.parts._motion._refusals = refusals.Refusals(node.parts._motion._refuse, lambda: now[0])
    far = to(np.full(6, 50.0))
    for _ in range(1500):
        node.callbacks["~/joint_trajectory"](far)
    assert node.parts._motion.flooded
    assert len(parsed) == read and len(node.published["~/motion"]) <= read + 1
    assert node.parts._motion._refusals.total == 1500
    now[0] = 1.1
    node.cycle(50)
    assert f"{1500 - read} more messages were dropped" in node.published["~/motion"][-1].data
    node.callbacks["~/joint_trajectory"](to(driver.state.q + 0.1))
    assert len(driver.streams) == 1  # one of the next second is taken


def test_the_points_and_the_bytes_of_a_trajectory_are_bounded(stand):
    node, driver = stand
    node.parts._motion._refusals = refusals.Refusals(node.parts._motion._refuse, lambda: 0.0)
    many = to(driver.state.q)
    many.points = [JointTrajectoryPoint() for _ in range(MOST_POINTS + 1)]
    node.callbacks["~/joint_trajectory"](many)
    assert f"more than {MOST_POINTS}" in node.published["~/motion"][-1].data
    long = to(driver.state.q)
    long.points[0].positions = [0.0] * (MOST_BYTES // 8)
    node.callbacks["~/joint_trajectory"](long)
    assert f"more than {MOST_BYTES}" in node.published["~/motion"][-1].data


@pytest.mark.parametrize("host", ["192.168.0.10", "127.robot.invalid"])
def test_the_time_scale_of_a_simulated_robot_is_refused_for_a_real_one(make, host):
    with pytest.raises(CapabilityError, match="time_scale"):
        make(**{"control.time_scale": 0.5, "ip": host})
    make(**{"control.time_scale": 0.5})
