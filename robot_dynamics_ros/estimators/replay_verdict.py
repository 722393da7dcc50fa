"""Verdict of a replay: is there a force, can it be one of contact, does a force sensor agree."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.ndimage import maximum_filter1d, uniform_filter1d

from robot_dynamics_ros._core import Status
from robot_dynamics_ros.effort.joint_state import TRAVEL
from robot_dynamics_ros.estimators.reference import Comparison
from robot_dynamics_ros.estimators.replay import UNTRUSTED, Replay
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.models.sliding_friction import sliding_friction
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.robot_file.gaps import called_unusable, identified
from robot_dynamics_ros.signals import WRENCH_AXES, Log
from robot_dynamics_ros.signals.speeds import SLIDING
from robot_dynamics_ros.verdict import level_of, verdict, word, worst

ESTIMATED = (0.8, 0.5)  # share of the recorded samples with a force, of a good and of a fair replay
WITHIN = (0.85, 0.6)  # share of the samples within two deviations of a force sensor; 0.95 is expected
TOUCHING = 0.3  # share of the time in contact from which on the robot file is doubted: another robot's gives 0.5
# |external torque| of the median joint over `residuals.moving`, in the free part of a motion: below 1 where the file is
# the robot's, 2 where it is 30 K colder, carries 5 kg or is pushed most of the time; 12 and more for others
OTHER, FREE, LEAST_ROWS = 6.0, 0.05, 200
LEVER = 0.03  # m, moment over force of the median sample: 0 of a push on the TCP, 0.06 and more of another robot
BESIDE = 2  # contacts beside the TCP that are no chance: 4 of 100 pushes at the TCP of identified robots are named so
STATES = ("moving", "rest", "contact")
AGAIN = "identify again, from a recording of the robot as it is now."
PARTS = 3  # of a motion, which all have to show a change: a push, or a load that is put down, is in one of them
# Torque over what the file states of free motion: that of Coulomb friction, a constant, over `residuals.moving` (up to
# 2.7 where the gears are warm, cold or loaded, 4.1 under 4 kg that no file names), and root mean square over its
# deviation (up to 1.9 there; 1 is expected)
OTHER_FRICTION, TOO_LARGE = 4.5, 2.0
# Speed over the largest recorded one: friction has a deviation of 20 % there (friction_stage.hpp). Errors of the zoo
# are covered up to 2.5; arms recorded at a quarter of their speed were in false contact for 17 to 28 % of the time
EXTRAPOLATED, TOP = 3.0, 0.999
# s by which the effort may be later than the robot file says: up to 2 ms are seen on 15 robots of the zoo, whose effort
# is up to 3 ms late, and 3 ms where friction has changed; 9 ms behind a low-pass of 20 Hz
LATE, LONGEST = 5e-3, 0.05  # the latter is the largest that a robot file holds
LONG = 150_000  # rows, 5 min at 500 Hz, in which it is looked for: of an hour the derivatives would take gigabytes
SMOOTH = 0.02  # s, means over it, twice, of positions and torque: without them noise is most of an acceleration
BOTH_WAYS = 0.2  # share of a part in which a joint turns the other way, so that friction is not a constant torque


def judged(result: Replay, summary: dict[str, Any], against: Comparison | None, robot: str) -> dict[str, Any]:
    """The verdict; robot: as the user has named it."""
    recorded = summary["samples"] + result.report.lost - summary["braked"]
    share = (summary["estimated_samples"] - summary["degraded"].get(UNTRUSTED, 0)) / recorded
    doubts, reasons = [], []
    known = identified(result.robot.friction) or result.robot.drives.torque_side == "link"
    levels = [level_of(share, *ESTIMATED)]
    if against is None and (other := other_robot(result, robot)):
        doubts = reasons = [other]
        levels.append("bad")
    elif against is None:
        rubs = _rubs(result)
        since = rubs or _larger(result), _faster(result), _late(result, robot)
        doubts = [*(text for text in since if text), *_doubts(result, summary)]
        guessed = "" if known else f"Friction of {robot} was not identified: the force is a rough one."
        lasting = summary["payload_or_bias"]
        beside = "" if rubs else _elsewhere(summary)
        found = (guessed, lasting and f"{lasting[0].upper()}{lasting[1:]}.", beside, *doubts)
        reasons = [text for text in found if text]
        levels.append("fair" if reasons else "good")
    else:
        covered = np.nanmin([against.figures[f"within_2_{state}"] for state in STATES])
        levels.append(level_of(covered, *WITHIN))
        reasons = [f"Within two deviations of the force sensor: {100 * covered:.0f} % in the worst state, 95 expected."]
    std = np.linalg.norm([summary["wrench_std_median"][WRENCH_AXES[k]] for k in result.shown])
    along = "" if len(result.shown) == 3 else f" along {' and '.join('xyz'[k] for k in result.shown)} of the base"
    level, files = worst(levels), " ".join(word(file) for file in result.report.files)
    return verdict(
        level,
        f"contact force for {100 * share:.0f} % of {recorded} samples, standard deviation {std:.1f} N{along}, "
        f"contact at the TCP {100 * summary['contact_share']:.1f} % of the time.",
        *reasons,
        then=f"robot-dynamics up --robot {word(robot)} --driver none"
        if known and level != "bad" and not doubts
        else f"robot-dynamics identify {files} --robot {word(robot)} --out identified",
    )


def other_robot(result: Replay, named: str) -> str:
    """Why the file is not that of the recorded robot; "" where nothing shows it, where a push on the TCP would be the
    same, and where the file states no residuals.
    """
    log, robot = result.log, result.robot
    if not robot.has("residuals.moving"):
        return ""
    rows = _moving(result)
    if rows.sum() < LEAST_ROWS:
        return ""
    size = np.median(np.abs(log.external_joint_torque[rows]) / robot.array("residuals.moving"), axis=1)
    free = float(np.quantile(size, FREE))
    force, moment = (np.median(np.linalg.norm(log.external_wrench[rows, k : k + 3], axis=1)) for k in (0, 3))
    if free < OTHER or not moment > LEVER * force:
        return ""
    return (
        f"{named} does not describe this robot, or it was pushed beside the TCP all the time: even in the "
        f"{100 * FREE:.0f} % of the motion that it fits best, half of the joints show {free:.0f} times the torque it "
        "states for free motion. Check --robot, --payload, --effort."
    )


def _moving(result: Replay) -> np.ndarray:
    """Rows (N,) with an estimate while some joint slides."""
    known = np.isfinite(result.log.external_joint_torque).all(axis=1) & (result.status != int(Status.warming_up))
    return known & (np.abs(result.log.qd) > SLIDING).any(axis=1)


def _unexplained(result: Replay) -> str:
    """Names the joints that move and of which the model leaves more variance than their torque has, so that neither a
    lasting push nor a joint that stands counts; "" where there are none.
    """
    log, rows = result.log, _moving(result)
    if rows.sum() < LEAST_ROWS:
        return ""
    worse = log.external_joint_torque[rows].var(axis=0) > log.drive_torque[rows].var(axis=0)
    names = ", ".join(np.array(log.joint_names)[worse & (np.ptp(log.q[rows], axis=0) > TRAVEL)])
    return f" The model explains nothing of the torque of {names}." if names else ""


def _rubs(result: Replay) -> str:
    """Joints whose Coulomb friction is not that of the robot file in all PARTS of the motion without contact; "" where
    none is, where the file states no residuals, and behind a torque sensor.
    """
    log, robot = result.log, result.robot
    if not robot.has("residuals.moving") or robot.drives.torque_side != "motor":
        return ""
    off = _least(_coulomb_error, log, _slides(result))
    found = np.flatnonzero(np.abs(off) > OTHER_FRICTION * robot.array("residuals.moving"))
    law = sliding_friction(robot) if len(found) else None
    if law is None:
        return ""
    share = 100.0 * off / np.fmax(law.coulomb_viscous()[:, 0], 1e-9)
    names = ", ".join(f"{log.joint_names[j]} {share[j]:+.0f} %" for j in found)
    return f"Friction is not that of the robot file ({names}), and the difference shows as force: {AGAIN}"


def _larger(result: Replay) -> str:
    """Joints whose torque in motion without contact is not what the robot file states in all PARTS of it; "" without
    any.
    """
    log = result.log
    if not result.robot.has("residuals.moving"):
        return ""
    size = _least(_relative_size, log, _slides(result))
    names = ", ".join(f"{log.joint_names[j]} {size[j]:.1f}" for j in np.flatnonzero(size > TOO_LARGE))
    return names and (
        f"Torques without contact are larger than the robot file states ({names} times), and forces are as wrong: a "
        f"joint's zero, torque constants, temperature, a cable or a tool has changed, or the base moves; {AGAIN}"
    )


def _slides(result: Replay) -> np.ndarray:
    """Rows (N, n) in which a joint slides and nothing touches the robot."""
    log = result.log
    return _moving(result)[:, None] & (np.abs(log.qd) > SLIDING) & ~(log.contact[:, -1:] > 0.5)


def _faster(result: Replay) -> str:
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


def _late(result: Replay, named: str) -> str:
    """What to write into the robot file where the effort is later than it says in all PARTS of the motion, as behind a
    filter; "" where it is not.
    """
    robot, rows = result.robot, _slides(result)
    known = np.isfinite(result.log.drive_torque + result.log.friction_torque).all(axis=1)
    known = np.flatnonzero(known & np.maximum.accumulate(rows.any(axis=1)))[:LONG]
    if not robot.has("residuals.moving") or not len(known):
        return ""
    log = result.log[known]
    model, change, error = _rigid(log, robot)
    found = _least(partial(_delay, model, change, error), log, rows[known] & np.isfinite(error))
    late = float(np.median(found)) - (0.0 if result.pipeline.alignment is None else result.pipeline.alignment.latency)
    if late <= LATE:
        return ""
    delay = min(robot.drives.effort.delay + late, LONGEST)
    return (
        f"The effort comes about {1e3 * late:.0f} ms later than the robot file says, as behind a filter, and forces "
        f"are wrong in fast starts and stops: write drives.effort.delay: {delay:.3f} into {word(named)}, and identify "
        "again."
    )


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
    """What all PARTS of the rows (N, n) of each joint show of a measure (n,): the smallest, 0 where signs differ or a
    part is too short.
    """
    found = np.zeros(rows.shape[1])
    for j, own in enumerate(map(np.flatnonzero, rows.T)):
        if len(own) < PARTS * LEAST_ROWS:
            continue
        values = [measure(log, part, j) for part in np.array_split(own, PARTS)]
        found[j] = min(values, key=abs) if abs(np.sign(values).sum()) == PARTS else 0.0
    return found


def _relative_size(log: Log, rows: np.ndarray, j: int) -> float:
    """Root mean square of the external torque of joint j over its deviation."""
    return float(np.sqrt(np.mean((log.external_joint_torque[rows, j] / log.external_joint_torque_std[rows, j]) ** 2)))


def _coulomb_error(log: Log, rows: np.ndarray, j: int) -> float:
    """By how much Coulomb friction of joint j exceeds the robot file's [Nm]: -tau_ext = dFc sgn v + dFv v + o."""
    v = log.qd[rows, j]
    if not BOTH_WAYS <= np.mean(v > 0.0) <= 1.0 - BOTH_WAYS:
        return 0.0
    terms = np.column_stack([np.sign(v), v, np.ones_like(v)])
    return -float(np.linalg.lstsq(terms, log.external_joint_torque[rows, j], rcond=None)[0][0])


def _elsewhere(summary: dict[str, Any]) -> str:
    """What to do where most contacts were not at the TCP; one alone may be named by chance."""
    beside = summary["contacts_beside_tcp"]
    if beside < BESIDE or 2 * beside <= len(summary["contacts"]):
        return ""
    return (
        "Most contacts fit a push on a link before the wrist, or a jump of the effort, better than a push at the TCP: "
        "their force is wrong. Push at the TCP, and look for jumps in the effort."
    )


def _doubts(result: Replay, summary: dict[str, Any]) -> list[str]:
    """Why the force may be none of contact."""
    mass, most = result.robot.payload.mass, result.robot.limits.payload
    found = [text for text in (*result.doubts, called_unusable(result.robot)) if text]
    if most is not None and mass > most:
        found.append(f"The payload of {mass:g} kg is beyond limits.payload, {most:g} kg: check --payload.")
    if summary["contact_share"] > TOUCHING:
        found.append(
            "Contact much of the time: if it was not so, --robot, --payload or the order of joints is not that of the "
            f"recording; identify says more.{_unexplained(result)}"
        )
    return found
