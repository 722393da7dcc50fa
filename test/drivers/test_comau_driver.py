"""The Comau driver over UDP against the simulated LPC: states, motions, streams, gates, damaged packets."""

import math
from dataclasses import replace
from queue import SimpleQueue
from types import SimpleNamespace

import numpy as np
import pytest
from comau_rig import ROBOT, Rig, free_udp_port
from driver_waits import collect, settled, until
from scipy.integrate import trapezoid

from robot_dynamics_ros._core import StreamState
from robot_dynamics_ros.drivers.comau import link
from robot_dynamics_ros.drivers.comau import wire as wire
from robot_dynamics_ros.drivers.comau.driver import ComauDriver
from robot_dynamics_ros.drivers.factory import make_driver
from robot_dynamics_ros.errors import CapabilityError, ConnectionFailed
from robot_dynamics_ros.robot_file import config_directories
from robot_dynamics_ros.simulation.comau import lpc

RATE = 2500.0 / 3


@pytest.fixture
def rig(monkeypatch):
    made = Rig(monkeypatch, enable_commands=True)
    yield made
    made.close()


def test_states_come_with_controller_time_and_none_is_lost(driver):
    samples = collect(driver, 600)
    steps = np.diff([s.stamp_ns for s in samples])
    assert (steps > 0).all() and np.median(steps) == pytest.approx(1e9 / RATE, rel=0.01)
    counts = driver.statistics()
    assert counts.missed == counts.malformed == counts.overruns == counts.backwards == 0


def test_units_names_and_what_is_absent(driver):
    sample = collect(driver, 50)[-1]
    assert sample.joint_names == tuple(ROBOT.joint_names)
    assert np.allclose(sample.q, [0, 0.3, -1.2, 0, 1.5, 0], atol=0.3)  # rad, not degrees
    assert np.array_equal(sample.effort, sample.current)  # the file says A: K_t is unknown and not invented
    assert np.isnan(sample.temperature).all() and np.isnan(sample.theta).all()


def test_a_motion_is_followed_and_velocity_is_the_derivative(driver):
    start = collect(driver, 50)[-1].q_d.copy()
    driver.play([start + 0.1], speed=0.4)
    samples = [driver.read(0.2).copy() for _ in range(30)]
    while driver.motion.active:
        samples.append(driver.read(0.2).copy())
    assert driver.motion.state == "done"
    samples += collect(driver, 100)
    q, qd = np.array([s.q for s in samples]), np.array([s.qd for s in samples])
    t = 1e-9 * np.array([s.stamp_ns - samples[0].stamp_ns for s in samples])
    moved = np.array([trapezoid(np.nan_to_num(v), t) for v in qd.T])
    assert np.allclose(q[-1] - q[0], 0.1, atol=0.01) and np.allclose(moved, q[-1] - q[0], atol=0.01)
    assert np.abs(qd).max() < 0.45


def test_a_stream_and_a_stop(driver):
    start = collect(driver, 50)[-1].q_d.copy()
    wave = start + 0.05 * np.sin(np.linspace(0, np.pi, 800))[:, None] ** 2
    driver.play(start[None], wave)
    assert settled(driver) == "done", driver.motion
    driver.play([start + 0.3], speed=0.2)
    until(driver, lambda: driver.motion.progress > 0.1)
    driver.stop()
    assert settled(driver) == "stopped" and np.abs(collect(driver, 100)[-1].qd).max() < 0.01


GATES = {"modality is listen": {"modality": wire.LISTEN}, "modality is additive": {"modality": wire.POS_ADDITIVE}}
GATES |= {"drives are off": {"status": 1}, "POWERLINK": {"powerlink": False}}


@pytest.mark.parametrize(("text", "change"), GATES.items())
def test_commands_are_gated_by_modality_drives_and_powerlink(rig, driver, change, text):
    here = collect(driver, 50)[-1].q_d.copy()
    rig.command("lpc", **change)
    until(driver, lambda: text in driver._mover.ready_text(driver._states.last))
    with pytest.raises(CapabilityError, match=text):
        driver.play([here + 0.05])
    rig.command("lpc")


def test_losing_the_drives_ends_a_motion(rig, driver):
    here = collect(driver, 50)[-1].q_d.copy()
    driver.play([here + 0.3], speed=0.2)
    rig.command("lpc", status=3)
    assert settled(driver) == "failed" and "driving off" in driver.motion.reason
    until(driver, lambda: driver.latched >= StreamState.safe)
    rig.command("lpc")


def test_listening_is_the_default(monkeypatch):
    rig = Rig(monkeypatch)
    driver = rig.driver
    here = collect(driver, 50)[-1].q_d.copy()
    with pytest.raises(CapabilityError, match="only listens"):
        driver.play([here])
    rig.close()


