"""Verdict of a replay: is there a force, can it be one of contact, does a force sensor agree."""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.estimators.reference import Comparison
from robot_dynamics_ros.estimators.replay import Replay
from robot_dynamics_ros.robot_file.gaps import identified
from robot_dynamics_ros.verdict import level_of, verdict, worst

ESTIMATED = (0.8, 0.5)  # share of the samples with a force, of a good and of a fair replay
WITHIN = (0.85, 0.6)  # share of the samples within two deviations of a force sensor; 0.95 is expected
TOUCHING = 0.9  # share of the time in contact from which on the robot file or its payload is doubted
STATES = ("moving", "rest", "contact")


def judged(result: Replay, summary: dict[str, Any], against: Comparison | None, robot: str) -> dict[str, Any]:
    """The verdict; robot: as the user has named it."""
    share = summary["estimated_samples"] / summary["samples"]
    doubts = [*result.doubts, *_doubts(summary)] if against is None else []
    levels = [level_of(share, *ESTIMATED), "fair" if doubts else "good"]
    if against is not None:
        covered = np.nanmin([against.figures[f"within_2_{state}"] for state in STATES])
        levels.append(level_of(covered, *WITHIN))
        doubts = [f"Within two deviations of the force sensor: {100 * covered:.0f} % in the worst state, 95 expected."]
    std = np.linalg.norm(list(summary["wrench_std_median"].values())[:3])
    files = " ".join(result.report.files)
    known = identified(result.robot.friction) or result.robot.drives.torque_side == "link"
    return verdict(
        worst(levels),
        f"contact force for {100 * share:.0f} % of {summary['samples']} samples, standard deviation {std:.1f} N, "
        f"contact at the TCP {100 * summary['contact_share']:.1f} % of the time.",
        *doubts,
        then=f"robot-dynamics up --robot {robot} --driver none"
        if known
        else f"robot-dynamics identify {files} --robot {robot} --out identified",
    )


def _doubts(summary: dict[str, Any]) -> list[str]:
    """Why the force may be none of contact."""
    found = [summary["payload_or_bias"]] if summary["payload_or_bias"] else []
    if summary["contact_share"] > TOUCHING:
        found.append(
            "Contact nearly all the time: if it was not so, --robot or --payload is not that of the recording."
        )
    return found
