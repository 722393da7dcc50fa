"""A robot file judged as nodes evaluate it: links, inertia beside them, and the friction stage that runs live.

The cut-off of their acceleration is chosen so: noise against latency, by the motion stage itself on the training
recordings. In faster work than what was recorded latency costs more, noise the same: of the cut-offs that predict
about as well the largest is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from scipy.ndimage import uniform_filter1d

from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.estimators.friction import FrictionStage
from robot_dynamics_ros.estimators.motion import ACCELERATION_CUTOFF, rotor_torque
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.identification.arm.export import identified_robot
from robot_dynamics_ros.identification.arm.friction_samples import friction_of
from robot_dynamics_ros.identification.arm.model import Filters, recorded
from robot_dynamics_ros.identification.arm.residuals import for_repaired, piece_log, replayed, settled, slipped
from robot_dynamics_ros.identification.arm.state import Identification, note
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.identification.dataset.recording import Piece, Recording
from robot_dynamics_ros.identification.dataset.stretches import sampled
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import RobotFile

SETTLING = 0.1  # s at the beginning of a piece, in which causal filters of 150 rad/s settle
CANDIDATES = 20.0, 25.0, 30.0, 40.0, 50.0, 65.0, 80.0, 100.0, 120.0, 150.0, 200.0, 250.0, 300.0, 400.0, 500.0  # rad/s
PER_PERIOD = 1.0  # largest cut-off times period, above the usual one: the filter keeps 63 % of the newest difference
ACCELERATING = 0.1  # rad/s2, RMS of half of the joints; the slowest recordings of the zoo have 0.12
MARGIN = 0.01  # of the smallest error, by which that of the cut-off may be larger; found on the zoo
WINDOWS = 0.004, 0.008  # s, half of that over which positions give a velocity: noise against latency
LESS = 0.8  # of the squared error that the reported velocity leaves, for which the positions' latency is accepted
# s over which that error is averaged, as by the observer (25 rad/s): noise of torque sensors hides it; and over which a
# mean is taken off: errors of gravity, offsets and pushes hide it, too
BAND = 0.04, 0.4
ROWS = 6_000  # at LOWER_RATE: of longer recordings some stretches are replayed,
CONTEXT = 0.5  # s beside each


def file_effort(robot: RobotFile, gravity: np.ndarray, filters: Filters) -> Callable[[Motion], np.ndarray]:
    """Prediction motion -> effort (N, n) [Nm] of a robot file, payload included, as the live stages compute it.

    gravity (3,) [m/s2] as the effort contains it; filters: those that the recorded effort has passed. Raises
    CapabilityError where the links are unknown.
    """
    model = RobotModel(robot.chain(), robot.joint_names).with_gravity(gravity)

    def predict(motion: Motion) -> np.ndarray:
        load = model.rnea(motion.q, motion.qd, motion.qdd)
        torque = load + rotor_torque(robot, motion.qdd) + file_friction(robot, motion, load)
        return recorded(filters, torque, motion)

    return predict


def file_friction(robot: RobotFile, motion: Motion, load: np.ndarray) -> np.ndarray:
    """Friction (N, n) [Nm] that the live nodes take off for torque load (N, n) [Nm]."""
    if robot.friction is None:
        return np.zeros_like(load)
    return friction_of(FrictionStage.of(robot).core, motion, load)


def live_torques(robot: RobotFile, recording: Recording) -> tuple[np.ndarray, np.ndarray]:
    """Drive torque and its prediction (N, n) [Nm] of a recording replayed through the live motion and friction stages.

    The recording's effort is in Nm; the torque is NaN until a joint has `slipped`. Raises CapabilityError where a stage
    lacks numbers.
    """
    found = [_replayed(robot, piece) for piece in recording.pieces]
    return np.concatenate([y for y, _ in found]), np.concatenate([p for _, p in found])


def _replayed(robot: RobotFile, piece: Piece) -> tuple[np.ndarray, np.ndarray]:
    has_friction = robot.friction is not None
    torques, predictions, known, first = [], [], slipped(robot, piece.q), 0
    for log in replayed(robot, piece, ["motion", "friction"] if has_friction else ["motion"]):
        prediction = log.model_torque + log.friction_torque if has_friction else log.model_torque
        good = np.isfinite(log.drive_torque).all(1) & np.isfinite(prediction).all(1)
        rows = good & (log.stamp_ns > 1e9 * SETTLING)
        torques.append(np.where(known[first : first + len(log)], log.drive_torque, np.nan)[rows])
        predictions.append(prediction[rows])
        first += len(log)
    return np.concatenate(torques), np.concatenate(predictions)


def choose_live_motion(state: Identification) -> None:
    """Fill velocity_window and acceleration_cutoff, which stays None where the recordings do not show what is best.

    Behind the gear the links' own velocity is needed: the slope of the positions, where that leaves less.
    """
    if not _shown(state):
        return
    try:
        if state.robot.drives.torque_side == "link":
            choose_window(state)
        cutoffs, of_joints = live_errors(for_repaired(identified_robot(state)), state.training)
    except CapabilityError:  # the step of the residuals, which runs the same stages, says it
        return
    errors = of_joints.mean(axis=1)
    chosen = state.acceleration_cutoff = float(cutoffs[errors <= (1 + MARGIN) * errors.min()].max())
    if state.velocity_window:
        late = f"{1e3 * state.velocity_window:.3g} ms late"
        note(state.statements, f"velocity of the live nodes: slope of the positions, {late}")
    found = dict(zip(cutoffs.tolist(), (1 - errors).tolist(), strict=True))
    note(
        state.statements,
        f"acceleration of the live nodes: low-pass at {chosen:g} rad/s, with which their mean R2 on the identification "
        f"data is {found[chosen]:.4f} ({found[ACCELERATION_CUTOFF]:.4f} with {ACCELERATION_CUTOFF:g} rad/s)",
    )


def choose_window(state: Identification) -> None:
    """Fill velocity_window: of WINDOWS the last that leaves LESS of the error that the observer passes on, geometric
    mean over the joints: what a sensor that carries nothing shows is noise. Raises CapabilityError as live_errors.
    """
    least, shortest = np.inf, 1.01 / min(rec.rate for rec in state.training)
    for window in (0.0, *WINDOWS):
        before, state.velocity_window = state.velocity_window, window and max(window, shortest)
        _, errors = live_errors(for_repaired(identified_robot(state)), state.training, BAND)
        left = np.exp(np.log(errors).mean(axis=1)).min()
        if left > LESS * least:
            state.velocity_window = before
        else:
            least = left


def _shown(state: Identification) -> bool:
    """Whether noise and latency are those of live samples: a smoothed effort comes late itself, contact is no error of
    the acceleration, and a robot that hardly accelerates shows no latency.
    """
    smoothed = any(chosen is not None for chosen in state.structure.filters)
    acceleration = np.median(np.sqrt(np.mean(state.motion.qdd**2, axis=0)))
    return not (smoothed or state.friction_invalid_reason or acceleration < ACCELERATING)


def live_errors(
    robot: RobotFile, recordings: Sequence[Recording], band: tuple[float, float] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Cut-offs (C,) [rad/s] and the live error of each joint that moves with each (C, k): sum (effort - model torque -
    friction)^2 over that of (effort - mean)^2; of the error the mean over the first time of a band [s] less that over
    the second.

    Friction is replayed once: its load hardly changes with the cut-off. Raises CapabilityError where a stage lacks
    numbers, or no joint settles.
    """
    recordings = sampled(recordings, ROWS, CONTEXT)
    fastest = max(PER_PERIOD * max(r.rate for r in recordings), ACCELERATION_CUTOFF)
    cutoffs = np.array([c for c in CANDIDATES if c <= 1.01 * fastest])
    whole = Pipeline(robot, stages=("motion", "friction"))
    motions = [Pipeline(robot, {"motion": {"acceleration_cutoff": float(c)}}, ("motion",)) for c in cutoffs]
    found = [_squares(whole, motions, piece, band) for rec in recordings for piece in rec.pieces]
    effort, squares = np.concatenate([y for y, _ in found]), np.sum([e for _, e in found], axis=0)
    mean = np.nansum(effort, axis=0) / np.maximum(np.isfinite(effort).sum(axis=0), 1)  # 0: it never settled
    power = np.nansum((effort - mean) ** 2, axis=0)
    if not power.any():
        raise CapabilityError("no joint settles: its motion in every piece is too short or too small")
    return cutoffs, squares[:, power > 0] / power[power > 0]


def _squares(
    whole: Pipeline, motions: Sequence[Pipeline], piece: Piece, band: tuple[float, float] | None
) -> tuple[np.ndarray, np.ndarray]:
    """Drive torque (N, n) of a piece, NaN until friction has settled, and the squares of its live errors (C, n) in a
    band.
    """
    log = piece_log(whole.robot, piece)
    whole.reset()
    whole.run(log)
    effort, rest = log.drive_torque, log.drive_torque - log.friction_torque
    out = ~(settled(whole.robot, piece) & np.isfinite(rest))
    squares = []
    for motion in motions:
        motion.reset()
        motion.run(log)
        left = rest - log.model_torque
        left[out] = 0.0
        if band is not None:
            fast, slow = (uniform_filter1d(left, max(round(s / piece.period), 1), axis=0) for s in band)
            left = fast - slow
        squares.append(np.einsum("ij,ij->j", left, left))
    return np.where(out, np.nan, effort), np.array(squares)
