"""What an effort can mean, and what each meaning lets the drives report where gravity is known.

Two recognisers decide between the meanings: effort_rest.py sample by sample while a live robot rests, effort_log.py
over a whole recording, from its motion too.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from robot_dynamics_ros.robot_file import RobotFile


@dataclass(frozen=True)
class Meaning:
    """One meaning of an effort: its unit, Nm or A, and whether gravity is in it."""

    unit: str
    includes_gravity: bool

    def __str__(self) -> str:
        return f"{self.unit}, gravity {'included' if self.includes_gravity else 'already removed'}"

    def holding(self, gravity: np.ndarray, torque_constant: np.ndarray | None) -> np.ndarray:
        """Effort (..., n) of drives that hold gravity (..., n) [Nm]: g, g / K_tau [Simoni2017, eq. 16], or 0.

        Raises ValueError for a current without torque constants (n,) [Nm/A].
        """
        if not self.includes_gravity:
            return np.zeros_like(gravity)
        if self.unit == "Nm":
            return gravity
        if torque_constant is None:
            raise ValueError("a current needs torque constants")
        return gravity / torque_constant

    @property
    def updates(self) -> dict[str, Any]:
        """Fields of the robot file that declare it."""
        return {"drives.effort.unit": self.unit, "drives.effort.includes_gravity": self.includes_gravity}

    @property
    def stage_parameters(self) -> dict[str, str]:
        """Parameters of the motion stage for it."""
        return {"effort_unit": self.unit, "effort_gravity": "included" if self.includes_gravity else "excluded"}


TORQUE, CURRENT, GRAVITY_FREE = Meaning("Nm", True), Meaning("A", True), Meaning("Nm", False)
WORDS = {"torque": TORQUE, "current": CURRENT, "gravity-free": GRAVITY_FREE}  # as a user says it


def declared(robot: RobotFile) -> Meaning:
    """The meaning a robot file declares."""
    return Meaning(robot.drives.effort.unit, bool(robot.drives.effort.includes_gravity))
