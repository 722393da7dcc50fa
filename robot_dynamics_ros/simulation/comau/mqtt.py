"""The MQTT side of the simulated LPC: the messages of the public LPC program."""

from __future__ import annotations

from collections.abc import Callable

from robot_dynamics_ros.drivers.comau import wire as wire
from robot_dynamics_ros.errors import CapabilityError, ConnectionFailed


class Publisher:
    """The MQTT side: three topics per cycle, trajectories back. Raises ConnectionFailed, CapabilityError."""

    def __init__(self, broker: str, on_trajectory: Callable[[bytes], None]) -> None:
        try:
            from paho.mqtt import client as mqtt
        except ImportError as error:
            raise CapabilityError(f"MQTT needs paho-mqtt: pip install 'robot_dynamics_ros[comau]' ({error})") from error
        host, _, port = broker.rpartition(":")
        self._client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
        self._client.on_connect = lambda client, *_: client.subscribe(wire.topic(1, wire.TRAJECTORY_TOPIC))
        self._inbox: list[bytes] = []
        self._client.on_message = lambda client, data, message: self._inbox.append(bytes(message.payload))
        self._on_trajectory = on_trajectory
        try:
            self._client.connect(host or "127.0.0.1", int(port), keepalive=5)
        except (OSError, ValueError) as error:
            raise ConnectionFailed(f"broker {broker}: {error}") from error
        self._client.loop_start()

    def publish(self, state: wire.State) -> None:
        """One state, and what came back since the last."""
        for payload in [self._inbox.pop(0) for _ in range(len(self._inbox))][-1:]:
            self._on_trajectory(payload)
        for name, block in wire.TOPIC_BLOCKS.items():
            self._client.publish(wire.topic(state.arm, name), wire.pack_json(getattr(state, block), state.time_us))

    def close(self) -> None:
        """Disconnect."""
        self._client.disconnect()
        self._client.loop_stop()
