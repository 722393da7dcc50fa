"""Closed loop on the simulated UR in one thread: no sockets, the same bit for bit in every run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from bench.faults.clock_bench import ClockBench
from robot_dynamics_ros import _core
from robot_dynamics_ros._core import GuardState, TorqueMode
from robot_dynamics_ros.control.torque import commanded_inertia
from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.trajectories.smooth import Trajectory

SETTLING = 250  # cycles of standing still before torque


RATE = 500.0  # Hz
WARM = 30.0  # deg C, all joints at the start


def closed(q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> Trajectory:
    """A motion (N, n) that ends where it begins."""
    none = np.zeros_like(q)
    return Trajectory(np.arange(len(q)) / RATE, q, qd, qdd, none, none)


class Run:
    """Records of a run as arrays (N, n): q, qd, q_d, qd_d, tau, tau_d, torque, wanted, friction, coulomb, viscous."""

    def __init__(self, records: Sequence[_core.TorqueRecord]) -> None:
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


class InProcessLoop:
    """Plant and torque loop, cycle by cycle."""

    def __init__(
        self, robot: RobotFile, parameters: dict[str, Any], payload: float = 0.0, plant: Mapping[str, Any] | None = None
    ) -> None:
        self.rig = ClockBench(0, parameters, robot=robot, plant=plant)
        self.rig.plant.set_temperatures(WARM, WARM)
        if payload > 0:
            self.rig.plant.set_payload(payload, [0.0, 0.0, 0.05])
        self.loop = self.rig.loop

    def move_to(self, q: np.ndarray) -> None:
        """Stands still at q."""
        self.rig.plant.reset(q)
        self.rig.state, self.rig.held = self.rig.plant.record(), np.array(q, float)
        self.rig.cycle(SETTLING)

    def push(self, wrench: np.ndarray) -> None:
        """The environment's wrench on the tool (6,), base orientation, until changed."""
        self.rig.plant.set_wrench(wrench)

    def enable(self, mode: TorqueMode, trajectory: Trajectory | None = None) -> None:
        """Torque mode on. Raises RobotDynamicsError when it is refused."""
        if not self.rig.enable(mode, trajectory):
            raise RobotDynamicsError(f"closed loop: not enabled: {self.loop.enabled.name}")

    def follow(self, path: Trajectory, seconds: float) -> Run:
        """From where the path begins: records of so many seconds along it, over and over."""
        self.move_to(path.q[0])
        self.enable(TorqueMode.track, path)
        return self.run(seconds)

    def run(self, seconds: float, each: Callable[[_core.TorqueRecord], None] | None = None) -> Run:
        """Records of so many seconds; `each` sees every one. Raises RobotDynamicsError when torque ends before."""
        kept: list[_core.TorqueRecord] = []
        for _ in range(int(seconds * RATE)):
            kept.append(self.rig.cycle())
            if each is not None:
                each(kept[-1])
            if self.loop.state not in (GuardState.ok, GuardState.degraded):
                raise RobotDynamicsError(f"closed loop ended: {self.loop.state.name}, {self.loop.reason.name}")
        return Run(kept)
