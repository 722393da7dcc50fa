"""The Comau driver and the simulated LPC over UDP in one thread: each read of the driver is one cycle of the LPC."""

import math
import socket

import numpy as np
from stepping import answered, set_clocks

from robot_dynamics_ros.drivers import stream
from robot_dynamics_ros.drivers.comau import driver as comau
from robot_dynamics_ros.drivers.comau import link
from robot_dynamics_ros.drivers.factory import make_driver
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.comau import lpc

ROBOT = load_robot("comau_ns16")
HELLO = 100  # cycles


def free_udp_port():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class FaultyLpc(lpc.SimulatedLpc):
    """Of the next states, so many are swallowed, sent twice, swapped, damaged, of wrong axes, or far away."""

    def __init__(self, settings):
        self.faults, self._kept = dict.fromkeys(("swallow", "twice", "swap", "garbage", "axes", "jump"), 0), None
        super().__init__(settings)

    def _due(self, fault):
        self.faults[fault] -= (due := self.faults[fault] > 0)
        return due

    def _state(self):
        state = super()._state()
        if self._due("jump"):
            state.link = tuple(q + math.degrees(1.0) for q in state.link)
            turns = self._ratio / (2 * math.pi)
            state.rounds = (*(np.array(state.rounds[: self.n]) + turns), *state.rounds[self.n :])
        return state

    def outgoing(self, data):
        if self._due("swallow"):
            return []
        if self._due("garbage"):
            return [data[:100], b"", b"\xff" * len(data)]
        if self._due("axes"):
            return [data[:6] + (self.n + 1).to_bytes(2, "little") + data[8:]]
        if self._due("twice"):
            return [data, data]
        if self._kept is not None:
            kept, self._kept = self._kept, None
            return [data, kept]
        if self._due("swap"):
            self._kept = data
            return []
        return [data]


class Rig:
    """All clocks are the LPC's; `driver` is connected."""

    def __init__(self, monkeypatch, robot=ROBOT, rate=None, **options):
        port = free_udp_port()
        self.lpc = FaultyLpc(lpc.Settings(udp_port=port, rate=rate))
        set_clocks(monkeypatch, lambda: self.lpc.arm_server.time, stream, comau, link, lpc)
        self.driver = make_driver("comau", robot, "127.0.0.1", port=port, **options)
        self.link, self._read = self.driver._link, self.driver.read
        self.link.start, self.driver.read = self.link.open, self.read
        self.driver.connect()

    def send(self, count=1):
        """Cycles of the LPC; their states wait in the socket."""
        for _ in range(count):
            if self.lpc.sequence % HELLO == 0:
                self.link.hello()
            self.lpc.cycle()

    def read(self, timeout=0.0):
        self.send()
        self.link.receive()
        return self._read(0.0)

    def command(self, name, /, **fields):
        """A line of the LPC's control channel."""
        return answered(self.lpc.arm_server.control, name, fields)

    def close(self):
        self.driver.disconnect()
        self.lpc.close()
