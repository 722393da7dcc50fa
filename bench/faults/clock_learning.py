"""Faults of learning: nothing to learn from, contact, a payload that changes, parameters out of range."""

from __future__ import annotations

from functools import partial

import numpy as np

from bench.faults.clock_bench import CYCLE, ClockBench
from bench.faults.table import Case, refused, require
from robot_dynamics_ros import _core
from robot_dynamics_ros.control.torque import CONTROL
from robot_dynamics_ros.parameters import resolve

HOUR = 3600  # s
SETTLING = 2000  # cycles from the end of torque to rest
REST = 10.0  # s of a resting robot, recorded and repeated
STILL = 2e-4  # rad between the first and the last position of these, with their noise


def contact(seed: int) -> str:
    rig = ClockBench(seed).running(cycles=3000)
    learned = rig.record["coulomb"].copy()
    rig.plant.set_wrench(np.array([0, 0, -150.0, 0, 0, 0]))
    frozen_at = None
    for k in range(250):
        rig.cycle()
        if rig.record["frozen"] & int(_core.FreezeReason.contact):
            frozen_at = frozen_at or k
    require(frozen_at is not None, "adaptation was not frozen")
    change = float(np.abs(rig.record["coulomb"] - learned).max())
    require(change < 0.05, f"Coulomb scale moved by {change:.3f}")
    return f"frozen after {2 * (frozen_at or 0)} ms, scale kept to {change:.3f}"


def bad_parameters(seed: int) -> str:
    for name, value in (("bandwidth", float("nan")), ("torque_share", 2.0), ("law", "magic"), ("nothing", 1.0)):
        given = {"integral_gain": 1.0, name: value}
        refused(partial(resolve, CONTROL, given, "control"), f"{name} = {value} was accepted")
    return "refused as a whole"


def no_excitation(seed: int) -> str:
    """An hour at rest, sample by sample: measured positions and currents with their noise teach nothing."""
    rig = ClockBench(seed).running(cycles=1500)
    rig.loop.disable()
    rig.cycle(300)
    learned = rig.record["coulomb"].copy(), rig.record["viscous"].copy()
    rig.cycle(SETTLING)
    rows = [rig.state]
    while len(rows) < REST * 1e9 / CYCLE:
        rig.cycle()
        rows.append(rig.state)
    q, qd = np.array([r.q for r in rows]), np.array([r.qd for r in rows])
    tau = rig.constant * np.array([r.current for r in rows])
    require(float(np.abs(q[-1] - q[0]).max()) < STILL, "the robot still moves: repeating its states would be a jump")
    settled = rig.record["coulomb"].copy(), rig.record["viscous"].copy()
    for _ in range(int(HOUR / REST)):
        stamps = rig.now + CYCLE * np.arange(1, len(q) + 1)
        rig.loop.run(stamps, q, qd, tau)
        rig.now = int(stamps[-1])
    rig.cycle()
    moved = [float(np.abs(rig.record[k] - x).max()) for k, x in zip(("coulomb", "viscous"), settled, strict=True)]
    first = float(np.abs(settled[0] - learned[0]).max())
    require(first < 1e-3, f"parameters moved by {first:.4f} while coming to rest")
    require(max(moved) == 0.0, f"parameters moved by {max(moved):.1e} in an hour")
    return f"moved by {max(moved):.0e} in 1 h, {HOUR * 500} samples"


def payload_changed(seed: int) -> str:
    """Another payload than a moment ago: adaptation rests."""
    rig = ClockBench(seed).running(cycles=1500)
    rig.cycle(50, payload=0.0)
    rig.cycle(1, payload=3.0)
    rig.cycle(1, payload=3.0)
    frozen = rig.record["frozen"] & int(_core.FreezeReason.payload)
    require(bool(frozen), "adaptation was not frozen")
    learned = rig.record["coulomb"].copy()
    rig.cycle(100, payload=3.0)
    moved = float(np.abs(rig.record["coulomb"] - learned).max())
    require(moved == 0.0, f"Coulomb scale moved by {moved:.4f}")
    return "frozen in the next cycle"


CASES: list[Case] = [
    Case(18, "payload changed in motion", "clock", "adaptation frozen", payload_changed),
    Case(21, "no excitation for an hour", "clock", "parameters do not move", no_excitation),
    Case(22, "contact while adapting", "clock", "frozen, last good values", contact),
    Case(23, "parameters out of range", "clock", "refused as a whole", bad_parameters),
]
