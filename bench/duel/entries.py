"""Entries of the duel: held-out error, coverage, processor time and memory of each, in a process of its own.

ours: `identify`. least squares: base parameters, Coulomb sign(v), viscous, offset and rotor inertia of every joint by
ordinary least squares over Butterworth-filtered states, the method of FloBaRoID [Liu2020 8-18]; tanh: with
tanh(v / V0). masses of the file: only friction and rotor inertia are fitted. Their deviation is the residual's RMS of
each joint. Peers run from their packages in another environment (peers.py).
"""

from __future__ import annotations

import resource
import subprocess
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.arm.export import identified_robot
from robot_dynamics_ros.identification.arm.identify import identify_recordings
from robot_dynamics_ros.identification.arm.read import read
from robot_dynamics_ros.identification.arm.residuals import STAGES, replayed, settled
from robot_dynamics_ros.identification.arm.state import Options
from robot_dynamics_ros.identification.arm.written_file import file_effort
from robot_dynamics_ros.identification.dataset.initial_model import any_robot
from robot_dynamics_ros.identification.dataset.motion import Motion, filtered
from robot_dynamics_ros.identification.dataset.recording import Recording
from robot_dynamics_ros.identification.metrics import metrics
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.models.mjcf_writer import mjcf_text
from robot_dynamics_ros.models.urdf_writer import write_urdf
from robot_dynamics_ros.robot_file import RobotFile

CUTOFF = 8.0  # Hz, of the others' filter
V0 = 0.02  # rad/s
RANK = 1e-9  # of the largest singular value, below which a direction is left out
PEERS = ("figaroh", "mujoco.sysid")
HEAD = ("entry", "mean R2", "RMSE per joint [Nm or A]", "within 1 / 2 std [%]", "processor time [s]", "memory [MB]")
Score = tuple[float, np.ndarray, float, float]  # mean R2, RMSE (n,), shares within one and two deviations
Entry = Callable[[RobotFile, Recording, Recording], Score]


def ours(arm: RobotFile, fitted: Recording, judged: Recording) -> Score:
    """`identify`: the written robot file on the held-out recording, without the edges of the filter as the others.

    Coverage: the external torque of the live pipeline, which is 0 here, against its stated deviation.
    """
    found = identify_recordings(arm, [fitted], [judged])
    robot = identified_robot(found)
    motion = found.filtered(found.validation[0])
    predict = file_effort(robot, found.rigid.gravity, found.structure.filters)
    r2, rmse, *_ = score(found.as_recorded(motion.effort), found.as_recorded(predict(motion)))
    return r2, rmse, *live_coverage(robot, found.validation[0])


def live_coverage(robot: RobotFile, recording: Recording) -> tuple[float, float]:
    """Shares of the settled rows with |external torque| within one and two deviations; effort in Nm."""
    ratios = []
    for piece in recording.pieces:
        logs = list(replayed(robot, piece, STAGES))
        torque = np.concatenate([log.external_joint_torque for log in logs])
        ratio = torque / np.concatenate([log.external_joint_torque_std for log in logs])
        ratios.append(np.abs(ratio[settled(robot, piece)]))
    ratio = np.concatenate(ratios)
    return float((ratio <= 1).mean()), float((ratio <= 2).mean())


def score(effort: np.ndarray, predicted: np.ndarray, std: np.ndarray | float = np.inf) -> Score:
    """Mean R2 over the joints, RMSE of each, shares of the samples within one and two std (n,)."""
    found, error = metrics(effort, predicted), np.abs(effort - predicted)
    one, two = (float((error <= k * std).mean()) for k in (1, 2))
    return float(np.mean(found["r2"])), np.asarray(found["rmse"]), one, two


def by_least_squares(step: Callable[[np.ndarray], np.ndarray], masses: bool = True) -> Entry:
    """Entry of linear regression; step: velocity (N,) -> friction's sign. masses: the bodies are fitted as well."""

    def entry(arm: RobotFile, fitted: Recording, judged: Recording) -> Score:
        motions = [filtered(recording, CUTOFF) for recording in (fitted, judged)]
        model = RobotModel(arm.chain(), arm.joint_names)
        W, V = (columns(model, m, step, masses) for m in motions)
        gain = arm.drives.effort.sign
        known = [np.zeros_like(m.effort) if masses else gain * model.rnea(m.q, m.qd, m.qdd) for m in motions]
        x = np.linalg.lstsq(W, (motions[0].effort - known[0]).T.ravel(), rcond=RANK)[0]
        own, predicted = (k + (A @ x).reshape(arm.n_joints, -1).T for k, A in zip(known, (W, V), strict=True))
        return score(motions[1].effort, predicted, np.sqrt(((own - motions[0].effort) ** 2).mean(axis=0)))

    return entry


