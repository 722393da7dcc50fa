"""What each part of the friction model buys: force error of the polishing task with one part switched off at a time.

The virtual force sensor of the live pipeline on the warming robot of simoni.py; the parts are the thermal model, the
hysteresis of friction (GMS), its dependence on load, and all three.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from bench.papers.labs import lab
from bench.papers.labs.thermal import REST, identified
from bench.papers.simoni import NO_PRIOR, protocol, sensed
from bench.papers.table import Row, beside
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.dataset.segments import joint_records
from robot_dynamics_ros.identification.joint.fits import hysteresis_fit
from robot_dynamics_ros.identification.joint.identify import with_fits
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.simulation.rehearsal import rehearse

SOURCE = "ablation"


@dataclass(frozen=True)
class Variant:
    """A robot file and the friction stage's parameters that switch one part off."""

    robot: RobotFile
    friction: Mapping[str, Any]


def run(quick: bool = False) -> list[Row]:
    """RMS force error along the wall's normal with everything on, and with one part off at a time."""
    phases = list(protocol(identified(), 60.0 if quick else 600.0, 2))
    found = {name: sensed(v.robot, phases, v.friction, force=NO_PRIOR) for name, v in variants().items()}
    whole = float(np.mean(found["everything on"]))
    rows = []
    for name, errors in found.items():
        mean = float(np.mean(errors))
        by_contact = "contacts one after another: " + ", ".join(f"{e:.2f}" for e in errors)
        note = by_contact if name == "everything on" else f"{mean / whole:.2f} times; {by_contact}"
        rows.append(beside(SOURCE, f"contact force RMS error, {name}", None, mean, "N", note))
    return rows


def variants() -> dict[str, Variant]:
    """Everything on, and each part off."""
    whole = complete()
    flat = whole.with_updates({"friction.parameters.fl": 0.0, "hysteresis.parameters.fc1": 0.0})
    memory, static = {"model": "hysteresis"}, {"model": "static"}
    cold = {"thermal": None}
    return {
        "everything on": Variant(whole, memory),
        "thermal model off": Variant(whole.with_updates(cold), memory),
        "GMS off": Variant(whole, static),
        "load off": Variant(flat, memory),
        "all three off": Variant(flat.with_updates(cold), static),
    }


@cache
def complete() -> RobotFile:
    """The robot of labs/thermal.py with hysteresis of every joint from slow reversals."""
    robot, fits = identified(), {}
    for joint in range(robot.n_joints):
        plan = lab.planning.reversals(robot, joint, lab.START, turn=0.4, count=12, a=0.1)
        log = rehearse(lab.warm_robot(lab.ur5e(), joint, REST), plan.motion, rate=plan.rate)
        try:
            fits[joint] = hysteresis_fit(joint_records(log, robot)[joint], robot, joint)
        except DataError:
            continue
    found = with_fits(robot, fits, "slow reversals of the simulated robot")
    fl = np.broadcast_to(robot.array("friction.parameters.fl"), (robot.n_joints,))
    return found.with_updates({"hysteresis.parameters.fc1": np.maximum(fl, 0.0)})
