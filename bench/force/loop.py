"""A looping picture: the arm with estimated and true force, and the force with its deviation over time."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.identification.reports.motion_preview import link_origins
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.plots import ERROR, MODEL, TOUCH, canvas, png_bytes
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Log

LENGTH, BEFORE, FRAMES = 8.0, 1.5, 72  # s of motion, s of it before the contact, pictures
SIZE, METRES = (5.2, 2.3), 0.012  # inches; m of an arrow per N
COLOURS = 32


def write_loop(log: Log, truth: np.ndarray, robot: RobotFile, path: Path) -> Path:
    """Write an animated GIF of LENGTH seconds around the first contact. truth: wrench (N, 6) in base axes [N, Nm]."""
    from PIL import Image

    first = int(np.argmax((np.linalg.norm(truth[:, :3], axis=1) > TOUCH) & (log.time > BEFORE)))
    start = log.time[first] - BEFORE
    rows = np.searchsorted(log.time, start + np.linspace(0, LENGTH, FRAMES, endpoint=False)).clip(0, len(log) - 1)
    origins = link_origins(RobotModel(robot.kinematic_chain(), robot.joint_names), log.q[rows])
    draw = _Scene(log, truth, rows, origins)
    pictures = [Image.open(io.BytesIO(draw(k))).convert("RGB").quantize(COLOURS) for k in range(FRAMES)]
    pictures[0].save(path, save_all=True, append_images=pictures[1:], duration=round(1e3 * LENGTH / FRAMES), loop=0)
    return path


class _Scene:
    """The axes, and their curves up to a row."""

    def __init__(self, log: Log, truth: np.ndarray, rows: np.ndarray, origins: np.ndarray) -> None:
        self._t, self._origins = log.time[rows] - log.time[rows[0]], origins
        self._force, self._true = log.external_wrench[rows, :3], truth[rows, :3]
        self._size, self._true_size = (np.linalg.norm(x, axis=1) for x in (self._force, self._true))
        unit = self._force / np.maximum(self._size, 1e-9)[:, None]
        self._std = np.sqrt(np.sum((unit * log.external_wrench_std[rows, :3]) ** 2, axis=1))
        self._contact = log.contact[rows, -1] == 1
        self._drawing = canvas(*SIZE)
        self._arm, self._plot = self._drawing.subplots(1, 2, width_ratios=[1, 1.5])

    def __call__(self, k: int) -> bytes:
        """PNG of the picture of row k."""
        self._draw_arm(self._arm, k)
        self._draw_force(self._plot, k)
        return png_bytes(self._drawing)

    def _draw_arm(self, ax: Any, k: int) -> None:
        ax.clear()
        points = self._origins[k][:, [0, 2]]
        ax.plot(*points.T, "o-", color="0.35", lw=4, ms=6, solid_capstyle="round")
        for force, colour, width in ((self._true[k], ERROR, 3.5), (self._force[k], MODEL, 2.0)):
            if np.linalg.norm(force) > TOUCH:
                end = points[-1] + METRES * force[[0, 2]]
                ax.annotate("", end, points[-1], arrowprops={"arrowstyle": "-|>", "color": colour, "lw": width})
        low, high = self._origins[:, :, [0, 2]].min((0, 1)) - 0.15, self._origins[:, :, [0, 2]].max((0, 1)) + 0.25
        ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), aspect="equal")
        ax.set_axis_off()
        state = f"contact {self._size[k]:.0f} ± {self._std[k]:.0f} N" if self._contact[k] else "no contact"
        ax.set_title(state, fontsize=11, color=MODEL if self._contact[k] else "0.4", fontweight="bold")

    def _draw_force(self, ax: Any, k: int) -> None:
        ax.clear()
        t, size, std = self._t[: k + 1], self._size[: k + 1], self._std[: k + 1]
        ax.fill_between(t, np.maximum(size - 2 * std, 0), size + 2 * std, color=MODEL, alpha=0.2, lw=0)
        ax.plot(t, self._true_size[: k + 1], color=ERROR, lw=2.5, label="ground truth")
        ax.plot(t, size, color=MODEL, lw=1.5, label="estimate ± 2 std, no force sensor")
        ax.set(xlim=(0, LENGTH), ylim=(0, 1.7 * self._true_size.max()), xlabel="time [s]", ylabel="contact force [N]")
        ax.legend(loc="upper left", frameon=False, fontsize=8)
        ax.spines[["top", "right"]].set_visible(False)
