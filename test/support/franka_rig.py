"""The Franka driver, its client's process and the simulated arm in lockstep: each read of the driver is one cycle.

The client's part runs in a thread that stands still between two reads; in place of the vendor's library is `Vendor`.
"""

import json
import threading
from collections import deque
from types import SimpleNamespace

import numpy as np
from stepping import answered, set_clocks

from robot_dynamics_ros.drivers import client, stream
from robot_dynamics_ros.drivers.child_process import encoded
from robot_dynamics_ros.drivers.factory import make_driver
from robot_dynamics_ros.drivers.franka import child, driver, process
from robot_dynamics_ros.drivers.franka.child import Child
from robot_dynamics_ros.drivers.franka.ring import SampleRing
from robot_dynamics_ros.drivers.franka.rows import VECTORS
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.franka.controller import RATE, START, PlantPhysics
from robot_dynamics_ros.simulation.server.arm import Arm
from robot_dynamics_ros.simulation.server.arm_server import ArmServer, Settings

ROBOT = load_robot("fr3")
IDLE, MOVE = 1, 2  # robot modes


class Vendor:
    """The calls of pylibfranka that the client's process makes, on our plant."""

    class ControlException(Exception): ...

    class CommandException(Exception): ...

    class InvalidOperationException(Exception): ...

    ControllerMode = SimpleNamespace(JointImpedance=0)
    JointPositions = Torques = staticmethod(lambda values: SimpleNamespace(values=values, motion_finished=False))

    def __init__(self, physics, turn):
        self.physics, self.turn, self.mode = physics, turn, IDLE
        self.load, self.thresholds, self.torque = 0.0, None, np.zeros(7)

    def read_once(self):
        self.turn()
        self.physics.request_cycle()
        found, reference = self.physics.get_robot_state(), self.physics._reference
        desired = {"q_d": reference.q, "dq_d": reference.qd, "ddq_d": reference.qdd}
        rates = {"control_command_success_rate": 1.0, "m_load": self.load, "robot_mode": self.mode}
        time = self.physics._server.time
        values = {name: np.asarray((found | desired)[name]).tolist() for name in VECTORS}
        return SimpleNamespace(time=SimpleNamespace(to_sec=lambda: time), **values, **rates)

    def start_joint_position_control(self, _):
        return self._control(self.physics._modes.POSITION, self.physics.update_joint_positions)

    def start_torque_control(self):
        return self._control(self.physics._modes.TORQUE, self._take_torque)

    def _take_torque(self, torque):
        self.torque = np.array(torque)
        self.physics.update_torques(torque)

    def _control(self, mode, take):
        self.mode = MOVE
        self.physics.set_control_mode(mode)

        def write(command):
            take(command.values)
            if command.motion_finished:
                self.mode = IDLE
                self.physics.set_control_mode(self.physics._modes.POSITION)

        return SimpleNamespace(readOnce=lambda: (self.read_once(), None), writeOnce=write)

    def set_load(self, mass, com, inertia):
        self.load = mass

    def set_collision_behavior(self, *thresholds):
        self.thresholds = thresholds

    def automatic_error_recovery(self):
        return None


class Rig:
    """`driver` is connected; `physics` is the simulated arm, `command` its control channel; all clocks are its own."""

    def __init__(self, monkeypatch):
        self.server = ArmServer(Settings(robot="fr3"), Arm(ROBOT, START, rate=RATE))
        set_clocks(monkeypatch, lambda: self.server.time, child, client, driver, process, stream)
        self.physics = PlantPhysics(self.server)
        self.driver = make_driver("franka", ROBOT, "nowhere", follow_host_clock=False)
        self.process, self._read, self.driver.read = self.driver._mover, self.driver.read, self.read
        self._go, self._waiting, self._over = threading.Semaphore(0), threading.Semaphore(0), False
        self._requests, self._parts = deque(), deque()
        self.process._ring = ring = SampleRing()
        self.process._pipe, self.process._outbox = SimpleNamespace(close=lambda: None), self
        served = Child(self, [], ring, ROBOT)
        self.vendor = served._vendor = served._robot = Vendor(self.physics, self._turn)
        self.error = None
        self._thread = threading.Thread(target=self._run, args=(served,), daemon=True)
        self._thread.start()
        self._waiting.acquire()

    # -- the driver ---------------------------------------------------------------------------------------------------
    def cycles(self, count):
        """States that nobody reads."""
        for _ in range(count):
            self._go.release()
            self._waiting.acquire()
            assert self.error is None, self.error

    def read(self, timeout=0.0):
        self.cycles(1)
        return self._read(0.0)

    def send(self, request, array=None):
        """The driver's outbox."""
        self._requests.append(encoded(request, array))

    def command(self, name, /, **fields):
        return answered(self.server.control, name, fields)

    def close(self):
        self._over = True
        self._go.release()
        self._thread.join()
        self.process._forget()
        self.server.hub.close()

    # -- the client's process -----------------------------------------------------------------------------------------
    def _run(self, served):
        try:
            served.run()
        except EOFError:
            pass
        except Exception as error:
            self.error = error
        self._waiting.release()

    def _turn(self):
        self._waiting.release()
        self._go.acquire()
        if self._over:
            raise EOFError

    def poll(self, timeout):
        return bool(self._parts or self._requests)

    def recv_bytes(self):
        if not self._parts:
            self._parts.extend(self._requests.popleft())
        return self._parts.popleft()

    def send_bytes(self, data):
        """A report of the client, as the driver's listening thread takes it."""
        report = {k: v for k, v in json.loads(data).items() if k not in ("rows", "columns")}
        self.process._hear(report.pop("event"), report)
