"""A robot file as JSON: its blocks, and computed from them placements, inertias and friction over velocity."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from robot_dynamics_ros.models.inertia import is_consistent
from robot_dynamics_ros.models.sliding_friction import sliding_friction, typical_load
from robot_dynamics_ros.robot_file.geometry import placement

if TYPE_CHECKING:
    from robot_dynamics_ros.robot_file import RobotFile


def json_text(robot: RobotFile) -> str:
    """JSON as text: `robot_file` (its blocks, SI units), `joints` and `tool`; unknown and infinite numbers are null.

    Raises CapabilityError for unknown kinematics or links.
    """
    chain, tool = robot.chain_with_links(robot.link_parameters), robot.kinematics.tool
    joints: list[dict[str, Any]] = [
        {"name": name, "placement": T.tolist(), "parameters": ten.tolist(), "consistent": is_consistent(ten)}
        for name, T, ten in zip(robot.joint_names, chain.placements, chain.inertia, strict=True)
    ]
    law = sliding_friction(robot)
    if law is not None:
        for i, (joint, load) in enumerate(zip(joints, typical_load(robot), strict=True)):
            coulomb, viscous = law.coulomb_viscous()[i]
            joint["friction"] = {
                "velocity": law.velocity[:, i].tolist(),
                "torque": law.torque[:, i].tolist(),
                "offset": law.offset[i],
                "coulomb": coulomb,
                "viscous": viscous,
                "load": load,
            }
    whole = {"joints": joints, "tool": placement(tool.xyz, tool.rpy).tolist(), "robot_file": robot.raw()}
    return json.dumps(_finite(whole), indent=1, allow_nan=False) + "\n"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(k): _finite(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(v) for v in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
