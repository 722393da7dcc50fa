"""Datagrams from and to the LPC: states into a queue, received in a thread of their own."""

from __future__ import annotations

import secrets
import select
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import NamedTuple

from robot_dynamics_ros.drivers.comau import wire
from robot_dynamics_ros.errors import ConnectionFailed, DataError
from robot_dynamics_ros.waiting import wait_until

PORT = 5005
QUEUE = 16384  # states: 6 s at 2.5 kHz
HELLO_PERIOD = 0.2  # s between the commands that keep the LPC sending
BATCH = 256  # datagrams taken at most before the newest is answered
RECEIVE_BUFFER = 4 << 20  # bytes requested
CONNECT_TIMEOUT = 5.0  # s


class Received(NamedTuple):
    """A state and when it arrived."""

    state: wire.State
    receive_ns: int  # host clock
    steady_ns: int


def _why(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


class UdpLink:
    """UDP version 2: the driver sends a hello, the LPC sends its states to its sender, with its session number."""

    def __init__(self, host: str, port: int, n_axes: int, arm: int) -> None:
        self._address, self._n_axes, self._arm = (host, port), n_axes, arm
        self._queue, self.overruns = SimpleQueue[Received](), 0  # states dropped because they were read too late
        self.malformed, self.last_error = 0, ""
        self.lost, self.reconnects = "", 0  # why no state can arrive, empty while they do; how often that ended
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
        if not wait_until(lambda: self.pending, CONNECT_TIMEOUT):
            self.stop()
            why = self.last_error or f"no state within {CONNECT_TIMEOUT:g} s, or it serves another client"
            raise ConnectionFailed(self.lost or self._no_state(why))

    def _no_state(self, why: str) -> str:
        return f"{self._address[0]}:{self._address[1]}: {why} (does the program on the LPC run?)"

    def open(self) -> None:
        """The socket alone; receive() then takes what came. Raises ConnectionFailed."""
        self._queue, self.last_error, self.lost = SimpleQueue(), "", ""  # nothing of an earlier connection
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER)
        try:
            self._socket.connect(self._address)
        except OSError as error:
            self._socket.close()
            raise ConnectionFailed(f"{self._address[0]}:{self._address[1]}: {_why(error)}") from error
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
            self.lost = self._no_state(_why(error))

    @property
    def pending(self) -> int:
        """States waiting."""
        return self._queue.qsize()

    def get(self, timeout: float) -> Received | None:
        """The oldest state, or None after `timeout` [s]."""
        with suppress(Empty):  # in Python 3.10 a wait of 0.0 s at an empty queue may never end
            return self._queue.get(timeout > 0.0, timeout)
        return None

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
                self.lost = self._no_state(_why(error))
                time.sleep(0.02)
                break
            try:
                state = wire.unpack_state(data, self._n_axes)
            except DataError as error:
                self.malformed, self.last_error = self.malformed + 1, str(error)
                continue
            if state.session != self._session:
                self.malformed, self.last_error = self.malformed + 1, "a state of another session"
            elif state.arm == self._arm:
                batch.append(Received(state, time.time_ns(), time.monotonic_ns()))
        if batch:
            self.reconnects += bool(self.lost and self.received_ns)
            self.lost = self.last_error = ""
            self.received_ns = batch[-1].steady_ns
            if self.on_state is not None:
                self.on_state(batch[-1].state)  # one answer, to the newest: late states must not become a leap
            for received in batch:
                self._queue.put(received)
            while self.pending > QUEUE and self.get(0.0):
                self.overruns += 1