def by_peer(name: str, python: str, arm: RobotFile, fitted: Recording, judged: Recording) -> Score:
    """A peer of peers.py, run by the `python` of its environment. Raises DataError with the end of what it printed."""
    motions = {"fitted": filtered(fitted, CUTOFF), "judged": filtered(judged, CUTOFF)}
    model, m = RobotModel(arm.chain(), arm.joint_names), motions["fitted"]
    sign = np.sign(np.sum(m.effort * model.gravity(m.q)))  # sysid's masses are positive: it needs the torque's sign
    with tempfile.TemporaryDirectory() as directory:
        work = Path(directory)
        arrays = {f"{k}_{x}": getattr(m, x) for k, m in motions.items() for x in ("q", "qd", "qdd")}
        arrays |= {f"{k}_torque": sign * m.effort for k, m in motions.items()}
        np.savez(work / "motions.npz", **arrays)
        write_urdf(arm, work / "arm.urdf")
        (work / "arm.xml").write_text(mjcf_text(arm, "none"), encoding="utf-8")
        script = Path(__file__).with_name("peers.py")
        done = subprocess.run([python, str(script), name, directory], capture_output=True, text=True, check=False)
        if done.returncode:
            raise DataError(f"{name}: {done.stderr.strip()[-300:]}")
        found = np.load(work / "predicted.npz")
        return score(motions["judged"].effort, sign * found["predicted"], found["std"])


def columns(model: RobotModel, m: Motion, step: Callable[[np.ndarray], np.ndarray], masses: bool = True) -> np.ndarray:
    """(n N, p): the bodies' regressor, where asked for, and sign, velocity, offset, rotor inertia of each joint."""
    N, n = m.q.shape
    friction = np.zeros((n * N, 4 * n))
    for j in range(n):
        own = np.column_stack([step(m.qd[:, j]), m.qd[:, j], np.ones(N), m.qdd[:, j]])
        friction[j * N : (j + 1) * N, 4 * j : 4 * j + 4] = own
    if not masses:
        return friction
    return np.hstack([model.stacked_regressor(m.q, m.qd, m.qdd), friction])


def smooth(v: np.ndarray) -> np.ndarray:
    """tanh(v / V0)."""
    return np.tanh(v / V0)


ENTRIES: dict[str, Entry] = {
    "identify": ours,
    "least squares, tanh": by_least_squares(smooth),
    "least squares": by_least_squares(np.sign),
    "masses of the file, Coulomb": by_least_squares(np.sign, masses=False),
}


def measured(name: str, robot: str, python: str, fitted: Path, judged: Path | None) -> tuple[str, ...]:
    """The row of an entry; runs in a new process, whose time and largest memory it has. Of a peer: its process only."""
    arm, peer = any_robot(robot), name in PEERS
    recordings = halves(arm, fitted) if judged is None else [read(arm, bag, Options()) for bag in (fitted, judged)]
    found = by_peer(name, python, arm, *recordings) if peer else ENTRIES[name](arm, *recordings)
    r2, rmse, one, two = found
    used = resource.getrusage(resource.RUSAGE_CHILDREN if peer else resource.RUSAGE_SELF)
    seconds, memory = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
    errors = " ".join(f"{x:.3g}" for x in rmse)
    return name, f"{r2:.4f}", errors, f"{100 * one:.0f} / {100 * two:.0f}", f"{seconds:.1f}", f"{memory:.0f}"


def halves(arm: RobotFile, bag: Path) -> list[Recording]:
    """First and second half of the longest piece of a recording."""
    whole = read(arm, bag, Options())
    piece = max(whole.pieces, key=lambda p: len(p.t))
    middle = len(piece.t) // 2
    parts = piece.take(slice(0, middle)), piece.take(slice(middle, None))
    return [replace(whole, name=f"{whole.name} {k}", pieces=[p]) for k, p in zip("12", parts, strict=True)]


def duel(robot: str, fitted: Path, judged: Path | None, python: str | None) -> list[tuple[str, ...]]:
    """A row of every entry, one after the other; judged None: the second half of `fitted`; python: of the peers."""
    rows = []
    for name in (*ENTRIES, *(PEERS if python else ())):
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            rows.append(pool.submit(measured, name, robot, python or "", fitted, judged).result())
    return rows
