"""The Comau driver over UDP against the simulated LPC: states, motions, streams, gates, damaged packets."""

import math

import numpy as np
import pytest
from driver_waits import collect, until

from robot_dynamics_ros._core import StreamState
from robot_dynamics_ros.drivers.comau import wire as wire
from robot_dynamics_ros.drivers.comau.driver import ComauDriver
from robot_dynamics_ros.drivers.factory import make_driver
from robot_dynamics_ros.errors import CapabilityError, ConnectionFailed
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.server.launcher import SimulatedController

ROBOT = load_robot("comau_ns16")
RATE = 2500.0 / 3


@pytest.fixture(scope="module")
def sim():
    with SimulatedController("comau_ns16") as controller:
        yield controller


@pytest.fixture(scope="module")
def client(sim):
    with sim.client() as client:
        yield client


@pytest.fixture
def driver(sim, client):
    client.command("lpc")  # ready
    driver = make_driver("comau", ROBOT, sim.host, enable_commands=True, safe_gap=1.0, degraded_gap=0.5)
    driver.connect()
    yield driver
    driver.disconnect()


@pytest.mark.realtime
def test_states_come_with_controller_time_and_none_is_lost(driver):
    samples = collect(driver, 600)
    steps = np.diff([s.stamp_ns for s in samples])
    assert (steps > 0).all() and np.median(steps) == pytest.approx(1e9 / RATE, rel=0.01)
    counts = driver.statistics()
    assert counts.missed == counts.malformed == counts.overruns == counts.backwards == 0


@pytest.mark.realtime
def test_units_names_and_what_is_absent(driver):
    sample = collect(driver, 50)[-1]
    assert sample.joint_names == tuple(ROBOT.joint_names)
    assert np.allclose(sample.q, [0, 0.3, -1.2, 0, 1.5, 0], atol=0.3)  # rad, not degrees
    assert np.array_equal(sample.effort, sample.current)  # the file says A: K_t is unknown and not invented
    assert np.isnan(sample.temperature).all() and np.isnan(sample.theta).all()


@pytest.mark.realtime
def test_a_motion_is_followed_and_velocity_is_the_derivative(driver):
    start = collect(driver, 50)[-1].q_d.copy()
    driver.move_path([start + 0.1], speed=0.4)
    samples = [driver.read(0.2).copy() for _ in range(30)]
    while driver.motion.active:
        samples.append(driver.read(0.2).copy())
    assert driver.motion.state == "done"
    samples += collect(driver, 100)
    q, qd = np.array([s.q for s in samples]), np.array([s.qd for s in samples])
    t = 1e-9 * np.array([s.stamp_ns - samples[0].stamp_ns for s in samples])
    moved = np.array([np.trapezoid(np.nan_to_num(v), t) for v in qd.T])
    assert np.allclose(q[-1] - q[0], 0.1, atol=0.01) and np.allclose(moved, q[-1] - q[0], atol=0.01)
    assert np.abs(qd).max() < 0.45


@pytest.mark.realtime
def test_a_stream_and_a_stop(driver):
    start = collect(driver, 50)[-1].q_d.copy()
    wave = start + 0.05 * np.sin(np.linspace(0, np.pi, 800))[:, None] ** 2
    driver.play(start[None], wave)
    until(driver, lambda: not driver.motion.active)
    assert driver.motion.state == "done"
    driver.move_path([start + 0.3], speed=0.2)
    until(driver, lambda: driver.motion.progress > 0.1)
    driver.stop()
    until(driver, lambda: not driver.motion.active)
    assert driver.motion.state == "stopped" and np.abs(collect(driver, 100)[-1].qd).max() < 0.01


@pytest.mark.realtime
@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"modality": wire.LISTEN}, "modality is listen"),
        ({"modality": wire.POS_ADDITIVE}, "modality is additive"),
        ({"status": 1}, "drives are off"),
        ({"powerlink": False}, "POWERLINK"),
    ],
)
def test_commands_are_gated_by_modality_drives_and_powerlink(driver, client, change, text):
    here = collect(driver, 50)[-1].q_d.copy()
    client.command("lpc", **change)
    until(driver, lambda: text in driver._move.ready_text(driver._states.last))
    with pytest.raises(CapabilityError, match=text):
        driver.move_path([here + 0.05])
    client.command("lpc")


