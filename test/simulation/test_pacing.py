"""Pacing of simulated controllers against a clock that the test sets."""

import pytest

from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.simulation.server import pacing
from robot_dynamics_ros.simulation.server.pacing import MAX_LATE, Pace


@pytest.fixture
def clock(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(pacing.time, "perf_counter", lambda: now[0])
    return now


def finished_cycles(pace, clock, until, overshoot, pauses=()):
    """Cycles done by the wall time `until`: every wait takes `overshoot` [s] too long; pauses {cycle: s} on top."""
    pauses, count = dict(pauses), 0
    while clock[0] < until:
        left = pace.left()
        if left > 0:
            clock[0] += left + overshoot
        else:
            clock[0] += pauses.get(count, 0.0)
            pace.advance()
            count += 1
    return count


@pytest.mark.parametrize("overshoot", [0.0, 1e-4, 3e-4])
def test_waits_that_take_too_long_lose_no_time(clock, overshoot):
    assert finished_cycles(Pace(1000.0), clock, 102.0, overshoot) == pytest.approx(2000, abs=1)


def test_a_delay_is_made_up_and_a_longer_one_given_up(clock):
    pace = Pace(1000.0)
    assert finished_cycles(pace, clock, 102.0, 1e-4, {500: 0.9 * MAX_LATE}) == pytest.approx(2000, abs=1)
    assert pace.late == 0
    lost = 3 * MAX_LATE
    assert finished_cycles(pace, clock, 104.0, 1e-4, {500: lost}) == pytest.approx(2000 - 1000 * lost, abs=2)
    assert pace.late == 1


def test_speed_scales_the_period_and_is_bounded(clock):
    assert finished_cycles(Pace(500.0, speed=4.0), clock, 101.0, 0.0) == pytest.approx(2000, abs=1)
    for factor in (0.0, float("nan"), 1e7):
        with pytest.raises(RobotDynamicsError, match="speed"):
            Pace(500.0, factor)
