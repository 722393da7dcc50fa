"""The torque loop of a Franka arm behind its link, without any robot: answers, packets that are none, its end."""

import socket
import struct
import time

import numpy as np
import pytest
from driver_waits import happens
from franka_loop import ROBOT, SHIPPED, make_loop

from robot_dynamics_ros._core import EnableResult, GuardReason, GuardState, LinkFlag, TorqueLink, TorqueMode
from robot_dynamics_ros.control.torque import torque_loop
from robot_dynamics_ros.drivers.factory import make_driver
from robot_dynamics_ros.drivers.franka.rows import ANSWER, LINK_STATE
from robot_dynamics_ros.drivers.franka.torque import Linked, TorqueCycle, last_guard
from robot_dynamics_ros.drivers.guard import guard_limits
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.robot_file import load_robot


class Pair:
    """A loop behind its link, and the client's end of the socket."""

    def __init__(self):
        self.ours, self.theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.ours.setblocking(False)
        self.theirs.settimeout(60.0)
        self.loop = make_loop(ROBOT)
        self.link = TorqueLink(self.loop, self.ours.fileno(), follow_host_clock=False)
        self.time = 0
        self.host_back = 0  # ns by which the host's system clock was set back
        self.q = np.array([0.0, -0.8, 0.0, -2.3, 0.0, 1.6, 0.8])

    def state(self, flags=0, step=1_000_000):
        self.time += step
        now = time.monotonic_ns()
        data = (self.time, time.time_ns() - self.host_back, now, flags, 7, 0.0, *self.q, *np.zeros(7), *np.zeros(7))
        self.theirs.send(struct.pack(LINK_STATE, *data))

    def answer(self):
        stamp, run, n, *torque = struct.unpack(ANSWER, self.theirs.recv(512))
        return stamp, run, np.array(torque)

    def cycle(self, flags=0):
        """(run, torque) of a state. What the cycle left in the loop is seen after the next: it answers first."""
        self.state(flags)
        return self.answer()[1:]

    def settle(self, flags=0):
        """States, the first with flags, until the offset of the clocks is known and a while on; the last answer."""
        self.state(flags)
        for _ in range(59):
            self.state()
        end = time.monotonic() + 60.0
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


def test_every_state_is_answered_with_its_own_time_and_no_torque_before_it_is_enabled(pair):
    run, torque = pair.settle()
    assert run == 0 and not torque.any()
    for _ in range(5):
        pair.state()
        stamp, run, torque = pair.answer()
        assert stamp == pair.time and run == 0


def test_enabled_guiding_flows_and_a_stopped_robot_ends_it_in_the_same_cycle(pair):
    pair.settle()
    pair.loop.enable(TorqueMode.guide)
    assert pair.cycle()[0] == 1 and pair.cycle()[0] == 1 and pair.loop.enabled == EnableResult.done
    for _ in range(2):
        run, torque = pair.cycle(int(LinkFlag.stopped))
        assert run == 0 and not torque.any()
    assert pair.loop.state == GuardState.fault and pair.loop.reason == GuardReason.robot_stopped


def test_flags_of_states_from_before_the_offset_is_known_reach_the_loop(pair):
    pair.settle()
    pair.time, pair.host_back = 0, 3600 * 10**9  # stamps go back by an hour
    pair.settle(int(LinkFlag.gap | LinkFlag.backwards))
    pair.loop.enable(TorqueMode.guide)
    assert pair.cycle()[0] == 1 and pair.cycle()[0] == 1 and pair.loop.enabled == EnableResult.done


def test_packets_that_are_no_states_are_counted_and_not_answered(pair):
    pair.settle()
    for data in (b"x", b"y" * 512, struct.pack("@q", 1)):
        pair.theirs.send(data)
    pair.state()
    assert pair.answer()[0] == pair.time and pair.link.malformed == 3


def test_the_end_of_the_connection_latches_torque_off(pair):
    pair.settle()
    pair.loop.enable(TorqueMode.guide)
    pair.cycle(), pair.cycle()
    assert pair.loop.state == GuardState.ok
    pair.theirs.close()
    happens(lambda: pair.loop.state == GuardState.fault)


def test_a_client_that_falls_silent_latches_torque_off_and_its_late_states_bring_none_back(pair):
    pair.settle()
    pair.loop.enable(TorqueMode.guide)
    pair.cycle(), pair.cycle()
    happens(lambda: pair.loop.state == GuardState.safe)
    assert pair.loop.reason == GuardReason.state_gap
    pair.theirs.setblocking(False)
    while True:
        try:
            pair.answer()  # of the silence
        except BlockingIOError:
            break
    pair.theirs.settimeout(60.0)
    for _ in range(60):
        run, torque = pair.cycle()
        assert run == 0 and not torque.any()


def test_what_cannot_be_is_refused():
    loop = make_loop()
    with pytest.raises(ValueError, match="socket"):
        TorqueLink(loop, -1)
    with pytest.raises(ValueError, match="priority"):
        TorqueLink(loop, 0, realtime_priority=100)
    with pytest.raises(CapabilityError, match="made without torque"):
        make_driver("franka", SHIPPED, "127.0.0.1").attach(loop)


def test_an_arm_that_compensates_its_friction_needs_none_in_its_file():
    assert SHIPPED.friction is None
    loop = make_loop(SHIPPED)
    assert loop.n_joints == 7
    ur = load_robot("ur5e").with_updates({"friction": None, "hysteresis": None, "thermal": None})
    with pytest.raises(CapabilityError, match="friction is null"):
        torque_loop(ur, guard_limits(ur))


@pytest.mark.parametrize("last", [None, float("nan")], ids=["silence", "not a number"])
def test_the_guard_of_the_client_ends_torque_without_letting_anything_else_through(last):
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    cycle = TorqueCycle(last_guard(SHIPPED), Linked(ours, SHIPPED))
    applied, q = [], np.array([0.0, -0.8, 0.0, -2.3, 0.0, 1.6, 0.8])
    for k in range(1, 1001):
        if k <= 50 or last is not None:
            theirs.send(struct.pack(ANSWER, k * 1_000_000, 1, 7, *[0.0] * 6, 1.0 if k <= 50 else last))
        over = cycle.step(k * 1_000_000, q, np.zeros(7), stop=False)
        applied.append(cycle.out.copy())
        if over:
            break
    theirs.close()
    ours.close()
    assert over and cycle.ending.startswith("torque ended") and not applied[-1].any()
    assert np.isfinite(applied).all() and max(row[6] for row in applied) == pytest.approx(1.0)
    assert k > 50
