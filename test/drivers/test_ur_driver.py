"""The UR driver on packages that the test makes, and over the real thing: the simulated controller in its process."""

import os
import signal
import time
from types import SimpleNamespace

import numpy as np
import pytest
from driver_waits import collect, happens, settled, until
from scipy.spatial.transform import Rotation
from scripted_rtde import SETTLE

from robot_dynamics_ros._core import StreamState
from robot_dynamics_ros.drivers.factory import make_driver
from robot_dynamics_ros.drivers.interface import Driver, MotionState
from robot_dynamics_ros.drivers.ur.control import UrControl
from robot_dynamics_ros.drivers.ur.driver import UrDriver
from robot_dynamics_ros.errors import CapabilityError, ConfigError, ConnectionFailed
from robot_dynamics_ros.estimators.motion import effort_gain
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.server.launcher import SimulatedController, loopback_address
from robot_dynamics_ros.simulation.ur.signals import pose

ROBOT = load_robot("ur5e")


@pytest.fixture
def fed(server):
    """fed(**server options) -> (scripted controller, driver connected to it)."""
    made = []

    def make(driver_options=None, **options):
        scripted = server(**options)
        driver = UrDriver(ROBOT, "127.0.0.1", port=scripted.port, timeout=30.0, silence=60.0, **(driver_options or {}))
        driver.connect()
        made.append(driver)
        return scripted, driver

    yield make
    for driver in made:
        driver.disconnect()


def test_it_is_a_driver_and_names_its_controller(fed):
    scripted, driver = fed()
    assert isinstance(driver, Driver)
    assert driver.info.rate == 500.0 and driver.info.version == "5.26.0" and "torque" in driver.info.capabilities
    scripted.stream(0, SETTLE)
    assert driver.read(60.0) is not None
    assert driver.status.safety_normal and driver.status.mode_text == "running"


@pytest.mark.parametrize("unit", ["Nm", "A"])
def test_effort_has_the_unit_that_the_robot_file_declares(unit):
    """With a file identified from amperes the torque constant counted twice: ten times the torque, with status ok."""
    robot = ROBOT.with_updates({"drives.effort.unit": unit})
    driver = UrDriver(robot, "127.0.0.1")
    driver._values.fill(1.0)
    torque = effort_gain(robot, "effort", "robot_file") * driver._filled().effort
    assert torque == pytest.approx(ROBOT.array("drives.torque_constant"))


def test_an_older_controller_has_no_torque_and_reports_none(fed):
    _, driver = fed(version=(5, 11, 0, 0), missing=["actual_current_as_torque"])
    assert "torque" not in driver.info.capabilities and "current" in driver.info.capabilities
    with pytest.raises(CapabilityError, match=r"5\.11\.0 does not report torques"):
        fed({"effort_source": "controller"}, version=(5, 11, 0, 0), missing=["actual_current_as_torque"])


@pytest.mark.parametrize("source", ["current", "controller"])
def test_samples_are_stamped_by_controller_time_and_carry_every_signal(fed, source):
    scripted, driver = fed({"effort_source": source, "follow_host_clock": False})
    current = np.arange(6.0)
    before = time.time_ns()
    efforts = {"actual_current": current, "actual_current_as_torque": -current, "target_moment": 2 * current}
    scripted.stream(0, SETTLE + 10, **efforts)
    samples = collect(driver, 11)
    assert np.diff([s.stamp_ns for s in samples]).tolist() == [2_000_000] * 10
    assert before <= samples[0].receive_ns <= time.time_ns()
    for signal_name in ("q", "qd", "current", "effort", "temperature", "q_d", "qd_d", "qdd_d", "tau_d"):
        assert samples[-1].has(signal_name), signal_name
    assert np.array_equal(samples[-1].tau_d, 2 * current) and np.array_equal(samples[-1].current, current)
    constant = ROBOT.array("drives.torque_constant")
    assert np.allclose(samples[-1].effort, current * constant if source == "current" else -current)
    assert not samples[-1].has("theta") and not samples[-1].has("external_joint_torque")


