"""Closed loop on the simulated UR in one thread: no sockets, the same bit for bit in every run. For tests."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros._core import EnableResult, GuardState, TorqueMode
from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.trajectories.smooth import Trajectory
from robot_dynamics_ros.validation.faults.rig import Rig
from robot_dynamics_ros.validation.papers.labs.loop_run import RATE, WARM, Run

SETTLING = 250  # cycles of standing still before torque


class InProcessLoop:
    """Plant and torque loop, cycle by cycle; used like ClosedLoop."""

    def __init__(
        self, robot: RobotFile, parameters: dict[str, Any] | None = None, seed: int = 0, payload: float = 0.0
    ) -> None:
        self._rig = Rig(seed, parameters, robot=robot)
        self._rig.plant.set_temperatures(WARM, WARM)
        if payload > 0:
            self._rig.plant.set_payload(payload, [0.0, 0.0, 0.05])
        self.loop = self._rig.loop

    def __enter__(self) -> InProcessLoop:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def move_to(self, q: np.ndarray) -> None:
        """Stands still at q."""
        self._rig.plant.reset(q)
        self._rig.state, self._rig.held = self._rig.plant.record(), np.array(q, float)
        self._rig.cycle(SETTLING)

    def push(self, wrench: np.ndarray) -> None:
        """The environment's wrench on the tool (6,), base orientation, until changed."""
        self._rig.plant.set_wrench(wrench)

    def enable(self, mode: TorqueMode, trajectory: Trajectory | None = None) -> None:
        """Torque mode on. Raises RobotDynamicsError when it is refused."""
        motion = None
        if trajectory is not None:
            motion = _core.TorqueTrajectory(trajectory.q, trajectory.qd, trajectory.qdd, RATE, True)
        self.loop.enable(mode, motion)
        self._rig.cycle()
        if self.loop.enabled != EnableResult.done:
            raise RobotDynamicsError(f"closed loop: not enabled: {self.loop.enabled.name}")

    def run(self, seconds: float, each: Callable[[dict[str, Any]], None] | None = None) -> Run:
        """Records of so many seconds; `each` sees every one. Raises RobotDynamicsError when torque ends before."""
        kept: list[dict[str, Any]] = []
        for _ in range(int(seconds * RATE)):
            kept.append(dict(self._rig.cycle()))
            if each is not None:
                each(kept[-1])
            if self.loop.state not in (GuardState.ok, GuardState.degraded):
                raise RobotDynamicsError(f"closed loop ended: {self.loop.state.name}, {self.loop.reason.name}")
        return Run(kept)

    def disable(self) -> None:
        """Torque ramps out, the robot holds."""
        self.loop.disable()
        self._rig.cycle(100)
