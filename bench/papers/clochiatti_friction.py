"""Currents from one regression per joint: torque constant, viscous, power-flow Coulomb friction [Clochiatti2024].

Identified on test A, judged on both, while the joint moves: at rest stiction holds it at any torque. Current, velocity
and model torque are low-passed without phase at 10 Hz, below the vibration that the steps of acceleration excite. Motor
inertia comes from the controller's own model torque [8-9].
"""

from __future__ import annotations

import numpy as np

from bench.papers.labs import lab
from bench.papers.labs.calibration import trapezoid_test
from bench.papers.table import Row, at_least, at_most, beside
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.identification.dataset.motion import low_pass
from robot_dynamics_ros.identification.drive.fits import columns
from robot_dynamics_ros.identification.metrics import rms
from robot_dynamics_ros.models.robot_model import RobotModel
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Log

SOURCE = "Clochiatti2024"
HOW = "; links as the robot file has them"
CUTOFF, MOVING = 10.0, 0.02  # Hz, rad/s
EPS = 0.02  # rad/s; the source's 1e-5 on the output side chatters with a measured velocity


def run(quick: bool = False) -> list[Row]:
    """R2 of currents on tests A and B, of the frictionless torque, and the RMS current errors."""
    robot = lab.ur5e()
    a, b = recorded(robot, 0), recorded(robot, 1)
    x = [regression(a, j) for j in range(robot.n_joints)]
    scores = {name: [r2_and_rms(log, j, x[j]) for j in range(robot.n_joints)] for name, log in (("A", a), ("B", b))}
    lowest = {name: min(s[0] for s in found) for name, found in scores.items()}
    rows = [
        at_least(SOURCE, f"frictionless torque R2, lowest joint, test B{HOW}", 0.999, frictionless_r2(robot, a, b), "")
    ]
    rows += [
        at_least(SOURCE, f"current R2, lowest joint, test {name}{HOW}", 0.985, r2, "") for name, r2 in lowest.items()
    ]
    wrists = 1e3 * max(s[1] for s in scores["B"][3:])
    rows.append(at_most(SOURCE, f"current RMS error, joints 4-6, test B{HOW}", 66.0, wrists, "mA"))
    arm = 1e3 * max(s[1] for s in scores["B"][:3])
    note = "the simulated sensor's noise and the vibration of the flexible joints alone exceed 20 mA"
    rows.append(beside(SOURCE, f"current RMS error, joints 1-3, test B{HOW}", 20.0, arm, "mA", note))
    return rows


def recorded(robot: RobotFile, seed: int) -> Log:
    """Test A (seed 0) or B (1) through the stages: model torque and measured current, low-passed."""
    log = trapezoid_test(robot, seed)
    Pipeline(robot, stages=["motion"]).run(log)
    for name in ("current", "qd", "model_torque"):
        setattr(log, name, low_pass(getattr(log, name), CUTOFF, 1 / 500.0))
    return log


def regression(log: Log, joint: int) -> np.ndarray:
    """1/K_tau, then friction parameters over K_tau, by least squares of the current while moving."""
    A, use = columns(log.qd[:, joint], log.model_torque[:, joint], EPS), np.abs(log.qd[:, joint]) > MOVING
    return np.linalg.lstsq(A[use], log.current[use, joint], rcond=None)[0]


def r2_and_rms(log: Log, joint: int, x: np.ndarray) -> tuple[float, float]:
    """R2 and RMS [A] of the current of one moving joint."""
    A, use = columns(log.qd[:, joint], log.model_torque[:, joint], EPS), np.abs(log.qd[:, joint]) > MOVING
    y = log.current[use, joint]
    error = y - A[use] @ x
    return float(1 - error @ error / np.sum((y - y.mean()) ** 2)), rms(error)


def frictionless_r2(robot: RobotFile, a: Log, b: Log) -> float:
    """Rotor inertia from the controller's model torque on A; lowest R2 of it on B [Clochiatti2024, eq. 8-9]."""
    model = RobotModel(robot.chain())
    rest = [log.tau_d - model.rnea(log.q_d, log.qd_d, log.qdd_d) for log in (a, b)]
    inertia = np.sum(rest[0] * a.qdd_d, axis=0) / np.sum(a.qdd_d**2, axis=0)
    error = rest[1] - b.qdd_d * inertia
    return float(np.min(1 - np.sum(error**2, axis=0) / np.sum((b.tau_d - b.tau_d.mean(0)) ** 2, axis=0)))
