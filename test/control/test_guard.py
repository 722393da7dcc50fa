"""The guard, rule by rule: every fault path ends at zero. In any order of events: test_guard_states."""

import itertools
import math

import numpy as np
import pytest
from guard_rig import CYCLE, MS, Rig, limits

from robot_dynamics_ros._core import GuardReason, GuardState, JointTorqueFeedback


def test_a_healthy_stream_passes_unchanged():
    rig = Rig().enabled(7.0)
    assert np.array_equal(rig.out, [7.0, 7.0])
    assert rig.guard.state == GuardState.ok
    assert rig.guard.command_age == pytest.approx(0.002)


def test_nothing_leaves_before_enable_and_enable_needs_a_fresh_state():
    rig = Rig()
    assert not rig.guard.enable(0)
    rig.run(7.0)
    assert not rig.out.any()
    rig.step(30 * MS)
    assert not rig.guard.enable(rig.now)


def test_a_state_that_comes_many_times_is_one_and_not_a_frozen_robot():
    rig = Rig().enabled(7.0)
    rig.state(qd=[0.5, 0.5])
    for _ in range(30):
        rig.guard.observe(rig.now, rig.q, np.full(2, 0.5))
    rig.command(7.0)
    assert rig.step().any() and rig.guard.state == GuardState.ok
    assert rig.guard.count(GuardReason.state_frozen) == 0


def test_states_that_step_back_latch_although_the_clock_goes_on():
    rig = Rig().enabled(7.0)
    rig.q = rig.q + 1e-4
    rig.guard.observe(rig.now - 5 * MS, rig.q, rig.qd)
    rig.command(7.0)
    rig.step()
    assert (rig.guard.state, rig.guard.reason) == (GuardState.safe, GuardReason.state_clock)
    assert rig.ends_at_zero()


def test_a_silence_in_the_stamps_counts_also_without_cycles_in_between():
    rig = Rig().enabled(7.0)
    rig.now += 50 * MS
    rig.cycle(7.0, dt=0)
    assert (rig.guard.state, rig.guard.reason) == (GuardState.safe, GuardReason.state_gap)
    assert rig.ends_at_zero()


@pytest.mark.parametrize("late", [3 * MS, 25 * MS, 38 * MS])
def test_after_a_late_call_the_torque_changes_by_no_more_than_in_one_cycle(late):
    rig = Rig(torque_rate=np.full(2, 100.0)).enabled(0.0)
    rig.now += late - CYCLE
    assert rig.cycle(20.0) == pytest.approx([0.2, 0.2])  # 100 Nm/s in 2 ms
    assert rig.guard.state == GuardState.ok


def test_past_a_limit_a_late_call_in_a_ramp_cuts_no_more_than_in_a_degraded_gap():
    rig = Rig(torque_rate=np.full(2, 300.0)).enabled().run(15.0, 30)
    rig.guard.trip(GuardReason.external, False)
    out = rig.cycle(dt=38 * MS, qd=[2.5, 2.5])
    assert out == pytest.approx([9.0, 9.0])  # 300 Nm/s in 20 ms; the ramp alone is at 9.3


@pytest.mark.parametrize("bad", [math.nan, math.inf, -math.inf])
def test_a_command_that_is_not_finite_is_zero_at_once_and_latched(bad):
    rig = Rig().enabled(7.0)
    assert not rig.run(bad, 1).out.any()
    assert (rig.guard.state, rig.guard.reason) == (GuardState.fault, GuardReason.command_not_finite)
    assert rig.ends_at_zero()


@pytest.mark.parametrize("declared", [{"gravity": True}, {"link": True}])
def test_a_command_of_another_meaning_is_refused(declared):
    rig = Rig().enabled(7.0)
    rig.command(7.0, **declared)
    rig.step()
    assert rig.guard.reason == GuardReason.semantics
    assert rig.ends_at_zero()


def test_magnitude_and_rate_are_clamped_and_counted_then_safe_when_sustained():
    rig = Rig().enabled()
    assert rig.run(50.0, 1).out == pytest.approx([4.0, 4.0])  # 2000 Nm/s for 2 ms
    assert rig.run(50.0, 10).out == pytest.approx([20.0, 20.0])
    assert rig.guard.count(GuardReason.magnitude) > 0 and rig.guard.count(GuardReason.rate) > 0
    assert rig.run(50.0, 60).guard.state == GuardState.safe
    assert rig.ends_at_zero()


