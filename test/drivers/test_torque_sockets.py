"""Torque with adaptive feedforward over a real socket that fails: it ends at zero, stays off, and one line says why.

The controller is a simulated arm behind a scripted RTDE server; its time goes on only with the states the test sends.
"""

import struct

import numpy as np
import pytest
from driver_waits import happens
from scripted_rtde import SETTLE

from robot_dynamics_ros._core import EnableResult, GuardReason, GuardState, TorqueMode, TorqueTrajectory
from robot_dynamics_ros.control.torque import torque_loop
from robot_dynamics_ros.drivers.guard import guard_limits
from robot_dynamics_ros.drivers.ur.driver import UrDriver
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.trajectories.smooth import through

ROBOT = load_robot("ur5e").with_updates({"payload.mass": 0.0, "payload.com": [0.0, 0.0, 0.0]})
START = np.array([0.0, -1.5, 1.5, -1.5, -1.5, 0.0])
LATCHED = (GuardState.safe, GuardState.fault)
LIVE = (GuardState.ok, GuardState.degraded)
LIMITS = guard_limits(ROBOT)


class Arm:
    """The simulated arm, its server, and our driver with its loop; `sent` is what the driver has written to it."""

    def __init__(self, server):
        self.server, self.sim = server, SimulatedRobot(ROBOT, q=START)
        self.driver = UrDriver(
            ROBOT, "127.0.0.1", server.port, torque=True, follow_host_clock=False, timeout=60.0, silence=60.0
        )
        # a second of this machine is 50 ms of the robot: a busy machine is not late, and a silence of 2 s is one
        self.loop = torque_loop(ROBOT, LIMITS, {"time_scale": 0.05, "adaptation_time": 1.0})
        self.driver.attach(self.loop)
        self.driver.connect()
        self.time, self.torque, self.sent = 0.0, None, []

    def state(self):
        """Bytes of the robot's next state."""
        self.time += 0.002
        r = self.sim.step_position(START) if self.torque is None else self.sim.step_torque(self.torque)
        values = {"actual_q": r.q, "actual_qd": r.qd, "actual_current": r.current, "joint_temperatures": r.temperature}
        return self.server.package(self.time, **values, target_qd=r.qd)

    def deliver(self, data):
        """Send bytes that complete a state; what the loop answers to it."""
        self.server.send_bytes(data)
        found = []
        happens(lambda: found.append(self.driver.read(0.05)) or found[-1] is not None)
        self.driver.take_records()
        record = self.driver.records[-1]
        self.torque = np.array(record.torque) if record.run else None
        return record

    def cycles(self, count):
        return [self.deliver(self.state()) for _ in range(count)]

    def move(self):
        """In motion by torque, with friction fed forward and learned."""
        for _ in range(SETTLE - 1):
            self.server.send_bytes(self.state())
        self.cycles(5)
        path = through(np.vstack([START, START + 0.25, START - 0.25, START]), velocity=0.8, acceleration=2.0)
        self.loop.enable(TorqueMode.track, TorqueTrajectory(path.q, path.qd, path.qdd, 500.0, True))
        self.cycles(400)
        assert self.loop.enabled == EnableResult.done and self.loop.state == GuardState.ok, self.loop.reason
        assert np.abs(self.torque).max() > 1.0 and np.abs(self.driver.records[-1].friction).max() > 0.5

    def written(self):
        """Torques (N, 6) and run flags (N,) of the packages that have arrived at the controller since the last call."""
        packages = [self.server.inputs.get() for _ in range(self.server.inputs.qsize())]
        assert {len(p) for p in packages} <= {57} and {p[0] for p in packages} <= {1}
        rows = np.array([struct.unpack(">ii6d", p[1:]) for p in packages]).reshape(-1, 8)
        return rows[:, 2:], rows[:, 1]

    def ended(self):
        """Wait until the guard has ended the torque; every package until then is a ramp to zero."""
        happens(lambda: self.loop.state in LATCHED and not self.loop.running)
        torque, _ = self.written()
        assert (np.abs(torque) <= LIMITS.torque).all()
        assert self.loop.reason == GuardReason.state_gap

    def stays_off(self):
        """States come again: no torque leaves until somebody re-arms, and then it does."""
        self.torque = None
        assert not any(record.run or any(record.torque) for record in self.cycles(2 * SETTLE)[SETTLE:])
        self.loop.rearm()
        self.cycles(3)
        assert self.loop.state == GuardState.idle
        self.loop.enable(TorqueMode.guide)
        self.cycles(3)
        assert self.loop.state == GuardState.ok, (self.loop.enabled, self.loop.reason)


@pytest.fixture
def arm(server):
    made = Arm(server())
    made.move()
    yield made
    made.driver.disconnect()


def resume(arm):
    """The connection is there again; the clock map listens to the first states."""
    arm.server.started.wait()
    arm.torque = None
    for _ in range(SETTLE - 1):
        arm.server.send_bytes(arm.state())


@pytest.mark.parametrize("part", [0, 1, 100], ids=["between states", "after a byte", "within a state"])
def test_a_connection_that_is_cut_ends_torque_at_once(arm, part):
    arm.server.started.clear()
    arm.server.send_bytes(arm.state()[:part])
    arm.server.drop_client()
    arm.ended()
    assert arm.loop.state == GuardState.fault and arm.driver.last_error.endswith("connection closed by the controller")
    arm.driver.take_records()
    assert not any(arm.driver.records[-1].torque)
    resume(arm)
    arm.stays_off()


@pytest.mark.parametrize("part", [0, 1, 100], ids=["between states", "after a byte", "within a state"])
def test_a_controller_that_falls_silent_gets_a_ramp_to_zero(arm, part):
    last, late = arm.torque, arm.state()
    arm.server.send_bytes(late[:part])
    torques = []
    happens(lambda: torques.append(arm.written()) or (len(torques[-1][1]) and torques[-1][1][-1] == 0))
    torque, run = (np.concatenate(rows) for rows in zip(*torques, strict=True))
    arm.ended()
    torque = torque[np.flatnonzero((torque == last).all(axis=1))[0] :]
    size = np.abs(torque)
    assert not torque[-1].any() and run[-1] == 0 and size[0].max() > 1.0
    assert (np.diff(size, axis=0) <= 1e-9).all() and (
        np.abs(np.diff(torque, axis=0)) <= LIMITS.torque_rate * 0.02
    ).all()
    record = arm.deliver(late[part:])  # its rest
    assert not record.run and not any(record.torque)
    arm.stays_off()


def test_states_that_come_late_in_a_burst_bring_no_torque_back(arm):
    waiting = [arm.state() for _ in range(40)]  # 80 ms: the robot has followed its last torque
    happens(lambda: arm.loop.state in LATCHED)
    arm.ended()
    for data in waiting:
        record = arm.deliver(data)
        assert not record.run and not any(record.torque)
    arm.stays_off()


@pytest.mark.parametrize("size", [2, 50], ids=["no package", "another size"])
def test_what_is_no_state_is_none(arm, size):
    arm.server.started.clear()
    for _ in range(1 if size < 3 else 20):
        arm.server.send_bytes(struct.pack(">Hc", size, b"U") + bytes(max(size - 3, 0)))
    arm.ended()
    if size < 3:
        assert arm.driver.last_error.endswith("malformed package: this is not an RTDE server")
        resume(arm)
    else:
        assert arm.driver.statistics().malformed == 20
    arm.stays_off()
