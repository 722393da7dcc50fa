"""The baseline: tanh friction with |tau|, the same inertia and observer, a damped inverse.

tau_f = fo + fv qd + (fc + fl |tau_m|) tanh(qd/eps) by least squares on the identification recordings; external torque
by the momentum observer; F = (J J' + L)^-1 J tau, damped where a singular value of the scaled J is below 0.08;
deviations from the residuals of the fit, moving and at rest. Law, inverse and detection are written apart from the
estimators, so that they stay as they are while those change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bench.force.recordings import replayed
from robot_dynamics_ros.estimators.external_force import ForceStage
from robot_dynamics_ros.estimators.wrench_metrics import moving_mask
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Log

EPSILONS = (0.003, 0.01, 0.03, 0.1)  # rad/s
DAMPED, RATIO, FLOOR = 0.08, 3.5, 5.0  # singular value, deviations, N
ON, OFF = 0.01, 0.05  # s of debouncing
THIN = 5  # every so many samples are fitted
MOTION = ("motion",)  # the stage alone that gives qdd, model and drive torque of a robot file


@dataclass
class Baseline:
    """The fitted law (n, 4) and eps (n,) of every joint, deviation of its residual (n,) moving and at rest."""

    law: np.ndarray
    epsilon: np.ndarray
    moving_std: np.ndarray
    rest_std: np.ndarray

    def friction(self, qd: np.ndarray, model_torque: np.ndarray) -> np.ndarray:
        """Friction torque (N, n) [Nm]."""
        columns = zip(qd.T, model_torque.T, self.epsilon, self.law, strict=True)
        return np.stack([_regressor(v, tau, eps) @ law for v, tau, eps, law in columns], axis=1)


def fit(robot: RobotFile, logs: Sequence[Log]) -> Baseline:
    """The law of every joint from recordings without contact, with the inertia of the robot file."""
    done = [replayed(robot, log, MOTION) for log in logs]
    moving = np.concatenate([moving_mask(x.qd, x.time) for x in done])[::THIN]
    qd, tau, drive = (
        np.concatenate([getattr(x, k) for x in done])[::THIN] for k in ("qd", "model_torque", "drive_torque")
    )
    best = [
        min((_fitted(qd[:, j], tau[:, j], (drive - tau)[:, j], eps) for eps in EPSILONS), key=lambda f: f[0])
        for j in range(qd.shape[1])
    ]
    result = Baseline(np.array([b[2] for b in best]), np.array([b[1] for b in best]), np.zeros(0), np.zeros(0))
    residual = drive - tau - result.friction(qd, tau)
    at_rest = ~moving if (~moving).sum() > 100 else np.ones_like(moving)
    result.moving_std, result.rest_std = (np.sqrt((residual[m] ** 2).mean(axis=0)) for m in (moving, at_rest))
    return result


def _fitted(v: np.ndarray, tau: np.ndarray, target: np.ndarray, eps: float) -> tuple[float, float, np.ndarray]:
    A = _regressor(v, tau, eps)
    law = np.linalg.lstsq(A, target, rcond=None)[0]
    return float(((target - A @ law) ** 2).sum()), eps, law


def _regressor(v: np.ndarray, tau: np.ndarray, eps: float) -> np.ndarray:
    sign = np.tanh(v / eps)
    return np.stack([np.ones_like(v), v, sign, np.abs(tau) * sign], axis=1)


def observed(robot: RobotFile, log: Log, friction: np.ndarray, std: np.ndarray) -> Log:
    """The log of the motion stage with the force stage run on a given friction torque and its deviation (N, n)."""
    done = replayed(robot, log, MOTION)
    done.friction_torque, done.friction_std = np.ascontiguousarray(friction), np.ascontiguousarray(std)
    stage = ForceStage.of(robot)
    stage.run(done)
    return done


def estimate(robot: RobotFile, log: Log, law: Baseline) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Wrench and its deviation (N, 6), and detection (N,), of a log."""
    done = replayed(robot, log, MOTION)
    moving = moving_mask(done.qd, done.time)
    std = np.where(moving[:, None], law.moving_std, law.rest_std)
    torque = observed(robot, log, law.friction(done.qd, done.model_torque), std).external_joint_torque
    inverse = damped_inverse(robot, done.q)
    wrench = np.einsum("nij,nj->ni", inverse, torque)
    covariance = np.einsum("nij,nj,nkj->nik", inverse, std**2, inverse)
    size = np.linalg.norm(wrench[:, :3], axis=1)
    unit = wrench[:, :3] / np.maximum(size, 1e-9)[:, None]
    along = np.sqrt(np.einsum("ni,nij,nj->n", unit, covariance[:, :3, :3], unit))
    over = size > np.maximum(FLOOR, RATIO * along)
    return wrench, np.sqrt(np.einsum("nii->ni", covariance)), debounced(over, float(np.median(np.diff(done.time))))


def damped_inverse(robot: RobotFile, q: np.ndarray) -> np.ndarray:
    """(N, 6, n) that turns joint torques into a wrench: moments over a quarter of the arm, small directions damped."""
    model = RobotModel(robot.chain())
    J = model.jacobian(np.ascontiguousarray(q))
    scale = np.ones(6)
    scale[3:] = 1.0 / (0.25 * np.linalg.norm(model.fk(np.zeros(robot.n_joints))[-1, :3, 3]).clip(0.2))
    U, s, Vt = np.linalg.svd(J * scale[:, None], full_matrices=False)
    damping = np.where(s < DAMPED, DAMPED**2 - s**2, 0.0)
    return scale[:, None] * np.einsum("nik,nk,nkj->nij", U, s / (s**2 + damping), Vt)


def debounced(over: np.ndarray, period: float) -> np.ndarray:
    """Begins after ON seconds above, ends after OFF seconds below."""
    on, off = max(1, round(ON / period)), max(1, round(OFF / period))
    count = np.convolve(over, np.ones(on))[: len(over)]
    begun = count >= on
    return np.convolve(begun, np.ones(off))[: len(over)] > 0