@pytest.mark.parametrize(
    ("fault", "counted"),
    [
        ({"twice": 3}, lambda d: d.details()["packets out of order"] == "3"),
        ({"swap": 1}, lambda d: d.details()["packets out of order"] == "1" and d.statistics().missed >= 1),
        ({"garbage": 2}, lambda d: d._link.malformed == 6 and d.statistics().missed == 2),
        ({"axes": 1}, lambda d: d._link.malformed == 1 and not d.last_error),
        ({"swallow": 2}, lambda d: d.statistics().missed == 2),
        ({"jump": 3}, lambda d: d.details()["positions that jumped"] == "3" and d.statistics().missed == 3),
    ],
    ids=["twice", "swap", "garbage", "axes", "swallow", "jump"],
)
def test_damaged_packets_are_dropped_and_counted(rig, driver, fault, counted):
    before = collect(driver, 50)[-1].q.copy()
    rig.lpc.faults.update(fault)
    samples = collect(driver, 100)
    until(driver, lambda: counted(driver), 10.0)
    assert np.allclose([s.q for s in samples], before, atol=0.01)
    assert (np.diff([s.stamp_ns for s in samples]) > 0).all()


def test_a_lost_lpc_is_named_until_its_states_arrive_again_which_is_counted(rig, driver):
    def refuse(_):
        raise ConnectionRefusedError(111, "Connection refused")

    collect(driver, 3)
    assert driver.statistics().reconnects == 0
    socket, driver._link._socket = driver._link._socket, SimpleNamespace(send=refuse)
    driver._link.hello()
    assert "connection refused (does the program on the LPC run?)" in driver.last_error
    driver._link._socket = socket
    collect(driver, 3)
    assert driver.last_error == "" and driver.statistics().reconnects == 1


def test_the_lpc_rejects_steps_and_holds_without_commands(rig, driver):
    here = np.degrees(collect(driver, 50)[-1].q_d)
    rejected = rig.command("lpc")["rejected"]
    full = (1 << 6) - 1
    for position, mask in ((here + 5.0, full), (here, 3)):
        driver._link.send(wire.Command(0, modality=wire.POS_ABSOLUTE, mask=mask, position=(*position, 0, 0, 0, 0)))
    nan = wire.Command(0, modality=wire.POS_ABSOLUTE, mask=full, position=(math.nan,) * 10)
    driver._link.send(nan)
    collect(driver, 50)
    answer = rig.command("lpc")
    assert answer["rejected"] > rejected and answer["malformed"] > 0 and answer["missed"] > 5
    assert np.allclose(np.degrees(collect(driver, 50)[-1].q), here, atol=0.1)


def test_the_lpc_rejects_what_its_reference_in_c_rejects_beyond_a_limit(rig):
    """Small steps of one axis up to its limit and on: the reference compares with lower_deg and upper_deg."""
    simulated, limit = rig.lpc, math.degrees(ROBOT.array("limits.position_upper")[1])
    target = simulated._held.copy()
    while target[1] + 0.1 < limit + 1.0:
        target[1] += 0.1
        before = simulated.rejected
        simulated._take(wire.POS_ABSOLUTE, (1 << 6) - 1, (*target, 0, 0, 0, 0))
        assert (simulated.rejected > before) == (target[1] > limit)


def test_an_lpc_of_a_robot_file_by_its_path_takes_a_free_port_and_names_it(tmp_path):
    file = tmp_path / "mine.yaml"
    file.write_text((config_directories()[0] / "robots" / "comau_ns16.yaml").read_text())
    simulated = lpc.SimulatedLpc(lpc.Settings(robot=str(file), udp_port=0))
    try:
        assert simulated.ports["udp"] == simulated._socket.getsockname()[1] != 0
        assert np.allclose(simulated.arm_server.arm.q, lpc.START["comau_ns16"], atol=1e-3)
    finally:
        simulated.close()


def test_an_absent_controller_is_one_clear_error(monkeypatch):
    monkeypatch.setattr(link, "CONNECT_TIMEOUT", 0.1)
    port = free_udp_port()
    with pytest.raises(ConnectionFailed, match=f"127.0.0.1:{port}: connection refused .does the program"):
        make_driver("comau", ROBOT, "127.0.0.1", port=port).connect()


def test_nothing_that_an_earlier_connection_left_is_read(rig, driver):
    """States that waited when the driver was disconnected passed for those of a robot that is off."""
    collect(driver, 3)
    rig.send(5)
    rig.link.receive()
    driver.disconnect()
    driver.connect()
    assert rig.link.pending == 0 and rig._read(0.0) is None


