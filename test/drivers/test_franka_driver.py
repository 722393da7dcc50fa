"""Franka driver: the unmodified libfranka client against franka-sim's server, with our plant and with MuJoCo behind it.

Limits are in robot time and cycle counts: the machine may be slow.
"""

import os
import signal
import socket
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

pytest.importorskip("pylibfranka", reason="pylibfranka is not installed")
pytest.importorskip("franka_sim", reason="franka-sim is not installed")

from driver_waits import collect, until
from franka_mjcf import mjcf_text

from robot_dynamics_ros._core import StreamState
from robot_dynamics_ros.drivers.factory import make_driver
from robot_dynamics_ros.errors import CapabilityError, ConnectionFailed
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.server.launcher import SimulatedController, loopback_address

ROBOT = load_robot("fr3")


@pytest.fixture(scope="module")
def sim():
    with SimulatedController("fr3") as controller:
        yield controller


@pytest.fixture(scope="module")
def driver(sim):
    driver = make_driver("franka", ROBOT, sim.host, follow_host_clock=False)  # stamps differ by robot time exactly
    driver.connect()
    yield driver
    driver.disconnect()


@pytest.mark.realtime
def test_states_come_with_robot_time_and_nothing_is_lost_unseen(driver):
    samples = collect(driver, 1000)
    steps = np.diff([s.stamp_ns for s in samples])
    assert (steps > 0).all() and np.median(steps) == pytest.approx(1e6, rel=0.01)
    counts = driver.statistics()  # the first test: counts since connecting
    elapsed = (samples[-1].stamp_ns - samples[0].stamp_ns) / 1e6
    assert elapsed == pytest.approx(len(samples) - 1 + counts.missed, abs=counts.missed + 20)
    assert counts.overruns == counts.backwards == counts.non_finite == 0


@pytest.mark.realtime
def test_a_late_reader_catches_up_and_loses_nothing(driver):
    last = collect(driver, 50)[-1].stamp_ns
    before = driver.statistics()
    end = time.monotonic() + 60.0
    while driver.statistics().pending < 500:  # busy elsewhere: states wait in the ring
        assert time.monotonic() < end
    assert driver.read(0.2) is not None
    while driver.statistics().pending > 20:
        assert time.monotonic() < end
        sample = driver.read(0.2)
    after = driver.statistics()
    assert after.overruns == before.overruns and after.samples - before.samples > 200
    states = after.samples - before.samples + after.missed - before.missed
    assert (sample.stamp_ns - last) / 1e6 == pytest.approx(states, abs=20)  # every millisecond of robot time


@pytest.mark.realtime
def test_units_and_sides(driver):
    sample = collect(driver, 200)[-1]
    gravity = driver_model().gravity(sample.q)
    assert np.allclose(sample.effort, gravity, atol=2.5)  # link side, gravity included
    assert np.allclose(sample.theta - sample.q, 0, atol=5e-3) and np.abs(sample.theta - sample.q).max() > 1e-4
    assert np.isnan(sample.temperature).all() and np.isnan(sample.current).all()


def driver_model():
    from robot_dynamics_ros.models import RobotModel

    return RobotModel(ROBOT.chain(), ROBOT.joint_names)


@pytest.mark.realtime
def test_the_vendors_force_estimate_has_our_sign(driver, sim):
    with sim.client() as client:
        client.command("set_wrench", wrench=[0, 0, -25, 0, 0, 0])
        client.wait(1.0)
        collect(driver, 300)
        forces = np.mean([s.vendor_external_wrench for s in collect(driver, 100)], axis=0)
        torques = collect(driver, 1)[-1]
        client.command("set_wrench", wrench=[0] * 6)
    assert forces[2] == pytest.approx(-25, abs=4)
    jacobian = driver_model().jacobian(torques.q)
    assert np.allclose(torques.vendor_external_joint_torque, jacobian.T @ [0, 0, -25, 0, 0, 0], atol=3)


