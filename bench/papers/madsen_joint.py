"""Friction of a joint over velocity, load and temperature, and its hysteresis by five methods [Madsen2020, ch4].

Every law is fitted to one recording and judged on another (the paper judges its static maps on the data they were
fitted to). Load and temperature are judged as in the paper: load friction alone; friction over velocity and
temperature.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from bench.papers.hysteresis_methods import compare_hysteresis
from bench.papers.labs import lab
from bench.papers.table import Row, at_least, beside
from robot_dynamics_ros.identification.dataset.segments import JointRecord, reversals
from robot_dynamics_ros.identification.excitation import joint_motions as planning
from robot_dynamics_ros.identification.excitation.plan import checked
from robot_dynamics_ros.identification.joint.friction import FrictionData, fit_friction
from robot_dynamics_ros.identification.joint.hysteresis import (
    HysteresisData,
    HysteresisFit,
    at_angle,
    fit_hysteresis,
    kinematic_error_and_backlash,
)
from robot_dynamics_ros.identification.joint.sliding import measured_sliding
from robot_dynamics_ros.identification.metrics import nrmse
from robot_dynamics_ros.simulation.plant.build import FAST
from robot_dynamics_ros.trajectories import motions

SOURCE = "Madsen2020 ch4"
UPRIGHT = np.array([0.0, -1.57, 0.2, -0.2, -1.57, 0.0])  # rad, the arm hangs over the shoulder without load
COLD, ROOM = 9.0, 20.0  # deg C [ch4 4.2.3]
TEMPERATURE_MINUTES = 116.0
TEMPERATURE_SPEEDS = (0.1, 0.3, 0.6, 1.0, 1.5, 2.0, 2.5)  # rad/s
PAYLOAD = 7.5  # kg [ch4 4.2.2]
FIT_ROWS = 600
TARGETS = {"nlr": 82.3, "lr_polynomial": 82.0, "gms": 80.7}
NAMES = {"nlr": "NLR", "lr_polynomial": "LR polynomial", "gms": "GMS", "lr_linear": "LR linear", "static": "static"}


def run(quick: bool = False) -> list[Row]:
    """Velocity, load, temperature, hysteresis; quick: shorter heating, M = 4, half of the reversals."""
    rows = [velocity_row(), load_row()]
    rows.append(temperature_row(TEMPERATURE_MINUTES / (4 if quick else 1)))
    return rows + hysteresis_rows([4] if quick else list(range(1, 11)), 60 if quick else 120)


def velocity_row() -> Row:
    """Base joint without load at 35 deg C, constant velocities; judged on other velocities."""
    robot = lab.ur5e()
    fit = fit_friction("madsen", _steps(0, lab.START), fixed={"fl": 0.0}, temperature=False)
    other = _steps(1, lab.START + 0.3, count=11, slowest=0.015, fastest=1.7)
    note = f"held-out velocities of {robot.joint_names[0]}"
    return at_least(SOURCE, "friction over velocity, NRMSE", 98.6, nrmse(other.torque, fit.torque(other)), note=note)


def _steps(seed: int, start: np.ndarray, **options: Any) -> FrictionData:
    robot = lab.ur5e()
    plan = planning.velocity_steps(robot, 0, start, travel=4.0, **options)
    return measured_sliding(lab.measured(plan, lab.warm_robot(robot, seed), robot, 0)).data


def load_row() -> Row:
    """Shoulder from upright to horizontal with 7.5 kg; load friction is what remains over the velocity's."""
    fit, other = fit_friction("madsen", load_data(0, 8), temperature=False), load_data(1, 5)
    unloaded = replace(fit, parameters=fit.parameters | {"fl": 0.0}).torque(other)
    score = nrmse(other.torque - unloaded, fit.torque(other) - unloaded)
    return at_least(SOURCE, "friction over load, NRMSE", 87.0, score, note="load friction alone, held-out speeds")


def load_data(seed: int, speeds: int) -> FrictionData:
    """Sliding friction of the loaded shoulder at speeds between 0.02 and 0.7 rad/s."""
    robot = lab.with_payload(lab.ur5e(), PAYLOAD)
    plan = lab.sweeps(robot, 1, UPRIGHT, 1.2, np.geomspace(0.02 + 0.01 * seed, 0.7, speeds).tolist())
    return measured_sliding(lab.measured(plan, lab.warm_robot(robot, seed), robot, 1), width=0.1).data


