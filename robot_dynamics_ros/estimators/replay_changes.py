"""What has changed since the recordings of a robot file, as a replay shows it: friction, torques, speed, delay."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.ndimage import maximum_filter1d, uniform_filter1d

from robot_dynamics_ros._core import Status
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.estimators.replay import Replay
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.robot_file.numbers import LONGEST_DELAY
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.signals.speeds import SLIDING
from robot_dynamics_ros.verdict import word

LEAST_ROWS = 200  # of a motion, or of a part of it, that show something
AGAIN = "identify again, from a recording of the robot as it is now."
PARTS = 3  # of a motion, which all have to show a change: a push, or a load that is put down, is in one of them
FREE = 0.1  # share of a part without contact that says something: of a lasting push the rest is its unflagged edges
# Root mean square of the torque in free motion over its deviation: 1.9 at most where gears are warm, cold or loaded
TOO_LARGE = 2.0
# Speed over the largest recorded one: friction has a deviation of 20 % there (friction_stage.hpp). Errors of the zoo
# are covered up to 2.5; arms recorded at a quarter of their speed were in false contact for 17 to 28 % of the time
EXTRAPOLATED, TOP = 3.0, 0.999
# s by which the effort may be later than the robot file says: up to 2 ms are seen on 15 robots of the zoo, whose effort
# is up to 3 ms late, and 3 ms where friction has changed; 9 ms behind a low-pass of 20 Hz
LATE = 5e-3
LONG = 150_000  # rows, 5 min at 500 Hz, in which it is looked for: of an hour the derivatives would take gigabytes
SMOOTH = 0.02  # s, means over it, twice, of positions and torque: without them noise is most of an acceleration


def changes(result: Replay, named: str) -> tuple[str, list[str]]:
    """A sentence about other friction or torques, "" without, and those about all that has changed; named: the robot
    file.
    """
    torques = torques_changed(result.pipeline, result.log, result.status)
    found = torques, _faster_motion(result), _late_effort(result, named)
    return torques, [text for text in found if text]


def torques_changed(pipeline: Pipeline, log: Log, status: np.ndarray) -> str:
    """A sentence about other friction or torques than the robot file states; "" without. status (N,): of a run over
    the log.
    """
    return _learned(pipeline) or _larger_torques(pipeline.robot, log, status)


def _learned(pipeline: Pipeline) -> str:
    """Joints of which the force stage has learned another friction or torque than is usual; "" without any."""
    health = pipeline.stage("force").friction_health()
    found = "; ".join(f"{joint}: {text}" for joint, (off, text) in health.items() if off)
    return found and f"The robot has changed ({found}), which shows as force until it is learned: {AGAIN}"


def _larger_torques(robot: RobotFile, log: Log, status: np.ndarray) -> str:
    """Joints whose torque in motion without contact is not what the robot file states in all PARTS of it; "" without
    any.
    """
    if not robot.has("residuals.moving"):
        return ""
    size = _least(_relative_size, log, _slides(log, status))
    names = ", ".join(f"{log.joint_names[j]} {size[j]:.1f}" for j in np.flatnonzero(size > TOO_LARGE))
    return names and (
        f"Torques without contact are larger than the robot file states ({names} times), and forces are as wrong: "
        "friction, a joint's zero, torque constants, temperature, a cable or a tool has changed, or the base moves; "
        f"{AGAIN}"
    )


def _faster_motion(result: Replay) -> str:
    """What to do where joints move at speeds of which the recordings of the robot file say nothing; "" without any."""
    log, robot = result.log, result.robot
    if not robot.has("residuals.speed"):
        return ""
    share = np.nanquantile(np.abs(log.qd), TOP, axis=0) / robot.array("residuals.speed")
    names = ", ".join(f"{log.joint_names[j]} {share[j]:.1f}" for j in np.flatnonzero(share > EXTRAPOLATED))
    return names and (
        f"Joints move faster than in the recordings of the robot file ({names} times), where friction, and what is "
        "left of it after a fast stop, may be others: record the robot at the speed of its work, and identify again."
    )


def _late_effort(result: Replay, named: str) -> str:
    """What to write into the robot file where the effort is later than it says in all PARTS of the motion, as behind a
    filter; "" where it is not.
    """
    robot, rows = result.robot, _slides(result.log, result.status)
    known = np.isfinite(result.log.drive_torque + result.log.friction_torque).all(axis=1)
    known &= result.log.named_mass == 0.0  # it is not part of the model below
    known = np.flatnonzero(known & np.maximum.accumulate(rows.any(axis=1)))[:LONG]
    if not robot.has("residuals.moving") or not len(known):
        return ""
    log = result.log[known]
    model, change, error = _rigid(log, robot)
    found = _least(partial(_delay, model, change, error), log, rows[known] & np.isfinite(error))
    behind = float(np.median(found)) - result.pipeline.alignment.latency
    if behind <= LATE:
        return ""
    delay = min(robot.drives.effort.delay + behind, LONGEST_DELAY)
    return (
        f"The effort comes about {1e3 * behind:.0f} ms later than the robot file says, as behind a filter, and forces "
        f"are wrong in fast starts and stops: write drives.effort.delay: {delay:.3f} into {word(named)}, and identify "
        "again."
    )


def moving(log: Log, status: np.ndarray) -> np.ndarray:
    """Rows (N,) with an estimate, by the status (N,), while some joint slides."""
    known = np.isfinite(log.external_joint_torque).all(axis=1) & (status != int(Status.warming_up))
    return known & (np.abs(log.qd) > SLIDING).any(axis=1)


def _slides(log: Log, status: np.ndarray) -> np.ndarray:
    """Rows (N, n) in which a joint slides and nothing touches the robot."""
    return moving(log, status)[:, None] & (np.abs(log.qd) > SLIDING) & ~(log.contact[:, -1:] > 0.5)


def _rigid(log: Log, robot: RobotFile) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Torque of links and rotors by positions alone, its change, and what the drives give beside it and friction, NaN
    at ends and gaps (N, n).
    """
    steps = np.diff(log.time, prepend=log.time[0])
    period = float(np.median(steps))
    size = max(round(SMOOTH / period), 1) | 1
    smooth = partial(uniform_filter1d, size=size, axis=0)
    q, torque = (smooth(smooth(x)) for x in (log.q, log.drive_torque - log.friction_torque))
    qd = np.gradient(q, period, axis=0)
    qdd = np.gradient(qd, period, axis=0)
    model = RobotModel(robot.chain(), robot.joint_names).rnea(q, qd, qdd)
    model += robot.array_or("drives.rotor_inertia", 0.0) * qdd
    ends = np.abs(steps - period) > period
    ends[[0, -1]] = True
    near = maximum_filter1d(ends, 4 * size)[:, None]
    return model, np.gradient(model, period, axis=0), np.where(near, np.nan, torque - model)


