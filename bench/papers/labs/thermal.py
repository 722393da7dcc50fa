"""Friction at one temperature and the heat balance of all joints, identified from velocity steps and duty cycles."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from bench.papers.labs import lab
from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.identification.dataset.segments import JointRecord, joint_records
from robot_dynamics_ros.identification.excitation import joint_motions as planning
from robot_dynamics_ros.identification.excitation.plan import checked
from robot_dynamics_ros.identification.joint.friction import FrictionData, FrictionFit, fit_friction
from robot_dynamics_ros.identification.joint.sliding import Sliding, measured_sliding
from robot_dynamics_ros.identification.joint.thermal import ThermalFit, ThermalRun, fit_thermal
from robot_dynamics_ros.models.robot_model import RobotModel
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.simulation.plant.assumed import assumed_file
from robot_dynamics_ros.simulation.plant.build import FAST
from robot_dynamics_ros.simulation.plant.plant_file import load_plant_file
from robot_dynamics_ros.simulation.rehearsal import rehearse
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.trajectories import motions

ROOM = 22.0  # deg C, air
REST = 30.0  # deg C, of a joint that has been powered and held for hours: the surroundings the heat balance sees
KEEP = 4  # every fourth cycle of long runs is recorded: 125 Hz
HELD = {"gamma": 0.0, "delta": 1.0}  # duty cycles are too fast to show how the Stribeck part changes
SOURCES = {"reproduction": "velocity steps and duty cycles of the simulated robot"}


class Subject(NamedTuple):
    """What the experiments are on one robot.

    start, poses: where it stands [rad], the second at the work; swing, period: of the duty cycles [rad, s]; travel: of
    the velocity steps [rad], the friction law must know every speed of the duty cycles; torque_std: of a pair's mean
    [Nm]; rest [deg C]: as REST.
    """

    start: tuple[float, ...]
    poses: tuple[tuple[float, ...], ...]
    swing: tuple[float, ...]
    period: float
    duties: tuple[tuple[float, float], ...]  # share of the time in motion, minutes
    travel: tuple[float, ...]
    torque_std: float
    rest: float


SUBJECTS = {
    "ur5e": Subject(
        start=tuple(lab.START.tolist()),
        poses=(tuple(lab.START.tolist()), (0.0, -1.2, 1.6, -1.97, -1.57, 0.0)),
        swing=(1.3, 0.9, 1.0, 1.3, 1.3, 1.3),
        period=2.2,
        duties=((1.0, 35.0), (0.25, 15.0)),
        travel=(2.0, 1.2, 1.5, 2.4, 2.4, 2.4),
        torque_std=0.1,
        rest=REST,
    ),
    "comau_ns16": Subject(
        start=(0.0, 0.3, -1.3, 0.0, 1.0, 0.0),
        poses=((0.0, 0.3, -1.3, 0.0, 1.0, 0.0), (0.0, 0.309, -2.275, 0.0, 0.557, 0.0)),
        swing=(1.2, 0.9, 1.2, 1.2, 1.2, 1.2),  # so far that every joint becomes as warm as at work
        period=4.4,
        duties=((1.0, 35.0), (0.25, 15.0)),
        travel=(2.0, 1.3, 1.5, 2.4, 2.0, 2.4),
        torque_std=2.0,
        rest=25.0,
    ),
}


def subject(robot: RobotFile) -> Subject:
    """Experiments of a robot. Raises ConfigError for one without."""
    if robot.name not in SUBJECTS:
        raise ConfigError("reproduce", "robot", f"{robot.name} is none of {', '.join(SUBJECTS)}")
    return SUBJECTS[robot.name]


@cache
def identified(name: str = "ur5e") -> RobotFile:
    """The robot with friction at room temperature and a heat balance, both from recordings."""
    robot = calibrated(name)
    fits = [friction_at(robot, joint, subject(robot).rest) for joint in range(robot.n_joints)]
    cold = robot.with_updates(friction_block(fits), SOURCES)
    heat = [thermal_fit(cold, fit, joint) for joint, fit in enumerate(fits)]
    return cold.with_updates(thermal_block(heat))


def rested(machine: SimulatedRobot) -> None:
    """The machine as it is hours after switching on: each housing as warm as electronics and holding make it."""
    true = machine.machine.true
    held = RobotModel(machine.robot.chain()).gravity(np.array(subject(machine.robot).start))
    power = true["thermal.idle_power"] + true["thermal.copper_loss"] * held**2
    warm = ROOM + power / true["thermal.outer_conductance"]
    machine.set_temperatures(warm, warm)
    machine.set_ambient(ROOM)


@cache
def calibrated(name: str = "ur5e") -> RobotFile:
    """The robot with masses and centres of mass corrected by what forward and backward motion have in common."""
    robot = assumed_file(name)
    q, joints, torque = [], [], []
    for pose in subject(robot).poses:
        for joint in range(robot.n_joints):
            common = stepped(joint, subject(robot).rest, pose, name).common
            here = np.tile(pose, (len(common), 1))
            here[:, joint] = common[:, 0]
            q.append(here)
            joints += [joint] * len(common)
            torque.append(common[:, 1])
    links = corrected_links(robot, np.vstack(q), np.array(joints), np.concatenate(torque))
    return robot.with_updates({"links": {"source": "reproduction", "parameters": links}}, SOURCES)


def corrected_links(robot: RobotFile, q: np.ndarray, joints: np.ndarray, torque: np.ndarray) -> np.ndarray:
    """Link parameters (n, 10) whose gravity explains the torques (K,) [Nm] missing at one joint each, q (K, n).

    min |Y_g d - torque|^2 + |d / spread|^2 over masses and first moments: linear, close to the robot file's numbers
    where the data says nothing [Simoni2017, eq. 13-15, gravity rows].
    """
    links, n = robot.link_parameters.copy(), robot.n_joints
    still = np.zeros_like(q)
    Y = RobotModel(robot.chain()).regressor(q, still, still)
    columns = [10 * link + k for link in range(n) for k in (6, 7, 8, 9)]
    rows = Y[np.arange(len(q)), joints][:, columns]
    spread = np.repeat(np.abs(links[:, 9]), 4) * np.tile([0.02, 0.02, 0.02, 0.05], n)
    std = subject(robot).torque_std
    A = np.vstack([rows / std * spread, np.eye(len(columns))])
    d = spread * np.linalg.lstsq(A, np.concatenate([torque / std, np.zeros(len(columns))]), rcond=None)[0]
    for column, value in zip(columns, d, strict=True):
        links[column // 10, column % 10] += value
    return links


@cache
def stepped(joint: int, temperature: float, pose: tuple[float, ...], name: str = "ur5e") -> Sliding:
    """Velocity steps of one joint held at one temperature."""
    robot = assumed_file(name)
    plan = planning.velocity_steps(robot, joint, pose, count=9, slowest=0.02, travel=subject(robot).travel[joint])
    machine = lab.warm_robot(robot, joint, temperature)
    return measured_sliding(lab.measured(plan, machine, robot, joint))


def friction_at(robot: RobotFile, joint: int, temperature: float) -> FrictionFit:
    """The law `madsen` from velocity steps of one joint in several poses, all at one temperature."""
    data = together([stepped(joint, temperature, pose, robot.name).data for pose in subject(robot).poses])
    fixed = {"fl": 0.0} if np.ptp(np.abs(np.asarray(data.load))) < 3.0 else None
    return fit_friction("madsen", data, temperature=False, reference_temperature=temperature, fixed=fixed)


def together(parts: Sequence[FrictionData]) -> FrictionData:
    """Several data sets of one joint as one."""
    given = [k for k in ("v", "torque", "load", "temperature") if getattr(parts[0], k) is not None]
    columns = {k: np.concatenate([getattr(p, k) for p in parts]) for k in given}
    return FrictionData(**columns, joint=parts[0].joint)


def friction_block(fits: Sequence[FrictionFit]) -> dict[str, Any]:
    """The friction block of a robot file from one fit per joint."""
    parts = [fit.written() for fit in fits]
    parameters = {k: [part[k] for part in parts] for k in parts[0]}
    reference = float(np.mean([fit.reference_temperature for fit in fits]))
    law = {"model": fits[0].law, "parameters": parameters, "reference_temperature": reference}
    return {"friction": {"source": "reproduction", **law}}


@cache
def duty_records(name: str = "ur5e") -> list[JointRecord]:
    """All joints oscillate all the time, then for a quarter of every minute, just switched on in a cool room."""
    robot = calibrated(name)
    here = subject(robot)
    start, swing, period = np.array(here.start), np.array(here.swing), here.period
    machine = SimulatedRobot(assumed_file(name), seed=0, overrides=FAST, rate=500.0)
    machine.set_temperatures(ROOM, ROOM)
    machine.set_ambient(ROOM)
    parts = [motions.duty_cycle(start, swing, period, duty, period * round(60 * t / period)) for duty, t in here.duties]
    plan = checked(robot, "duty-cycles", range(robot.n_joints), motions.join(*parts), machine.rate)
    return joint_records(rehearse(machine, plan.motion, keep=KEEP), robot)


def thermal_fit(robot: RobotFile, fit: FrictionFit, joint: int) -> ThermalFit:
    """Temperature factors, capacities and transfers of one joint from its duty cycles [Simoni2017, IV]."""
    r, rest = duty_records(robot.name)[joint], subject(robot).rest
    if r.temperature is not None:
        run = ThermalRun(r.stamp_ns, r.v, r.friction, rest, float(r.temperature[:100].mean()), r.temperature, r.load)
        return fit_thermal([run], fit.model(), fixed=HELD, joint=robot.joint_names[joint])
    # No sensor: just switched on, as warm as the room; friction shows temperature only up to a scale, so the capacities
    # of lubricant and housing are given (masses times specific heat); how fast heat passes is identified.
    run = ThermalRun(r.stamp_ns, r.v, r.friction, rest, ROOM, None, r.load)
    lubricant, housing = heat_capacities(robot.name)[joint]
    name = robot.joint_names[joint]
    fixed = HELD | {"heat_capacity": lubricant, "housing_capacity": housing}
    return fit_thermal([run], fit.model(), fixed=fixed, joint=name)


def thermal_block(fits: Sequence[ThermalFit]) -> Mapping[str, Any]:
    """The thermal block of a robot file from one fit per joint."""
    names = list(fits[0].parameters)
    values = {k: [f.parameters[k] for f in fits] for k in names}
    return {"thermal": {"source": "reproduction", "model": fits[0].model, "parameters": values}}


def heat_capacities(name: str) -> np.ndarray:
    """Assumed heat capacities of each joint's lubricant and housing (n, 2) [J/K]: friction alone does not show them."""
    plant = load_plant_file(name)
    thermal = [plant.types[kind].thermal for kind in plant.joints]
    return np.array([[float(t.lubricant_capacity), float(t.housing_capacity)] for t in thermal])
