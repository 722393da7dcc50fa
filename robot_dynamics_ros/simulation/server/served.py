"""A simulated robot with its surroundings and its two side channels, for controllers of any protocol.

The truth channel sends ground truth as JSON lines, the control channel takes what the environment does; both are the
channels of the simulated UR controller.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.plant.individual import nominal_links
from robot_dynamics_ros.simulation.robot import Record, SimulatedRobot
from robot_dynamics_ros.simulation.server.control_channel import ENVIRONMENT, ControlChannel
from robot_dynamics_ros.simulation.server.scenario import Scenario
from robot_dynamics_ros.simulation.server.sockets import Hub, LineServer

MAX_LATE = 0.1  # s of wall time: a process further behind gives the time up instead of catching up


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


class Served:
    """Plant, scenario, truth and control of one process; cycle() advances it. Names follow the UR controller's."""

    def __init__(
        self,
        robot: str,
        q: Sequence[float],
        scenario: str = "idle",
        seed: int = 0,
        rate: float | None = None,
        host: str = "127.0.0.1",
        truth_port: int = 0,
        control_port: int = 0,
        speed: float = 1.0,
        stop_with_stdin: bool = False,
    ) -> None:
        self.robot = load_robot(robot)
        self.simulated = SimulatedRobot(self.robot, seed=seed, q=np.array(q), rate=rate)
        self.controller = self.arm = self.kinematics = self
        believed = nominal_links(self.robot, self.simulated.machine.file)
        self.model = _core.RigidBody(self.simulated.machine.robot.chain_with_links(believed))
        self.scenario = Scenario(scenario)
        self.tick, self.late, self.stopping = 0, 0, False
        self.record: Record = self.simulated.record()
        self.hub, self.truth_server = Hub(), LineServer(lambda connection, line: None)
        self.control = ControlChannel(self, ENVIRONMENT | {"state": _state})
        self.ports = {
            "truth": self.hub.listen(host, truth_port, "truth", self.truth_server),
            "control": self.hub.listen(host, control_port, "control", self.control.server),
        }
        if stop_with_stdin:
            self.hub.watch_end(sys.stdin, self.stop)
        self._wrench = np.zeros(6)
        self.set_speed(speed)
        self._due = time.perf_counter()

    # -- what the scenario and the control channel ask for --------------------------------------------------------
    @property
    def time(self) -> float:
        """Controller time [s]."""
        return 1e-9 * self.simulated.stamp_ns

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
        return self.model.fk(np.ascontiguousarray(q))[-1]

    def set_wrench(self, wrench: np.ndarray) -> None:
        """Environment on robot at the TCP, base orientation."""
        if not np.array_equal(wrench, self._wrench):
            self._wrench = np.array(wrench, float)
            self.simulated.set_wrench(self._wrench)

    def mount(self, mass: float, center: np.ndarray) -> None:
        """Really mount a point mass at the flange; the controller is not told."""
        self.simulated.set_payload(mass, center, told=False)

    def set_speed(self, factor: float) -> None:
        """Controller time per wall time. Raises RobotDynamicsError outside 0.01..1e6."""
        if not 0.01 <= factor <= 1e6:
            raise RobotDynamicsError(f"speed {factor} is outside 0.01..1e6")
        self._period = 1.0 / self.simulated.rate / factor

    def stop(self, *_: object) -> None:
        """End the loop after the current cycle (also a signal handler)."""
        self.stopping = True

    # -- the loop -------------------------------------------------------------------------------------------------
    def cycle(self, step: Callable[[], Record]) -> bool:
        """Environment, one control cycle, ground truth. False when the plant was driven out of its numbers."""
        self.scenario.apply(self)  # type: ignore[arg-type]
        record = step()
        good = record.status != _core.Status.fault
        if good:
            self.record = record
        else:
            self.simulated.reset(self.record.q)
        self.tick += 1
        if self.truth_server.connections and self.tick % 2 == 0:
            self.truth_server.broadcast(self._truth_line())
        self.control.release(self.time)
        return good

    def pace(self) -> None:
        """Serve the side channels until the next cycle is due."""
        self._due += self._period
        now = time.perf_counter()
        if now - self._due > MAX_LATE:
            self.late, self._due = self.late + 1, now
        self.hub.poll(0.0)
        while (left := self._due - time.perf_counter()) > 0:
            self.hub.poll(left)

    def _truth_line(self) -> bytes:
        fields = {name: value.tolist() for name, value in self.simulated.truth().items()}
        return json.dumps({"timestamp": self.time, **fields}).encode() + b"\n"


def _state(served: Served) -> dict[str, Any]:
    """Controller time, position, scenario, times the process fell behind."""
    return {
        "timestamp": served.time,
        "tick": served.tick,
        "q": served.q.tolist(),
        "scenario": served.scenario.name,
        "late": served.late,
    }
