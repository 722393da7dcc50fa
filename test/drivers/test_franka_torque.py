"""Torque on a Franka arm: the loop beside the client, in closed loop over the vendor's protocol, and how it ends.

Limits are in robot time and cycle counts: the machine may be slow, so the guard's own clock runs at a twentieth.
"""

import os
import signal
import socket
import struct
import threading
import time

import numpy as np
import pytest

from robot_dynamics_ros import _core
from robot_dynamics_ros._core import EnableResult, GuardReason, GuardState, LinkFlag, TorqueLink, TorqueMode
from robot_dynamics_ros.control.torque import torque_loop
from robot_dynamics_ros.drivers.factory import make_driver
from robot_dynamics_ros.drivers.franka.rows import ANSWER, LINK_STATE
from robot_dynamics_ros.drivers.guard import GuardSettings, guard_limits, refuse_torque
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.trajectories.smooth import through

SHIPPED = load_robot("fr3")
# friction behind the joint-torque loop of the simulated arm, taken too low: what is missing must be learned
FRICTION = {"fc": [1.0] * 4 + [0.2] * 3, "fv": [0.5] * 4 + [0.1] * 3}
ROBOT = SHIPPED.with_updates(
    {"friction": {"source": "estimate_mount", "model": "viscous_coulomb", "parameters": FRICTION}}
)
SLOW = {"time_scale": 0.05, "adaptation_time": 1.0}


def make_loop(robot=ROBOT, **parameters):
    return torque_loop(robot, guard_limits(robot, GuardSettings(rate=1000.0)), SLOW | parameters)


# -- the link alone, without any robot --------------------------------------------------------------------------------
class Pair:
    """A loop behind its link, and the client's end of the socket."""

    def __init__(self, robot=ROBOT):
        self.ours, self.theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.ours.setblocking(False)
        self.theirs.settimeout(10.0)
        self.loop = make_loop(robot)
        self.link = TorqueLink(self.loop, self.ours.fileno(), follow_host_clock=False)
        self.time = 0
        self.q = np.array([0.0, -0.8, 0.0, -2.3, 0.0, 1.6, 0.8])

    def state(self, flags=0, step=1_000_000):
        self.time += step
        now = time.monotonic_ns()
        data = (self.time, time.time_ns(), now, flags, 7, 0.0, *self.q, *np.zeros(7), *np.zeros(7))
        self.theirs.send(struct.pack(LINK_STATE, *data))

    def answer(self):
        stamp, run, n, *torque = struct.unpack(ANSWER, self.theirs.recv(512))
        return stamp, run, np.array(torque)

    def settle(self, count=60):
        """States until the offset of the clocks is known and a while on; the last answer."""
        for _ in range(count):
            self.state()
        end = time.monotonic() + 10.0
        stamp = -1
        while stamp < self.time:
            assert time.monotonic() < end
            stamp, run, torque = self.answer()
        return run, torque

    def close(self):
        self.link.stop()
        self.ours.close()
        self.theirs.close()


@pytest.fixture
def pair():
    made = Pair()
    yield made
    made.close()


@pytest.mark.realtime
def test_every_state_is_answered_with_its_own_time_and_no_torque_before_it_is_enabled(pair):
    run, torque = pair.settle()
    assert run == 0 and not torque.any()
    for _ in range(5):
        pair.state()
        stamp, run, torque = pair.answer()
        assert stamp == pair.time and run == 0


@pytest.mark.realtime
def test_enabled_guiding_flows_and_a_stopped_robot_ends_it_in_the_same_cycle(pair):
    pair.settle()
    pair.loop.enable(TorqueMode.guide)
    pair.state()
    assert pair.answer()[1] == 1 and pair.loop.enabled == EnableResult.done
    pair.state(int(LinkFlag.stopped))
    _, run, torque = pair.answer()
    assert run == 0 and not torque.any()
    assert pair.loop.state == GuardState.fault and pair.loop.reason == GuardReason.robot_stopped


@pytest.mark.realtime
def test_packets_that_are_no_states_are_counted_and_not_answered(pair):
    pair.settle()
    for data in (b"x", b"y" * 512, struct.pack("@q", 1)):
        pair.theirs.send(data)
    pair.state()
    assert pair.answer()[0] == pair.time and pair.link.malformed == 3


@pytest.mark.realtime
def test_the_end_of_the_connection_latches_torque_off(pair):
    pair.settle()
    pair.loop.enable(TorqueMode.guide)
    pair.state()
    pair.answer()
    assert pair.loop.state == GuardState.ok
    pair.theirs.close()
    end = time.monotonic() + 10.0
    while pair.link.alive and time.monotonic() < end:
        time.sleep(0.005)
    assert pair.loop.state == GuardState.fault and not pair.link.alive


def test_what_cannot_be_is_refused():
    loop = make_loop()
    with pytest.raises(ValueError, match="socket"):
        TorqueLink(loop, -1)
    with pytest.raises(ValueError, match="priority"):
        TorqueLink(loop, 0, realtime_priority=100)
    with pytest.raises(CapabilityError, match="torque 'script'"):
        make_driver("franka", SHIPPED, "127.0.0.1", torque="script")
    with pytest.raises(CapabilityError, match="made without torque"):
        make_driver("franka", SHIPPED, "127.0.0.1").attach(loop)