@pytest.mark.realtime
def test_moves_through_waypoints_and_streams(driver):
    start = collect(driver, 50)[-1].q_d.copy()
    driver.move_path([start + 0.1, start], speed=0.8, acceleration=3.0)
    until(driver, lambda: not driver.motion.active)
    assert driver.motion.state == "done", driver.motion
    goal = start + 0.05 * np.sin(np.linspace(0, np.pi, 1000))[:, None] ** 2
    driver.play(start[None], goal, 1000.0)
    until(driver, lambda: not driver.motion.active)
    assert driver.motion.state == "done", driver.motion
    assert np.allclose(collect(driver, 50)[-1].q, start, atol=0.01)


@pytest.mark.realtime
def test_a_motion_stops_on_its_path(driver):
    start = collect(driver, 50)[-1].q_d.copy()
    driver.move_path([start + [0.5, 0, 0, 0, 0, 0, 0]], speed=0.3)
    until(driver, lambda: driver.motion.state == "moving" and driver.motion.progress > 0.2)
    driver.stop()
    until(driver, lambda: not driver.motion.active)
    assert driver.motion.state == "stopped"
    samples = collect(driver, 300)
    moved = samples[-1].q[0] - start[0]
    assert 0.02 < moved < 0.45 and np.abs(samples[-1].qd).max() < 0.02
    driver.move_path([start], speed=0.8, acceleration=3.0)
    until(driver, lambda: not driver.motion.active)


@pytest.mark.realtime
def test_torque_moves_the_robot_and_silence_ends_it(driver):
    start = collect(driver, 50)[-1].q.copy()
    driver.start_torque()
    for sample in iter(lambda: driver.read(0.2), None):
        driver.command_torque(sample.stamp_ns, np.array([0, 0, 0, 0, 0, 0, 1.5]))
        if abs(sample.q[6] - start[6]) > 0.05 or not driver.motion.active:
            break
    assert driver.motion.active, driver.motion
    until(driver, lambda: not driver.motion.active)  # nobody commands any more
    assert driver.motion.state == "failed" and "torque ended" in driver.motion.reason, driver.motion
    until(driver, lambda: driver.status.mode_text == "idle")


@pytest.mark.realtime
def test_torque_beyond_limits_never_reaches_the_robot(driver):
    collect(driver, 50)
    driver.start_torque()
    commanded = []
    for sample in iter(lambda: driver.read(0.2), None):
        driver.command_torque(
            sample.stamp_ns, np.array([0, 0, 0, 0, 0, 0, float("nan") if len(commanded) > 20 else 0.1])
        )
        commanded.append(driver.value("tau_J_d").copy())
        if not driver.motion.active:
            break
    assert "command_not_finite" in driver.motion.reason
    assert np.isfinite(commanded).all() and np.abs(commanded).max() < 1.0


@pytest.mark.realtime
@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda d: d.move_path(np.zeros((1, 6))), "shape"),
        (lambda d: d.move_path(np.full((1, 7), np.nan)), "NaN"),
        (lambda d: d.move_path(np.zeros((1, 7)), speed=float("nan")), "speed"),
        (lambda d: d.servo(np.zeros((2, 7)), rate=500.0), "1000 Hz"),
        (lambda d: d.set_payload(float("nan"), [0, 0, 0]), "payload"),
        (lambda d: d.zero_ft(), "tare"),
    ],
)
def test_what_makes_no_sense_is_refused_with_the_reason(driver, call, text):
    collect(driver, 30)
    with pytest.raises(CapabilityError, match=text):
        call(driver)


@pytest.mark.realtime
def test_a_stream_that_starts_elsewhere_is_refused(driver):
    here = collect(driver, 50)[-1].q_d.copy()
    driver.servo(np.tile(here + 0.3, (100, 1)), 1000.0)
    until(driver, lambda: not driver.motion.active)
    assert driver.motion.state == "failed" and "starts 0.3" in driver.motion.reason


