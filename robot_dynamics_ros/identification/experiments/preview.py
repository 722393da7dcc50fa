"""A picture of a planned motion before anything moves: positions, speeds and limits."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.identification.experiments.plan import Plan
from robot_dynamics_ros.plots import figure, save
from robot_dynamics_ros.trajectories.limits import joint_limits

if TYPE_CHECKING:
    from robot_dynamics_ros.robot_file import RobotFile


def write_preview(plan: Plan, robot: RobotFile, path: Path) -> None:
    """PNG of position and velocity of the moving joints over time, limits dashed where they are near.

    Raises DataError when it cannot be written.
    """
    limits = joint_limits(robot)
    step = max(1, len(plan.motion[0]) // 20000)
    t = np.arange(1, len(plan.motion[0]) + 1)[::step] / plan.rate
    drawing, grid = figure(2, 1, 9.0, 6.0)
    axes = grid[:, 0]
    for name in plan.joints:
        j = robot.joint_names.index(name)
        for axis, values, bounds in (
            (axes[0], plan.motion[0], (limits.lower[j], limits.upper[j])),
            (axes[1], plan.motion[1], (-limits.velocity[j], limits.velocity[j])),
        ):
            axis.plot(t, values[::step, j], label=name, linewidth=0.8)
            for bound in bounds:
                if np.isfinite(bound):
                    axis.axhline(bound, color="0.6", linestyle="--", linewidth=0.8)
    shares = [
        f"{100 * plan.torque[i] / limits.torque[i]:.0f} %" if np.isfinite(limits.torque[i]) else "unknown"
        for i in (robot.joint_names.index(name) for name in plan.joints)
    ]
    axes[0].set_title(f"{plan.name} of {robot.name}: {plan.duration:.0f} s, torque up to {', '.join(shares)} of limit")
    axes[0].set_ylabel("position [rad]")
    axes[1].set_ylabel("velocity [rad/s]")
    axes[1].set_xlabel("time [s]")
    axes[0].legend()
    save(drawing, path)
