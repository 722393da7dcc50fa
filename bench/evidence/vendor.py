"""Ten minutes of a simulated arm that warms up, with an estimate of the robot's own software that is wrong at rest.

Franka: torque sensors with offsets and link masses that differ from the controller's model give a bias that depends on
the pose. UR e-Series: the sensor at the flange drifts with the temperature of the wrist and was zeroed once, with an
undeclared tool mounted. These defects are assumed, of the size that owners report.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from robot_dynamics_ros.bags import write_bag
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import RobotFile, load_robot
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.trajectories import motions

TOPIC = "vendor_external_wrench"
MINUTES, POSES, REST, EXCITED = 10.0, 12, 3.0, 60.0  # poses are visited again and again, s of a stop, s of excitation
SEEN = 0.68  # share of the recording after which the poses are others: identify judges on the last 0.3
REACH, VELOCITY, ACCELERATION = 0.6, 0.8, 2.0  # rad, rad/s, rad/s2
AMBIENT = 22.0  # deg C, of arm and air at the start
TORQUE_OFFSETS = np.array([0.3, -0.6, 0.4, 0.5, -0.2, 0.2, -0.1])  # Nm, of the joint torque sensors
DRIFT = np.array([0.5, -0.4, 1.5])  # N/K, of the sensor at the flange, tool axes
TOOL, TOOL_COM = 0.3, (0.0, 0.0, 0.05)  # kg, m: an undeclared tool
HOME = {7: (0.0, -0.6, 0.0, -2.2, 0.0, 1.7, 0.7), 6: (0.0, -1.2, 1.5, -1.9, -1.57, 0.4)}  # rad, by number of joints


def record(name: str, out: Path, seed: int = 0, minutes: float = MINUTES) -> Path:
    """The bag: joint states, temperatures where the arm reports them, and the vendor's wrench. Returns `out`."""
    robot = load_robot(name)
    link_side = robot.drives.torque_side == "link"
    overrides = {"sensing.torque_offset": TORQUE_OFFSETS[: robot.n_joints]} if link_side else {}
    machine = SimulatedRobot(robot, seed=seed, overrides=overrides, rate=500.0)
    machine.set_ambient(AMBIENT)
    machine.set_temperatures(AMBIENT)
    if not link_side:
        machine.set_payload(TOOL, TOOL_COM, configured=False)
    motion = day(robot, seed, machine.rate, minutes)
    machine.reset(motion[0][0])
    log, truth = machine.run(*motion)
    model = RobotModel(robot.chain(), robot.joint_names)
    log.vendor_external_wrench = franka(model, log) if link_side else flange_sensor(model, log, truth)
    for extra in ("q_d", "qd_d", "qdd_d", "tau_d", "theta", "omega", "motor_torque"):
        log.signals.pop(extra, None)
    return write_bag(log, out, frame_id=robot.kinematics.base_frame)


def day(robot: RobotFile, seed: int, rate: float, minutes: float) -> motions.JointMotion:
    """A minute of excitation, then POSES visited in turn with stops, again and again; from SEEN on other poses."""
    home, draw = np.array(HOME[robot.n_joints]), np.random.default_rng(seed)
    lower, upper = robot.array("limits.position_lower") + 0.1, robot.array("limits.position_upper") - 0.1
    poses = np.clip(home + draw.uniform(-REACH, REACH, (2, POSES, robot.n_joints)), lower, upper)
    excited = min(EXCITED, 10 * minutes)
    parts = [motions.fourier(home, excited, rate, amplitude=0.8 * REACH, velocity=VELOCITY, seed=seed)]
    here, length, k = parts[0][0][-1], excited, 0
    while length < 60 * minutes:
        there = poses[int(length > SEEN * 60 * minutes), k % POSES]
        move = motions.quintic(here, there, rate, VELOCITY * draw.uniform(0.3, 1.0), ACCELERATION)
        parts += [move, motions.hold(there, REST, rate)]
        here, length, k = there, length + len(move[0]) / rate + REST, k + 1
    return motions.join(*parts)


def franka(model: RobotModel, log: Log) -> np.ndarray:
    """O_F_ext_hat_K (N, 6) of the controller's model: tau_ext = tau_J - g(q), F = (J J')^-1 J tau_ext."""
    torque = log.effort - model.gravity(log.q)
    J = model.jacobian(log.q)
    return np.linalg.solve(J @ J.transpose(0, 2, 1), (J @ torque[:, :, None]))[:, :, 0]


def flange_sensor(model: RobotModel, log: Log, truth: dict[str, np.ndarray]) -> np.ndarray:
    """actual_TCP_force (N, 6), base axes: weight of the tool less that at the start, and drift."""
    R = model.fk(log.q)[:, -1, :3, :3]
    weight = np.einsum("kji,j->ki", R, [0.0, 0.0, -9.81 * TOOL])
    warmer = truth["housing_temperature"][:, -1:] - AMBIENT
    force = weight - weight[0] + warmer * DRIFT
    return np.hstack([np.einsum("kij,kj->ki", R, force), np.zeros_like(force)])