@pytest.mark.parametrize(
    ("share", "state", "said"),
    [
        (1.0, {}, ""),
        (1.3, {}, ""),
        (0.4, {}, "is 0.4 times that of the robot file ur5e"),
        (2.5, {}, "is 2.5 times"),
        (-1.0, {}, "is -1 times"),
        (np.nan, {}, ""),
        (2.5, {"payload": 5.0}, ""),
        (0.0, {"robot_mode": 5}, ""),
        (2.5, {"target_qd": np.full(6, 0.1)}, ""),
    ],
    ids=["its own", "identified", "larger arm", "smaller arm", "upside down", "unknown", "payload", "brakes", "motion"],
)
def test_the_robot_file_of_another_arm_is_a_doubt(fed, share, state, said):
    """The file of a UR10e on a UR5e gave 29 N with a deviation of 6 N and no word."""
    scripted, driver = fed(missing=["tcp_offset"])  # an old controller
    q = np.array([0.3, -0.4, 0.3, -0.5, 0.2, 0.0])
    held = share * RobotModel(ROBOT.chain(), ROBOT.joint_names).gravity(q)
    at = {} if "target_qd" in state else {"actual_q": q, "target_qd": np.zeros(6)}  # frozen in motion
    scripted.stream(0, SETTLE + 2, **{"target_moment": held, "payload": 0.0} | at | state)
    assert driver.doubt == ""
    collect(driver, 2)
    assert said in driver.doubt and bool(said) == bool(driver.doubt)


@pytest.mark.parametrize(
    ("name", "base", "moving", "said"),
    [
        ("ur5e", "base", 0.0, ""),
        ("ur5", "base", 0.0, "has the flange 8 cm from where the robot file ur5e has it"),
        ("ur5", "base", 0.1, "has the flange 8 cm"),
        ("ur16e", "base", 0.0, "another robot"),
        ("ur5", "base_link", 0.0, ""),
    ],
    ids=["its own", "CB3", "in motion", "larger arm", "frame of a URDF"],
)
def test_a_flange_of_another_arm_is_a_doubt(fed, name, base, moving, said):
    """Gravity of a UR5 and of a UR5e are too much alike. The controller's TCP is not that of the robot file."""
    scripted, driver = fed()
    driver.robot = ROBOT.with_updates({"kinematics.base_frame": base, "kinematics.tool": {"xyz": [0.0, 0.1, 0.0]}})
    q, tool = np.array([0.3, -1.4, 1.3, -0.5, 0.2, 0.0]), np.eye(4)
    tool[:3, :3], tool[:3, 3] = Rotation.from_rotvec([0.3, -1.0, 2.0]).as_matrix(), (0.02, -0.1, 0.25)
    flange = RobotModel(load_robot(name).kinematic_chain()).fk(q)[-1]
    told = {"target_qd": np.full(6, moving), "payload": 5.0}  # by which no gravity is compared
    told |= {"actual_TCP_pose": pose(flange @ tool), "tcp_offset": pose(tool)}
    scripted.stream(0, SETTLE, **told)
    for k in range(2):
        scripted.send((SETTLE + k) / 500.0, actual_q=q + 1e-9 * k, **told)
    collect(driver, 3)
    assert said in driver.doubt and bool(said) == bool(driver.doubt)


def test_values_frozen_in_motion_are_withheld_and_unsafe(fed):
    scripted, driver = fed()
    moving = {"target_qd": np.full(6, 0.1)}
    scripted.stream(0, SETTLE, **moving)
    collect(driver, 1)
    for k in range(SETTLE, SETTLE + 30):
        scripted.send(k / 500.0, actual_q=np.full(6, 1000.0), **moving)
    scripted.stream(SETTLE + 30, SETTLE + 31, **moving)
    came = [sample.q[0] for sample in collect(driver, 11)]
    assert came == [1000.0] * 10 + [SETTLE + 30]  # the others are stale
    assert driver.statistics().frozen >= 20 and driver.latched >= StreamState.safe
    driver.rearm()
    assert driver.latched <= StreamState.degraded


@pytest.mark.parametrize(
    ("state", "text"),
    [
        ({"safety_mode": 7}, "safety mode is robot emergency stop"),
        ({"safety_mode": 3}, "safety mode is protective stop"),
        ({"robot_mode": 3}, "robot mode is power off"),
        ({"robot_mode": 5}, "robot mode is idle"),
    ],
)
def test_settings_and_motions_are_refused_when_the_robot_is_stopped_also_first_after_connecting(fed, state, text):
    """The vendor's client would try for 5 s to start its program, and then say only that it does not start."""
    scripted, driver = fed()
    scripted.stream(0, SETTLE, **state)
    for setting in (lambda: driver.set_payload(1.0, np.zeros(3)), driver.zero_ft):
        with pytest.raises(CapabilityError, match=f"no (change of the payload|zeroing of the sensor): {text}"):
            setting()
    with pytest.raises(CapabilityError, match=text):
        driver.play([np.zeros(6)])
    assert driver._mover.pid is None


