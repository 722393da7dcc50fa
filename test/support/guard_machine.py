"""A guard driven in any order by states, commands, switches, faults and clocks, and what a by-stander knows of it.

What is kept beside the guard is only what a by-stander sees: the clock, what was sent when, and what came out.
"""

import math

import numpy as np
from guard_rig import BRAKE, CYCLE, MS, RATE, REACH, SPEED, TORQUE, limits
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from robot_dynamics_ros._core import Guard, GuardReason, GuardState

RAMP, SAFE_GAP, HOLD = 100 * MS, 40 * MS, 7 * MS  # 3.5 cycles
N = 2
ACTIVE, LATCHED = (GuardState.ok, GuardState.degraded), (GuardState.safe, GuardState.fault)
EXTREME = [-(2**63), 2**63 - 1, -(2**62), 2**62, 0]
numbers = st.floats(-40, 40) | st.sampled_from([math.nan, math.inf, -math.inf, 1e300, 0.0])
jumps = st.sampled_from([CYCLE] * 6 + [0, 1, MS, 5 * MS, 19 * MS, 39 * MS, 41 * MS, 300 * MS, -CYCLE, -400 * MS])


class GuardMachine(RuleBasedStateMachine):
    def __init__(self):
        super().__init__()
        self.guard, self.out = Guard(limits(N, enable_timeout=0.25)), np.zeros(N)
        self.now = 10**10
        self.observed = None  # last good state
        self.newest = None  # stamp of the newest state
        self.sent = None  # clock at the last command that could be taken
        self.commanded = False  # since the last enable
        self.leaving = None  # clock when the guard last stopped being active
        self.refreshed = None
        self.backwards = False
        self.enabled = False  # by enable(), since the last way out
        self.walk, self.was = 0.0, self.guard.state

    # -- what may happen ----------------------------------------------------------------------------------------------
    @rule(value=numbers, speed=numbers, age=st.sampled_from([0, 0, 0, MS, 30 * MS, -5 * MS, -(10**12)]))
    def state(self, value, speed, age):
        self._observe(self.now - age, np.full(N, value / 13), np.array([speed / 13, 0.1]))

    @rule(value=st.floats(2, 18))
    def bring_up(self, value):
        if self.guard.state in ACTIVE:
            return self.healthy_cycles(15, value)
        self.silence(60)
        self.rearm()
        self.walk += 1e-4
        self._observe(self.now, np.full(N, self.walk % 1), np.full(N, 0.1))
        self.refresh()
        self.enable()
        self.healthy_cycles(15, value)

    @rule(count=st.integers(1, 30), value=st.floats(-30, 30))
    def healthy_cycles(self, count, value):
        for _ in range(count):
            self.walk += 1e-5
            self._observe(self.now, np.full(N, self.walk % 1), np.full(N, 0.1))
            self._command(self.now, np.full(N, value))
            self._step(CYCLE)

    @rule(jump=jumps)
    def frozen_state(self, jump):
        if self.observed is not None:
            self._observe(self.now + jump, *self.observed)

    @rule(stamp=st.sampled_from(EXTREME))
    def state_from_nowhere(self, stamp):
        self._observe(stamp, np.zeros(N), np.full(N, 0.1))

    @rule(value=numbers, lead=jumps, gravity=st.sampled_from([False] * 9 + [True]))
    def command(self, value, lead, gravity):
        self._command(self.now + lead, np.array([value, 1.0]), gravity)

    @rule(stamp=st.sampled_from(EXTREME), value=numbers)
    def command_from_nowhere(self, stamp, value):
        self._command(stamp, np.full(N, value))

    @rule(several=st.lists(jumps, min_size=1, max_size=15))
    def steps(self, several):
        for jump in several:
            self._step(jump)

    @rule(several=st.lists(st.sampled_from([CYCLE, 10 * MS, 39 * MS]), min_size=1, max_size=15), again=st.booleans())
    def fault_and_late_calls(self, several, again):
        self.bring_up(15.0)
        self.guard.disable()
        for jump in several:
            self._step(jump)
        if again:
            self.trip(GuardReason.external, False)

    @rule(count=st.integers(1, 60))
    def silence(self, count):
        for _ in range(count):
            self._step(CYCLE)

    @rule()
    def enable(self):
        before = self.guard.state
        done = self.guard.enable(self.now)
        assert not done or (before == GuardState.idle and not self.out.any() and self.newest is not None)
        if done:
            self.leaving, self.sent, self.commanded, self.enabled = None, None, False, True
            assert self.refreshed is not None and self.now - self.refreshed <= 250 * MS

    @rule()
    def refresh(self):
        self.guard.refresh(self.now)
        self.refreshed = self.now
        self._watch()

    @rule()
    def disable(self):
        self.guard.disable()
        self._watch()

    @rule()
    def rearm(self):
        before = self.guard.state
        done = self.guard.rearm()
        over = before == GuardState.fault or not self.out.any()  # a fault is zero at once, written by the next step
        assert done == (before in LATCHED and over and self.guard.state == GuardState.idle)
        self._watch(rearmed=done)

    @rule(reason=st.sampled_from(list(GuardReason.__members__.values())), hard=st.booleans())
    def trip(self, reason, hard):
        before, state = self.guard.count(reason), self.guard.state
        self.guard.trip(reason, hard)
        assert self.guard.count(reason) == before + 1
        if reason == GuardReason.enable_lost and state not in ACTIVE:
            assert self.guard.state == state  # a switch that nobody uses
            hard = False
        else:
            assert self.guard.state in LATCHED
        if reason == GuardReason.enable_lost:
            self.refreshed = None
        self._watch()
        if hard:
            self._step(0)
            assert not self.out.any()

    @precondition(lambda self: self.guard.state in ACTIVE)
    @rule(bad=st.sampled_from([math.nan, math.inf, -math.inf]))
    def poison(self, bad):
        self._command(self.now, np.array([1.0, bad]))
        self._step(CYCLE)
        assert self.guard.state == GuardState.fault and not self.out.any()

    # -- what must hold -----------------------------------------------------------------------------------------------
    @invariant()
    def active_only_by_enable(self):
        assert self.guard.state not in ACTIVE or self.enabled

    # -- how -----------------------------------------------------------------------------------------------------------
    def _observe(self, stamp, q, qd):
        self.guard.observe(stamp, q, qd)
        if np.isfinite(q).all() and np.isfinite(qd).all():
            if stamp != self.newest:
                self.observed = (q.copy(), qd.copy())
            self.newest = stamp
        self._watch()

    def _command(self, stamp, torque, gravity=False):
        was = self.guard.state
        self.guard.command(stamp, torque, gravity, False)
        if was in ACTIVE and np.isfinite(torque).all() and not gravity:
            assert self.guard.state == was
            self.sent, self.commanded = self.now, True
        self._watch()

    def _watch(self, rearmed=False):
        """Leaving the active states begins the ramp to zero; latched states end by rearm() alone."""
        assert rearmed or self.was not in LATCHED or self.guard.state in LATCHED
        self.was = self.guard.state
        if self.guard.state in ACTIVE:
            return
        self.enabled = False
        if self.leaving is None:
            self.leaving, self.backwards, self.slow = self.now, False, 0

    def _step(self, jump):
        before, since = self.out.copy(), self.leaving
        self.now += jump
        self.guard.step(self.now, self.out)
        assert np.isfinite(self.out).all() and (np.abs(self.out) <= TORQUE).all()
        self._watch()
        after = self.guard.state
        if after in ACTIVE:
            self._judge_active(before, jump)
        elif since is not None:
            self._judge_leaving(before, jump)

    def _judge_active(self, before, jump):
        dt = max(0.0, min(1e-9 * CYCLE, 1e-9 * jump))
        assert (np.abs(self.out - before) <= RATE * dt + 1e-9).all()
        assert jump >= 0 and abs(self.now - self.newest) <= SAFE_GAP + 10**12 * (self.newest > self.now)
        assert self.now - self.refreshed <= 250 * MS
        if not self.commanded:
            assert not self.out.any()
        elif self.now - self.sent > SAFE_GAP:
            raise AssertionError("torque lives on without a sender")
        elif self.now - self.sent > HOLD and jump > 0:
            share = 1 - (self.now - self.sent - HOLD) / RAMP
            assert (np.abs(self.out) <= np.maximum(np.abs(before), TORQUE * share + 1e-9)).all()
        up, down = self._past()  # never more torque towards a limit than there was
        assert (~up | (self.out <= np.maximum(0.0, before) + 1e-12)).all()
        assert (~down | (self.out >= np.minimum(0.0, before) - 1e-12)).all()

    def _past(self):
        """Joints (N,) that are past a limit upwards, and downwards."""
        q, qd = self.observed
        with np.errstate(over="ignore"):
            stop = q + qd * np.abs(qd) / (2 * BRAKE)
        return (stop >= REACH) | (qd >= SPEED), (stop <= -REACH) | (qd <= -SPEED)

    def _judge_leaving(self, before, jump):
        """Towards zero and nowhere else; there 100 ms of clock, or 50 nominal cycles of a stopped one, later."""
        assert (np.abs(self.out) <= np.abs(before) + 1e-12).all() and (self.out * before >= 0).all()
        self._judge_limits(before, jump)
        self.slow += jump < CYCLE
        if jump < 0:
            self.backwards = True  # from here on only calls can be counted
        if (not self.backwards and self.now - self.leaving >= RAMP) or self.slow >= 100:
            assert not self.out.any()

    def _judge_limits(self, before, jump):
        """Past a limit the ramp to zero is as quick as the rate allows."""
        if self.observed is None:
            return
        up, down = self._past()
        fall = RATE * max(2e-3, min(20e-3, 1e-9 * jump))
        past = ((before > 0) & up) | ((before < 0) & down)
        assert (~past | (np.abs(self.out) <= np.maximum(0.0, np.abs(before) - fall) + 1e-9)).all()

    def teardown(self):
        self.guard.trip(GuardReason.external, False)
        for _ in range(51):
            self.now += CYCLE
            self.guard.step(self.now, self.out)
        assert not self.out.any()
        self.guard.observe(self.now, np.zeros(N), np.full(N, 0.1))
        assert not self.guard.enable(self.now)
        assert self.guard.rearm()
