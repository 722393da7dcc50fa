"""The simulated UR controller in the test's own thread: it advances when the test says so, and no socket is between.

Its protocols are spoken by hand, so that the server's own packing proves nothing to itself.
"""

import json
import struct

import numpy as np
from stepping import answered, step_until

from robot_dynamics_ros.simulation.ur.process import ControllerProcess


class Pipe:
    """A client's connection to a server of the process; what the server sends waits in `data`."""

    def __init__(self, server):
        self.socket, self.server, self.open, self.backlog, self.data = object(), server, True, 0, bytearray()
        server.opened(self)

    def send(self, data):
        self.data += data

    def close(self):
        if self.open:
            self.open = False
            self.server.closed(self)

    def lines(self):
        """Complete lines that have come since the last call."""
        *complete, rest = self.data.split(b"\n")
        self.data[:] = rest
        return [line.decode() for line in complete]


class Rig:
    """A controller process without its loop."""

    def __init__(self, process=ControllerProcess, **settings):
        ports = {"rtde_port": 0, "dashboard_port": 0, "script_port": 0}
        self.process = process(process.settings_type(**(ports | settings)))
        self.controller = self.process.controller
        self.process.signals.update()

    def cycles(self, count):
        for _ in range(count):
            self.process.cycle()

    def until(self, condition, limit=20_000):
        step_until(condition, self.process.cycle, self.controller, limit)

    def command(self, name, /, **fields):
        """A line of the control channel. Raises RobotDynamicsError for what it refuses."""
        return answered(self.process.control, name, fields)

    @property
    def state(self):
        return self.command("state")

    def talk(self, server, text):
        """Lines that a server answers, its greeting first."""
        pipe = Pipe(self.process.servers[server][1])
        pipe.server.received(pipe, text.encode())
        return pipe.lines()

    def truth(self, count):
        """The next records of the truth channel."""
        pipe = Pipe(self.process.truth)
        self.cycles(count)
        pipe.close()
        return [json.loads(line) for line in pipe.lines()]

    def rtde(self, outputs="", frequency=500.0):
        client = RawRtde(self.process)
        if outputs:
            client.start(outputs, frequency)
        return client


class RawRtde:
    """An RTDE client written by hand; reading a package that is not there yet advances the controller."""

    CODES = {"DOUBLE": ">d", "VECTOR6D": ">6d", "UINT32": ">I", "INT32": ">i", "UINT64": ">Q", "VECTOR3D": ">3d"}

    def __init__(self, process):
        self.process = process
        self.pipe = Pipe(process.rtde)
        assert self.ask("V", b"\x00\x02") == b"\x01"

    def send(self, kind, payload=b""):
        self.process.rtde.received(self.pipe, struct.pack(">HB", 3 + len(payload), ord(kind)) + payload)

    def receive(self, cycles=2000):
        for _ in range(cycles):
            data = self.pipe.data
            if len(data) >= 3 and len(data) >= (size := struct.unpack_from(">H", data)[0]):
                kind, body = chr(data[2]), bytes(data[3:size])
                del data[:size]
                return kind, body
            assert self.pipe.open, "closed"
            self.process.cycle()
        raise AssertionError(f"no package in {cycles} cycles")

    def ask(self, kind, payload=b""):
        self.send(kind, payload)
        while True:
            answer, body = self.receive(1)
            if answer == kind:
                return body

    def outputs(self, names, frequency=500.0):
        return self.ask("O", struct.pack(">d", frequency) + names.encode())

    def start(self, names, frequency=500.0):
        self.types = self.outputs(names, frequency)[1:].decode().split(",")
        self.names = names.split(",")
        assert self.ask("S") == b"\x01"

    def sample(self):
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

    def samples(self, count):
        return [self.sample() for _ in range(count)]

    def latest(self):
        """The sample of the next cycle; what waits is thrown away."""
        self.pipe.data.clear()
        return self.sample()

    def until(self, condition, limit=2000):
        """The first sample that meets the condition."""
        for sample in (self.sample() for _ in range(limit)):
            if condition(sample):
                return sample
        raise AssertionError("no such sample")


def steps(samples):
    """Timestamp differences in cycles."""
    return np.round(np.diff([sample["timestamp"] for sample in samples]) / 0.002, 3)