def test_a_stop_before_the_last_connection_is_no_reason_to_refuse_a_setting(fed):
    """A node with load_mass that was deactivated in a protective stop could not be activated again after it."""
    scripted, driver = fed()
    scripted.stream(0, SETTLE, safety_mode=3)
    collect(driver, 1)
    driver.disconnect()
    scripted.started.clear()
    driver.connect()
    assert scripted.started.wait(60.0) and driver.read(0.0) is None
    scripted.stream(0, SETTLE)
    driver._refuse_setting("change of the payload")
    assert driver.status.safety_text == "normal"


def test_a_motion_that_a_stop_of_the_robot_ends_says_so(fed):
    """The vendor's client says only that the controller refuses the stream."""
    scripted, driver = fed()
    scripted.stream(0, SETTLE)
    collect(driver, 1)
    control, ended = driver._mover, SimpleNamespace(returncode=1)
    why = iter(["the controller refuses the stream"] * 2)
    control._listen = lambda process, pipe: next(why)
    control.motion = MotionState("moving")
    control._follow(ended, None)
    assert control.motion == MotionState("failed", "the controller refuses the stream")
    scripted.stream(SETTLE, SETTLE + 5, safety_mode=3)
    collect(driver, 5)
    assert driver.condition == StreamState.safe
    control.motion = MotionState("moving")
    control._follow(ended, None)
    assert control.motion.reason == "the controller refuses the stream: safety mode is protective stop"


def test_motion_is_refused_when_the_controller_is_gone(fed):
    scripted, driver = fed()
    scripted.stream(0, SETTLE)
    collect(driver, 1)
    scripted.kill()
    happens(lambda: driver.condition == StreamState.fault)
    assert driver.read(0.0) is None and "closed" in driver.last_error
    with pytest.raises(CapabilityError, match="not connected"):
        driver.play(None, np.zeros((2, 6)))


def test_unknown_driver_and_refused_port():
    with pytest.raises(ConfigError, match="nonsense"):
        make_driver("nonsense", ROBOT, "127.0.0.1")
    with pytest.raises(ConnectionFailed, match="refused"):
        make_driver("ur", ROBOT, loopback_address()).connect()


@pytest.mark.parametrize(("name", "robot"), [("ur", "ur5e"), ("franka", "fr3"), ("comau", "comau_ns16")])
def test_options_that_contradict_each_other_are_one_line(name, robot):
    """Each is in the range of its parameter; a node that was given both ended with a traceback."""
    with pytest.raises(ConfigError, match="degraded_gap = 0.5.* must be in .0, safe_gap"):
        make_driver(name, load_robot(robot), "127.0.0.1", degraded_gap=0.5, safe_gap=0.04)


def test_a_second_motion_is_refused_while_one_runs(monkeypatch):
    control = UrControl("nowhere")
    monkeypatch.setattr(control, "_send", lambda message, array=None: None)
    rows = np.zeros((1, 6))
    control.play(rows, rows[:0], rows[0], 500.0, 1.0, 1.0)
    with pytest.raises(CapabilityError, match="stop it first"):
        control.play(rows[:0], rows, rows[0], 500.0, 1.0, 1.0)


# -- in real time -----------------------------------------------------------------------------------------------------
@pytest.mark.realtime
def test_a_stream_at_500_hz_is_whole_and_a_controller_that_stands_still_is_seen():
    with SimulatedController("ur5e") as ur:
        driver = make_driver("ur", ROBOT, ur.host, follow_host_clock=False)
        driver.connect()
        samples = collect(driver, 500)
        assert set(np.diff([s.stamp_ns for s in samples])) == {2_000_000} and driver.statistics().missed == 0
        ur.process.send_signal(signal.SIGSTOP)
        until(driver, lambda: driver.condition >= StreamState.safe)
        until(driver, lambda: driver.read(0.05) is None)
        ur.process.send_signal(signal.SIGCONT)
        collect(driver, 50)
        assert driver.latched >= StreamState.safe
        driver.rearm()
        driver.disconnect()


@pytest.mark.realtime
def test_a_killed_control_process_stops_the_robot_and_the_next_request_works():
    with SimulatedController("ur5e") as ur:
        driver = make_driver("ur", ROBOT, ur.host)
        driver.connect()
        start = collect(driver, 1)[0].q
        driver.play([start + 1.0], speed=0.3)
        until(driver, lambda: abs(driver.sample.qd[0]) > 0.1 or not driver.motion.active)
        assert driver.motion.active, driver.motion
        os.kill(driver._mover.pid, signal.SIGKILL)
        assert settled(driver) == "failed" and "signal 9" in driver.motion.reason
        until(driver, lambda: np.abs(driver.sample.qd).max() < 0.02)  # the controller's watchdog
        assert abs(driver.sample.q[0] - start[0]) < 0.9
        driver.play([start], speed=1.5, acceleration=4.0)
        assert settled(driver) == "done", driver.motion
        driver.disconnect()
