"""The RTDE server: one small state machine per client over non-blocking sockets."""

from __future__ import annotations

import math
import socket
import struct
from collections.abc import Callable
from typing import Any

from robot_dynamics_ros.simulation.server.sockets import Connection
from robot_dynamics_ros.simulation.ur import rtde_wire as wire

CONTROLLER_RATE = 500.0  # Hz, e-Series
PROTOCOL = b"\x00\x02"  # the version spoken
MAX_BACKLOG = 64 * 1024  # bytes waiting for a slow client before packages are skipped


class RtdeClient:
    """One connection: negotiated protocol, recipes, and whether data flows."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.reader = wire.PacketReader()
        self.outputs: list[tuple[wire.Recipe, int]] = []  # recipe, ticks between packages
        self.inputs: list[wire.Recipe] = []
        self.owned: set[str] = set()  # input variables
        self.started = False
        self.skipped = 0


class RtdeServer:
    """Answers setup requests, writes accepted inputs through `write_inputs`, and publishes outputs every tick."""

    def __init__(self, version: wire.Version, write_inputs: Callable[[dict[str, tuple[Any, ...]]], None]) -> None:
        self.version = version
        self.clients: dict[socket.socket, RtdeClient] = {}
        self._write_inputs = write_inputs
        self._answer = {
            wire.PROTOCOL_VERSION: lambda client, payload: bytes([payload[:2] == PROTOCOL]),
            wire.CONTROLLER_VERSION: lambda client, payload: struct.pack(">4I", *self.version),
            wire.SETUP_OUTPUTS: self._setup_outputs,
            wire.SETUP_INPUTS: self._setup_inputs,
            wire.START: self._start,
            wire.PAUSE: self._pause,
            wire.DATA: self._data,
            wire.TEXT_MESSAGE: lambda client, payload: None,
        }

    # -- what the process main loop calls -------------------------------------------------------------------------
    def opened(self, connection: Connection) -> None:
        """A client has connected."""
        self.clients[connection.socket] = RtdeClient(connection)

    def received(self, connection: Connection, data: bytes) -> None:
        """Bytes of a client: answer every complete packet; nonsense closes that connection only."""
        client = self.clients[connection.socket]
        try:
            for kind, payload in client.reader.feed(data):
                self._packet(client, kind, payload)
        except wire.ProtocolError as error:
            client.connection.send(wire.pack_text(str(error)))
            client.connection.close()

    def closed(self, connection: Connection) -> None:
        """A client has gone; the variables it owned are free, their values stay."""
        self.clients.pop(connection.socket, None)

    @property
    def has_writer(self) -> bool:
        """True while a client owns inputs."""
        return any(client.owned for client in self.clients.values())

    @property
    def wanted(self) -> set[str]:
        """Outputs that a client has asked for."""
        return {name for client in self.clients.values() for recipe, _ in client.outputs for name in recipe.names}

    def publish(self, tick: int, values: dict[str, tuple[Any, ...]]) -> None:
        """Send this tick's data packages; a client that does not read them in time has its packages skipped."""
        for client in list(self.clients.values()):
            for recipe, period in client.outputs if client.started else ():
                if tick % period:
                    continue
                if client.connection.backlog > MAX_BACKLOG:
                    client.skipped += 1
                    continue
                client.connection.send(recipe.pack(values))

    # -- one method per packet type -------------------------------------------------------------------------------
    def _packet(self, client: RtdeClient, kind: int, payload: bytes) -> None:
        answer = self._answer.get(kind)
        if answer is None:
            text = f"unknown packet type {kind}"
            client.connection.send(wire.pack_text(text, level=2) if client.started else b"")
            return
        reply = answer(client, payload)
        if reply is not None:
            client.connection.send(wire.pack_packet(kind, reply))

    def _setup_outputs(self, client: RtdeClient, payload: bytes) -> bytes:
        if len(payload) < 8:
            return b"\x00"
        frequency, names = struct.unpack_from(">d", payload)[0], wire.split_names(payload[8:])
        types = [wire.OUTPUTS[name] if self._offers(name) else "NOT_FOUND" for name in names]
        text = ",".join(types).encode()
        valid = bool(names) and "NOT_FOUND" not in types and 1.0 <= frequency <= CONTROLLER_RATE
        if not valid or len(client.outputs) >= 255:
            return b"\x00" + text
        recipe = wire.Recipe(len(client.outputs) + 1, names, wire.OUTPUTS)
        client.outputs.append((recipe, max(1, math.ceil(CONTROLLER_RATE / frequency - 1e-9))))
        return bytes([recipe.identifier]) + text

    def _offers(self, name: str) -> bool:
        return name in wire.OUTPUTS and self.version >= wire.INTRODUCED.get(name, (0, 0))

    def _setup_inputs(self, client: RtdeClient, payload: bytes) -> bytes:
        names = wire.split_names(payload)
        types = [self._input_type(client, name) for name in names]
        refused = not names or "NOT_FOUND" in types or "IN_USE" in types or len(client.inputs) >= 255
        if not refused:
            client.inputs.append(wire.Recipe(len(client.inputs) + 1, names, wire.INPUTS))
            client.owned.update(names)
        return bytes([0 if refused else len(client.inputs)]) + ",".join(types).encode()

    def _input_type(self, client: RtdeClient, name: str) -> str:
        if name not in wire.INPUTS:
            return "NOT_FOUND"
        others = (other for other in self.clients.values() if other is not client)
        return "IN_USE" if any(name in other.owned for other in others) else wire.INPUTS[name]

    def _start(self, client: RtdeClient, payload: bytes) -> bytes:
        client.started = bool(client.outputs or client.inputs)
        return bytes([client.started])

    def _pause(self, client: RtdeClient, payload: bytes) -> bytes:
        client.started = False
        return b"\x01"

    def _data(self, client: RtdeClient, payload: bytes) -> None:
        if payload and 1 <= payload[0] <= len(client.inputs):
            self._write_inputs(client.inputs[payload[0] - 1].unpack(payload[1:]))
