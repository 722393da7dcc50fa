"""Picture of a designed motion: positions, velocities and accelerations with limits; path of the TCP and the arm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.identification.excitation.limits import Box, Limits
from robot_dynamics_ros.identification.excitation.space import Pose
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.outputs import writing
from robot_dynamics_ros.plots import BLUE, GREEN, RED, canvas, png_bytes

VIEWS = (("top", 0, 1), ("side", 0, 2))  # name, coordinate to the right, coordinate upwards
AXES = ("x [m]", "y [m]", "z [m]")
POSES = 5  # arms drawn along the motion
PATH_POINTS = 600


def motion_preview(motion: Any, robot: Any, limits: Limits) -> bytes:
    """PNG bytes. motion: time (N,), q, qd, qdd (N, n); dashed: limits of the joints, floor and boxes."""
    drawing = canvas(13, 7.5)
    grid = drawing.add_gridspec(6, 5)
    _joints(drawing, grid, motion, robot, limits)
    origins = link_origins(RobotModel(robot.kinematic_chain(), robot.joint_names), motion.q)
    for row, (name, right, up) in enumerate(VIEWS):
        axis = drawing.add_subplot(grid[3 * row : 3 * row + 3, 3:])
        _view(axis, origins, right, up, limits)
        axis.set_title(f"path of the TCP and arm, {name}", fontsize=9)
    return png_bytes(drawing)


def write_preview(motion: Any, robot: Any, limits: Limits, path: Path) -> dict[str, str]:
    """The picture as a file: preview -> path; nothing without matplotlib. Raises DataError when it is not written."""
    try:
        with writing(path):
            path.write_bytes(motion_preview(motion, robot, limits))
    except CapabilityError:
        return {}
    return {"preview": str(path)}


def link_origins(model: RobotModel, q: np.ndarray) -> np.ndarray:
    """Base, joint origins and TCP (k, n + 2, 3) [m] at up to PATH_POINTS poses of q (N, n), equal travel apart."""
    travel = np.append(0.0, np.cumsum(np.abs(np.diff(q, axis=0)).max(axis=1)))
    rows = np.unique(np.searchsorted(travel, np.linspace(0.0, travel[-1], PATH_POINTS)))
    return Pose.of(model, q[rows]).points


def _joints(drawing: Any, grid: Any, motion: Any, robot: Any, limits: Limits) -> None:
    """Curves over time in the left columns; a limit has the colour of its joint."""
    speed, acceleration = limits.velocity, limits.acceleration
    ranges = ((limits.lower, limits.upper), (-speed, speed), (-acceleration, acceleration))
    labels = ("position [rad]", "velocity [rad/s]", "acceleration [rad/s2]")
    for row, (name, bounds, label) in enumerate(zip(("q", "qd", "qdd"), ranges, labels, strict=True)):
        axis = drawing.add_subplot(grid[2 * row : 2 * row + 2, :3])
        lines = axis.plot(motion.time, getattr(motion, name), lw=1.2)
        for j, line in enumerate(lines):
            for bound in (float(side[j]) for side in bounds):
                if np.isfinite(bound):
                    axis.axhline(bound, color=line.get_color(), ls="--", lw=0.8)
        axis.set_ylabel(label)
        axis.grid(alpha=0.3)
        axis.margins(x=0.01)
        if row == 0:
            place = {"loc": "lower left", "bbox_to_anchor": (0.0, 1.0), "frameon": False}
            axis.legend(lines, robot.joint_names, fontsize=7, ncols=3, **place)
    axis.set_xlabel("time [s]; dashed: limits")


def _view(axis: Any, origins: np.ndarray, right: int, up: int, limits: Limits) -> None:
    for row in np.linspace(0, len(origins) - 1, POSES).astype(int):
        axis.plot(origins[row, :, right], origins[row, :, up], "o-", color="0.65", lw=1.5, ms=3)
    axis.plot(origins[0, :, right], origins[0, :, up], "o-", color="0.2", lw=2.5, ms=4, label="arm at the start")
    axis.plot(origins[:, -1, right], origins[:, -1, up], color=BLUE, lw=1.0, label="TCP")
    for space, colour in ((limits.inside, GREEN), *((box, RED) for box in limits.outside)):
        if space is not None:
            _box(axis, space, right, up, colour)
    if up == 2 and np.isfinite(limits.floor):
        axis.axhline(limits.floor, color=RED, ls="--", lw=1.0, label="floor")
    axis.set_aspect("equal", adjustable="datalim")
    axis.set(xlabel=AXES[right], ylabel=AXES[up])
    axis.grid(alpha=0.3)
    axis.legend(fontsize=7, loc="best")


def _box(axis: Any, space: Box, right: int, up: int, colour: str) -> None:
    """Edges of a box; a side that is open is not drawn."""
    for k, line in ((right, axis.axvline), (up, axis.axhline)):
        for value in (space.low[k], space.high[k]):
            if np.isfinite(value):
                line(value, color=colour, ls=":", lw=1.0)
