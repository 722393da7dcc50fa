"""What has changed since the recordings of a robot file, as a replay shows it: friction, torques, speed."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros._core import Status
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.estimators.replay import Replay
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.signals.speeds import SLIDING

LEAST_ROWS = 200  # of a motion, or of a part of it, that show something
AGAIN = "identify again, from a recording of the robot as it is now."
PARTS = 3  # of a motion, which all have to show a change: a push, or a load that is put down, is in one of them
FREE = 0.1  # share of a part without contact that says something: of a lasting push the rest is its unflagged edges
# Root mean square of the torque in free motion over its deviation: 1.9 at most where gears are warm, cold or loaded
TOO_LARGE = 2.0
# Speed over the largest recorded one: friction has a deviation of 20 % there (friction_stage.hpp). Errors of the zoo
# are covered up to 2.5; arms recorded at a quarter of their speed were in false contact for 17 to 28 % of the time
EXTRAPOLATED, TOP = 3.0, 0.999


def changes(result: Replay) -> tuple[str, list[str]]:
    """A sentence about other friction or torques, "" without, and those about all that has changed."""
    torques = torques_changed(result.pipeline, result.log, result.status)
    found = torques, _faster_motion(result)
    return torques, [text for text in found if text]


def torques_changed(pipeline: Pipeline, log: Log, status: np.ndarray) -> str:
    """A sentence about other friction or torques than the robot file states; "" without. status (N,): of a run over
    the log.
    """
    return _learned(pipeline) or _larger_torques(pipeline, log, status)


def _learned(pipeline: Pipeline) -> str:
    """Joints of which the force stage has learned another friction or torque than is usual; "" without any."""
    health = pipeline.stage("force").friction_health()
    found = "; ".join(f"{joint}: {text}" for joint, (off, text) in health.items() if off)
    return found and f"The robot has changed ({found}), which shows as force until it is learned: {AGAIN}"


def _larger_torques(pipeline: Pipeline, log: Log, status: np.ndarray) -> str:
    """Joints whose torque in motion without contact, beside another zero of it, is not what the robot file states in
    all PARTS of it; "" without any.
    """
    if not pipeline.robot.has("residuals.moving"):
        return ""
    size = _least_size(log, _slides(log, status), pipeline.stage("force").core.moved_zero)
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


def moving(log: Log, status: np.ndarray) -> np.ndarray:
    """Rows (N,) with an estimate, by the status (N,), while some joint slides."""
    known = np.isfinite(log.external_joint_torque).all(axis=1) & (status != int(Status.warming_up))
    return known & (np.abs(log.qd) > SLIDING).any(axis=1)


def _slides(log: Log, status: np.ndarray) -> np.ndarray:
    """Rows (N, n) in which a joint slides and nothing touches the robot."""
    return moving(log, status)[:, None] & (np.abs(log.qd) > SLIDING) & ~(log.contact[:, -1:] > 0.5)


def _least_size(log: Log, rows: np.ndarray, zero: np.ndarray) -> np.ndarray:
    """Root mean square of the external torque beside its zero (n,) over its deviation (n,) in the rows (N, n) of each
    of PARTS of the motion of a joint: the smallest, 0 where a part has too few.
    """
    found, ratio = np.zeros(rows.shape[1]), (log.external_joint_torque - zero) / log.external_joint_torque_std
    for j, own in enumerate(rows.T):
        parts = np.array_split(np.flatnonzero(np.abs(log.qd[:, j]) > SLIDING), PARTS)
        shown = [part[own[part]] for part in parts]
        if all(len(k) >= max(LEAST_ROWS, FREE * len(part)) for k, part in zip(shown, parts, strict=True)):
            found[j] = min(np.sqrt(np.mean(ratio[k, j] ** 2)) for k in shown)
    return found