def test_a_motion_slows_down_before_the_driver_disconnects(rig, driver):
    """Its positions ended at full speed."""
    start, sent, send = collect(driver, 50)[-1].q_d.copy(), [], driver._mover._send
    driver._mover._send = lambda command: sent.append(command.position) or send(command)
    driver.play([start + 0.5], speed=0.5)
    until(driver, lambda: driver.motion.progress > 0.4)
    driver.disconnect()
    steps = np.abs(np.diff(sent, axis=0)).max(axis=1)
    assert steps[-1] < 0.05 * steps.max() and driver.motion.state == "stopped"


def test_an_address_that_is_none_leaves_no_socket_open():
    made = link.UdpLink("999.999.999.999", 5005, 6, 1)
    with pytest.raises(ConnectionFailed, match="999"):
        made.start()
    assert made._socket.fileno() == -1


def test_torque_is_refused():
    with pytest.raises(CapabilityError, match="not commanded"):
        ComauDriver(ROBOT, "127.0.0.1", torque=True)


def test_states_that_wait_arrive_as_one_batch_without_loss(monkeypatch):
    robot = ROBOT.with_updates({"sensing.sample_rate": 2500.0})
    rig = Rig(monkeypatch, robot, rate=2500)
    samples = collect(rig.driver, 1)
    while len(samples) < 1000:
        rig.send(199)
        samples += collect(rig.driver, 200)
    counts = rig.driver.statistics()
    assert set(np.diff([s.stamp_ns for s in samples])) == {400_000}
    assert counts.missed == counts.malformed == counts.overruns == 0
    rig.close()


def test_a_read_without_a_timeout_does_not_wait():
    """In Python 3.10 get(timeout=0.0) of an empty SimpleQueue may never end."""
    made, waited = link.UdpLink("127.0.0.1", 5005, 6, 0), []

    def get(block, timeout):
        return waited.append(timeout) if block else SimpleQueue().get_nowait()

    made._queue = SimpleNamespace(get=get)
    assert made.get(0.0) is None and not waited
    made.get(0.2)
    assert waited == [0.2]


def test_silence_is_no_time_to_begin_a_motion(rig, driver):
    here = collect(driver, 50)[-1].q_d.copy()
    rig.lpc._send = lambda: None
    for _ in range(200):
        assert driver.read(0.0) is None
    with pytest.raises(CapabilityError, match=r"no state for 0\.2"):
        driver.play([here + 0.1])
    assert driver.condition == StreamState.safe


@pytest.mark.parametrize("read", [True, False])
def test_a_motion_ends_with_the_states_and_does_not_go_on_when_they_return(rig, driver, read):
    """It went on along its path after any time: the arm began to move by itself when a cable was plugged in again."""
    start = collect(driver, 50)[-1].q_d.copy()
    driver.play([start + 0.5], speed=0.2)
    until(driver, lambda: driver.motion.progress > 0.1)
    send, rig.lpc._send = rig.lpc._send, lambda: None
    for _ in range(round(0.3 * RATE)):
        driver.read(0.0) if read else rig.send()
    if read:
        assert driver.motion.state == "failed" and "no state for 0.2 s" in driver.motion.reason
    rig.lpc._send = send
    samples = collect(driver, 300)
    assert driver.motion.state == "failed" and np.array_equal(samples[0].q_d, samples[-1].q_d)


def test_a_motion_does_not_begin_from_a_target_that_is_not_reported(rig, driver):
    """It ended the node: the length of a move from nowhere is no number."""
    state = rig.lpc._state
    rig.lpc._state = lambda: replace(state(), target=wire.NAN10)
    here = collect(driver, 50)[-1].q.copy()
    with pytest.raises(CapabilityError, match="does not report its target"):
        driver.play([here + 0.1])


def test_a_motion_whose_target_is_reported_no_more_has_failed(rig, driver):
    """It went on to its end and was done, whether the LPC followed or not."""
    start = collect(driver, 50)[-1].q_d.copy()
    driver.play([start + 0.5], speed=0.4)
    until(driver, lambda: driver.motion.progress > 0.1)
    state = rig.lpc._state
    rig.lpc._state = lambda: replace(state(), target=wire.NAN10)
    assert settled(driver) == "failed" and "does not follow" in driver.motion.reason
    assert np.abs(driver.sample.q - start).max() < 0.4


def test_a_motion_whose_end_is_rejected_is_no_done_motion(rig, driver):
    """1.1 degrees short: less than what counts as rejected on the way."""
    start = collect(driver, 50)[-1].q_d.copy()
    driver.play([start + 0.1], speed=0.4)
    until(driver, lambda: np.abs(driver.sample.q_d - start).max() > 0.08)
    rig.lpc._take = lambda *command: None
    assert settled(driver) == "failed" and "does not follow" in driver.motion.reason