def test_an_old_command_is_held_for_three_cycles_then_fades_and_is_latched_off_after_the_safe_gap():
    rig = Rig().enabled(7.0)
    held = [rig.cycle()[0] for _ in range(12)]
    assert held[:2] == [7.0, 7.0] and held[2] < 7.0  # one cycle was used in enabled()
    assert all(later <= earlier for earlier, later in itertools.pairwise(held))
    assert rig.guard.count(GuardReason.command_age) == 1 and rig.guard.state == GuardState.ok
    assert rig.run(7.0, 1).out[0] > held[-1]  # a fresh one is taken again
    assert rig.run(cycles=25).guard.state == GuardState.safe and rig.guard.reason == GuardReason.command_age
    assert rig.ends_at_zero()


def test_a_late_command_beyond_the_limit_fades_from_the_limit():
    rig = Rig().enabled(7.0)
    rig.command(1e300)
    sizes = [rig.cycle()[0] for _ in range(16)]
    assert rig.guard.state == GuardState.ok and max(sizes) > 15.0
    assert all(later < earlier for earlier, later in itertools.pairwise(sizes[-6:]))


def test_a_gap_degrades_then_makes_safe():
    rig = Rig(cycle=0.02).enabled(7.0)
    rig.step(25 * MS)
    assert rig.guard.state == GuardState.degraded
    rig.step(20 * MS)
    assert (rig.guard.state, rig.guard.reason) == (GuardState.safe, GuardReason.state_gap)
    assert rig.ends_at_zero()


def test_a_frozen_moving_state_is_safe_but_a_resting_robot_is_not_frozen():
    rig = Rig().enabled(7.0)
    for _ in range(15):
        rig.cycle(7.0, q=rig.q)
    assert rig.guard.reason == GuardReason.state_frozen
    assert rig.ends_at_zero()
    rest = Rig().enabled(7.0)
    for _ in range(30):
        rest.cycle(7.0, q=rest.q, qd=[0.0, 0.0])
    assert rest.guard.state == GuardState.ok


def lagging(speed):
    """Speed as a low-pass of 20 ms reports it."""
    out = np.zeros(len(speed))
    for k in range(1, len(speed)):
        out[k] = out[k - 1] + 1e-9 * CYCLE / 0.02 * (speed[k] - out[k - 1])
    return out


STARTS = 2.0 * np.minimum(np.arange(600) / 50.0, 1.0)  # rad/s


@pytest.mark.parametrize(
    ("moved", "speed", "latched"),
    [
        (0.0 * STARTS, STARTS, True),
        (STARTS, 0.0 * STARTS, True),
        (0.1 * STARTS, -0.1 * STARTS, True),
        (STARTS, lagging(STARTS), False),
        (STARTS, 1.03 * STARTS, False),
        (0.0 * STARTS, 0.009 + 0.0 * STARTS, False),
    ],
    ids=["stuck position", "stuck speed", "wrong sign", "late speed", "speed 3 % off", "noise at rest"],
)
@pytest.mark.parametrize("step", [0.0, 1.6e-3])
def test_one_joint_whose_position_and_speed_contradict_each_other_is_safe(moved, speed, latched, step):
    """Also of a coarse encoder. A joint whose position was stuck ran on at 3 rad/s, 7 rad beyond its limit."""
    rig, q = Rig().enabled(7.0), np.cumsum(moved) * 1e-9 * CYCLE
    q = step * np.floor(q / step) if step else q
    for k in range(600):
        rig.cycle(7.0, q=[1e-4 * k, q[k]], qd=[0.05, speed[k]])
        if rig.guard.state != GuardState.ok:
            break
    assert (rig.guard.reason == GuardReason.state_inconsistent) == latched
    assert not latched or (np.sum(np.abs(moved - speed)[:k]) * 1e-9 * CYCLE < 0.08 and rig.ends_at_zero())


def test_a_persistently_not_finite_state_is_safe_and_one_sample_is_not():
    rig = Rig().enabled(7.0)
    assert np.array_equal(rig.cycle(7.0, qd=[math.nan, 0.1]), [7.0, 7.0])
    for _ in range(4):
        rig.cycle(7.0, qd=[math.nan, 0.1])
    assert rig.guard.reason == GuardReason.state_not_finite
    assert rig.ends_at_zero()


