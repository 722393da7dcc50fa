"""Comau driver: both wire formats against the simulated LPC over real sockets and a real broker."""

import dataclasses
import math

import numpy as np
import pytest
from driver_waits import collect, until
from mqtt_broker import Broker

from robot_dynamics_ros._core import StreamState
from robot_dynamics_ros.drivers.comau import wire as wire
from robot_dynamics_ros.drivers.comau.driver import ComauDriver
from robot_dynamics_ros.drivers.comau.states import Coupling
from robot_dynamics_ros.drivers.factory import make_driver
from robot_dynamics_ros.errors import CapabilityError, ConnectionFailed, DataError
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
def test_nobody_there_is_one_clear_error():
    with pytest.raises(ConnectionFailed, match="127.0.0.1:9"):
        make_driver("comau", ROBOT, "127.0.0.1", port=9).connect()


@pytest.mark.parametrize("options", [{"backend": "serial"}, {"modality": 17}], ids=["backend", "modality"])
def test_options_that_make_no_sense_are_refused(options):
    with pytest.raises(CapabilityError):
        ComauDriver(ROBOT, "127.0.0.1", **options)


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


# -- coupling ---------------------------------------------------------------------------------------------------------
def test_coupling_turns_motors_into_joints_with_signs_and_power_is_kept():
    matrix = np.eye(6)
    matrix[4, 3], matrix[5, 4], matrix[5, 3] = -0.02, 0.015, 0.03
    drives = ROBOT.drives.model_copy(update={"coupling": tuple(map(tuple, matrix.tolist()))})
    coupled = ROBOT.model_copy(update={"drives": drives})
    coupling, rng = Coupling(coupled), np.random.default_rng(5)
    motor, torque = rng.standard_normal(6), rng.standard_normal(6)
    joint = coupling.angle(motor)
    ratio = np.array(ROBOT.drives.gear_ratio)
    assert joint[0] == pytest.approx(motor[0] / -181.5873)
    assert np.allclose(joint, matrix @ (motor / ratio))
    assert joint @ coupling.torque(torque) == pytest.approx((motor / ratio) @ torque)  # power
    assert coupling.known and not Coupling(ROBOT).known


# -- wire formats -----------------------------------------------------------------------------------------------------
def test_state_and_command_survive_the_wire():
    rng = np.random.default_rng(1)
    state = wire.State(7, 123456, link=tuple(rng.standard_normal(10)), n_axes=6, modality=4, status=4, session=9)
    back = wire.unpack_state(wire.pack_state(state), 6)
    assert back.link == state.link and (back.sequence, back.time_us, back.modality) == (7, 123456, 4)
    assert math.isnan(back.current[0]) and wire.STATE.size == 392 and wire.COMMAND.size == 196
    command = wire.Command(3, 2, 1, 4, 63, tuple(rng.standard_normal(10)))
    assert dataclasses.asdict(wire.unpack_command(wire.pack_command(command, 6), 6)) == dataclasses.asdict(command)


def test_random_bytes_never_become_a_state():
    rng = np.random.default_rng(2)
    good = wire.pack_state(wire.State(1, 1, n_axes=6))
    for length in rng.integers(0, 800, 300):
        with pytest.raises(DataError):
            wire.unpack_state(rng.bytes(length), 6)
    for start, value in ((0, 1), (4, 1), (6, 7)):  # magic, version, axes
        with pytest.raises(DataError):
            wire.unpack_state(good[:start] + value.to_bytes(2, "little") + good[start + 2 :], 6)


@pytest.mark.parametrize(
    "payload",
    [
        b"",
        b"{",
        b"[1]",
        b"\xff\xfe",
        b"null\0",
        wire.pack_json((1.0,) * 10, 5).replace(b'"J3": 1.0', b'"J3": NaN'),
        wire.pack_json((1.0,) * 10, 5).replace(b'"J3": 1.0', b'"J3": "1.0"'),
        wire.pack_json((1.0,) * 10, 5).replace(b'"J3": 1.0, ', b""),
        wire.pack_json((1.0,) * 10, 5).replace(b'"time": 5', b'"time": null'),
        wire.pack_json((1.0,) * 10, 5) + b" " * 2000,
        b"[" * 900,
    ],
)
def test_json_that_is_no_state_is_refused(payload):
    with pytest.raises(DataError):
        wire.unpack_json(payload)


