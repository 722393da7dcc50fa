"""Closed loop on the simulated UR over its real protocols: torque program, the wire and its thread, in lockstep.

In lockstep a cycle of the controller waits for its answer, so that no result depends on how busy the machine is; the
wire and the torque program are those of real time.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.faults.bench import ask
from bench.faults.socket_bench import Arm
from bench.faults.ur_controller import FaultyController
from bench.papers.labs.in_process import RATE, WARM, Run
from robot_dynamics_ros import _core
from robot_dynamics_ros._core import EnableResult, GuardState, TorqueMode
from robot_dynamics_ros.drivers.guard import refuse_torque
from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.simulation.server.client import SimulationClient
from robot_dynamics_ros.trajectories.smooth import Trajectory

SLOW = 0.004  # controller time per wall time that faults of this side are judged by: the controller waits for us
ATTEMPTS = 5
STALL_TIMEOUT = 60.0  # s of wall time without progress


class ClosedLoop:
    """A simulated UR5e, the driver and a torque loop: `with ClosedLoop(robot) as loop`."""

    simulation: SimulationClient

    def __init__(self, robot: RobotFile, parameters: dict[str, Any]) -> None:
        self.robot = robot
        self._parameters = {"time_scale": SLOW} | parameters

    def __enter__(self) -> ClosedLoop:
        self.ur = FaultyController("ur5e", lockstep=True)
        self.ur.__enter__()
        self.simulation = self.ur.client()
        self.simulation.command("set_temperatures", lubricant=WARM)
        wire: dict[str, Any] = {"client_silence": STALL_TIMEOUT, "silence": STALL_TIMEOUT}
        self.arm = Arm(self.ur.host, self.robot, self._parameters, **wire)
        self.driver, self.loop = self.arm.driver, self.arm.loop
        self._wait(self.arm.known, "a first state")
        return self

    def __exit__(self, *_: object) -> None:
        self.arm.close()
        self.simulation.close()
        self.ur.stop()

    def _wait(self, condition: Callable[[], bool], what: str) -> None:
        if not self.arm.read(STALL_TIMEOUT, condition):
            raise RobotDynamicsError(f"closed loop: no {what} in time")

    def move_to(self, q: np.ndarray) -> None:
        """Point to point under the controller's own position control; its watchdog may end a move on a busy machine.

        Raises RobotDynamicsError when the move fails.
        """
        for _ in range(ATTEMPTS):
            self.driver.play(q[None, :], speed=1.5, acceleration=3.0)
            self._wait(lambda: not self.driver.motion.active, "the move to the start")
            if self.driver.motion.state == "done":
                return
        raise RobotDynamicsError(f"closed loop: {self.driver.motion.reason}")

    def enable(self, mode: TorqueMode, trajectory: Trajectory | None = None) -> None:
        """Torque mode on. Raises RobotDynamicsError when it is refused."""
        refuse_torque(self.robot, self.driver.info, self.driver.status)
        self.driver.start_torque()
        for _ in range(self.driver.statistics().pending):
            self.driver.read(0.0)  # what waits is of before
        self.driver.take_records()
        self.driver.records.clear()
        ask(self.loop, mode, trajectory)
        self._wait(lambda: self.loop.enabled != EnableResult.pending, "the loop")
        if self.loop.enabled != EnableResult.done:
            raise RobotDynamicsError(f"closed loop: not enabled: {self.loop.enabled.name}")

    def run(self, seconds: float) -> Run:
        """Records of so many seconds of controller time. Raises RobotDynamicsError when torque ends before."""
        kept: list[_core.TorqueRecord] = []
        records, wanted = self.driver.records, int(seconds * RATE)
        end, lost = time.monotonic() + STALL_TIMEOUT, self.loop.lost_records
        while len(kept) < wanted:
            self.driver.read(0.02)
            self.driver.take_records()
            while records and len(kept) < wanted:
                record = records.popleft()
                if not (kept or record["run"]) or (kept and record["stamp_ns"] == kept[-1]["stamp_ns"]):
                    continue  # of before torque, or a cycle without a new state
                kept.append(record)
                end = time.monotonic() + STALL_TIMEOUT
            if self.loop.state not in (GuardState.ok, GuardState.degraded) or time.monotonic() > end:
                causes = "; ".join(
                    [*self.simulation.state["messages"][-2:], self.driver.motion.reason, self.driver.last_error]
                )
                raise RobotDynamicsError(
                    f"closed loop ended: {self.loop.state.name}, {self.loop.reason.name}; {causes}"
                )
        if self.loop.lost_records != lost:
            raise RobotDynamicsError(
                f"closed loop: {self.loop.lost_records - lost} records lost, the machine is too slow"
            )
        return Run(kept)
