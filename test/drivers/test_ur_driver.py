"""The UR driver against the simulated controller over real sockets, in its own process."""

import os
import signal
import time

import numpy as np
import pytest

from robot_dynamics_ros._core import StreamState
from robot_dynamics_ros.drivers.factory import make_driver
from robot_dynamics_ros.drivers.interface import Driver
from robot_dynamics_ros.errors import CapabilityError, ConfigError, ConnectionFailed
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.server.launcher import SimulatedUR, loopback_address

ROBOT = load_robot("ur5e")


@pytest.fixture(scope="module")
def simulated():
    with SimulatedUR("ur5e") as sim, sim.client() as client:
        yield sim, client


@pytest.fixture
def driver(simulated):
    d = make_driver("ur", ROBOT, simulated[0].host)
    d.connect()
    yield d
    d.disconnect()


@pytest.fixture
def alone():
    """A driver, and the client of a simulated controller that no other test uses."""
    with SimulatedUR("ur5e") as sim, sim.client() as client:
        driver = make_driver("ur", ROBOT, sim.host)
        driver.connect()
        yield driver, client
        driver.disconnect()


def read_for(driver, seconds):
    """Copies of all samples of so much controller time."""
    first = driver.read(5.0)
    assert first is not None
    samples = [first.copy()]
    while samples[-1].stamp_ns - samples[0].stamp_ns < seconds * 1e9:
        sample = driver.read(5.0)
        assert sample is not None
        samples.append(sample.copy())
    return samples


def until_it_moves(driver, timeout=30.0):
    end = time.monotonic() + timeout
    while abs(driver.read(1.0).qd[0]) < 0.1:
        assert time.monotonic() < end, driver.motion


def while_moving(driver, timeout=40.0):
    end, last = time.monotonic() + timeout, None
    while driver.motion.active:
        assert time.monotonic() < end, driver.motion
        last = driver.read(0.1) or last
    return last


@pytest.mark.realtime
def test_it_is_a_driver_and_names_its_controller(driver):
    assert isinstance(driver, Driver)
    assert driver.info.rate == 500.0 and driver.info.version.startswith("5.26") and "torque" in driver.info.capabilities
    read_for(driver, 0.01)
    assert driver.status.safety_normal and driver.status.mode_text == "running"


@pytest.mark.realtime
def test_samples_are_stamped_by_controller_time_and_carry_every_signal(driver):
    before = time.time_ns()
    samples = read_for(driver, 0.5)
    steps = np.diff([s.stamp_ns for s in samples])
    assert np.all(steps > 0) and np.abs(np.median(steps) - 2e6) < 5e3
    assert abs(samples[0].stamp_ns - before) < 10e9 and samples[0].receive_ns > 0
    for signal_name in ("q", "qd", "current", "effort", "temperature", "q_d", "qd_d", "qdd_d", "tau_d"):
        assert samples[-1].has(signal_name), signal_name
    assert np.allclose(samples[-1].effort, samples[-1].current * ROBOT.array("drives.torque_constant"))
    assert not samples[-1].has("theta") and not samples[-1].has("external_joint_torque")


@pytest.mark.realtime
def test_dropped_and_duplicated_packages_are_counted(simulated, driver):
    read_for(driver, 0.1)
    before = driver.statistics()
    simulated[1].command("drop", next=3)
    simulated[1].command("duplicate", next=4)
    simulated[1].wait(0.1)
    read_for(driver, 0.3)
    after = driver.statistics()
    assert after.missed - before.missed >= 3 and after.duplicates - before.duplicates == 4


@pytest.mark.realtime
def test_a_nan_measurement_never_comes_out(simulated, driver):
    read_for(driver, 0.1)
    simulated[1].command("nan", field="actual_qd", element=2)
    try:
        simulated[1].wait(0.1)
        assert driver.condition == StreamState.safe
    finally:
        simulated[1].command("nan")
    samples = read_for(driver, 0.2)
    assert all(s.has("qd") for s in samples) and driver.statistics().non_finite >= 3


@pytest.mark.realtime
def test_a_stall_is_unsafe_and_latched_until_rearmed(simulated, driver):
    read_for(driver, 0.1)
    simulated[1].command("stall", seconds=1.0)
    end, seen = time.monotonic() + 20.0, False
    while time.monotonic() < end and not seen:
        driver.read(0.05)
        seen = driver.condition == StreamState.safe
    assert seen
    read_for(driver, 0.2)
    assert driver.latched == StreamState.safe and driver.statistics().missed > 400
    driver.rearm()
    read_for(driver, 0.1)


@pytest.mark.realtime
def test_a_long_stall_reconnects_by_itself(simulated, driver):
    read_for(driver, 0.1)
    simulated[1].command("stall", seconds=3.0)
    end = time.monotonic() + 30.0
    while driver.statistics().reconnects == 0:
        driver.read(0.1)
        assert time.monotonic() < end
    assert len(read_for(driver, 0.1)) > 10


@pytest.mark.realtime
def test_path_then_stream_then_stop(driver):
    start = read_for(driver, 0.02)[-1].q
    goal = start + np.array([0.2, 0, 0, 0, 0, 0])
    driver.move_path([goal, start], speed=1.5, acceleration=4.0)
    with pytest.raises(CapabilityError, match="stop it first"):
        driver.move_path([goal])
    last = while_moving(driver)
    assert driver.motion.state == "done" and np.abs(last.q - start).max() < 0.01
    phase = np.linspace(0, np.pi, 250)[:, None]
    driver.servo(start + 0.05 * np.sin(phase) ** 2)
    while_moving(driver)
    assert driver.motion.state == "done", driver.motion
    driver.move_path([goal + 0.5], speed=0.3)
    until_it_moves(driver)
    driver.stop()
    while_moving(driver)
    assert driver.motion.state == "stopped"
    assert np.abs(read_for(driver, 0.7)[-1].qd).max() < 0.02
    driver.move_path([start], speed=1.5, acceleration=4.0)
    while_moving(driver)


