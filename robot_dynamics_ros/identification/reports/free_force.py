"""How wrong the contact force of the written robot file is where nothing touches the robot."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.identification.arm.residuals import ROWS, SETTLING, STAGES, replayed, settled
from robot_dynamics_ros.identification.dataset.recording import Recording
from robot_dynamics_ros.identification.dataset.stretches import sampled
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import RobotFile

WITHIN = 0.95  # share of the samples
LEAST = 100  # samples that say something


def free_force(robot: RobotFile, recordings: Sequence[Recording]) -> dict[str, Any] | None:
    """axes of the base along which joints show a force, `within` [N], which WITHIN of the samples do not exceed, `std`
    [N], the median deviation, and `covered`, the share of the samples within two deviations, by the live stages outside
    of contact; None without residuals or samples.
    """
    if robot.residuals is None:
        return None
    kept = []
    try:
        for piece in (piece for rec in sampled(recordings, ROWS, SETTLING) for piece in rec.pieces):
            parts = [(x.external_wrench, x.external_wrench_std, x.contact) for x in replayed(robot, piece, STAGES)]
            force, std, contact = (np.concatenate([part[k] for part in parts]) for k in range(3))
            rows = settled(robot, piece).all(axis=1) & (contact[:, -1] == 0) & np.isfinite(force).all(axis=1)
            kept.append((np.abs(force[rows, :3]), std[rows, :3], piece.q[rows]))
    except CapabilityError:
        return None
    force, std, q = (np.concatenate([part[k] for part in kept]) for k in range(3))
    if len(force) < LEAST:
        return None
    axes = RobotModel(robot.chain()).force_axes(q)
    found = {
        "within": np.quantile(force, WITHIN, axis=0)[axes],
        "std": np.median(std, axis=0)[axes],
        "covered": (force < 2 * std).mean(axis=0)[axes],
    }
    return {"axes": ["xyz"[k] for k in axes], **found, "samples": len(force)}
