"""Friction over velocity and load with a payload, all joints, forward/backward pairs [Luo2024, 6.4.2, 6.5.2]."""

from __future__ import annotations

import numpy as np

from bench.papers.labs import lab
from bench.papers.table import Row, at_least, beside
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.joint.friction import FrictionData, FrictionFit, fit_friction
from robot_dynamics_ros.identification.joint.sliding import measured_sliding
from robot_dynamics_ros.identification.metrics import rms

SOURCE = "Luo2024"
IDENTIFICATION, VERIFICATION = 3.035, 2.020  # kg
SPEEDS = np.deg2rad([0.4, 0.8, 1.2, 1.8, 2.5, 3.5, 5.0, 8.0, 12.0, 16.0, 20.0, 25.0, 30.0])  # of the source's 28
REACH = np.array([0.0, -1.0, 1.0, -1.2, -1.4, 0.4])  # rad: joints 2 to 4 carry load, joint 5 a little
TRAVEL = 0.45  # rad
LARGEST = {"lowest correlation": 0.944, "mean correlation": 0.964}  # of the seven joints


def run(quick: bool = False) -> list[Row]:
    """Correlation of measured and modelled friction; quick: joints 2, 3 and 5, half of the speeds."""
    joints = [1, 2, 4] if quick else range(6)
    step = 2 if quick else 1
    correlations, errors, spans = [], [], []
    for joint in joints:
        fit = fitted(data(joint, IDENTIFICATION, 0, step))
        other = data(joint, VERIFICATION, 1, step)
        correlations.append(float(np.corrcoef(other.torque, fit.torque(other))[0, 1]))
        errors.append(rms(other.torque - fit.torque(other)))
        spans.append(float(np.abs(other.torque).max()))
    rows = [
        at_least(SOURCE, f"load-velocity friction, {name}", paper, ours, "", f"held-out payload of {VERIFICATION} kg")
        for (name, paper), ours in zip(LARGEST.items(), (min(correlations), float(np.mean(correlations))), strict=True)
    ]
    note = (
        f"the motor side of a UR5e: friction up to {max(spans):.1f} Nm, on a Franka's link side it is under 1 Nm; "
        f"ours is {100 * max(e / s for e, s in zip(errors, spans, strict=True)):.1f} % of it at most"
    )
    rows.append(beside(SOURCE, "load-velocity friction, largest RMS error", 0.055, max(errors), "Nm", note))
    return rows


def data(joint: int, payload: float, seed: int, step: int = 1) -> FrictionData:
    """Sliding friction of one joint at the source's speeds, the others held, a payload on the flange."""
    robot = lab.with_payload(lab.ur5e(), payload)
    plan = lab.sweeps(robot, joint, REACH, TRAVEL, SPEEDS[::step].tolist())
    machine = lab.warm_robot(robot, seed, 40.0)
    return measured_sliding(lab.measured(plan, machine, robot, joint), width=0.1).data


def fitted(data: FrictionData) -> FrictionFit:
    """The load form, or the no-load form where the joint carries no load."""
    try:
        return fit_friction("luo_load", data, temperature=False)
    except DataError:
        return fit_friction("luo", data, temperature=False)
