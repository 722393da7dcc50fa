"""Friction and model error of the simulated UR, fitted to one run in closed loop."""

from __future__ import annotations

import numpy as np
from scipy.signal import savgol_filter

from bench.papers.labs.in_process import RATE, WARM, Run
from robot_dynamics_ros import _core
from robot_dynamics_ros.control.torque import commanded_inertia, coulomb_level
from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.robot_file import RobotFile

STILL = 0.05  # rad
BACKLASH = (3e-4, 6e-4, 1e-3, 2e-3, 4e-3, 8e-3)  # rad, pre-sliding distances tried


def model_error(robot: RobotFile, run: Run) -> np.ndarray:
    """Scale and offset (n, 2) by which measured torque differs from the model's: torque constants and masses."""
    return np.array([fit[1][5:] for fit in _fits(robot, run)])


def identified(robot: RobotFile, run: Run) -> RobotFile:
    """The robot with friction fitted to one run: f = (fc0 + fc1 tau_J^2) H + fv1 w + fv2 |w|w + fv3 w^3 per joint.

    A scale and an offset of the model torque are fitted along (model_error), so that friction does not take them over.
    """
    fits = _fits(robot, run)
    c = np.array([fit[1] for fit in fits])
    level, load = c[:, 0].tolist(), c[:, 1].tolist()
    none = [0.0] * robot.n_joints
    viscous = {f"fv{k}": c[:, 1 + k].tolist() for k in (1, 2, 3)}
    law = {"fc": level, "fs": level, "vs": 0.1, "mu": 1.0, "fl": none, "ft2": none, "ft3": none, "eps": 0.02} | viscous
    updates = {
        "friction.model": "madsen",
        "friction.parameters": law,
        "friction.reference_temperature": WARM,
        "friction.source": "reproduction",
        "hysteresis.source": "reproduction",
        "hysteresis.parameters.fc0": level,
        "hysteresis.parameters.fc1": load,
        "hysteresis.parameters.b": [fit[0] for fit in fits],
    }
    return robot.with_updates(updates, {"reproduction": "one pass of the trajectory under computed torque"})


def _fits(robot: RobotFile, run: Run) -> list[tuple[float, np.ndarray]]:
    """Pre-sliding distance and coefficients of every joint."""
    w, f, tau_J = _friction_measure(robot, run)
    file = coulomb_level(robot)
    fits: list[tuple[float, np.ndarray]] = []
    for i in range(robot.n_joints):
        if float(np.ptp(run.q[:, i])) < STILL:  # a joint that did not move keeps the Coulomb level of the file
            fits.append((BACKLASH[2], np.array([file[i], 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])))
        else:
            fits.append(_fit_joint(run.q[:, i], tau_J[:, i], w[:, i], f[:, i]))
    return fits


def _friction_measure(robot: RobotFile, run: Run) -> tuple[np.ndarray, ...]:
    """w, friction K i - B wd - tau_J, tau_J (N, n), zero-phase smoothed [Madsen2020, ch6 eq. 23]."""
    dt = 1 / RATE
    q, tau = (savgol_filter(x, 51, 2, axis=0) for x in (run.q, run.tau))
    w = savgol_filter(run.q, 51, 2, deriv=1, delta=dt, axis=0)
    wd = savgol_filter(run.q, 51, 3, deriv=2, delta=dt, axis=0)
    tau_J = _core.RigidBody(robot.chain()).rnea(q, w, wd)
    return w, tau - commanded_inertia(robot) * wd - tau_J, tau_J


def _fit_joint(q: np.ndarray, tau: np.ndarray, w: np.ndarray, f: np.ndarray) -> tuple[float, np.ndarray]:
    """Pre-sliding distance and coefficients (7,) of one joint with the smallest residual."""
    D, k = _core.gms_spacing(4, 4.0, 2.0)
    stamps = np.arange(len(q)) * int(1e9 / RATE)
    use = slice(int(RATE), -100)
    best: tuple[float, float, np.ndarray] | None = None
    for B in BACKLASH:
        gms = _core.Gms(D[None], k[None], np.array([[B]]))
        H = gms.run(stamps, np.ascontiguousarray(q[:, None]))[0][:, 0]
        a = np.abs(w)
        X = np.column_stack([H, H * tau**2, w, a * w, a * a * w, tau, np.ones_like(w)])[use]
        c = np.linalg.lstsq(X, f[use], rcond=None)[0]
        if c[1] < 0 or np.sqrt(np.mean(tau[use] ** 2)) < 3.0:  # a joint that carries nothing shows no load dependence
            c = np.insert(np.linalg.lstsq(np.delete(X, 1, axis=1), f[use], rcond=None)[0], 1, 0.0)
        residual = float(np.mean((X @ c - f[use]) ** 2))
        if best is None or residual < best[0]:
            best = (residual, B, c)
    if best is None:
        raise RobotDynamicsError("friction fit: no samples")
    return best[1], best[2]
