"""Attempts to break the guard: states, commands, switches, faults and clocks interleaved in any order.

And its ramps: over in time by the host's clock, no way around limits, nothing kept from before.
"""

import numpy as np
import pytest
from guard_machine import CYCLE, MS, RATE, SPEED, GuardMachine, N
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from robot_dynamics_ros._core import GuardReason, GuardState


def test_any_order_of_events_keeps_the_output_finite_inside_limits_and_latched():
    often = settings(max_examples=80, stateful_step_count=50)
    run_state_machine_as_test(GuardMachine, settings=often)


def running():
    """A machine at 15 Nm."""
    machine = GuardMachine()
    machine.state(0.0, 1.0, 0)
    machine.refresh()
    machine.enable()
    machine.healthy_cycles(20, 15.0)
    return machine


def test_a_second_fault_does_not_prolong_the_ramp_to_zero():
    machine = running()
    machine.disable()
    machine.silence(40)
    assert machine.out.any()
    machine.guard.trip(GuardReason.external, False)
    machine.silence(10)
    assert not machine.out.any()


def test_late_calls_do_not_stretch_the_ramp_and_a_stopped_clock_does_not_stop_it():
    for jump, calls in ((35 * MS, 3), (0, 50)):
        machine = running()
        machine.trip(GuardReason.external, False)
        for _ in range(calls):
            machine.guard.step(machine.now, machine.out) if jump == 0 else machine._step(jump)
        assert not machine.out.any()


def test_torque_that_a_limit_cut_in_a_ramp_does_not_come_back():
    machine = running()
    machine.trip(GuardReason.external, False)
    left = [15.0]
    for cycle in range(60):
        machine.walk += 1e-5
        speed = 1.5 * SPEED if cycle < 3 else 0.1  # too fast along the torque, then slow again
        machine._observe(machine.now, np.full(N, machine.walk), np.full(N, speed))
        machine._step(CYCLE)
        left.append(float(machine.out.max()))
    step = RATE * CYCLE * 1e-9
    np.testing.assert_allclose(left[:4], 15.0 - step * np.arange(4), atol=1e-9)
    assert (np.diff(left) <= 0).all() and left[-1] == 0


@pytest.mark.parametrize("robot_ms", [-50, 0, 1, 2])
@pytest.mark.parametrize("host_ms", [2, 7, 19, 60])
def test_a_ramp_is_over_by_the_hosts_clock_whatever_the_stamps_do(robot_ms, host_ms):
    machine = running()
    machine.trip(GuardReason.external, False)
    for passed_ms in range(host_ms, 100 + host_ms, host_ms):
        machine.now += robot_ms * MS
        machine.guard.pass_time(host_ms * 1e-3)
        machine.guard.step(machine.now, machine.out)
        assert (machine.out <= 15.0 * max(0.0, 1.0 - passed_ms / 100) + 1e-9).all()
    assert not machine.out.any()


@pytest.mark.parametrize("ended", ["trip", "disable"])
def test_the_command_before_is_forgotten_when_enabled_again(ended):
    machine = running()
    machine.trip(GuardReason.external, False) if ended == "trip" else machine.guard.disable()
    for _ in range(51):
        machine.now += CYCLE
        machine.guard.step(machine.now, machine.out)
    machine.rearm()
    machine.refresh()
    machine.guard.observe(machine.now, np.full(N, 0.1), np.full(N, 0.1))
    assert machine.guard.enable(machine.now)
    for _ in range(5):
        machine.now += CYCLE
        machine.guard.step(machine.now, machine.out)
        assert machine.guard.state == GuardState.ok and not machine.out.any()


def test_a_command_of_the_future_is_not_held_for_ever():
    machine = running()
    before = machine.guard.count(GuardReason.command_age)
    machine._command(machine.now + 3600 * 10**9, np.full(N, 15.0))
    assert machine.guard.count(GuardReason.command_age) == before + 1
    for _ in range(25):
        machine.walk += 1e-5
        machine._observe(machine.now, np.full(N, machine.walk), np.full(N, 0.1))
        machine.guard.step(machine.now, machine.out)
        machine.now += CYCLE
    assert (machine.guard.state, machine.guard.reason) == (GuardState.safe, GuardReason.command_age)
