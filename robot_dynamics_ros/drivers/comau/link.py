"""The two transports to the LPC, UDP datagrams and MQTT: states into a queue, received in a thread of their own."""

from __future__ import annotations

import secrets
import select
import socket
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from robot_dynamics_ros.drivers.comau import wire as wire
from robot_dynamics_ros.drivers.comau.login import ANONYMOUS, Login, enter
from robot_dynamics_ros.errors import CapabilityError, ConnectionFailed, DataError

QUEUE = 16384  # states: 6 s at 2.5 kHz
HELLO_PERIOD = 0.2  # s between the commands that keep the LPC sending
BATCH = 256  # datagrams taken at most before they are announced
RECEIVE_BUFFER = 4 << 20  # bytes requested
MAX_INCOMPLETE = 8  # time stamps whose MQTT messages are waited for
CONNECT_TIMEOUT = 5.0  # s
RESTART_US = 1_000_000  # a message this much older than the newest is of a clock that began again


class Received(NamedTuple):
    """A state and when it arrived."""

    state: wire.State
    receive_ns: int  # host clock
    steady_ns: int


class Queue:
    """States in order of arrival; what is not read in time is dropped and counted."""

    def __init__(self) -> None:
        self._items: deque[Received] = deque()
        self._news = threading.Condition()
        self.overruns = 0

    def put(self, items: list[Received]) -> None:
        """Append a batch."""
        with self._news:
            self._items.extend(items)
            while len(self._items) > QUEUE:
                self._items.popleft()
                self.overruns += 1
            self._news.notify()

    def get(self, timeout: float) -> Received | None:
        """The oldest, or None after `timeout` [s]."""
        with self._news:
            if not self._items:
                self._news.wait(timeout)
            return self._items.popleft() if self._items else None

    @property
    def pending(self) -> int:
        """States waiting."""
        return len(self._items)


class UdpLink:
    """UDP version 2: the driver sends a hello, the LPC sends its states to its sender, with its session number.

    Raises CapabilityError for a login, which belongs to MQTT.
    """

    incomplete = 0  # every datagram is a whole state

    def __init__(self, host: str, port: int, n_axes: int, arm: int, login: Login = ANONYMOUS) -> None:
        if login != ANONYMOUS:
            raise CapabilityError("user, password and TLS are those of an MQTT broker: set backend to mqtt")
        self._address, self._n_axes, self._arm = (host, port), n_axes, arm
        self.queue, self.malformed, self.last_error = Queue(), 0, ""
        self.received_ns = 0  # steady time of the newest state
        self.on_state: Callable[[wire.State], None] | None = None
        self._sequence, self._session = 0, secrets.randbits(32)
        self._running = False
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Say hello and wait for the first state. Raises ConnectionFailed."""
        self.open()
        self._running = True
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        until = time.monotonic() + CONNECT_TIMEOUT
        while not self.queue.pending and time.monotonic() < until:
            time.sleep(0.005)
        if not self.queue.pending:
            self.stop()
            reason = self.last_error or "no state within 5 s"
            raise ConnectionFailed(f"{self._address[0]}:{self._address[1]}: {reason}")

    def open(self) -> None:
        """The socket alone; receive() then takes what came. Raises ConnectionFailed."""
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
        try:
            self._socket.connect(self._address)
        except OSError as error:
            raise ConnectionFailed(f"{self._address[0]}:{self._address[1]}: {error}") from error
        self._socket.setblocking(False)

    def stop(self) -> None:
        """End the thread, close the socket."""
        self._running = False
        if self._thread is not None:
            self._thread.join()
            self._thread = None
        self._socket.close()

    def hello(self) -> None:
        """Ask the LPC to go on sending states to this socket."""
        self.send(wire.Command(0, modality=wire.LISTEN))

    def send(self, command: wire.Command) -> None:
        """Send a command; one that does not fit is lost, the LPC's watchdog counts it."""
        self._sequence += 1
        command.sequence, command.session = self._sequence, self._session
        try:
            self._socket.send(wire.pack_command(command, self._n_axes))
        except OSError as error:
            self.last_error = str(error)

    def _run(self) -> None:
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        hello = 0.0
        while self._running:
            if time.monotonic() - hello > HELLO_PERIOD:
                hello = time.monotonic()
                self.hello()
            if poll.poll(50):
                self.receive()

    def receive(self) -> None:
        """Everything that waits, as one batch."""
        batch: list[Received] = []
        while len(batch) < BATCH:
            try:
                data = self._socket.recv(2048)
            except BlockingIOError:
                break
            except OSError as error:  # no receiver there: the next hello tries again
                self.last_error = str(error)
                time.sleep(0.02)
                break
            try:
                state = wire.unpack_state(data, self._n_axes)
                if state.session != self._session:
                    raise DataError("a state of another session")
            except DataError as error:
                self.malformed, self.last_error = self.malformed + 1, str(error)
                continue
            if state.arm == self._arm:
                batch.append(Received(state, time.time_ns(), time.monotonic_ns()))
        if batch:
            self.received_ns = batch[-1].steady_ns
            if self.on_state is not None:
                self.on_state(batch[-1].state)  # one answer, to the newest: late states must not become a leap
            self.queue.put(batch)


