"""Verdict of a replay: is there a force, can it be one of contact, does a force sensor agree."""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.effort.joint_order import TRAVEL
from robot_dynamics_ros.estimators.reference import Comparison
from robot_dynamics_ros.estimators.replay import UNTRUSTED, Replay
from robot_dynamics_ros.estimators.replay_changes import LEAST_ROWS, changes, moving
from robot_dynamics_ros.robot_file.gaps import called_unusable, identified
from robot_dynamics_ros.signals import WRENCH_AXES
from robot_dynamics_ros.signals.speeds import SLIDING
from robot_dynamics_ros.verdict import level_of, verdict, word, worst

ESTIMATED = (0.8, 0.5)  # share of the recorded samples with a force, of a good and of a fair replay
WITHIN = (0.85, 0.6)  # share of the samples within two deviations of a force sensor; 0.95 is expected
TOUCHING = 0.3  # share of the time in contact from which on the robot file is doubted: another robot's gives 0.5
# |external torque| of the median joint over `residuals.moving`, in the free part of a motion: below 1 where the file is
# the robot's, 2 where it is 30 K colder, carries 5 kg or is pushed most of the time; 12 and more for others
OTHER, FREE = 6.0, 0.05
MOST = 0.5  # share of the time that an arm has stood from the beginning, from which on the verdict says so
LEVER = 0.03  # m, moment over force of the median sample: 0 of a push on the TCP, 0.06 and more of another robot
BESIDE = 2  # contacts beside the TCP that are no chance: 4 of 100 pushes at the TCP of identified robots are named so
STATES = ("moving", "rest", "contact")


def judged(result: Replay, summary: dict[str, Any], against: Comparison | None, robot: str) -> dict[str, Any]:
    """The verdict; robot: as the user has named it."""
    recorded = summary["samples"] + result.report.lost - summary["braked"]
    share = (summary["estimated_samples"] - summary["degraded"].get(UNTRUSTED, 0)) / max(recorded, 1)
    doubts, reasons = [], []
    known = identified(result.robot.friction) or result.robot.drives.torque_side == "link"
    levels = [level_of(share, *ESTIMATED)]
    if against is None and (other := other_robot(result, robot)):
        doubts = reasons = [other]
        levels.append("bad")
    elif against is None:
        torques, since = changes(result)
        doubts = [*since, *_doubts(result, summary)]
        guessed = "" if known else f"Friction of {robot} was not identified: the force is a rough one."
        lasting = summary["payload_or_bias"]
        beside = "" if torques else _elsewhere(summary)
        load = f"{lasting[0].upper()}{lasting[1:]}." if lasting else result.recognised
        found = (guessed, _stood(result), load, beside, *doubts)
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
    """Why the file is not that of the recorded robot; "" where nothing shows it, where a push on the TCP or another
    zero of the torques would be the same, and where the file states no residuals.
    """
    log, robot = result.log, result.robot
    if not robot.has("residuals.moving"):
        return ""
    rows = moving(log, result.status)
    if rows.sum() < LEAST_ROWS:
        return ""
    left = log.external_joint_torque[rows] - result.pipeline.stage("force").core.moved_zero
    size = np.median(np.abs(left) / robot.array("residuals.moving"), axis=1)
    free = float(np.quantile(size, FREE))
    force, moment = (np.median(np.linalg.norm(log.external_wrench[rows, k : k + 3], axis=1)) for k in (0, 3))
    if free < OTHER or not moment > LEVER * force:
        return ""
    return (
        f"{named} does not describe this robot, or it was pushed beside the TCP all the time: even in the "
        f"{100 * FREE:.0f} % of the motion that it fits best, half of the joints show {free:.0f} times the torque it "
        "states for free motion. Check --robot, --payload, --effort."
    )


def _unexplained(result: Replay) -> str:
    """Names the joints that move and of which the model leaves more variance than their torque has, so that neither a
    lasting push nor a joint that stands counts; "" where there are none.
    """
    log, rows = result.log, moving(result.log, result.status)
    if rows.sum() < LEAST_ROWS:
        return ""
    worse = log.external_joint_torque[rows].var(axis=0) > log.drive_torque[rows].var(axis=0)
    names = ", ".join(np.array(log.joint_names)[worse & (np.ptp(log.q[rows], axis=0) > TRAVEL)])
    return f"the model explains nothing of the torque of {names}, and " if names else ""


def _elsewhere(summary: dict[str, Any]) -> str:
    """What to do where most of the contact was not at the TCP; one contact alone may be named by chance."""
    seconds = sum(peak["seconds"] for peak in summary["contacts"])
    if summary["contacts_beside_tcp"] < BESIDE or 2 * summary["seconds_beside_tcp"] <= seconds:
        return ""
    return (
        "Most of the contact fits a push on a link before the wrist, or a jump of the effort, better than a push at "
        "the TCP: its force is wrong. Push at the TCP, and look for jumps in the effort."
    )


def _stood(result: Replay) -> str:
    """What to do where the arm stands from the beginning for MOST of a recording; "" where friction is not between."""
    before = ~np.maximum.accumulate((np.abs(result.log.qd) > SLIDING).any(axis=1))
    if result.robot.drives.torque_side == "link" or before.mean() <= MOST:
        return ""
    return (
        f"The arm stands for the first {before.mean() * result.report.duration:.0f} s: until it moves nothing shows "
        "with which friction it came to stand, so that deviations are large, and contacts of up to 40 N may not be "
        "flagged. Let it move first."
    )


def _doubts(result: Replay, summary: dict[str, Any]) -> list[str]:
    """Why the force may be none of contact."""
    mass, most = result.robot.payload.mass, result.robot.limits.payload
    found = [text for text in (*result.doubts, called_unusable(result.robot)) if text]
    if most is not None and mass > most:
        found.append(f"The payload of {mass:g} kg is beyond limits.payload, {most:g} kg: check --payload.")
    if summary["contact_share"] > TOUCHING:
        found.append(
            f"Contact much of the time: if it was not so, {_unexplained(result)}--robot, --payload or the order of "
            "joints is not that of the recording; identify says more."
        )
    return found
