"""Friction at one temperature and the heat balance of all joints, identified from velocity steps and duty cycles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from robot_dynamics_ros.config import RobotFile
from robot_dynamics_ros.experiments.run import run_simulated
from robot_dynamics_ros.identification.friction import FrictionFit, fit_friction, friction_updates
from robot_dynamics_ros.identification.identify import identify_recordings
from robot_dynamics_ros.identification.outputs import identified_robot
from robot_dynamics_ros.identification.recording import recording
from robot_dynamics_ros.identification.segments import JointRecord, joint_records
from robot_dynamics_ros.identification.sliding import sliding_friction
from robot_dynamics_ros.identification.thermal import ThermalFit, ThermalRun, fit_thermal
from robot_dynamics_ros.reproduction import lab
from robot_dynamics_ros.simulation import motions
from robot_dynamics_ros.simulation.plant import FAST
from robot_dynamics_ros.simulation.robot import SimulatedRobot

ROOM = 22.0  # deg C
KEEP = 4  # every fourth cycle of long runs is recorded: 125 Hz
SWING = np.array([0.9, 0.35, 0.5, 0.9, 0.9, 0.9])  # rad
PERIOD = 2.5  # s


@cache
def identified(law: str = "simoni", minutes: float = 25.0, duties: tuple[float, ...] = (1.0, 0.5, 0.25)) -> RobotFile:
    """The UR5e with friction at room temperature and a two-node heat balance, both from recordings."""
    robot = calibrated()
    fits = [friction_at(robot, joint, law, ROOM) for joint in range(robot.n_joints)]
    cold = robot.with_updates(friction_block(fits), {"reproduction": "velocity steps at room temperature"})
    heat = [thermal_fit(cold, fit, joint, minutes, duties) for joint, fit in enumerate(fits)]
    return cold.with_updates(thermal_block(heat))


@cache
def calibrated() -> RobotFile:
    """The UR5e with links and rotor inertias identified on an excitation at room temperature [Simoni2017, eq. 13-15]."""
    robot = lab.ur5e()
    machine = SimulatedRobot(robot, seed=7)
    machine.set_temperatures(ROOM, ROOM)
    motion = motions.fourier(lab.START, duration=40.0, amplitude=1.2, velocity=2.0, seed=3)
    machine.reset(motion[0][0])
    log = machine.run(*motion)[0]
    return identified_robot(identify_recordings(robot, [recording(log, "excitation")], []))


def friction_at(robot: RobotFile, joint: int, law: str, temperature: float) -> FrictionFit:
    """A law from velocity steps of one joint held at one temperature."""
    plan = lab.planning.velocity_steps(robot, joint, lab.START, travel=1.0)
    machine = lab.warm_robot(robot, joint, temperature)
    data = sliding_friction(lab.measured(plan, machine, robot, joint)).data
    options: dict[str, Any] = {"fixed": {"fl": 0.0}} if law == "madsen" and np.ptp(np.abs(data.load)) < 3.0 else {}
    return fit_friction(law, data, temperature=False, reference_temperature=temperature, **options)


def friction_block(fits: Sequence[FrictionFit], source: str = "reproduction") -> dict[str, Any]:
    """The friction block of a robot file from one fit per joint."""
    block = {k.split(".", 1)[1]: v for k, v in friction_updates(fits).items()}
    return {"friction": {"source": source, **block}}


@cache
def duty_records(minutes: float, duties: tuple[float, ...]) -> tuple[list[JointRecord], ...]:
    """All joints oscillate for a share of every minute, from a cold start each."""
    robot, found = calibrated(), []
    for seed, duty in enumerate(duties):
        machine = SimulatedRobot(robot, seed=seed, overrides=FAST)
        machine.set_temperatures(ROOM, ROOM)
        machine.set_ambient(ROOM)
        motion = motions.duty_cycle(lab.START, SWING, PERIOD, duty, 60.0 * minutes)
        plan = lab.planning.checked(robot, "duty-cycles", range(robot.n_joints), motion, 500.0)
        found.append(joint_records(run_simulated(plan, machine, keep=KEEP), robot))
    return tuple(found)


def thermal_fit(
    robot: RobotFile, fit: FrictionFit, joint: int, minutes: float, duties: tuple[float, ...]
) -> ThermalFit:
    """Temperature factors, capacities and transfers of one joint from its duty cycles [Simoni2017, IV]."""
    records = [every[joint] for every in duty_records(minutes, duties)]
    runs = [
        ThermalRun(r.stamp_ns, r.v, r.friction, ROOM, housing=r.temperature, load=r.load, start=ROOM) for r in records
    ]
    return fit_thermal(runs, fit.model(), joint=robot.joint_names[joint])


def thermal_block(fits: Sequence[ThermalFit], source: str = "reproduction") -> Mapping[str, Any]:
    """The thermal block of a robot file from one fit per joint."""
    names = list(fits[0].parameters)
    values = {k: [f.parameters[k] for f in fits] for k in names}
    return {"thermal": {"source": source, "model": fits[0].model, "parameters": values}}
