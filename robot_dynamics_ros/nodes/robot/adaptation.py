"""Adapted friction of the torque loop: restored from a file and saved to it, and its entry in the diagnostics."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros._core import FreezeReason, TorqueLoop, TorqueRecord
from robot_dynamics_ros.control.adaptation_store import friction_id, load_adaptation, save_adaptation, wear
from robot_dynamics_ros.control.torque import coulomb_level
from robot_dynamics_ros.nodes.diagnostics import ERROR, OK, WARN, status
from robot_dynamics_ros.nodes.lifecycle_base import LifecycleBase
from robot_dynamics_ros.robot_file import RobotFile

SAVE_PERIOD = 60.0  # s


class AdaptedFriction:
    """Coulomb and viscous friction that the loop has adapted by law `law`; kept in parameter adaptation_file.

    Raises ConfigError for a file that is damaged or belongs to another robot.
    """

    def __init__(self, node: LifecycleBase, robot: RobotFile, loop: TorqueLoop, law: str) -> None:
        self._node, self._robot, self._law = node, robot, law
        name = node.value("adaptation_file")
        self._file = Path(os.path.expanduser(name)) if name else None
        self._saved, self._saving = time.monotonic(), threading.Thread()
        kept = load_adaptation(self._file, robot) if self._file else None
        if kept is None:
            return
        if kept.law != law:  # its values have another meaning
            node.get_logger().warning(f"{self._file} holds values of law {kept.law}: adaptation starts from zero")
        elif kept.friction not in ("", friction_id(robot)):
            node.get_logger().warning(f"{self._file} scales the friction of another robot file: adaptation starts anew")
        else:
            loop.restore(*kept.arrays)

    def save(self, last: TorqueRecord | None) -> None:
        """Write the file from the record of the last cycle, where a file is named and a cycle has run."""
        if self._saving.is_alive():
            self._saving.join()
        self._write(last)

    def save_regularly(self, last: TorqueRecord | None) -> None:
        """save() when the last time was SAVE_PERIOD ago, in a thread: torques of a topic do not wait for a disk."""
        if time.monotonic() - self._saved > SAVE_PERIOD and not self._saving.is_alive():
            self._saved, self._saving = time.monotonic(), threading.Thread(target=self._write, args=(last,))
            self._saving.start()

    def _write(self, last: TorqueRecord | None) -> None:
        if self._file is None or last is None:
            return
        try:
            save_adaptation(self._file, self._robot, last.coulomb, last.viscous, self._law)
        except (OSError, ValueError) as error:  # the last good file stays
            self._node.get_logger().error(f"{self._file}: adaptation is not saved: {error}")

    def diagnose(self, last: TorqueRecord | None) -> list[Any]:
        """Entry with the adapted friction of each joint and whether it indicates wear; none before the first cycle."""
        if last is None:
            return []
        nominal = np.maximum(coulomb_level(self._robot), 1e-3)
        level, text = wear(self._robot, last.coulomb / nominal if self._law == "rls" else last.coulomb)
        reasons = [k for k, bit in FreezeReason.__members__.items() if last.frozen & int(bit)]
        names = self._robot.joint_names
        values = {f"coulomb {j}": f"{a:.3f}" for j, a in zip(names, last.coulomb, strict=True)}
        values |= {f"viscous {j}": f"{a:.4f}" for j, a in zip(names, last.viscous, strict=True)}
        values["frozen"] = ", ".join(reasons) or "no"
        return [status(f"{self._node.path}: adaptation", (OK, WARN, ERROR)[level], text, values)]
