"""What the tests of the simulated UR controller share: a ur_rtde clients in processes of their own, raw RTDE."""

import json
import socket
import struct
import subprocess
import sys
import textwrap

import pytest

from robot_dynamics_ros.simulation.server.launcher import SimulatedUR

PRELUDE = """
import json, sys, time
import numpy as np
import rtde_control, rtde_receive
host = sys.argv[1]
"""


def _ur_rtde(code: str, host: str) -> dict:
    """Run code with the unmodified ur_rtde interfaces; it leaves its findings in `result`."""
    code = PRELUDE + "result = {}\n" + textwrap.dedent(code) + "\nprint(json.dumps(result), flush=True)\n"
    done = subprocess.run([sys.executable, "-c", code, host], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.strip().splitlines()[-1])


@pytest.fixture(scope="session")
def ur_rtde():
    """Run client code in a subprocess: ur_rtde(code, host) -> its `result`."""
    return _ur_rtde


class RawRtde:
    """A hand-written RTDE client, independent of the server's own packing."""

    CODES = {"DOUBLE": ">d", "VECTOR6D": ">6d", "UINT32": ">I", "INT32": ">i", "UINT64": ">Q", "VECTOR3D": ">3d"}

    def __init__(self, host: str, port: int = 30004, protocol: int = 2):
        self.socket = socket.create_connection((host, port), 10)
        self.buffer = b""
        self.protocol = protocol
        if protocol:
            assert self.ask("V", struct.pack(">H", protocol)) == b"\x01"

    def send(self, kind: str, payload: bytes = b"") -> None:
        self.socket.sendall(struct.pack(">HB", 3 + len(payload), ord(kind)) + payload)

    def receive(self) -> tuple[str, bytes]:
        while len(self.buffer) < 3 or len(self.buffer) < struct.unpack_from(">H", self.buffer)[0]:
            data = self.socket.recv(65536)
            if not data:
                raise ConnectionError("closed")
            self.buffer += data
        size, kind = struct.unpack_from(">HB", self.buffer)
        payload, self.buffer = self.buffer[3:size], self.buffer[size:]
        return chr(kind), payload

    def ask(self, kind: str, payload: bytes = b"") -> bytes:
        self.send(kind, payload)
        while True:
            answer, body = self.receive()
            if answer == kind:
                return body

    def outputs(self, names: str, frequency: float = 500.0) -> bytes:
        return self.ask("O", (struct.pack(">d", frequency) if self.protocol == 2 else b"") + names.encode())

    def start(self, names: str, frequency: float = 500.0) -> None:
        self.types = self.outputs(names, frequency)[1:].decode().split(",")
        self.names = [name for name in names.split(",") if name]
        assert self.ask("S") == b"\x01"

    def sample(self) -> dict:
        """Next data package as name -> value or list."""
        kind, body = self.receive()
        while kind != "U":
            kind, body = self.receive()
        offset, values = 1, {}
        for name, code in zip(self.names, (self.CODES[t] for t in self.types), strict=True):
            found = struct.unpack_from(code, body, offset)
            values[name] = found[0] if len(found) == 1 else list(found)
            offset += struct.calcsize(code)
        assert offset == len(body)
        return values

    def samples(self, count: int) -> list[dict]:
        return [self.sample() for _ in range(count)]

    def close(self) -> None:
        self.socket.close()


@pytest.fixture
def raw_rtde():
    """Open raw RTDE clients that are closed with the test: raw_rtde(host, ...)."""
    opened = []

    def connect(*args, **options):
        opened.append(RawRtde(*args, **options))
        return opened[-1]

    yield connect
    for client in opened:
        client.close()


@pytest.fixture(scope="module")
def ur():
    with SimulatedUR() as running:
        yield running
