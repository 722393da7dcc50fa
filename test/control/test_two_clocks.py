"""Deadlines of the torque loop hold by the robot's clock and by the host's, and the two clocks are compared."""

import pytest
from closed_rig import Closed

from robot_dynamics_ros import _core
from robot_dynamics_ros._core import EnableResult, GuardReason, GuardState, TorqueMode

CYCLE = 2_000_000  # ns
RAMP = 51  # cycles


def slowed(rig, rate, cycles):
    """Cycles of the host until torque is off, at most `cycles`, while the robot's clock runs at `rate` of its pace."""
    start = rig.now
    for k in range(cycles):
        rig.cycle(stamp_ns=start + round(rate * (rig.now + CYCLE - start)))
        if not rig.record["run"]:
            return k
    return cycles


@pytest.mark.parametrize("rate", [0.55, 0.1])
def test_a_slow_robot_clock_prolongs_neither_the_dead_man_switch_nor_a_command(rate):
    guiding = Closed(enable_timeout=0.1).enabled(TorqueMode.guide)
    assert slowed(guiding, rate, 300) <= 51 + RAMP
    external = Closed().enabled(TorqueMode.external)
    external.command(1.0)
    assert external.cycle()["torque"].any()
    assert slowed(external, rate, 300) <= 21 + RAMP


@pytest.mark.parametrize("rate", [0.05, 0.3, 2.0, 5.0])
def test_a_clock_far_from_its_nominal_rate_is_a_fault(rate):
    rig = Closed().enabled(TorqueMode.guide)
    assert slowed(rig, rate, 600) < 400 + RAMP
    assert (rig.loop.state, rig.loop.reason) == (GuardState.safe, GuardReason.state_clock)


@pytest.mark.parametrize("rate", [0.7, 1.0, 1.4])
def test_a_clock_near_its_nominal_rate_is_none(rate):
    rig = Closed().enabled(TorqueMode.guide)
    assert slowed(rig, rate, 1500) == 1500


def test_states_that_arrive_late_and_at_once_are_no_slow_clock():
    rig = Closed().enabled(TorqueMode.guide)
    for _ in range(20):
        stamp, rig.now = rig.now, rig.now + 80_000_000  # the thread was not run
        for _ in range(40):
            stamp += CYCLE
            rig.on_sample(stamp_ns=stamp)
            rig.move()
        rig.cycle(20)
    assert rig.loop.state == GuardState.ok


def test_states_under_one_stamp_are_no_states():
    rig = Closed().enabled(TorqueMode.guide)
    stamp = rig.now
    for _ in range(21):
        rig.cycle(stamp_ns=stamp)
    assert (rig.loop.state, rig.loop.reason) == (GuardState.safe, GuardReason.state_gap)


def held(*requests):
    """A loop with a dead-man switch after these requests, one cycle each."""
    rig = Closed(enable_timeout=0.1)
    rig.cycle(5)
    for request in requests:
        request(rig.loop)
        rig.cycle()
    return rig


press, release = lambda loop: loop.refresh(), lambda loop: loop.trip(GuardReason.enable_lost)
BOTH = (lambda loop: (press(loop), release(loop)),)  # within one cycle


@pytest.mark.parametrize("requests", [(), (press, release), BOTH, (press, release, release, release)])
def test_torque_does_not_begin_while_the_switch_is_released(requests):
    rig = held(*requests)
    assert not rig.loop.held
    rig.loop.enable(TorqueMode.guide)
    assert not any(rig.cycle()["run"] for _ in range(100))
    assert rig.loop.enabled == EnableResult.not_held and rig.loop.state == GuardState.idle
    press(rig.loop)
    rig.loop.enable(TorqueMode.guide)  # nothing is latched by a switch that was not used
    assert rig.cycle()["run"]


def test_torque_does_not_begin_after_the_switch_was_silent_for_its_timeout():
    rig = held(press)
    rig.cycle(50)
    rig.loop.enable(TorqueMode.guide)
    assert not rig.cycle()["run"] and rig.loop.enabled == EnableResult.not_held


def test_an_enable_of_the_time_without_a_connection_is_not_served_after_it():
    rig = Closed()
    rig.cycle(5)
    rig.loop.lost()
    rig.loop.enable(TorqueMode.guide)
    assert not rig.cycle(gap=True)["run"] and rig.loop.enabled == EnableResult.withdrawn


def test_the_offset_of_a_clock_that_slows_is_forgotten_by_host_time():
    clock, second = _core.ClockMap(), 10**9
    for k in range(500):
        clock.observe(k * CYCLE, k * CYCLE)
    receive, t_c, steps = 500 * CYCLE, 500 * CYCLE, 0
    while not clock.reanchored and steps < 5000:  # a tenth of its pace
        steps, receive, t_c = steps + 1, receive + CYCLE, t_c + CYCLE // 10
        clock.observe(t_c, receive)
    assert steps * CYCLE < 2.6 * second