def test_an_arm_that_compensates_its_friction_needs_none_in_its_file():
    assert SHIPPED.friction is None
    loop = make_loop(SHIPPED)
    assert loop.n_joints == 7
    ur = load_robot("ur5e").with_updates({"friction": None, "hysteresis": None, "thermal": None})
    with pytest.raises(CapabilityError, match="friction is null"):
        torque_loop(ur, guard_limits(ur))


# -- in closed loop over the vendor's protocol ------------------------------------------------------------------------
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
        self.driver = make_driver("franka", ROBOT, sim.host, follow_host_clock=False, torque="client")
        self.loop = make_loop(**parameters)
        self.driver.attach(self.loop)
        self.driver.connect()
        self.records = []
        self.read(lambda: self.loop.cycles > 100 and np.isfinite(self.driver.sample.q).all())

    def read(self, condition, timeout=90.0):
        end = time.monotonic() + timeout
        while not condition():
            assert time.monotonic() < end, (self.loop.state, self.loop.reason, self.driver.motion)
            self.driver.read(0.02)
            self.driver.send_torque()
            self.records.extend(self.driver.records)
            self.driver.records.clear()

    def enable(self, mode, motion=None):
        self.driver.start_torque()
        self.loop.enable(mode, motion)
        self.read(lambda: self.loop.enabled != EnableResult.pending)
        assert self.loop.enabled == EnableResult.done
        self.records.clear()

    def run(self, cycles):
        """The records of so many cycles."""
        self.records.clear()
        self.read(lambda: len(self.records) >= cycles or self.loop.state != GuardState.ok)
        assert self.loop.state == GuardState.ok, (self.loop.state, self.loop.reason)
        return self.records[:cycles]

    def end(self):
        self.loop.disable()
        self.read(lambda: not self.driver.motion.active)


@pytest.fixture
def arm(sim):
    made = Arm(sim)
    yield made
    made.driver.disconnect()


def rms(records):
    error = np.array([r["q"] - r["q_d"] for r in records])
    return np.sqrt(np.mean(error**2, axis=0))


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
    stamps = np.array([r["stamp_ns"] for r in after])
    assert np.median(np.diff(stamps)) == pytest.approx(1e6, rel=0.01)  # 1 kHz in robot time
    assert (before[0]["coulomb"] == 0.5).all() and (after[-1]["coulomb"] > 0.8).sum() >= 5
    assert rms(after).mean() < 0.9 * rms(before).mean() and rms(after).max() < 0.02
    change = np.abs(np.diff([r["torque"] for r in after], axis=0))
    assert change.max() < 1e-3 * 2000.0  # of the loop's guard; the last guard passes 1000 Nm/s


@pytest.mark.realtime
def test_the_hand_moves_it_and_it_stays_where_it_is_let_go(arm, sim):
    start = arm.driver.sample.q.copy()
    arm.enable(TorqueMode.guide)
    jacobian = RobotModel(ROBOT.chain()).jacobian(start)
    with sim.client() as client:
        client.command("set_wrench", wrench=[0, 30, 0, 0, 0, 0])
        arm.run(600)
        client.command("set_wrench", wrench=[0] * 6)
    moved = arm.driver.sample.q - start
    pushed = jacobian.T @ [0, 30, 0, 0, 0, 0]
    assert np.sign(moved[0]) == np.sign(pushed[0]) and abs(moved[0]) > 0.02
    arm.run(600)
    here = arm.run(10)[-1]["q"]
    last = arm.run(300)[-1]
    assert np.abs(last["q"] - here).max() < 0.02 and np.abs(last["qd"]).max() < 0.1
    arm.end()


@pytest.mark.realtime
def test_a_second_motion_is_refused_while_torque_flows(arm):
    arm.enable(TorqueMode.guide)
    with pytest.raises(CapabilityError, match="a motion is running"):
        arm.driver.move_path(arm.driver.sample.q[None])
    with pytest.raises(CapabilityError, match="a motion is running"):
        arm.driver.start_torque()
    refuse_torque(ROBOT, arm.driver.info, arm.driver.status)  # nothing else is wrong
    arm.end()


@pytest.mark.realtime
def test_a_killed_client_latches_torque_off_and_a_new_one_starts_without(arm):
    arm.enable(TorqueMode.guide)
    os.kill(arm.driver._process.pid, signal.SIGKILL)
    arm.read(lambda: arm.loop.state == GuardState.fault)
    arm.read(lambda: arm.driver.statistics().reconnects == 1 and not arm.driver.motion.active)
    before = arm.loop.cycles
    arm.read(lambda: arm.loop.cycles > before + 200)
    assert arm.loop.state == GuardState.fault and not any(r["run"] for r in arm.records[-20:])
    arm.loop.rearm()
    arm.read(lambda: arm.loop.state == GuardState.idle)
    arm.enable(TorqueMode.guide)  # explicitly, once re-armed
    arm.end()


@pytest.mark.realtime
def test_a_client_that_hangs_holds_up_neither_the_stop_nor_the_end_of_torque(arm, monkeypatch):
    """Stopped by SIGSTOP: calls return, torque ends in the loop, and the process that does not answer is ended."""
    from robot_dynamics_ros.drivers.franka import process as module

    arm.enable(TorqueMode.guide)
    pid = arm.driver._process.pid
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
