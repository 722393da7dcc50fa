"""Faults around enabling and ending torque: stops just before, a program that ended, a full queue, the ramp to zero."""

from __future__ import annotations

import numpy as np

from bench.faults.clock_bench import CYCLE, RAMP_CYCLES, ClockBench
from bench.faults.table import Case, require
from robot_dynamics_ros._core import EnableResult, GuardReason, GuardState, TorqueMode

QUEUE = 256  # requests the loop can hold unserved


def _never(rig: ClockBench, why: EnableResult) -> None:
    require(rig.loop.enabled == why, f"enable: {rig.loop.enabled.name}, expected {why.name}")
    require(not rig.record["run"] and not rig.record["torque"].any(), "torque left")


def stop_before_enable(seed: int) -> str:
    """A stop that is there, that comes, or that came and went between the request and its service."""
    for mode in (TorqueMode.guide, TorqueMode.external):
        rig = ClockBench(seed)
        rig.cycle(5)
        rig.cycle(1, stopped=True)
        rig.loop.enable(mode)
        rig.silence(14 + 2 * (seed % 15))  # then states cease
        _never(rig, EnableResult.stopped)
        rig = ClockBench(seed)
        rig.cycle(5)
        rig.loop.enable(mode)
        rig.command(2.0)
        rig.cycle(1, stopped=True)
        _never(rig, EnableResult.stopped)
        rig = ClockBench(seed)
        rig.cycle(5, stopped=True)
        rig.loop.enable(mode)
        rig.cycle(1, stopped=True)
        rig.cycle(5)
        _never(rig, EnableResult.stopped)
    return "refused, no torque in any cycle"


def program_ended(seed: int) -> str:
    """This process stood still and the program on the robot ended meanwhile; states come on without a gap."""
    rig = ClockBench(seed).running(TorqueMode.guide)
    rig.cycle(1, program=False)
    text = rig.off_within(0.0, GuardReason.program_ended)
    rig = ClockBench(seed)
    rig.cycle(5, program=False)
    rig.loop.enable(TorqueMode.guide)
    rig.cycle(1, program=False)
    _never(rig, EnableResult.no_program)
    return text


def overspeed_ramp(seed: int) -> str:
    """A push along a joint past its speed limit ends as quickly in a ramp as it does in the ok state."""
    impulses = {}
    for ramp in (False, True):
        rig = ClockBench(seed).running(TorqueMode.external, cycles=5)
        rig.silence(2)
        for k in range(30):
            rig.now += CYCLE
            rig.command(100.0)
            rig.on_sample(qd=np.full(6, 0.5), q=rig.state.q + 1e-6 * k)
        if ramp:
            rig.loop.trip(GuardReason.external)
        total = 0.0
        for k in range(RAMP_CYCLES + 1):
            rig.now += CYCLE
            rig.command(100.0)
            rig.on_sample(qd=np.full(6, 3.1), q=rig.state.q + 1e-5 * k)
            total += 0.002 * float(rig.record["torque"].max())
        impulses[ramp] = total
    require(impulses[False] > 0.1, "no torque to begin with")
    text = f"{impulses[True]:.2f} Nms, in the ok state {impulses[False]:.2f}"
    require(impulses[True] <= impulses[False] + 1e-9, text)
    return text


def stretched_ramp(seed: int) -> str:
    """Stamps that step back without being flagged, and calls 20 ms apart: the host's clock ends the ramp."""
    rig = ClockBench(seed).running()
    rig.loop.trip(GuardReason.external)
    behind = (500 + 100 * seed) * 10**6
    for _ in range(RAMP_CYCLES // 10):
        rig.now += 10 * CYCLE
        rig.on_sample(stamp_ns=rig.now - behind)
    require(not rig.record["torque"].any(), f"{np.abs(rig.record['torque']).max():.1f} Nm after {2 * RAMP_CYCLES} ms")
    return f"zero after {2 * RAMP_CYCLES} ms by the host's clock"


def full_queue(seed: int) -> str:
    """Ending torque waits behind nothing, and what was requested before it does not bring torque back."""
    for end in (lambda rig: rig.loop.disable(), lambda rig: rig.loop.trip(GuardReason.publisher)):
        rig = ClockBench(seed).running(TorqueMode.guide)
        require(not all(rig.loop.refresh() for _ in range(2 * QUEUE)), "the queue is larger than thought")
        end(rig)
        rig.cycle(RAMP_CYCLES + 1)
        require(not rig.record["run"] and not rig.record["torque"].any(), "torque goes on")
        rig = ClockBench(seed)
        rig.cycle(5)
        rig.loop.enable(TorqueMode.guide)
        end(rig)
        rig.cycle(5)
        require(not rig.record["run"] and rig.loop.enabled != EnableResult.done, "enabled after the end")
    rig = ClockBench(seed).running(TorqueMode.guide)
    rig.loop.trip(GuardReason.external)
    rig.cycle(2 * RAMP_CYCLES)
    rig.loop.rearm()
    rig.loop.trip(GuardReason.publisher)
    rig.cycle(5)
    require(rig.loop.state == GuardState.safe, "a re-arm from before undid the trip")
    return "off at once with the queue full"


def enable_while_ramping(seed: int) -> str:
    rig = ClockBench(seed).running()
    rig.loop.disable()
    rig.cycle(5)
    require(bool(rig.record["torque"].any()), "no ramp to wait for")
    rig.loop.enable(TorqueMode.guide)
    rig.cycle(1)
    require(rig.loop.enabled == EnableResult.ramping, f"enable: {rig.loop.enabled.name}")
    rig.cycle(RAMP_CYCLES)
    require(not rig.record["run"], "torque goes on")
    return "refused: ramping"


CASES: list[Case] = [
    Case(6, "stamps step back unflagged in a ramp, late calls", "clock", "zero within 100 ms", stretched_ramp),
    Case(20, "overspeed while ramping out", "clock", "no longer a push than in ok", overspeed_ramp),
    Case(25, "queue of requests full at disable", "clock", "zero within 100 ms", full_queue),
    Case(25, "enabled again while ramping out", "clock", "refused with the reason", enable_while_ramping),
    Case(26, "program on the robot ended while we stood still", "clock", "zero at once, latched", program_ended),
    Case(27, "stopped just before enabling", "clock", "refused, no torque in any cycle", stop_before_enable),
]
