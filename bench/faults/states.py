"""Faults of the states that come in (missing, late, not finite, a stop): FAULTS are judged on every transport alike."""

from __future__ import annotations

import numpy as np

from bench.faults.bench import Bench, Fault, within_rate
from bench.faults.clock_bench import CYCLE, ClockBench
from bench.faults.socket_bench import SocketBench
from bench.faults.table import Case, require
from robot_dynamics_ros._core import GuardReason, GuardState

SILENCE = 0.042  # s until a cycle without a state for 40 ms


def one_to_three_lost(bench: Bench) -> None:
    for lost in (1, 2, 3):
        bench.lose(lost)
        bench.run(0.2)


def no_torque_step(bench: Bench) -> str:
    require(bench.missed >= 6, f"only {bench.missed} missing states counted")
    return f"{bench.missed} missing, {within_rate(bench.records[-400:], bench.robot)} per output"


def lost_at_random(bench: Bench) -> None:
    bench.lose(probability=0.2)
    bench.run(1.0)
    bench.lose()


def degraded_then_ok(bench: Bench) -> str:
    require(bench.run(0.25, lambda: bench.gaps > 0), "the gap was not noticed")
    bench.run(0.25)
    return "degraded, then ok"


FAULTS = (
    Fault(1, "1-3 states lost", one_to_three_lost, goes_on=no_torque_step, required="goes on, no torque step"),
    Fault(1, "20 % of the states lost", lost_at_random, goes_on=no_torque_step, required="goes on, no torque step"),
    Fault(2, "13 states lost", lambda b: b.lose(13), goes_on=degraded_then_ok, required="degraded, then ok"),
    Fault(3, "50 states lost", lambda b: b.lose(50), latches=SILENCE, reason=GuardReason.state_gap),
    Fault(4, "values frozen", lambda b: b.freeze(), latches=12 * 0.002, reason=GuardReason.state_frozen),
    Fault(6, "clock set back", lambda b: b.step_clock(-0.5), latches=SILENCE),
    Fault(8, "every position not finite", lambda b: b.damage(), latches=SILENCE),
    Fault(27, "protective stop in motion", lambda b: b.stop_robot(), latches=0.002, ramp=0.0),
)


def one_not_finite(seed: int) -> str:
    rig = ClockBench(seed).running()
    rig.damage()
    rig.cycle(1)
    rig.heal()
    rig.cycle(50)
    require(rig.loop.state == GuardState.ok, f"state {rig.loop.state.name} after one bad state")
    require(np.isfinite(rig.record["coulomb"]).all() and np.isfinite(rig.record["torque"]).all(), "not finite")
    rig.damage()
    rig.cycle(6)
    require(rig.loop.state == GuardState.safe, f"state {rig.loop.state.name} after six bad states")
    return "one dropped, " + rig.off_within(0.1, GuardReason.state_not_finite)


def late_and_lost(seed: int) -> str:
    """One state in five is lost, our thread and the controller stop for up to 16 ms now and then; host time jitters."""
    rig, random = ClockBench(seed).running(cycles=500), np.random.default_rng(seed)
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


def connection_lost(seed: int) -> str:
    rig = ClockBench(seed).running()
    rig.loop.lost()
    rig.silence(2)
    return rig.off_within(0.002)


def duplicate(seed: int) -> str:
    """The same state twice is one state: the second changes no torque and teaches nothing."""
    rig = ClockBench(seed).running(cycles=500)
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
    rig = ClockBench(seed).running(cycles=1500)
    rig.applied.clear()
    learned, largest = rig.record["coulomb"].copy(), 0.0
    for _ in range(20):
        rig.now += 4 * CYCLE
        rig.cycle(1)
        largest = max(largest, float(np.abs(rig.record["coulomb"] - learned).max()))
        rig.cycle(20)
        learned = rig.record["coulomb"].copy()
    require(rig.loop.state == GuardState.ok, f"state {rig.loop.state.name}")
    require(largest < 0.02, f"Coulomb scale moved by {largest:.3f} in one cycle")
    return f"ok, {within_rate(rig.records, rig.robot)}, scale moved by {largest:.4f}"


def no_effort(seed: int) -> str:
    """Without a measured torque nothing is learned, and the torque goes on."""
    rig = ClockBench(seed).running(cycles=1000)
    learned = rig.record["coulomb"].copy()
    rig.cycle(500, tau=None)
    require(np.array_equal(rig.record["coulomb"], learned), "learned from no measurement")
    require(rig.loop.state == GuardState.ok and bool(rig.record["torque"].any()), f"state {rig.loop.state.name}")
    return "nothing learned, torque goes on"


def temperature_garbage(seed: int) -> str:
    """Temperatures that are missing, stuck or absurd neither stop the torque nor push it anywhere."""
    largest = 0.0
    for value in (np.nan, -273.0, 200.0, 30.0):
        rig = ClockBench(seed).running(cycles=300)
        rig.applied.clear()
        rig.cycle(300, temperature=np.full(6, value))
        require(rig.loop.state == GuardState.ok, f"{value:g} deg C: {rig.loop.state.name}, {rig.loop.reason.name}")
        require(bool(np.isfinite(rig.record["torque"]).all()), f"{value:g} deg C: torque is not finite")
        largest = max(largest, float(np.abs(rig.record["friction"]).max()))
    rig = ClockBench(seed).running(cycles=300)
    rig.cycle(300, temperature=None)
    require(rig.loop.state == GuardState.ok, f"no temperature: {rig.loop.state.name}")
    bound = 2.5 * float(rig.robot.array("limits.torque").max())
    require(largest < bound, f"friction of {largest:.0f} Nm")
    return f"goes on, friction at most {largest:.1f} Nm"


CASES: list[Case] = [
    *(fault.on(lambda seed: ClockBench(seed), "clock") for fault in FAULTS),
    *(fault.on(lambda seed: SocketBench(), "sockets") for fault in FAULTS),
    Case(1, "20 % lost, calls late and in bursts", "clock", "no torque step beyond the rate limit", late_and_lost),
    Case(5, "the same state twice", "clock", "one state", duplicate),
    Case(7, "stamps five cycles apart", "clock", "torque step bounded, no jump of what is learned", stamp_jump),
    Case(8, "one, then six positions not finite", "clock", "one dropped; six: off within 100 ms", one_not_finite),
    Case(12, "no measured torque", "clock", "nothing is learned", no_effort),
    Case(17, "temperature missing, stuck, absurd", "clock", "torque goes on, finite", temperature_garbage),
    Case(26, "connection lost", "clock", "off at once, latched", connection_lost),
]
