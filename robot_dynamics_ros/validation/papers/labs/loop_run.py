"""What a run in closed loop leaves: records as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from robot_dynamics_ros.control.torque import commanded_inertia
from robot_dynamics_ros.robot_file import RobotFile

RATE = 500.0  # Hz
WARM = 30.0  # deg C, all joints at the start


class Run:
    """Records of a run as arrays (N, n): q, qd, q_d, qd_d, tau, tau_d, torque, wanted, friction, coulomb, viscous."""

    def __init__(self, records: Sequence[dict[str, Any]]) -> None:
        self._records = list(records)

    def __getattr__(self, name: str) -> np.ndarray:
        return np.array([record[name] for record in self._records])

    def __len__(self) -> int:
        return len(self._records)

    def torque_error(self, robot: RobotFile) -> np.ndarray:
        """Measured torque less the feedforward of the desired motion (N, n) [Nm]."""
        qdd = np.gradient(self.qd_d, 1 / RATE, axis=0)
        return self.tau - (self.tau_d + commanded_inertia(robot) * qdd + self.friction)

    @property
    def position_error(self) -> np.ndarray:
        """q - q_d (N, n) [rad]."""
        return self.q - self.q_d