class MqttLink:
    """The public LPC program's messages: separate topics, joined where their time is equal."""

    def __init__(self, host: str, port: int, n_axes: int, arm: int, login: Login = ANONYMOUS) -> None:
        self._address, self._arm, self._login = (host, port), arm, login
        self.queue, self.malformed, self.incomplete, self.last_error = Queue(), 0, 0, ""
        self.received_ns = 0  # steady time of the newest state
        self.on_state: Callable[[wire.State], None] | None = None
        self._open: dict[int, dict[str, Any]] = {}  # time -> block of the state -> its values
        self._newest = -1
        self._sequence = 0
        self._client: Any = None
        self._refused = ""  # why the broker did not let us in
        self._unanswered: set[int] = set()  # subscriptions on their way
        self._up = threading.Event()

    def start(self) -> None:
        """Connect to the broker and wait until our subscriptions stand. Raises ConnectionFailed, CapabilityError."""
        try:
            from paho.mqtt import client as mqtt
        except ImportError as error:
            raise CapabilityError(f"MQTT needs paho-mqtt ({error}): pip install 'robot_dynamics_ros[comau]'") from error
        self._client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
        self._client.on_connect, self._client.on_disconnect = self._connected, self._lost
        self._client.on_subscribe, self._client.on_message = self._subscribed, self._message
        self._client.reconnect_delay_set(1, 4)
        enter(self._client, self._login)
        try:
            self._client.connect(*self._address, keepalive=5)
        except OSError as error:
            raise ConnectionFailed(f"broker {self._address[0]}:{self._address[1]}: {error}") from error
        self._client.loop_start()
        if not self._up.wait(CONNECT_TIMEOUT) or self._refused:
            self.stop()
            raise ConnectionFailed(self.last_error or f"broker {self._address[0]}:{self._address[1]}: no answer")

    def stop(self) -> None:
        """Disconnect and end the client's thread."""
        if self._client is not None:
            self._client.disconnect()
            self._client.loop_stop()
            self._client = None

    def send(self, command: wire.Command) -> None:
        """Positions of all ten axes as the public program takes them."""
        if self._client is not None and command.modality != wire.LISTEN:
            payload = wire.pack_json(command.position, time.time_ns() // 1000)
            self._client.publish(wire.topic(self._arm, wire.TRAJECTORY_TOPIC), payload, qos=0)

    def _connected(self, client: Any, _data: Any, _flags: Any, reason: Any, _properties: Any) -> None:
        self._refused = f"broker {self._address[0]}:{self._address[1]}: {reason}" if reason.is_failure else ""
        if self._refused:
            self.last_error = self._refused
            self._up.set()  # nobody waits for a broker that has answered
            return
        self._unanswered = {client.subscribe(wire.topic(self._arm, name), qos=0)[1] for name in wire.TOPIC_BLOCKS}

    def _subscribed(self, _client: Any, _data: Any, number: int, reasons: Any, _properties: Any) -> None:
        """Only now the broker passes messages on."""
        self._unanswered.discard(number)
        if any(reason.is_failure for reason in reasons):
            self.last_error = f"broker {self._address[0]}:{self._address[1]}: {reasons[0]}"
        elif not self._unanswered:
            self.last_error = ""
            self._up.set()

    def _lost(self, _client: Any, _data: Any, _flags: Any, reason: Any, _properties: Any) -> None:
        self.last_error = self._refused or f"broker {self._address[0]}:{self._address[1]}: {reason}"

    def _message(self, _client: Any, _data: Any, message: Any) -> None:
        if message.retain:  # an old value the broker kept: no measurement of now
            self.malformed += 1
            return
        try:
            values, time_us = wire.unpack_json(message.payload)
        except DataError as error:
            self.malformed, self.last_error = self.malformed + 1, f"{message.topic}: {error}"
            return
        block = wire.TOPIC_BLOCKS.get(message.topic.rpartition("/")[2])
        if block is not None:
            self._join(block, values, time_us)

    def _join(self, block: str, values: tuple[float, ...], time_us: int) -> None:
        if time_us < self._newest - RESTART_US:  # the clock began again, or the newest was not of it
            self._newest = -1
            self._open.clear()
        if time_us <= self._newest:
            self.malformed += 1  # belongs to a state that was passed on, or is older
            return
        blocks = self._open.setdefault(time_us, {})
        blocks[block] = values
        if len(blocks) == len(wire.TOPIC_BLOCKS):
            self._deliver(time_us)
        elif len(self._open) > MAX_INCOMPLETE:
            self.incomplete += 1
            del self._open[min(self._open)]

    def _deliver(self, time_us: int) -> None:
        blocks = self._open.pop(time_us)
        older = [t for t in self._open if t < time_us]
        self.incomplete += len(older)
        for t in older:
            del self._open[t]
        self._newest = time_us
        self._sequence += 1
        state = wire.State(self._sequence, time_us, **blocks, arm=self._arm)
        self.received_ns = time.monotonic_ns()
        self.queue.put([Received(state, time.time_ns(), self.received_ns)])
        if self.on_state is not None:
            self.on_state(state)


LINKS: dict[str, Any] = {"udp": UdpLink, "mqtt": MqttLink}
PORTS = {"udp": 5005, "mqtt": 1883}
TLS_PORT = 8883
