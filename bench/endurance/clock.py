"""Hours of torque control with a clock of our own, faster than real time: faults, garbage, what the process holds."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator

import numpy as np

from bench.endurance.pieces import Held, Look
from bench.faults.clock_bench import CYCLE, START, ClockBench
from bench.faults.table import Failed, require
from robot_dynamics_ros._core import GuardReason, GuardState, TorqueMode
from robot_dynamics_ros.errors import RobotDynamicsError

GARBAGE = 25  # cycles between two pieces of garbage
ODD = (np.nan, np.inf, -np.inf, 1e300, -1e300, 5e-324, 0.0)
ODD_NS = (-(2**63), 2**63 - 1, 0, -1)


def _frozen(rig: ClockBench) -> None:
    state = rig.state
    for _ in range(20):
        rig.now += CYCLE
        rig.on_sample(q=state.q, qd=state.qd + 0.5)
        rig.move()


FAULTS: tuple[Callable[[ClockBench], object], ...] = (  # each must latch the guard
    lambda rig: rig.silence(60),
    lambda rig: rig.cycle(stopped=True),
    lambda rig: rig.cycle(program=False),
    lambda rig: rig.loop.trip(GuardReason.publisher),
    lambda rig: rig.loop.lost(),
    lambda rig: rig.cycle(stamp_ns=rig.now - 10**9),
    lambda rig: rig.cycle(4, q=np.full(6, np.nan)),
    _frozen,
)


def endure_by_clock(minutes: int, seconds: float = 60.0) -> Generator[Look, None, None]:
    """So many pieces of `seconds`, each with garbage every GARBAGE cycles and a fault at its end; a look after each.

    Raises RobotDynamicsError where the torque does not flow again after a re-arm.
    """
    rig, rng, calm = ClockBench(), np.random.default_rng(0), Held(0.0, 0, 0)
    for number in range(1, minutes + 1):
        largest = _piece(rig, rng, round(seconds * 500))
        FAULTS[number % len(FAULTS)](rig)
        latched = _ends(rig)
        yield Look(number, latched, largest, Held.of(os.getpid()), calm, rig.loop.lost_records, 0)


def _piece(rig: ClockBench, rng: np.random.Generator, cycles: int) -> float:
    """Follow the path through garbage; the largest distance from it [rad]."""
    _start(rig)
    largest = 0.0
    for k in range(cycles):
        if k % GARBAGE == 0:
            _garbage(rig, rng)
        rig.cycle()
        if not np.isfinite(rig.record["torque"]).all() or not rig.record["run"]:
            raise RobotDynamicsError(f"cycle {k}: {rig.loop.state.name}, {rig.loop.reason.name}")
        largest = max(largest, float(np.abs(rig.record["q"] - rig.record["q_d"]).max()))
        while rig.loop.pop() is not None:  # as a driver takes them
            continue
    return largest


def _start(rig: ClockBench) -> None:
    """To the beginning of the path, by position, and torque on."""
    q = rig.state.q
    for share in np.linspace(0.0, 1.0, 2000):
        rig.now += CYCLE
        rig.state = rig.plant.step_position(q + share * (START - q))
        rig.held = rig.state.q
        rig.on_sample()
    rig.cycle(500)
    rig.enable(TorqueMode.track, rig.path)
    if not rig.record["run"]:
        raise RobotDynamicsError(f"torque does not flow: {rig.loop.enabled.name}, {rig.loop.state.name}")


def _garbage(rig: ClockBench, rng: np.random.Generator) -> None:
    """What may come in and must change nothing: commands of every kind in a mode that takes none, damaged states."""
    kind = rng.integers(5)
    odd = rng.choice(ODD, 6)
    if kind == 0:
        rig.loop.command(int(rng.choice(ODD_NS)), odd, bool(rng.integers(2)), bool(rng.integers(2)))
    elif kind == 1:
        rig.now += CYCLE
        rig.on_sample(q=np.full(6, np.nan))
        rig.move()
    elif kind == 2:
        rig.cycle(temperature=odd)
    elif kind == 3:
        rig.cycle(tau=odd)
    else:
        rig.on_sample()  # the same state again


def _ends(rig: ClockBench) -> bool:
    """Whether torque is zero within 100 ms of robot time and latched; then re-armed."""
    for _ in range(51):
        rig.cycle()
    try:
        require(not rig.record["run"] and not rig.record["torque"].any(), "torque goes on")
        require(rig.loop.state in (GuardState.safe, GuardState.fault), "not latched")
    except Failed:
        return False
    rig.loop.rearm()
    rig.cycle(5)
    while rig.loop.pop() is not None:
        continue
    return rig.loop.state == GuardState.idle