@pytest.mark.realtime
def test_a_killed_control_process_stops_the_robot_and_the_next_request_works(driver):
    start = read_for(driver, 0.02)[-1].q.copy()
    driver.move_path([start + 1.0], speed=0.3)
    until_it_moves(driver)
    os.kill(driver._control.pid, signal.SIGKILL)
    while_moving(driver)
    assert driver.motion.state == "failed" and "signal 9" in driver.motion.reason
    read_for(driver, 1.5)
    assert np.abs(driver.read(1.0).qd).max() < 0.02  # the controller's watchdog
    driver.move_path([start], speed=1.5, acceleration=4.0)
    while_moving(driver)
    assert driver.motion.state == "done", driver.motion


@pytest.mark.realtime
def test_motion_is_refused_when_the_robot_is_stopped(alone):
    driver, client = alone
    start = read_for(driver, 0.02)[-1].q.copy()
    client.command("emergency_stop", pressed=True)
    client.wait(0.05)
    read_for(driver, 0.2)
    assert driver.condition == StreamState.safe
    with pytest.raises(CapabilityError, match="emergency stop"):
        driver.move_path([start])


@pytest.mark.realtime
def test_bad_motion_requests_name_the_argument(driver):
    read_for(driver, 0.02)
    for rows, text in ((np.zeros((2, 5)), "waypoints has shape"), (np.full((2, 6), np.nan), "NaN")):
        with pytest.raises(CapabilityError, match=text):
            driver.move_path(rows)
    with pytest.raises(CapabilityError, match="mass"):
        driver.set_payload(float("nan"), np.zeros(3))


def test_unknown_driver_refused_port_and_seven_joints():
    with pytest.raises(ConfigError, match="nonsense"):
        make_driver("nonsense", ROBOT, "127.0.0.1")
    with pytest.raises(ConnectionFailed, match="refused"):
        make_driver("ur", ROBOT, loopback_address()).connect()
    with pytest.raises(CapabilityError, match="6 joints"):
        make_driver("ur", load_robot("fr3"), "127.0.0.1")


@pytest.mark.realtime
def test_reconnects_after_the_controller_is_killed_and_restarted():
    host = loopback_address()
    with SimulatedUR("ur5e", host=host) as first:
        driver = make_driver("ur", ROBOT, first.host)
        driver.connect()
        read_for(driver, 0.1)
        first.process.kill()
        first.process.wait()
        end = time.monotonic() + 10.0
        while driver.condition != StreamState.fault:
            driver.read(0.05)
            assert time.monotonic() < end
        while driver.read(0.05) is not None:  # what had arrived before
            assert time.monotonic() < end
        assert driver.last_error
    with SimulatedUR("ur5e", host=host):
        assert driver.read(20.0) is not None
        assert driver.statistics().reconnects == 1
        driver.disconnect()


@pytest.mark.realtime
def test_values_frozen_in_motion_are_withheld_and_unsafe(alone):
    driver, client = alone
    start = read_for(driver, 0.02)[-1].q.copy()
    driver.move_path([start + 1.0], speed=0.3)
    until_it_moves(driver)
    client.command("freeze")
    client.wait(0.2)
    end = time.monotonic() + 20.0
    while driver.read(0.05) is not None:  # what came before
        assert time.monotonic() < end
    assert driver.condition == StreamState.safe and driver.statistics().frozen > 10
    client.command("freeze", on=False)
    assert driver.read(5.0) is not None and driver.latched == StreamState.safe


@pytest.mark.realtime
def test_a_silent_controller_ends_the_control_process_before_the_client_crashes(alone):
    driver, client = alone
    start = read_for(driver, 0.02)[-1].q.copy()
    driver.move_path([start + 1.0], speed=0.3)
    until_it_moves(driver)
    client.command("stall", seconds=3.0)
    while_moving(driver)
    assert driver.motion.state == "failed" and "silent" in driver.motion.reason


@pytest.mark.realtime
def test_the_payload_arrives_with_its_centre_and_inertia(driver, simulated):
    """Order of UR's set_target_payload: Ixx Iyy Izz Ixy Ixz Iyz, about the centre of mass."""
    from rtde_receive import RTDEReceiveInterface

    driver.set_payload(1.5, [0.01, 0.02, 0.07], [0.011, 0.001, 0.002, 0.012, 0.003, 0.013])
    receiver = RTDEReceiveInterface(simulated[0].host)
    try:
        driver.wait_until(lambda: receiver.getPayload() == pytest.approx(1.5), 20.0)
        assert receiver.getPayload() == pytest.approx(1.5)
        assert receiver.getPayloadCog() == pytest.approx([0.01, 0.02, 0.07])
        assert receiver.getPayloadInertia() == pytest.approx([0.011, 0.012, 0.013, 0.001, 0.002, 0.003])
    finally:
        receiver.disconnect()
        driver.set_payload(0.0, np.zeros(3))


def test_a_payload_that_is_none_is_refused():
    from robot_dynamics_ros.drivers.ur.control import UrControl

    with pytest.raises(CapabilityError, match="inertia"):
        UrControl("127.0.0.1").set_payload(1.0, np.zeros(3), [0.0, np.nan, 0, 0, 0, 0])
    with pytest.raises(CapabilityError, match="com"):
        UrControl("127.0.0.1").set_payload(1.0, [0.0, 0.0])