@pytest.mark.realtime
def test_settings_recovery_and_payload(driver):
    collect(driver, 50)
    driver.set_payload(0.7, [0, 0, 0.05])
    driver.set_collision_thresholds([40.0] * 7, [50.0] * 6)
    assert driver.recover() == "recovered"
    until(driver, lambda: driver.status.payload == pytest.approx(0.7))
    driver.set_payload(0.0, [0, 0, 0])
    assert "control_command_success_rate" in driver.details()


@pytest.mark.realtime
def test_an_absent_controller_is_one_clear_error():
    with pytest.raises(ConnectionFailed, match="refused|timed out|Connection"):
        make_driver("franka", ROBOT, loopback_address((1337,))).connect()


@pytest.mark.realtime
def test_another_server_version_is_named():
    host = loopback_address((1337,))
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, 1337))
        listener.listen(1)

        def answer():
            connection, _ = listener.accept()
            connection.recv(64)  # connect request: answered "incompatible library version", server version 99
            connection.sendall(b"\x00\x00\x00\x00\x00\x00\x00\x00\x10\x00\x00\x00" + b"\x01\x00\x63\x00")
            connection.recv(64)
            connection.close()

        threading.Thread(target=answer, daemon=True).start()
        with pytest.raises(ConnectionFailed, match=r"(?i)version|incompatible"):
            make_driver("franka", ROBOT, host).connect()


@pytest.mark.realtime
def test_a_robot_file_with_other_joints_is_refused():
    with pytest.raises(CapabilityError, match="7 joints"):
        make_driver("franka", load_robot("ur5e"), "127.0.0.1")


@pytest.mark.realtime
def test_the_driver_connects_again_after_a_restart_and_its_process_dying():
    host = loopback_address((1337,))
    with SimulatedController("fr3", host=host):
        driver = make_driver("franka", ROBOT, host)
        driver.connect()
        collect(driver, 50)
        os.kill(driver._process.pid, signal.SIGKILL)  # of the client
        until(driver, lambda: driver.statistics().reconnects == 1)
        collect(driver, 50)
    until(driver, lambda: driver.condition == StreamState.fault)
    assert driver.read(0.05) is None and driver.last_error
    with SimulatedController("fr3", host=host):
        until(driver, lambda: driver.statistics().reconnects == 2)
        collect(driver, 50)
        assert driver.latched >= StreamState.safe
        driver.disconnect()
    driver.disconnect()


@pytest.mark.realtime
def test_mujoco_behind_the_server_speaks_the_same_protocol(tmp_path):
    pytest.importorskip("mujoco", reason="mujoco is not installed")
    model = tmp_path / "fr3.xml"
    model.write_text(mjcf_text(ROBOT))
    host = loopback_address((1337,))
    program = f"from franka_sim import FrankaSimServer; FrankaSimServer(host={host!r}, enable_gripper=False).start()"
    server = subprocess.Popen(
        [sys.executable, "-c", program],
        env=os.environ | {"FR3_MJCF": str(model)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        driver = _patiently(host, server)
        sample = collect(driver, 500)[-1]
        assert np.array_equal(sample.theta, sample.q)  # rigid there
        start = sample.q_d.copy()
        driver.move_path([start + 0.05], speed=0.5)
        until(driver, lambda: not driver.motion.active)
        assert driver.motion.state == "done", driver.motion
        assert np.allclose(collect(driver, 200)[-1].q, start + 0.05, atol=0.02)
        driver.disconnect()
    finally:
        server.kill()
        server.wait()


def _patiently(host, server):
    end = time.monotonic() + 60
    while True:
        assert server.poll() is None and time.monotonic() < end
        driver = make_driver("franka", ROBOT, host)
        try:
            driver.connect()
            return driver
        except ConnectionFailed:
            time.sleep(0.3)