def temperature_row(minutes: float) -> Row:
    """Base joint from 9 deg C in a room of 20, at constant velocities; every second round is held out."""
    data = temperature_data(minutes)
    order = np.random.default_rng(0).permutation(len(data))
    half = len(order) // 2
    fitted = data.take(order[: min(half, FIT_ROWS)])
    fit = fit_friction("madsen", fitted, temperature=True, fixed={"fl": 0.0}, reference_temperature=30.0)
    other = data.take(order[half:])
    warmth = np.asarray(data.temperature)
    span = f"{np.min(warmth):.0f} to {np.max(warmth):.0f} deg C of the housing" if len(other) else ""
    score = nrmse(other.torque, fit.torque(other))
    return at_least(SOURCE, "friction over temperature and velocity, NRMSE", 95.1, score, note=span)


def temperature_data(minutes: float) -> FrictionData:
    """Sliding friction while the joint warms up by its own motion."""
    robot = lab.ur5e()
    machine = lab.warm_robot(robot, 0, COLD, FAST)
    machine.set_ambient(ROOM)
    end = lab.START + [3.0, 0, 0, 0, 0, 0]
    parts = []
    for v in TEMPERATURE_SPEEDS:
        there, back = (motions.trapezoid(a, b, 500.0, v, 5.0) for a, b in ((lab.START, end), (end, lab.START)))
        parts += max(1, round(2 * v)) * [there, back]
    cycle = motions.join(*parts)
    rounds = max(2, round(60.0 * minutes * 500.0 / len(cycle[0])))
    plan = checked(robot, "temperature", [0], motions.join(*rounds * [cycle]), 500.0)
    return measured_sliding(lab.measured(plan, machine, robot, 0, keep=4), width=1.0).data


def hysteresis_rows(elements: list[int], cycles: int) -> list[Row]:
    """NRMSE of the five methods on the part of the slow turn that was not fitted."""
    found = compare_hysteresis(
        hysteresis_data(cycles), elements, estimation=slice(0, 8000), validation=slice(8000, None)
    )
    rows = []
    for method, by_count in found.items():
        ours = by_count[4].nrmse_validation
        figure = f"hysteresis by {NAMES[method]}, M = 4, NRMSE" if method != "static" else "static friction, NRMSE"
        if method in TARGETS:
            rows.append(at_least(SOURCE, figure, TARGETS[method], ours, note=_over_counts(by_count)))
        else:
            paper = 73.7 if method == "lr_linear" else 68.9
            rows.append(beside(SOURCE, figure, paper, ours, "%", "the method the others are better than"))
    return rows


def _over_counts(by_count: dict[int, HysteresisFit]) -> str:
    if len(by_count) == 1:
        return ""
    return f"M = {min(by_count)}..{max(by_count)}: " + " ".join(f"{f.nrmse_validation:.1f}" for f in by_count.values())


def hysteresis_data(cycles: int) -> HysteresisData:
    """One slow turn of the base joint; kinematic error removed, backlash by position."""
    robot = lab.ur5e()
    plan = planning.reversals(robot, 0, lab.START - [np.pi, 0, 0, 0, 0, 0], count=cycles)
    record = lab.measured(plan, lab.warm_robot(robot, 1), robot, 0, keep=5)
    return compensated(record.take(reversals(record)[0]))


def compensated(record: JointRecord) -> HysteresisData:
    """Friction over the rotor angle without kinematic error; backlash: shape measured, scale fitted [ch4 29-32].

    Raises ValueError without rotor angle.
    """
    if record.theta is None:
        raise ValueError("the record has no rotor angle")
    error, gap = kinematic_error_and_backlash(record.theta, record.theta - record.q, settle=4e-3)
    theta = record.theta - at_angle(error, record.theta)
    rough = fit_hysteresis(4, HysteresisData(theta, record.friction, joint=record.joint))
    backlash = float(rough.backlash.mean()) * gap / gap.mean()
    return HysteresisData(theta, record.friction, backlash, record.joint)
