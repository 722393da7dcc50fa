"""The Comau driver over MQTT with a real broker."""

import numpy as np
import pytest
from driver_waits import collect, until
from mqtt_broker import Broker

from robot_dynamics_ros._core import StreamState
from robot_dynamics_ros.drivers.comau import wire as wire
from robot_dynamics_ros.drivers.comau.link import MqttLink
from robot_dynamics_ros.drivers.factory import make_driver
from robot_dynamics_ros.errors import CapabilityError, ConnectionFailed
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.server.launcher import SimulatedController


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


ROBOT = load_robot("comau_ns16")
SLOW = ROBOT.model_copy(update={"sensing": ROBOT.sensing.model_copy(update={"sample_rate": 100.0})})


@pytest.mark.realtime
def test_mqtt_gives_joined_states_and_moves_only_with_permission(broker, mqtt_sim):
    options = {"backend": "mqtt", "port": broker.port, "enable_commands": True, "safe_gap": 10.0, "degraded_gap": 10.0}
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


class Message:
    def __init__(self, name, payload, retain=False):
        self.topic, self.payload, self.retain = wire.topic(2, name), payload, retain


def test_messages_of_one_time_are_one_state_and_bad_ones_are_counted():
    mqtt = MqttLink("nowhere", 1, ROBOT.n_joints, arm=2)

    def publish(name, values, time_us, retain=False):
        mqtt._message(None, None, Message(name, wire.pack_json(values, time_us), retain))

    for k in range(1, 41):
        for name in wire.TOPIC_BLOCKS:
            if not (k == 20 and name == "motor_currents"):
                publish(name, (0.001 * k,) * 10, k * 10_000)
    assert mqtt.malformed == 0
    publish("motor_currents", (0.0,) * 10, 30_000)  # long passed on
    mqtt._message(None, None, Message("motor_currents", b"{"))
    publish("motor_currents", (0.0,) * 10, 410_000, retain=True)  # an old value that the broker kept
    assert (mqtt.queue.pending, mqtt.incomplete, mqtt.malformed) == (39, 1, 3)
    states = [mqtt.queue.get(0.0).state for _ in range(39)]
    assert [s.time_us for s in states] == [k * 10_000 for k in range(1, 41) if k != 20]
    assert all(s.link == s.current for s in states)


@pytest.mark.long
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


def test_no_broker_is_one_clear_error():
    pytest.importorskip("paho.mqtt", reason="paho-mqtt is not installed")
    with pytest.raises(ConnectionFailed, match="broker 127.0.0.1:9"):
        make_driver("comau", SLOW, "127.0.0.1", backend="mqtt", port=9).connect()
