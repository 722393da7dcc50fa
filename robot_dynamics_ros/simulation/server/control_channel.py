"""The control channel of a simulated controller: JSON lines {"command": name, ...} in, {"ok": ...} out.

ENVIRONMENT holds the commands that every controller understands, whatever its protocol: what surrounds the robot, the
clock, the end of the process. A controller may have commands of its own.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.simulation.server.arm import Arm
from robot_dynamics_ros.simulation.server.pacing import Pace
from robot_dynamics_ros.simulation.server.scenario import Scenario
from robot_dynamics_ros.simulation.server.sockets import Connection, LineServer

Handler = Callable[..., "dict[str, Any] | None"]


class Simulated(Protocol):
    """A process that simulates a robot: the arm on which the environment acts, its scenario, and its clock."""

    arm: Arm
    scenario: Scenario
    pace: Pace

    @property
    def time(self) -> float: ...


def by_name(*handlers: Handler) -> dict[str, Handler]:
    """A table of commands under the names of their functions, whose docstrings are the documentation."""
    return {handler.__name__: handler for handler in handlers}


class ControlChannel:
    """Executes control lines for one process."""

    def __init__(self, process: Simulated, commands: dict[str, Handler]) -> None:
        self._process, self.commands = process, commands
        self.server = LineServer(self._line)
        self._waiting: list[tuple[float, Connection]] = []

    def execute(self, line: str) -> dict[str, Any]:
        """Carry out one line; whatever is wrong with it comes back as {"ok": false, "error": text}."""
        try:
            request = json.loads(line)
            handler = self.commands[request.pop("command")]
            return {"ok": True} | (handler(self._process, **request) or {})
        except KeyError as error:
            return {"ok": False, "error": f"unknown command or field {error}; commands: {', '.join(self.commands)}"}
        except (ValueError, TypeError, AttributeError, OverflowError, RecursionError, RobotDynamicsError) as error:
            return {"ok": False, "error": str(error)}

    def _line(self, connection: Connection, line: str) -> None:
        reply = self.execute(line)
        until = reply.pop("until", None)
        if until is None:
            connection.send(json.dumps(reply).encode() + b"\n")
        else:
            self._waiting.append((until, connection))

    def release(self, time: float) -> None:
        """Answer the wait commands whose controller time has come."""
        for entry in [entry for entry in self._waiting if entry[0] <= time]:
            self._waiting.remove(entry)
            entry[1].send(json.dumps({"ok": True, "timestamp": time}).encode() + b"\n")


def vector(values: Any, length: int, name: str, bound: float = 1e9) -> np.ndarray:
    """So many finite numbers as sent. Raises ValueError naming them."""
    array = np.asarray(values, dtype=float)
    if array.shape != (length,) or not np.all(np.abs(array) <= bound):
        raise ValueError(f"{name} must be {length} finite numbers within +-{bound:g}")
    return array


def scalar(value: Any, name: str, bound: float = 1e9) -> float:
    """A finite number as sent. Raises ValueError naming it."""
    if not -bound <= (number := float(value)) <= bound:
        raise ValueError(f"{name} = {number} must be finite and within +-{bound:g}")
    return number


def set_wrench(process: Simulated, wrench: list[float]) -> None:
    """External wrench on the tool at the TCP, base frame orientation: fx fy fz mx my mz [N, Nm]."""
    process.scenario.commanded = vector(wrench, 6, "wrench", 1e4)


def set_payload(process: Simulated, mass: float, center: Sequence[float] = (0.0, 0.0, 0.0)) -> None:
    """Mount a point mass [kg] at the flange, centre [m]; the payload setting of the controller is not changed.

    Raises ValueError outside 0..100 kg.
    """
    if not 0 <= mass <= 100:
        raise ValueError(f"mass {mass} kg is outside 0..100")
    process.arm.mount(float(mass), vector(center, 3, "center", 10.0))


def set_wall(
    process: Simulated,
    point: list[float],
    normal: list[float],
    stiffness: float = 2e4,
    damping: float = 100.0,
    friction: float = 0.0,
) -> None:
    """A compliant plane through a point [m] with an outward normal; N/m, N s/m, tangential Coulomb coefficient."""
    place, outward = vector(point, 3, "point", 1e3), vector(normal, 3, "normal", 1e3)
    process.arm.simulated.set_wall(place, outward, float(stiffness), float(damping), float(friction))


def clear_wall(process: Simulated) -> None:
    """Remove the wall."""
    process.arm.simulated.clear_wall()


def set_ambient(process: Simulated, celsius: float) -> None:
    """Temperature of the air [deg C]."""
    process.arm.simulated.set_ambient(scalar(celsius, "celsius", 200.0))


def set_temperatures(process: Simulated, lubricant: float, housing: float | None = None) -> None:
    """Temperatures of all joints [deg C]; the housing is as warm as the lubricant unless given."""
    inside = scalar(lubricant, "lubricant", 200.0)
    outside = inside if housing is None else scalar(housing, "housing", 200.0)
    process.arm.simulated.set_temperatures(inside, outside)


def scenario(process: Simulated, name: str) -> None:
    """Start a scenario now."""
    process.scenario.start(name, process.time)


def speed(process: Simulated, factor: float) -> None:
    """Controller time per wall time from now on."""
    process.pace.set_speed(float(factor))


def wait(process: Simulated, seconds: float) -> dict[str, Any]:
    """Reply when so much controller time has passed."""
    return {"until": process.time + scalar(seconds, "seconds")}


def kill(process: Simulated) -> None:
    """The process exits at once, without closing anything."""
    os._exit(137)


ENVIRONMENT = by_name(
    set_wrench, set_payload, set_wall, clear_wall, set_ambient, set_temperatures, scenario, speed, wait, kill
)
