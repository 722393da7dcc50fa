"""Faults of commands and of those who send them: not finite, too much, late, two senders, switch released."""

from __future__ import annotations

import numpy as np

from bench.faults.bench import RAMP
from bench.faults.clock_bench import CYCLE, ClockBench
from bench.faults.table import Case, require
from robot_dynamics_ros._core import GuardReason, GuardState, TorqueMode


def command_not_finite(seed: int) -> str:
    rig = ClockBench(seed).running(TorqueMode.external, cycles=5)
    for _ in range(20):
        rig.command(3.0)
        rig.cycle()
    require(rig.record["torque"].any(), "no torque to begin with")
    bad = np.zeros(6)
    bad[seed % 6] = (np.nan, np.inf, -np.inf)[seed % 3]
    rig.command(bad)
    rig.cycle()
    require(rig.loop.state == GuardState.fault and not rig.record["torque"].any(), "torque left in the same cycle")
    return rig.off_within(0.002, GuardReason.command_not_finite)


def limits(seed: int) -> str:
    rig = ClockBench(seed).running(TorqueMode.external, cycles=5)
    bound, largest = rig.robot.array("limits.torque"), 0.0
    for k in range(49):
        rig.now += CYCLE
        rig.command(1e6 * (-1) ** seed)
        rig.on_sample(qd=np.zeros(6), q=rig.state.q + 1e-6 * k)
        largest = max(largest, float((np.abs(rig.record["torque"]) / bound).max()))
    require(largest <= 1.0, f"{largest:.2f} of the torque limit left")
    for k in range(60):
        rig.now += CYCLE
        rig.command(1e6)
        rig.on_sample(qd=np.zeros(6), q=rig.state.q + 1e-5 * k)
        if rig.loop.state != GuardState.ok:
            break
    require(rig.loop.state == GuardState.safe, f"state {rig.loop.state.name} after sustained excess")
    text = rig.off_within(RAMP)
    fast = ClockBench(seed).running(TorqueMode.external, cycles=5)
    fast.command(5.0)
    fast.cycle(1, qd=np.full(6, 3.1))
    require(not (fast.record["torque"] > 0).any(), "torque along a joint over its speed limit")
    end = ClockBench(seed).running(TorqueMode.external, cycles=5)
    end.command(5.0)
    end.cycle(1, q=end.robot.array("limits.position_upper") - 0.001, qd=np.full(6, 0.5))
    require(not (end.record["torque"] > 0).any(), "torque into a position limit")
    return "clamped; " + text


def second_publisher(seed: int) -> str:
    rig = ClockBench(seed).running()
    rig.loop.trip(GuardReason.publisher)
    rig.cycle()
    require(rig.loop.state == GuardState.safe, f"state {rig.loop.state.name}")
    return rig.off_within(RAMP, GuardReason.publisher)


def dead_man(seed: int) -> str:
    rig = ClockBench(seed, enable_timeout=0.1).running(TorqueMode.guide, cycles=40)
    rig.loop.refresh()
    rig.cycle(50)
    require(rig.loop.state == GuardState.ok, "lost although it was held")
    rig.cycle(2)
    require(rig.loop.state == GuardState.safe, "not lost 4 ms after the timeout")
    return rig.off_within(RAMP, GuardReason.enable_lost)


def overload(seed: int) -> str:
    rig, random = ClockBench(seed).running(TorqueMode.external, cycles=5), np.random.default_rng(seed)
    worst = 0.0
    for _ in range(300):
        late = int(random.choice([0, 2, 4, 12, 30]))
        rig.command(1.0, age_ms=late)
        rig.cycle()
        share = float(rig.record["torque"].max())
        allowed = 1.0 if late <= 4 else 1.0 - (late + 2 - 7) / 100
        worst = max(worst, share - allowed)
    require(worst <= 1e-9, f"late command passed at {worst:.2f} over its share")
    rig.command(1.0, age_ms=60)
    rig.cycle(2)
    require(rig.loop.state == GuardState.safe, f"state {rig.loop.state.name} after a command 60 ms old")
    return "fades; " + rig.off_within(RAMP, GuardReason.command_age)


def wrong_meaning(seed: int) -> str:
    """A command that includes gravity, or is meant behind the gear, is refused by this robot."""
    for meaning in ({"includes_gravity": True}, {"link_side": True}):
        rig = ClockBench(seed).running(TorqueMode.external, cycles=5)
        rig.command(2.0)
        rig.cycle(20)
        rig.command(2.0, **meaning)
        rig.cycle()
        require(rig.loop.state == GuardState.safe, f"{meaning}: {rig.loop.state.name}")
        text = rig.off_within(RAMP, GuardReason.semantics)
    return text


CASES: list[Case] = [
    Case(9, "NaN or Inf in a command", "clock", "zero in the same cycle, latched", command_not_finite),
    Case(14, "command declared to include gravity", "clock", "zero within 100 ms, latched", wrong_meaning),
    Case(20, "torque, speed, position limits", "clock", "clamped; sustained: zero within 100 ms", limits),
    Case(24, "second publisher", "clock", "zero within 100 ms, latched", second_publisher),
    Case(25, "dead-man switch released", "clock", "zero within 100 ms of the timeout, no resume", dead_man),
    Case(28, "late commands", "clock", "fade, never a burst; over 40 ms: zero within 100 ms", overload),
]
