"""Faults of the states that come in: missing, repeated, late, jumping, not finite; and of the connection."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros._core import GuardReason, GuardState
from robot_dynamics_ros.validation.faults.rig import CYCLE, RAMP, Rig, largest_step, within_rate
from robot_dynamics_ros.validation.faults.table import Case, require


def missing_samples(seed: int) -> str:
    rig = Rig(seed).running()
    rig.applied.clear()
    for lost in (1, 2, 3):
        rig.silence(2 * lost)
        rig.cycle(100)
    require(rig.loop.state == GuardState.ok, f"state {rig.loop.state.name}")
    require(largest_step(rig.applied) < 8.0, f"torque step {largest_step(rig.applied):.1f} Nm")
    return f"ok, largest step {largest_step(rig.applied):.1f} Nm"


def late_and_lost(seed: int) -> str:
    """One state in five is lost, our thread and the controller stop for up to 16 ms now and then; host time jitters."""
    rig, random = Rig(seed).running(cycles=500), np.random.default_rng(seed)
    host, records, waiting = rig.now, [rig.record], []
    ours = theirs = 0  # cycles for which each of the two stands still
    for _ in range(2000):
        host += int(CYCLE * random.uniform(0.2, 1.8))
        ours, theirs = (int(random.integers(1, 9)) if random.random() < 0.03 else max(0, k - 1) for k in (ours, theirs))
        if not theirs:
            rig.now += CYCLE
            rig.move()
            if random.random() >= 0.2:
                waiting.append((rig.now, rig.state))
        if ours:
            continue
        for k, (stamp, r) in enumerate(waiting):  # what came meanwhile comes at once
            effort = rig.constant * r.current
            rig.record = rig.loop.cycle(stamp, host + 1000 * k, r.q, r.qd, effort, r.temperature)
            records.append(rig.record)
        if not waiting:
            rig.record = rig.loop.idle(host)
            records.append(rig.record)
        waiting.clear()
    return f"{rig.loop.state.name}, {within_rate(records, rig.robot)} per output"


def gap(seed: int) -> str:
    rig = Rig(seed).running()
    require(rig.silence(26)["state"] == GuardState.degraded, "not degraded after 26 ms")
    rig.cycle(1, gap=True)
    rig.cycle(200)
    require(rig.loop.state == GuardState.ok, f"state {rig.loop.state.name} after the gap")
    return "degraded, then ok"


def long_gap(seed: int) -> str:
    rig = Rig(seed).running()
    rig.silence(42)
    require(rig.loop.state == GuardState.safe, f"state {rig.loop.state.name} after 42 ms")
    return rig.off_within(RAMP, silent=True)


def frozen(seed: int) -> str:
    rig = Rig(seed).running(cycles=400)
    held = {"q": rig.state.q.copy(), "qd": rig.state.qd.copy()}
    rig.cycle(12, **held)
    require(rig.loop.state == GuardState.safe, f"state {rig.loop.state.name} after 12 repeats")
    return rig.off_within(RAMP, GuardReason.state_frozen)


def clock_back(seed: int) -> str:
    rig = Rig(seed).running()
    rig.now -= 500_000_000
    rig.cycle(1, backwards=True)
    require(rig.loop.state == GuardState.safe, f"state {rig.loop.state.name}")
    return rig.off_within(RAMP, GuardReason.state_clock)


def state_not_finite(seed: int) -> str:
    rig = Rig(seed).running()
    bad = rig.state.q.copy()
    bad[seed % 6] = (np.nan, np.inf)[seed % 2]
    rig.cycle(1, q=bad)
    rig.cycle(50)
    require(rig.loop.state == GuardState.ok, f"state {rig.loop.state.name} after one bad sample")
    require(np.isfinite(rig.record["coulomb"]).all() and np.isfinite(rig.record["torque"]).all(), "state not finite")
    rig.cycle(6, q=bad)
    require(rig.loop.state == GuardState.safe, f"state {rig.loop.state.name} after six bad samples")
    return "one dropped, " + rig.off_within(RAMP, GuardReason.state_not_finite)


def connection_lost(seed: int) -> str:
    rig = Rig(seed).running()
    rig.loop.lost()
    rig.silence(2)
    return rig.off_within(2, silent=True)


def robot_stopped(seed: int) -> str:
    rig = Rig(seed).running()
    rig.cycle(1, stopped=True)
    return rig.off_within(2, GuardReason.robot_stopped)


def duplicate(seed: int) -> str:
    """The same state twice is one state: the second changes no torque and teaches nothing."""
    rig = Rig(seed).running(cycles=500)
    before = rig.record
    for _ in range(3):
        again = rig.on_sample()
        require(np.array_equal(again["torque"], before["torque"]), "a repeated state changed the torque")
        require(np.array_equal(again["coulomb"], before["coulomb"]), "a repeated state was learned from")
    rig.cycle(100)
    require(rig.loop.state == GuardState.ok, f"state {rig.loop.state.name}")
    return "torque and adaptation unchanged"


def stamp_jump(seed: int) -> str:
    """Stamps five cycles apart: the step is bounded, and learning follows the time that passed, not a multiple."""
    rig = Rig(seed).running(cycles=1500)
    rig.applied.clear()
    learned, largest = rig.record["coulomb"].copy(), 0.0
    for _ in range(20):
        rig.now += 4 * CYCLE
        rig.cycle(1)
        largest = max(largest, float(np.abs(rig.record["coulomb"] - learned).max()))
        rig.cycle(20)
        learned = rig.record["coulomb"].copy()
    require(rig.loop.state == GuardState.ok, f"state {rig.loop.state.name}")
    step = largest_step(rig.applied)
    require(step < 6.01, f"torque step {step:.1f} Nm")
    require(largest < 0.02, f"Coulomb scale moved by {largest:.3f} in one cycle")
    return f"ok, largest step {step:.1f} Nm, scale moved by {largest:.4f}"


def no_effort(seed: int) -> str:
    """Without a measured torque nothing is learned, and the torque goes on."""
    rig = Rig(seed).running(cycles=1000)
    learned = rig.record["coulomb"].copy()
    rig.cycle(500, tau=None)
    require(np.array_equal(rig.record["coulomb"], learned), "learned from no measurement")
    require(rig.loop.state == GuardState.ok and bool(rig.record["torque"].any()), f"state {rig.loop.state.name}")
    return "nothing learned, torque goes on"


def temperature_garbage(seed: int) -> str:
    """Temperatures that are missing, stuck or absurd neither stop the torque nor push it anywhere."""
    largest = 0.0
    for value in (np.nan, -273.0, 200.0, 30.0):
        rig = Rig(seed).running(cycles=300)
        rig.applied.clear()
        rig.cycle(300, temperature=np.full(6, value))
        require(rig.loop.state == GuardState.ok, f"{value:g} deg C: {rig.loop.state.name}, {rig.loop.reason.name}")
        require(bool(np.isfinite(rig.record["torque"]).all()), f"{value:g} deg C: torque is not finite")
        largest = max(largest, float(np.abs(rig.record["friction"]).max()))
    rig = Rig(seed).running(cycles=300)
    rig.cycle(300, temperature=None)
    require(rig.loop.state == GuardState.ok, f"no temperature: {rig.loop.state.name}")
    bound = 2.5 * float(rig.robot.array("limits.torque").max())
    require(largest < bound, f"friction of {largest:.0f} Nm")
    return f"goes on, friction at most {largest:.1f} Nm"


CASES: list[Case] = [
    Case(1, "1-3 missing samples", "clock", "ok, no torque step", missing_samples),
    Case(1, "20 % lost, calls late and in bursts", "clock", "no torque step beyond the rate limit", late_and_lost),
    Case(2, "gap of 26 ms", "clock", "degraded, observers restart", gap),
    Case(3, "gap over 40 ms", "clock", "zero within 100 ms, latched", long_gap),
    Case(4, "frozen values with fresh stamps", "clock", "safe within 12 cycles, zero within 100 ms", frozen),
    Case(5, "the same state twice", "clock", "one state", duplicate),
    Case(6, "clock backwards", "clock", "safe, zero within 100 ms", clock_back),
    Case(7, "stamps five cycles apart", "clock", "torque step bounded, no jump of what is learned", stamp_jump),
    Case(8, "NaN or Inf in the state", "clock", "dropped; persistent: zero within 100 ms", state_not_finite),
    Case(12, "no measured torque", "clock", "nothing is learned", no_effort),
    Case(17, "temperature missing, stuck, absurd", "clock", "torque goes on, finite", temperature_garbage),
    Case(26, "connection lost", "clock", "zero at once, latched", connection_lost),
    Case(27, "robot stopped", "clock", "zero in the same cycle, latched", robot_stopped),
]
