"""The vendor's control client on a simulated UR in one thread: whatever it waits for are cycles of the controller."""

import json
from collections import deque

import numpy as np
from stepping import step_until

from robot_dynamics_ros.drivers.child_process import encoded
from robot_dynamics_ros.simulation.ur.arm import DT, Arm
from robot_dynamics_ros.simulation.ur.commands import COMMANDS, load_program
from robot_dynamics_ros.simulation.ur.controller import Controller, RuntimeState

SCRIPT = """def rtde_control():
    def process_cmd(cmd):
        elif cmd == 1:
            movej(q_from_input_float_registers(0))
    end
end
"""


class Session:
    """A controller with the control script running, and the client's side of the register handshake."""

    def __init__(self, robot="ur5e"):
        self.controller = Controller(Arm(robot), load_program)
        self.controller.upload(SCRIPT)
        self.until(lambda: self.out(0) == 1)

    def out(self, index: int) -> int:
        return self.controller.registers.values[f"output_int_register_{index}"][0]

    def write(self, identifier, doubles=(), integers=()):
        values = {f"input_double_register_{i}": (float(v),) for i, v in enumerate(doubles)}
        values |= {f"input_int_register_{i + 1}": (int(v),) for i, v in enumerate(integers)}
        self.controller.write_inputs(values | {"input_int_register_0": (identifier,)})

    def step(self, cycles=1):
        for _ in range(cycles):
            self.controller.step()

    def torque(self, torque, cycles):
        for _ in range(cycles):
            self.controller.command_torque(np.array(torque, float), np.zeros(6), np.zeros(6))
            self.controller.step()

    def until(self, condition, limit=20_000):
        step_until(condition, self.controller.step, self.controller, limit)

    def do(self, identifier, doubles=(), integers=()):
        """A command as ur_rtde sends it: wait for ready, write, wait for done, clear; real-time ones only write."""
        self.until(lambda: self.out(0) == 1)
        self.write(identifier, doubles, integers)
        if COMMANDS[identifier].realtime:
            return self.step(3)
        self.until(lambda: self.out(0) == 2 or self.controller.program is None)
        self.write(0)
        self.step()


class Client:
    """As much of ur_rtde's control interface as the driver uses; it waits and refuses as that does."""

    def __init__(self, session):
        self.session, self.controller, self.calls = session, session.controller, []

    def send(self, identifier, doubles=(), integers=()):
        session = self.session
        if not self.isProgramRunning():
            session.write(0)
            return False
        session.until(lambda: session.out(0) == 1 or not self.isProgramRunning())
        session.write(identifier, doubles, integers)
        session.step()
        if not COMMANDS[identifier].realtime:
            session.until(lambda: session.out(0) == 2 or not self.isProgramRunning())
            session.write(0)
        return self.isProgramRunning()

    def isProgramRunning(self):
        return self.controller.runtime_state == RuntimeState.PLAYING

    def reuploadScript(self):
        self.calls.append("upload")
        self.controller.upload(SCRIPT)
        return True

    def kickWatchdog(self):
        self.session.write(0)
        return self.isProgramRunning()

    def setWatchdog(self, frequency):
        return self.send(35, [frequency])

    def moveJ(self, q, speed, acceleration, asynchronous):
        return self.send(1, [*q, speed, acceleration], [int(asynchronous)])

    def getAsyncOperationProgress(self):
        status = self.session.out(2)
        return status & 0x7FFF if status >> 15 & 1 else -1

    def servoJ(self, q, speed, acceleration, period, lookahead, gain):
        self.session.write(11, [*q, speed, acceleration, period, lookahead, gain])
        return True  # also without a program, as the vendor's

    def servoStop(self, deceleration):
        return self.send(16, [deceleration])

    def stopJ(self, deceleration):
        return self.send(34, [deceleration], [0])

    def setTargetPayload(self, *load):
        self.calls.append(load)
        return self.isProgramRunning()

    def stopScript(self):
        self.session.write(255)
        self.session.until(lambda: not self.isProgramRunning())

    def disconnect(self):
        self.calls.append("disconnect")


class Pipe:
    """The child's end of the pipe to the driver: requests come at their controller time, waiting for one is cycles."""

    def __init__(self, session):
        self.session, self._requests, self._parts, self.reports = session, deque(), deque(), []
        self.where = lambda first: {"do": "go"}  # the driver's answer to a stream that is about to begin at first (6,)

    def at(self, time, request=None, array=None):
        """A request at a controller time [s], None: the driver ends. To be given in the order of their times."""
        self._requests.append((time, None if request is None else encoded(request, array)))

    def poll(self, timeout=0.0):
        for _ in range(round(timeout / DT)):
            if self._due():
                return True
            self.session.step()
        return self._due()

    def _due(self):
        assert self.session.controller.time < 60.0, "the driver of the test never ends"
        return bool(self._parts or self._requests and self._requests[0][0] <= self.session.controller.time)

    def recv_bytes(self):
        if not self._parts:
            while not self._due():
                self.session.step()
            self._parts.extend(self._requests.popleft()[1] or ())
        if not self._parts:
            raise EOFError
        return self._parts.popleft()

    def send_bytes(self, data):
        report = json.loads(data)
        if report["event"] == "begins":
            self._requests.appendleft((0.0, encoded(self.where(report["first"]))))
        else:
            self.reports.append(report)

    @property
    def states(self):
        """States of the motion that were reported, each once."""
        states = [report["state"] for report in self.reports if report["event"] == "motion"]
        return [state for k, state in enumerate(states) if states[k - 1 : k] != [state]]