def _delay(model: np.ndarray, change: np.ndarray, error: np.ndarray, log: Log, rows: np.ndarray, j: int) -> float:
    """Delay L [s] of joint j: error = -L change + dFc sgn v + dFv v + o + a model."""
    v = log.qd[rows, j]
    terms = np.column_stack([change[rows, j], np.sign(v), v, np.ones_like(v), model[rows, j]])
    return -float(np.linalg.lstsq(terms, error[rows, j], rcond=None)[0][0])


def _least(measure: Callable[[Log, np.ndarray, int], float], log: Log, rows: np.ndarray) -> np.ndarray:
    """What the rows (N, n) in all PARTS of the motion of each joint show of a measure (n,): the smallest, 0 where signs
    differ or a part has too few.
    """
    found = np.zeros(rows.shape[1])
    for j, own in enumerate(rows.T):
        parts = np.array_split(np.flatnonzero(np.abs(log.qd[:, j]) > SLIDING), PARTS)
        shown = [part[own[part]] for part in parts]
        if all(len(k) >= max(LEAST_ROWS, FREE * len(part)) for k, part in zip(shown, parts, strict=True)):
            values = [measure(log, k, j) for k in shown]
            found[j] = min(values, key=abs) if abs(np.sign(values).sum()) == PARTS else 0.0
    return found


def _relative_size(log: Log, rows: np.ndarray, j: int) -> float:
    """Root mean square of the external torque of joint j over its deviation."""
    return float(np.sqrt(np.mean((log.external_joint_torque[rows, j] / log.external_joint_torque_std[rows, j]) ** 2)))