@pytest.mark.realtime
def test_losing_the_drives_ends_a_motion(driver, client):
    here = collect(driver, 50)[-1].q_d.copy()
    driver.move_path([here + 0.3], speed=0.2)
    client.command("lpc", status=3)
    until(driver, lambda: not driver.motion.active)
    assert driver.motion.state == "failed" and "driving off" in driver.motion.reason
    until(driver, lambda: driver.latched >= StreamState.safe)
    client.command("lpc")


@pytest.mark.realtime
def test_listening_is_the_default(sim):
    driver = make_driver("comau", ROBOT, sim.host)
    driver.connect()
    here = collect(driver, 50)[-1].q_d.copy()
    assert "move" not in driver.capabilities
    with pytest.raises(CapabilityError, match="only listens"):
        driver.move_path([here])
    driver.disconnect()


@pytest.mark.realtime
@pytest.mark.parametrize(
    ("fault", "counted"),
    [
        ({"twice": 3}, lambda d: d.out_of_order == 3),
        ({"swap": 1}, lambda d: d.out_of_order == 1 and d.statistics().missed >= 1),
        ({"garbage": 2}, lambda d: d._link.malformed == 6 and d.statistics().missed == 2),
        ({"axes": 1}, lambda d: d._link.malformed == 1 and "7 axes" in d.last_error),
        ({"swallow": 2}, lambda d: d.statistics().missed == 2),
        ({"jump": 3}, lambda d: d.jumps == 3 and d.statistics().missed == 3),
    ],
    ids=["twice", "swap", "garbage", "axes", "swallow", "jump"],
)
def test_damaged_packets_are_dropped_and_counted(driver, client, fault, counted):
    before = collect(driver, 50)[-1].q.copy()
    client.command("fault", **fault)
    samples = collect(driver, 100)
    until(driver, lambda: counted(driver), 10.0)
    assert np.allclose([s.q for s in samples], before, atol=0.01)
    assert (np.diff([s.stamp_ns for s in samples]) > 0).all()


@pytest.mark.realtime
def test_the_lpc_rejects_steps_and_holds_without_commands(sim, client, driver):
    here = np.degrees(collect(driver, 50)[-1].q_d)
    rejected = client.command("lpc")["rejected"]
    full = (1 << 6) - 1
    for position, mask in ((here + 5.0, full), (here, 3)):
        driver._link.send(wire.Command(0, modality=wire.POS_ABSOLUTE, mask=mask, position=(*position, 0, 0, 0, 0)))
    nan = wire.Command(0, modality=wire.POS_ABSOLUTE, mask=full, position=(math.nan,) * 10)
    driver._link.send(nan)
    client.wait(0.1)
    answer = client.command("lpc")
    assert answer["rejected"] > rejected and answer["malformed"] > 0 and answer["missed"] > 5
    assert np.allclose(np.degrees(collect(driver, 50)[-1].q), here, atol=0.1)


@pytest.mark.realtime
def test_an_absent_controller_is_one_clear_error():
    with pytest.raises(ConnectionFailed, match="127.0.0.1:9"):
        make_driver("comau", ROBOT, "127.0.0.1", port=9).connect()


def test_torque_is_refused():
    with pytest.raises(CapabilityError, match="not commanded"):
        ComauDriver(ROBOT, "127.0.0.1", torque="script")


@pytest.mark.realtime
def test_fast_states_arrive_in_batches_without_loss():
    with SimulatedController("comau_ns16", rate=2500) as fast:
        robot = ROBOT.with_updates({"sensing.sample_rate": 2500.0})
        driver = make_driver("comau", robot, fast.host, safe_gap=1.0, degraded_gap=0.5)
        driver.connect()
        samples = collect(driver, 2500)
        counts = driver.statistics()
        driver.disconnect()
    assert len(samples) == 2500 and counts.malformed == counts.overruns == 0
    stamps = np.array([s.stamp_ns for s in samples])
    assert np.median(np.diff(stamps)) == pytest.approx(4e5, rel=0.02)
    assert counts.missed == 0  # by controller time: a busy machine delays packets, it loses none