@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize(
    ("q", "qd", "reason"), [(0.0, 2.1, "velocity"), (2.9, 1.2, "position"), (3.1, 0.1, "position")]
)
def test_torque_towards_a_limit_is_cut_and_torque_away_from_it_passes(q, qd, reason, side):
    rig = Rig(torque_rate=np.full(2, 1e5)).enabled(q=[side * q] * 2, qd=[side * qd] * 2)
    rig.step()
    for wanted, allowed in ((7.0, 0.0), (-7.0, -7.0)):
        assert np.array_equal(rig.cycle(side * wanted, q=[side * q] * 2, qd=[side * qd] * 2), [side * allowed] * 2)
    assert rig.guard.count(getattr(GuardReason, reason)) == 2


@pytest.mark.parametrize("hard", [False, True])
def test_a_trip_from_outside_is_latched_until_rearmed(hard):
    rig = Rig().enabled(7.0)
    rig.guard.trip(GuardReason.robot_stopped, hard)
    assert rig.step()[0] == 0.0 if hard else rig.step()[0] < 7.0
    assert rig.ends_at_zero()
    assert rig.guard.rearm() and rig.guard.state == GuardState.idle
    assert not rig.cycle().any()
    rig.enabled(3.0)
    assert np.array_equal(rig.out, [3.0, 3.0])


def test_the_dead_man_switch_times_out():
    rig = Rig(enable_timeout=0.05).enabled()
    for _ in range(20):
        rig.guard.refresh(rig.now)
        rig.run(3.0, 1)
    assert rig.guard.state == GuardState.ok
    assert rig.run(3.0, 30).guard.reason == GuardReason.enable_lost
    assert rig.ends_at_zero()


def test_a_switch_let_go_before_enabling_is_not_held():
    rig = Rig(enable_timeout=0.05)
    rig.state()
    rig.guard.refresh(rig.now)
    rig.guard.trip(GuardReason.enable_lost)
    assert not rig.guard.enable(rig.now) and rig.guard.state == GuardState.idle
    rig.guard.refresh(rig.now)
    assert rig.guard.enable(rig.now)


@pytest.mark.parametrize("what", ["command", "switch"])
def test_deadlines_hold_by_the_hosts_clock_where_the_robots_is_slow(what):
    rig = Rig(enable_timeout=0.04).enabled(5.0)
    rig.guard.refresh(rig.now)
    for _ in range(21):  # 42 ms of the host, 0.2 ms of the robot
        rig.guard.pass_time(2e-3)
        if what == "command":
            rig.guard.refresh(rig.now)
        rig.cycle(5.0 if what == "switch" else None, MS // 100)
    reason = GuardReason.command_age if what == "command" else GuardReason.enable_lost
    assert (rig.guard.state, rig.guard.reason) == (GuardState.safe, reason)


def test_torque_does_not_rise_in_the_cycle_in_which_a_limit_hit_for_long_latches():
    rig = Rig().enabled()
    for k in range(50):
        before = rig.out.copy()
        rig.state()
        rig.guard.command(rig.now, np.array([100.0, 0.1 * k]), False, False)
        rig.step()
    assert rig.guard.reason == GuardReason.magnitude and (np.abs(rig.out) <= np.abs(before)).all()


@pytest.mark.parametrize("n", [17, 2000])
def test_more_joints_than_there_is_room_for_are_refused(n):
    with pytest.raises(ValueError, match="torque has more than 16 joints"):
        limits(n)
    with pytest.raises(ValueError, match="kp has more than 16 joints"):
        JointTorqueFeedback(kp=np.ones(n), ki=np.ones(n), correction_limit=np.ones(n))


def test_an_enable_without_commands_ends():
    rig = Rig().enabled()
    for _ in range(round(4.9 / 0.002)):
        assert not rig.cycle().any()
    assert rig.guard.state == GuardState.ok
    assert rig.run(cycles=100).guard.reason == GuardReason.command_age and rig.guard.state == GuardState.safe


@pytest.mark.parametrize("field", ["torque", "torque_rate", "velocity", "deceleration"])
@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_limits_name_the_argument(field, bad):
    with pytest.raises(ValueError, match=field):
        limits(**{field: np.array([1.0, bad])})


@pytest.mark.parametrize("field, bad", [("cycle", math.inf), ("safe_gap", math.inf), ("cycle", 0.0), ("torque", 5.0)])
def test_what_would_end_a_limit_is_refused_by_name(field, bad):
    with pytest.raises(ValueError, match=f"^{field} "):
        limits(**{field: bad})
