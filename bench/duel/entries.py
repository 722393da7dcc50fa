"""Entries of the duel: error on a held-out recording, processor time and memory of each, in a process of its own.

ours: `identify`. least squares: base parameters, Coulomb sign(v), viscous, offset and rotor inertia of every joint by
ordinary least squares over Butterworth-filtered states, as FloBaRoID and figaroh do [Liu2020 8-18]; tanh: with
tanh(v / V0). masses of the file: only friction and rotor inertia are fitted.
"""

from __future__ import annotations

import resource
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from robot_dynamics_ros.identification.arm.export import identified_robot
from robot_dynamics_ros.identification.arm.identify import identify
from robot_dynamics_ros.identification.arm.read import read
from robot_dynamics_ros.identification.arm.state import Options
from robot_dynamics_ros.identification.arm.written_file import file_effort
from robot_dynamics_ros.identification.dataset.initial_model import any_robot
from robot_dynamics_ros.identification.dataset.motion import Motion, filtered
from robot_dynamics_ros.identification.metrics import metrics
from robot_dynamics_ros.models import RobotModel

CUTOFF = 8.0  # Hz, of the peers' filter
V0 = 0.02  # rad/s
RANK = 1e-9  # of the largest singular value, below which a direction is left out
HEAD = ("entry", "mean R2", "RMSE per joint [Nm or A]", "processor time [s]", "memory [MB]")
Score = tuple[float, np.ndarray]  # mean R2, RMSE (n,)


def ours(robot: str, fitted: Path, judged: Path) -> Score:
    """`identify`: the written robot file on the held-out recording, without the edges of the filter as the others."""
    found = identify(any_robot(robot), [fitted], [judged])
    motion = found.filtered(found.validation[0])
    predict = file_effort(identified_robot(found), found.rigid.gravity, found.structure.filters)
    return score(found.as_recorded(motion.effort), found.as_recorded(predict(motion)))


def score(effort: np.ndarray, predicted: np.ndarray) -> Score:
    """Mean R2 over the joints, and RMSE of each."""
    found = metrics(effort, predicted)
    return float(np.mean(found["r2"])), np.asarray(found["rmse"])


def by_least_squares(step: Callable[[np.ndarray], np.ndarray], masses: bool = True) -> Callable[..., Score]:
    """Entry of linear regression; step: velocity (N,) -> friction's sign. masses: the bodies are fitted as well."""

    def entry(robot: str, fitted: Path, judged: Path) -> Score:
        arm = any_robot(robot)
        motions = [filtered(read(arm, bag, Options()), CUTOFF) for bag in (fitted, judged)]
        model = RobotModel(arm.chain(), arm.joint_names)
        W, V = (columns(model, m, step, masses) for m in motions)
        gain = arm.drives.effort.sign
        known = [np.zeros_like(m.effort) if masses else gain * model.rnea(m.q, m.qd, m.qdd) for m in motions]
        x = np.linalg.lstsq(W, (motions[0].effort - known[0]).T.ravel(), rcond=RANK)[0]
        return score(motions[1].effort, known[1] + (V @ x).reshape(arm.n_joints, -1).T)

    return entry


def columns(model: RobotModel, m: Motion, step: Callable[[np.ndarray], np.ndarray], masses: bool = True) -> np.ndarray:
    """(n N, p): the bodies' regressor, where asked for, and sign, velocity, offset, rotor inertia of each joint."""
    N, n = m.q.shape
    friction = np.zeros((n * N, 4 * n))
    for j in range(n):
        own = np.column_stack([step(m.qd[:, j]), m.qd[:, j], np.ones(N), m.qdd[:, j]])
        friction[j * N : (j + 1) * N, 4 * j : 4 * j + 4] = own
    if not masses:
        return friction
    q, qd, qdd = (np.ascontiguousarray(x) for x in (m.q, m.qd, m.qdd))
    return np.hstack([model.stacked_regressor(q, qd, qdd), friction])


def smooth(v: np.ndarray) -> np.ndarray:
    """tanh(v / V0)."""
    return np.tanh(v / V0)


ENTRIES: dict[str, Callable[..., Score]] = {
    "identify": ours,
    "least squares, tanh": by_least_squares(smooth),
    "least squares": by_least_squares(np.sign),
    "masses of the file, Coulomb": by_least_squares(np.sign, masses=False),
}


def measured(name: str, robot: str, fitted: Path, judged: Path) -> tuple[str, ...]:
    """The row of an entry; runs in a new process, whose time and largest memory it has."""
    r2, rmse = ENTRIES[name](robot, fitted, judged)
    used = resource.getrusage(resource.RUSAGE_SELF)
    seconds, memory = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    return name, f"{r2:.4f}", " ".join(f"{x:.3g}" for x in rmse), f"{seconds:.1f}", f"{memory:.0f}"


def duel(robot: str, fitted: Path, judged: Path) -> list[tuple[str, ...]]:
    """A row of every entry, one after the other."""
    rows = []
    for name in ENTRIES:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            rows.append(pool.submit(measured, name, robot, fitted, judged).result())
    return rows
