"""Residuals of the written robot file: the external torque that its live pipeline sees where nothing touches the robot.

They are the standard deviation of the contact force: friction, inertia, sensor and controller together, filtered as
live. Moving and standing still are kept apart, because presliding friction is known less well than sliding friction.
How far all joints together go beyond these deviations sets the threshold of contact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy.ndimage import maximum_filter1d, minimum_filter1d, uniform_filter1d

from robot_dynamics_ros._core import CONTACT_ENDS
from robot_dynamics_ros.estimators.external_force import significance
from robot_dynamics_ros.estimators.force_arguments import CONTACT, KEPT, UNKNOWN_FRICTION, torque_scale
from robot_dynamics_ros.estimators.motion import effort_gain
from robot_dynamics_ros.estimators.pipeline import BLOCK, Pipeline
from robot_dynamics_ros.identification.arm.friction_samples import before, still
from robot_dynamics_ros.identification.arm.model import IdentifiedModel
from robot_dynamics_ros.identification.dataset.motion import rotor_position
from robot_dynamics_ros.identification.dataset.recording import Piece, Recording
from robot_dynamics_ros.identification.dataset.stretches import sampled
from robot_dynamics_ros.identification.metrics import robust_std
from robot_dynamics_ros.models.hysteresis import UNIFORM, dry_joints, friction_level, friction_within
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.signals.speeds import SLOW

SETTLING = 1.0  # s at the beginning of a piece in which the observer settles
MIN_SAMPLES = 100  # of a state that says something about a joint
STAGES = ("motion", "friction", "force")
SAME_FRICTION = {"force": {"friction_drift": 0.0}}  # of the recordings that it was fitted to
MIN_STD = 1e-3  # Nm, smallest deviation that a robot file holds
NAMES = ("external_joint_torque", "qd", "model_torque")
ROWS = 30_000  # at LOWER_RATE: of longer recordings some stretches are replayed
# Deviation over the residual of R = 1, 2, .. recordings: with one or two the fit hides some of its error; with more 0.9
# because an RMS with long tails is above what 68 % of the samples lie within. By experiment on simulated robots.
WIDER = 1.3, 1.0, 0.9
FLOORS = {"moving": 0.008, "rest": KEPT}  # of the breakaway level: what no recording shows of other days and places
UNSEEN = 0.15  # of it: deviation of what the recordings do not show, presliding at rest or friction at small speeds
# Of the deviations' root mean square share of the torque limits: least deviation behind a torque sensor, which errs
# under loads that free motion may not put on a joint, as on the last one of a symmetric tool
UNLOADED = 0.5
FASTEST = 0.999  # share of the samples below what counts as the largest speed: single samples may be wrong
SHOWN, LEAST = 0.05, 3.0  # rad/s, s: slower sliding than this for so long shows Stribeck friction
STEADY = 0.2  # s, ten times what effort behind the lowest cut-off of identification, 8 Hz, is late
POSES = 300
FALSE_SHARE = 1e-3  # of the free time that may lie above the threshold of contact
ONSETS = 150.0, 60.0, 40.0  # rad/s, bandwidths for fast changes


def residuals(robot: RobotFile, recordings: Sequence[Recording], elsewhere: np.ndarray | float = 0.0) -> dict[str, Any]:
    """`deviations` of a free robot, and what follows from them.

    significance: standard deviations that the torques of all joints together exceed in FALSE_SHARE of the time; onset
    [rad/s]: the largest of ONSETS that stays below the end of a contact, else that of the least significance.
    The effort of the recordings is in Nm. elsewhere (n,): deviation of gravity in other poses [Nm]
    (`gravity_deviation`).
    """
    found = deviations(robot, recordings, elsewhere, _rms)
    recordings = sampled(recordings, ROWS, SETTLING)
    tried = []
    for onset in ONSETS:
        with_onset = found | {"onset": onset}
        tried.append(with_onset | {"significance": _significance(robot, recordings, with_onset)})
        if tried[-1]["significance"] <= CONTACT_ENDS * CONTACT:
            break
    return min(tried, key=lambda x: x["significance"])


def deviations(
    robot: RobotFile,
    recordings: Sequence[Recording],
    elsewhere: np.ndarray | float,
    spread: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> dict[str, Any]:
    """moving, rest (n,) [Nm]: standard deviation of the external joint torque, by the joint's state; speed (n,)
    [rad/s]: largest of the recordings; slow (n,): relative error of friction at small speeds (`slow_error`).

    spread: of torques (N, n) where a mask (N, n) holds. A joint that never moved takes the value at rest, behind a
    motor that of unknown friction at least: while it stands nothing shows how it slides.
    """
    robot = robot.with_updates({"residuals": None})  # with them the force stage absorbs errors at rest
    slow = slow_error([piece for rec in recordings for piece in rec.pieces])
    wider = WIDER[min(len({rec.name for rec in recordings}), len(WIDER)) - 1]
    recordings = sampled(recordings, ROWS, SETTLING)
    seen = [_seen(robot, piece) for rec in recordings for piece in rec.pieces]
    none = np.zeros((0, robot.n_joints))
    torque, speed, load = (np.concatenate([none, *(signals[k] for signals in seen)]) for k in range(len(NAMES)))
    breakaway = friction_level(robot, np.abs(load).mean(axis=0))
    moving, rest = (wider * spread(torque, mask) for mask in (np.abs(speed) >= SLOW, np.abs(speed) < SLOW))
    motor = robot.drives.torque_side == "motor"
    blind = motor and any(rec.blind for rec in recordings)  # to rotors of elastic gears
    least = (UNSEEN if blind else FLOORS["rest"]) * breakaway
    rest = np.where(np.isfinite(rest), np.hypot(rest, least), UNSEEN * breakaway)
    rest, moving = np.hypot(rest, elsewhere), np.hypot(np.hypot(moving, FLOORS["moving"] * breakaway), elsewhere)
    unmoved = ~np.isfinite(moving)
    rest = np.where(unmoved & motor, np.fmax(rest, UNKNOWN_FRICTION * torque_scale(robot)), rest)
    moving = np.where(unmoved, rest, moving)
    if not motor:
        scale = torque_scale(robot)
        moving, rest = (np.fmax(x, UNLOADED * np.sqrt(np.mean((x / scale) ** 2)) * scale) for x in (moving, rest))
        # A push moves the link unseen within a step of the positions, by which its error is distributed uniformly.
        steps = np.max([np.zeros(robot.n_joints), *(rec.q_steps for rec in recordings)], axis=0)
        rest = np.hypot(rest, UNIFORM * friction_within(robot, steps))
    fastest = np.fmax(np.quantile(np.abs(speed), FASTEST, axis=0), SLOW)
    return {"moving": np.fmax(moving, MIN_STD), "rest": np.fmax(rest, MIN_STD), "speed": fastest, "slow": slow}


def slow_error(pieces: Sequence[Piece]) -> np.ndarray:
    """Relative error (n,) of friction at small speeds: UNSEEN where a joint slides faster than twice SHOWN in all but
    LEAST, falling to 0 at SHOWN. Sliding is steady: within a factor of two for STEADY, SLOW or faster, means of a
    quarter of STEADY, because of noise. A fast reversal passes the speeds of Stribeck friction in less time than the
    filters of identification need.
    """
    found = []
    for piece in pieces:
        size = max(round(STEADY / piece.period), 1)
        speed = np.abs(uniform_filter1d(piece.velocity, max(size // 4, 1), axis=0))
        least, most = (take(speed, size, axis=0) for take in (minimum_filter1d, maximum_filter1d))
        found.append(np.where((least >= SLOW) & (most <= 2.0 * least), least, np.inf))
    period = np.concatenate([np.full(len(piece.t), piece.period) for piece in pieces])
    slowest = np.array([_reached(steady, period) for steady in np.concatenate(found).T])
    return np.asarray(UNSEEN * np.clip(slowest / SHOWN - 1.0, 0.0, 1.0))


def _reached(speed: np.ndarray, period: np.ndarray) -> float:
    """The slowest speeds (N,) together last LEAST up to this one; period (N,) [s]: of the samples."""
    order = np.argsort(speed)
    place = int(np.searchsorted(np.cumsum(period[order]) - 0.5 * period[order], LEAST))
    return float(speed[order[min(place, len(order) - 1)]])


def unknown_at_small_speeds(names: Sequence[str], slow: np.ndarray) -> str:
    """A warning about the joints for which slow (n,) is more than half of UNSEEN; empty without any."""
    joints = ", ".join(name for name, error in zip(names, slow, strict=True) if error > 0.5 * UNSEEN)
    return joints and (
        f"{joints}: steadily slower than {SHOWN} rad/s for less than {LEAST:.0f} s, so that friction at small speeds "
        f"is known to {100 * UNSEEN:.0f} % only: add slow reversals"
    )


def gravity_deviation(robot: RobotFile, model: IdentifiedModel) -> np.ndarray:
    """Deviation (n,) [Nm] of gravity that its identified parameters leave over all poses: sqrt(mean a' cov a).

    POSES random poses within the robot's pose_range.
    """
    q = robot.random_poses(POSES)
    still = np.zeros_like(q)
    W = model.rigid.base_regressor(q, still, still)
    b = W.shape[2]
    return np.asarray(np.sqrt(np.einsum("jta,ab,jtb->j", W, model.covariance[:b, :b], W, optimize=True) / POSES))


def _seen(robot: RobotFile, piece: Piece) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """External torque, speed and load (N, n) of a piece; the torque is NaN until it is `settled`, and while a dry joint
    is stuck or was within STILL: live, its deviation contains its last stand.
    """
    kept = [[getattr(log, name).copy() for name in NAMES] for log in replayed(robot, piece, STAGES)]
    torque, speed, load = (np.concatenate([values[k] for values in kept]) for k in range(len(NAMES)))
    rotor = rotor_position(piece)
    driver = piece.position if rotor is None else rotor
    first, rate = np.arange(len(speed)) == 0, 1.0 / piece.period
    stuck = np.cumsum(still(driver, first, rate), axis=0)  # samples until now
    held = (stuck > stuck[before(first, rate)]) & dry_joints(robot)
    return np.where(settled(robot, piece) & ~held, torque, np.nan), speed, load


def settled(robot: RobotFile, piece: Piece) -> np.ndarray:
    """(N, n) bool: False while the observer settles, and until a joint has moved by the largest span of its presliding
    friction to and fro: before, its deviation contains the elements that have not slipped.
    """
    return slipped(robot, piece.q) & (piece.t >= piece.t[0] + SETTLING)[:, None]


def slipped(robot: RobotFile, q: np.ndarray) -> np.ndarray:
    """(N, n) bool: a joint has moved by its largest span to and fro since the first of positions q (N, n) [rad]; until
    then nobody knows what its presliding elements bear.
    """
    travel = np.maximum.accumulate(q) - np.minimum.accumulate(q)
    return np.asarray(travel >= 2.0 * largest_spans(robot))


def largest_spans(robot: RobotFile) -> np.ndarray:
    """Largest span (n,) [rad] whose presliding element carries friction; 0 without presliding."""
    if robot.presliding is None:
        return np.zeros(robot.n_joints)
    own, number = _largest(robot.presliding.parameters), robot.joint_names.index
    for motor in robot.presliding.motors:  # its joints turn it
        places = [number(motor.joint), number(motor.turns_with)]
        own[places] = np.maximum(own[places], _largest(motor.values))
    return own


def _largest(block: Mapping[str, Any]) -> np.ndarray:
    span, level, load = (np.asarray(block[name], float) for name in ("span", "level", "load"))
    return np.asarray(np.where(level + load > 0, span, 0.0).max(axis=-1))


def _significance(robot: RobotFile, recordings: Sequence[Recording], found: dict[str, Any]) -> float:
    """Exceeded in FALSE_SHARE of the time with the deviations that the live pipeline takes from `found`."""
    robot = robot.with_updates({"residuals": {"source": "found"} | found}, {"found": "the recordings"})
    values = [significance(robot, log) for log in _replayed(robot, recordings)]
    known = np.concatenate([np.zeros(1), *(v[np.isfinite(v)] for v in values)])
    return float(np.quantile(known, 1.0 - FALSE_SHARE))


def rare(robot: RobotFile, recordings: Sequence[Recording], elsewhere: np.ndarray | float) -> list[np.ndarray]:
    """How rare the torques of every piece are without contact (N,), as `significance`, where less than half of the
    samples are in contact; 0 while the observer settles, without end where there is no force.
    """
    found = deviations(robot, recordings, elsewhere, robust)
    robot = robot.with_updates({"residuals": {"source": "found"} | found}, {"found": "the recordings"})
    values = []
    for piece in (piece for rec in recordings for piece in rec.pieces):
        own = np.concatenate([significance(robot, log) for log in replayed(robot, piece, STAGES, SAME_FRICTION)])
        values.append(np.where(piece.t - piece.t[0] > SETTLING, np.nan_to_num(own, nan=np.inf), 0.0))
    return values


def _rms(x: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Root mean square (n,) of x (N, n) where the mask holds; NaN below MIN_SAMPLES."""
    mask = mask & np.isfinite(x)
    count = mask.sum(axis=0)
    square = np.where(mask, x, 0.0) ** 2
    return np.where(count >= MIN_SAMPLES, np.sqrt(square.sum(axis=0) / np.maximum(count, 1)), np.nan)


def robust(x: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Standard deviation (n,) of normal torques x (N, n) where mask (N, n) holds, from the median of their magnitudes;
    NaN below MIN_SAMPLES.
    """
    own = [column[rows & np.isfinite(column)] for column, rows in zip(x.T, mask.T, strict=True)]
    return np.array([robust_std(v) if len(v) >= MIN_SAMPLES else np.nan for v in own])


def _replayed(robot: RobotFile, recordings: Sequence[Recording]) -> Iterator[Log]:
    """What the live pipeline makes of every piece once the observer has settled, in blocks; behind torque sensors
    without a change of friction, whose deviation hides how far fast changes of the torque are off.
    """
    learning = None if robot.drives.torque_side == "motor" else SAME_FRICTION
    for piece in (piece for rec in recordings for piece in rec.pieces):
        for log in replayed(robot, piece, STAGES, learning):
            yield log[log.stamp_ns > 1e9 * SETTLING]


def for_repaired(robot: RobotFile) -> RobotFile:
    """The robot file for recordings whose velocity identification has repaired already, so that it is done once."""
    given = robot.drives.velocity
    kept = {"window": given.window} if given is not None and given.window else None
    return robot if given is None else robot.with_updates({"drives.velocity": kept})


def replayed(
    robot: RobotFile, piece: Piece, stages: Sequence[str], parameters: Mapping[str, Mapping[str, Any]] | None = None
) -> Iterator[Log]:
    """A piece through stages of the live pipeline, in blocks: all estimates of a long log at once would need several
    times the memory of its signals. Raises CapabilityError where a stage lacks numbers.
    """
    pipeline = Pipeline(robot, parameters, stages)
    for first in range(0, len(piece.t), BLOCK):
        log = piece_log(robot, piece.take(slice(first, first + BLOCK)), float(piece.t[0]))
        pipeline.run(log)
        yield log


def piece_log(robot: RobotFile, piece: Piece, begin: float | None = None) -> Log:
    """Log of a piece whose effort is in Nm, in the unit and with the sign that the robot file declares; its stamps
    count from time `begin` [s], by default from its first sample.

    Raises CapabilityError for an unknown torque constant.
    """
    stamps = np.round(1e9 * (piece.t - (piece.t[0] if begin is None else begin))).astype(np.int64)
    signals = {"q": piece.q, "qd": piece.qd, "effort": piece.effort / effort_gain(robot, "effort", "robot_file")}
    signals |= {k: piece.extra[k] for k in ("theta", "temperature") if k in piece.extra}
    return Log(robot.joint_names, stamps, {k: v.copy() for k, v in signals.items() if v is not None})
