"""A simulated arm behind a controller, whatever its protocol."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.simulation.plant.interface import ELASTIC
from robot_dynamics_ros.simulation.robot import Record, SimulatedRobot


class Reference:
    """Commanded positions, one per cycle or late, to a smooth desired motion: critically damped, exact at rest.

    bandwidth [rad/s]: the motion follows 2/bandwidth seconds behind.
    """

    def __init__(self, q: np.ndarray, bandwidth: float) -> None:
        self.q, self.qd, self.qdd = q.copy(), np.zeros_like(q), np.zeros_like(q)
        self._bandwidth = bandwidth

    def step(self, target: np.ndarray, dt: float) -> None:
        """One cycle towards `target` (n,)."""
        w = self._bandwidth
        self.qdd = w * w * (target - self.q) - 2 * w * self.qd
        self.qd = self.qd + dt * self.qdd
        self.q = self.q + dt * self.qd


class Arm:
    """A simulated arm with the controller's own rigid-body model of it; `record` holds the newest measurements."""

    def __init__(
        self, robot: RobotFile, q: Sequence[float], seed: int = 0, rate: float | None = None, plant: str = ELASTIC
    ) -> None:
        self.simulated = SimulatedRobot(robot, seed=seed, q=np.array(q), rate=rate, plant=plant)
        self.model = _core.RigidBody(self.simulated.machine.nominal)
        self.record: Record = self.simulated.record()
        self.wrench = np.zeros(6)  # of the environment on the robot

    @property
    def q(self) -> np.ndarray:
        """Measured positions (n,) [rad]."""
        return self.record.q

    @property
    def qd(self) -> np.ndarray:
        """Measured velocities (n,) [rad/s]."""
        return self.record.qd

    def flange(self, q: np.ndarray) -> np.ndarray:
        """Pose (4, 4) of the tool."""
        return self.model.fk(q)[-1]

    def jacobian(self, q: np.ndarray) -> np.ndarray:
        """Geometric Jacobian (6, n) of the tool at positions q (n,) [rad], linear rows first."""
        return self.model.jacobian(q)

    def set_wrench(self, wrench: np.ndarray) -> None:
        """Environment on robot at the TCP, base orientation."""
        if not np.array_equal(wrench, self.wrench):
            self.wrench = np.array(wrench, float)
            self.simulated.set_wrench(self.wrench)

    def mount(self, mass: float, center: np.ndarray) -> None:
        """Really mount a point mass at the flange; the controller does not know."""
        self.simulated.set_payload(mass, center, configured=False)

    def accept(self, record: Record) -> bool:
        """Take a cycle's measurements; False when the plant left its range: it then stands at the last positions."""
        if record.status == _core.Status.fault:
            self.simulated.reset(self.record.q)
            return False
        self.record = record
        return True
