"""A simulated robot with its surroundings and its two side channels, for controllers of any protocol.

The truth channel sends ground truth as JSON lines, the control channel takes what the environment does.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import BaseModel, Field

from robot_dynamics_ros.simulation.plant.interface import ELASTIC
from robot_dynamics_ros.simulation.robot import Record
from robot_dynamics_ros.simulation.server.arm import Arm
from robot_dynamics_ros.simulation.server.control_channel import ENVIRONMENT, ControlChannel, Handler
from robot_dynamics_ros.simulation.server.pacing import Pace
from robot_dynamics_ros.simulation.server.scenario import Scenario
from robot_dynamics_ros.simulation.server.sockets import Hub, LineServer, Server

Port = Annotated[int, Field(ge=0, le=65535)]  # 0: a free one


class Settings(BaseModel, extra="forbid", allow_inf_nan=False):
    """What every simulated controller is started with."""

    robot: str
    scenario: str = "idle"
    host: str = "127.0.0.1"
    seed: int = Field(0, ge=0, lt=2**32)
    plant: str = ELASTIC
    duration: float | None = Field(None, ge=0.0)  # s of controller time
    truth_period: int = Field(2, ge=1)  # cycles between ground truth lines
    stop_with_stdin: bool = False  # end when standard input is closed, as it is when a parent process dies


class ArmServer:
    """Plant, scenario, ground truth channel and control channel of one process.

    servers: those of the protocol, name -> (port, server), port 0: a free one; commands: of the control channel,
    besides ENVIRONMENT.
    """

    def __init__(
        self,
        settings: Settings,
        arm: Arm,
        speed: float = 1.0,
        servers: Mapping[str, tuple[int, Server]] | None = None,
        commands: Mapping[str, Handler] | None = None,
    ) -> None:
        self.host, self.arm, self.duration = settings.host, arm, settings.duration
        self.truth_period = settings.truth_period
        self.scenario = Scenario(settings.scenario)
        self.tick, self.stopping = 0, False
        self.pace = Pace(arm.simulated.rate, speed)
        self.hub, self.truth = Hub(), LineServer(lambda connection, line: None)
        self.control = ControlChannel(self, ENVIRONMENT | {"state": _state} | dict(commands or {}))
        self.servers: dict[str, tuple[int, Server]] = {
            **(servers or {}),
            "truth": (0, self.truth),
            "control": (0, self.control.server),
        }
        try:
            self.ports = {
                name: self.hub.listen(self.host, port, name, server) for name, (port, server) in self.servers.items()
            }
        except Exception:
            self.hub.close()
            raise
        if settings.stop_with_stdin:
            self.hub.watch_end(sys.stdin, self.stop)

    @property
    def time(self) -> float:
        """Controller time [s]."""
        return 1e-9 * self.arm.simulated.stamp_ns

    @property
    def stamp(self) -> float:
        """Stamp of the ground truth [s]."""
        return self.time

    def stop(self, *_: object) -> None:
        """End the loop after the current cycle (also a signal handler)."""
        self.stopping = True

    # -- the loop -------------------------------------------------------------------------------------------------
    def cycle(self, step: Callable[[], Record]) -> bool:
        """Environment, one control cycle, side channels. False when the plant was driven out of its range."""
        self.scenario.apply(self.arm, self.time)
        good = self.arm.accept(step())
        self.report()
        return good

    def report(self) -> None:
        """After a cycle: ground truth, answers to `wait`, and the end of the duration."""
        self.tick += 1
        if self.truth.connections and self.tick % self.truth_period == 0:
            fields = {name: value.tolist() for name, value in self.arm.simulated.truth().items()}
            self.truth.broadcast(json.dumps({"timestamp": self.stamp, **fields}).encode() + b"\n")
        self.control.release(self.time)
        if self.duration is not None and self.time >= self.duration:
            self.stop()

    def wait(self) -> None:
        """Serve the side channels until the next cycle is due."""
        self.pace.advance()
        self.hub.poll(0.0)
        while (left := self.pace.left()) > 0:
            self.hub.poll(left)


def _state(arm_server: ArmServer) -> dict[str, Any]:
    """Controller time, position, scenario, times the process fell behind."""
    return {
        "timestamp": arm_server.time,
        "tick": arm_server.tick,
        "q": arm_server.arm.q.tolist(),
        "scenario": arm_server.scenario.name,
        "late": arm_server.pace.late,
    }