def test_json_survives_with_its_nul():
    values = tuple(np.random.default_rng(3).standard_normal(10))
    assert wire.unpack_json(wire.pack_json(values, 99)) == (values, 99)


# -- MQTT over a real broker ------------------------------------------------------------------------------------------
@pytest.fixture(scope="module")
def broker():
    pytest.importorskip("paho.mqtt", reason="paho-mqtt is not installed")
    broker = Broker()
    yield broker
    broker.stop()


@pytest.fixture(scope="module")
def mqtt_sim(broker):
    with SimulatedController("comau_ns16", broker=broker.address, rate=100) as controller:
        yield controller


SLOW = ROBOT.model_copy(update={"sensing": ROBOT.sensing.model_copy(update={"sample_rate": 100.0})})


@pytest.mark.realtime
def test_mqtt_gives_joined_states_and_moves_only_when_told_that_it_may(broker, mqtt_sim):
    options = {"backend": "mqtt", "port": broker.port, "enable_commands": True, "safe_gap": 2.0, "degraded_gap": 1.0}
    driver = make_driver("comau", SLOW, "127.0.0.1", **options)
    driver.connect()
    samples = collect(driver, 100)
    assert np.median(np.diff([s.stamp_ns for s in samples])) == pytest.approx(1e7, rel=0.01)
    sample = samples[-1]
    assert sample.has("q") and sample.has("current") and sample.has("q_d") and sample.has("qd")
    with pytest.raises(CapabilityError, match="no modality"):
        driver.move_path([sample.q_d + 0.05])
    driver.disconnect()
    driver = make_driver("comau", SLOW, "127.0.0.1", **options, unconfirmed=True)
    driver.connect()
    start = collect(driver, 60)[-1].q_d.copy()
    driver.move_path([start + 0.05], speed=0.2)
    until(driver, lambda: not driver.motion.active)
    assert np.allclose(collect(driver, 50)[-1].q, start + 0.05, atol=0.01)
    driver.disconnect()


@pytest.mark.realtime
def test_messages_of_one_time_are_one_state_and_bad_ones_are_counted(broker):
    from paho.mqtt import client as mqtt

    driver = make_driver("comau", SLOW, "127.0.0.1", backend="mqtt", port=broker.port, arm=2)
    driver.connect()
    publisher = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
    publisher.connect("127.0.0.1", broker.port)
    publisher.loop_start()

    def publish(name, values, time_us, retain=False):
        publisher.publish(wire.topic(2, name), wire.pack_json(values, time_us), retain=retain).wait_for_publish(10)

    for k in range(1, 41):
        for name in wire.TOPIC_BLOCKS:
            if not (k == 20 and name == "motor_currents"):
                publish(name, (0.001 * k,) * 10, k * 10_000)
    publish("motor_currents", (0.0,) * 10, 30_000)  # long passed on
    publisher.publish(wire.topic(2, "motor_currents"), b"{").wait_for_publish(10)
    until(driver, lambda: driver._link.malformed >= 2)
    until(driver, lambda: driver.statistics().samples >= 39)
    counts = driver.statistics()
    assert counts.samples == 39 and counts.missed == 1 and driver._link.incomplete == 1
    publisher.loop_stop()
    publisher.disconnect()
    driver.disconnect()


@pytest.mark.realtime
def test_a_dead_broker_is_seen_and_nothing_old_is_passed_on_as_new():
    broker = Broker()
    with SimulatedController("comau_ns16", broker=broker.address, rate=100):
        driver = make_driver("comau", SLOW, "127.0.0.1", backend="mqtt", port=broker.port)
        driver.connect()
        last = collect(driver, 50)[-1].stamp_ns
        broker.stop()
        until(driver, lambda: driver.condition >= StreamState.safe)
        while (sample := driver.read(0.3)) is not None:
            assert sample.stamp_ns > last
            last = sample.stamp_ns
        assert driver.read(0.3) is None and driver.latched >= StreamState.safe
        again = Broker(broker.port)
        fresh = collect(driver, 20)
        assert fresh[0].stamp_ns > last
        driver.disconnect()
        again.stop()


@pytest.mark.realtime
def test_no_broker_is_one_clear_error():
    pytest.importorskip("paho.mqtt", reason="paho-mqtt is not installed")
    with pytest.raises(ConnectionFailed, match="broker 127.0.0.1:9"):
        make_driver("comau", SLOW, "127.0.0.1", backend="mqtt", port=9).connect()
