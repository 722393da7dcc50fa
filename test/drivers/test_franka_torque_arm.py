"""Torque mode of the FR3 against the simulated controller: friction that is learned, clients that die or hang.

Limits are in robot time and cycle counts: the machine may be slow, so the guard's own clock runs at a twentieth.
"""

import os
import signal
import threading
import time

import numpy as np
import pytest
from franka_loop import ROBOT, make_loop

from robot_dynamics_ros import _core
from robot_dynamics_ros._core import EnableResult, GuardState, TorqueMode
from robot_dynamics_ros.drivers.factory import make_driver
from robot_dynamics_ros.trajectories.smooth import through


@pytest.fixture(scope="module")
def sim():
    pytest.importorskip("pylibfranka", reason="pylibfranka is not installed")
    pytest.importorskip("franka_sim", reason="franka-sim is not installed")
    from robot_dynamics_ros.simulation.server.launcher import SimulatedController

    with SimulatedController("fr3") as controller:
        yield controller


class Arm:
    """A driver with its loop, connected."""

    def __init__(self, sim, **parameters):
        self.driver = make_driver("franka", ROBOT, sim.host, follow_host_clock=False, torque=True)
        self.loop = make_loop(**parameters)
        self.driver.attach(self.loop)
        self.driver.connect()
        self.records = []
        self.read(lambda: self.loop.cycles > 100 and np.isfinite(self.driver.sample.q).all())

    def read(self, condition, timeout=120.0):
        end = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < end, (self.loop.state, self.loop.reason, self.driver.motion)
            self.driver.read(0.02)
            self.driver.take_records()
            self.records.extend(self.driver.records)
            self.driver.records.clear()

    def enable(self, mode, motion=None):
        self.driver.start_torque()
        self.loop.enable(mode, motion)
        self.read(lambda: self.loop.enabled != EnableResult.pending)
        assert self.loop.enabled == EnableResult.done
        self.driver.take_records()  # of cycles before
        self.driver.records.clear()

    def run(self, cycles):
        """The records of so many cycles."""
        self.records.clear()
        stopped = (GuardState.safe, GuardState.fault)  # degraded: one late state, torque flows on
        self.read(lambda: len(self.records) >= cycles or self.loop.state in stopped)
        assert self.loop.state not in stopped, (self.loop.state, self.loop.reason)
        return self.records[:cycles]

    def end(self):
        self.loop.disable()
        self.read(lambda: not self.driver.motion.active)


@pytest.fixture
def arm(sim):
    made = Arm(sim)
    yield made
    made.driver.disconnect()


@pytest.mark.long
@pytest.mark.realtime
def test_friction_is_learned_while_a_trajectory_is_followed(arm):
    q = arm.driver.sample.q.copy()
    path = through(np.vstack([q, q + 0.25, q - 0.1, q]), velocity=1.0, acceleration=3.0)
    one = len(path.q) * 2  # cycles of 1 kHz in a pass sampled at 500 Hz
    arm.loop.freeze(True)
    arm.loop.restore(np.full(7, 0.5), np.zeros(7))  # far too low, as the source begins
    arm.enable(TorqueMode.track, _core.TorqueTrajectory(path.q, path.qd, path.qdd, 500.0, True))
    before = arm.run(one)
    arm.loop.freeze(False)
    arm.run(one)
    after = arm.run(one)
    arm.end()
    assert arm.driver.motion.state == "stopped" and "switched off" in arm.driver.motion.reason
    stamps = np.unique([r["stamp_ns"] for r in after])
    assert np.median(np.diff(stamps)) == pytest.approx(1e6, rel=0.01)  # 1 kHz in robot time
    assert (before[0]["coulomb"] == 0.5).all() and (after[-1]["coulomb"] > 0.8).sum() >= 5
    error = np.array([r["q"] - r["q_d"] for r in after])  # that learning makes it smaller, test_torque_loop proves
    assert np.sqrt(np.mean(error**2, axis=0)).max() < 0.02
    change = np.abs(np.diff([r["torque"] for r in after], axis=0))
    assert change.max() < 1e-3 * 2000.0  # of the loop's guard; the last guard passes 1000 Nm/s


@pytest.mark.realtime
def test_states_come_at_1_khz_and_a_killed_client_latches_torque_off_until_it_is_enabled_again(arm):
    arm.enable(TorqueMode.guide)
    records = arm.run(300)
    stamps = np.unique([r["stamp_ns"] for r in records])  # of robot time; cycles without a new state repeat one
    assert np.median(np.diff(stamps)) == pytest.approx(1e6, rel=0.01)
    assert arm.driver.statistics().non_finite == 0 and arm.driver.sample.has("vendor_external_wrench")
    os.kill(arm.driver._mover.pid, signal.SIGKILL)
    arm.read(lambda: arm.loop.state == GuardState.fault)
    arm.read(lambda: arm.driver.statistics().reconnects == 1 and not arm.driver.motion.active)
    before = arm.loop.cycles
    arm.read(lambda: arm.loop.cycles > before + 200)
    assert arm.loop.state == GuardState.fault and not any(r["run"] for r in arm.records[-20:])
    arm.loop.rearm()
    arm.read(lambda: arm.loop.state == GuardState.idle)
    arm.enable(TorqueMode.guide)  # explicitly, once re-armed
    arm.end()


@pytest.mark.long
@pytest.mark.realtime
def test_a_client_that_hangs_holds_up_neither_the_stop_nor_the_end_of_torque(arm, monkeypatch):
    """Stopped by SIGSTOP: calls return, torque ends in the loop, and the process that does not answer is ended."""
    from robot_dynamics_ros.drivers import client as module

    arm.enable(TorqueMode.guide)
    pid = arm.driver._mover.pid
    os.kill(pid, signal.SIGSTOP)
    done = []
    caller = threading.Thread(target=lambda: done.append((arm.loop.disable(), arm.driver.stop())), daemon=True)
    caller.start()
    caller.join(30.0)
    assert done, "stop or disable waits for the client"
    arm.read(lambda: arm.loop.state != GuardState.ok)
    arm.read(lambda: arm.records and not arm.records[-1]["run"])
    assert arm.driver.motion.active  # it has not answered yet
    monkeypatch.setattr(module, "STOP_TIMEOUT", -1.0)
    arm.read(lambda: not arm.driver.motion.active)
    assert arm.driver.motion.state == "failed" and "did not answer a stop" in arm.driver.motion.reason
    monkeypatch.undo()
    arm.read(lambda: arm.driver.statistics().reconnects == 1)
