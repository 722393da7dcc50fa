"""The control channel: JSON lines {"command": name, ...} in, {"ok": ...} out; faults, environment, questions."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.simulation.ur_controller.rtde_wire import FIELD_TYPES, OUTPUTS
from robot_dynamics_ros.simulation.ur_controller.sockets import Connection, LineServer

if TYPE_CHECKING:
    from robot_dynamics_ros.simulation.ur_controller.process import ControllerProcess

Handler = Callable[..., "dict[str, Any] | None"]
COMMANDS: dict[str, Handler] = {}


def command(handler: Handler) -> Handler:
    """Enter a function into the table under its name; its docstring is the documentation."""
    COMMANDS[handler.__name__] = handler
    return handler


class ControlChannel:
    """Executes control lines for one process, by default all of COMMANDS."""

    def __init__(self, process: ControllerProcess, commands: dict[str, Handler] | None = None) -> None:
        self._process, self._commands = process, COMMANDS if commands is None else commands
        self.server = LineServer(self._line)
        self._waiting: list[tuple[float, Connection]] = []

    def add(self, commands: dict[str, Handler]) -> None:
        """Take further commands, of a controller that has its own."""
        self._commands = self._commands | commands

    def execute(self, line: str) -> dict[str, Any]:
        """Carry out one line; whatever is wrong with it comes back as {"ok": false, "error": text}."""
        try:
            request = json.loads(line)
            handler = self._commands[request.pop("command")]
            return {"ok": True} | (handler(self._process, **request) or {})
        except KeyError as error:
            return {"ok": False, "error": f"unknown command or field {error}; commands: {', '.join(self._commands)}"}
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


def _vector(values: Any, length: int, name: str, bound: float = 1e9) -> np.ndarray:
    vector = np.asarray(values, dtype=float)
    if vector.shape != (length,) or not np.all(np.abs(vector) <= bound):
        raise ValueError(f"{name} must be {length} finite numbers within +-{bound:g}")
    return vector


def _scalar(value: Any, name: str, bound: float = 1e9) -> float:
    if not -bound <= (number := float(value)) <= bound:
        raise ValueError(f"{name} = {number} must be finite and within +-{bound:g}")
    return number


# -- faults -----------------------------------------------------------------------------------------------------------
@command
def stall(process: ControllerProcess, seconds: float) -> None:
    """The server neither reads nor writes for so long; controller time goes on."""
    process.faults.stall(_scalar(seconds, "seconds"))


@command
def kill(process: ControllerProcess) -> None:
    """The process exits at once, without closing anything."""
    os._exit(137)


@command
def protective_stop(process: ControllerProcess) -> None:
    """Stop as after a collision."""
    process.controller.protective_stop("control channel")


@command
def emergency_stop(process: ControllerProcess, pressed: bool = True) -> None:
    """Press (or with pressed false release) the emergency stop button."""
    process.controller.emergency_stop(bool(pressed))


@command
def freeze(process: ControllerProcess, on: bool = True) -> None:
    """Repeat the present measurements under fresh timestamps."""
    process.faults.freeze(bool(on), process.signals.values)


@command
def drop(process: ControllerProcess, next: int = 0, probability: float = 0.0) -> None:
    """Drop the next n packages, and each one after with a probability. Raises ValueError outside 0..1."""
    if not 0 <= probability <= 1:
        raise ValueError(f"probability {probability} is outside 0..1")
    process.faults.drop_next, process.faults.drop_probability = int(next), float(probability)


@command
def duplicate(process: ControllerProcess, next: int = 1) -> None:
    """Send each of the next n packages twice."""
    process.faults.duplicate_next = int(next)


@command
def nan(process: ControllerProcess, field: str = "", element: int | None = None) -> None:
    """Put NaN into a floating point output (one element or all of it); without a field, none any more.

    Raises ValueError for a field that cannot hold it.
    """
    if not field:
        process.faults.nan_fields.clear()
        return
    if OUTPUTS[field] not in ("DOUBLE", "VECTOR3D", "VECTOR6D"):
        raise ValueError(f"{field} is {OUTPUTS[field]} and cannot hold NaN")
    if element is not None and not 0 <= element < FIELD_TYPES[OUTPUTS[field]][1]:
        raise ValueError(f"{field} has no element {element}")
    process.faults.nan_fields[field] = element


@command
def clock_step(process: ControllerProcess, seconds: float) -> None:
    """Set the controller clock forwards or backwards."""
    process.controller.clock_offset += _scalar(seconds, "seconds")


# -- environment ------------------------------------------------------------------------------------------------------
@command
def set_wrench(process: ControllerProcess, wrench: list[float]) -> None:
    """External wrench on the tool at the TCP, base frame orientation: fx fy fz mx my mz [N, Nm]."""
    process.scenario.commanded = _vector(wrench, 6, "wrench", 1e4)


@command
def set_payload(process: ControllerProcess, mass: float, center: Sequence[float] = (0.0, 0.0, 0.0)) -> None:
    """Really mount a point mass [kg] at the flange, centre [m]; the controller is not told.

    Raises ValueError outside 0..100 kg.
    """
    if not 0 <= mass <= 100:
        raise ValueError(f"mass {mass} kg is outside 0..100")
    process.controller.arm.mount(float(mass), _vector(center, 3, "center", 10.0))


@command
def set_wall(
    process: ControllerProcess,
    point: list[float],
    normal: list[float],
    stiffness: float = 2e4,
    damping: float = 100.0,
    friction: float = 0.0,
) -> None:
    """A compliant plane through a point [m] with an outward normal; N/m, N s/m, tangential Coulomb coefficient."""
    place, outward = _vector(point, 3, "point", 1e3), _vector(normal, 3, "normal", 1e3)
    process.controller.arm.simulated.set_wall(place, outward, float(stiffness), float(damping), float(friction))


@command
def clear_wall(process: ControllerProcess) -> None:
    """Remove the wall."""
    process.controller.arm.simulated.clear_wall()


@command
def set_ambient(process: ControllerProcess, celsius: float) -> None:
    """Temperature of the air [deg C]."""
    process.controller.arm.simulated.set_ambient(_scalar(celsius, "celsius", 200.0))


@command
def set_temperatures(process: ControllerProcess, lubricant: float, housing: float | None = None) -> None:
    """Temperatures of all joints [deg C]; the housing is as warm as the lubricant unless given."""
    inside = _scalar(lubricant, "lubricant", 200.0)
    outside = inside if housing is None else _scalar(housing, "housing", 200.0)
    process.controller.arm.simulated.set_temperatures(inside, outside)


@command
def scenario(process: ControllerProcess, name: str) -> None:
    """Start a scenario now."""
    process.scenario.start(name, process.controller)


@command
def speed(process: ControllerProcess, factor: float) -> None:
    """Controller time per wall time from now on."""
    process.set_speed(float(factor))


# -- questions --------------------------------------------------------------------------------------------------------
@command
def wait(process: ControllerProcess, seconds: float) -> dict[str, Any]:
    """Reply when so much controller time has passed."""
    return {"until": process.controller.time + _scalar(seconds, "seconds")}


@command
def state(process: ControllerProcess) -> dict[str, Any]:
    """Controller time, modes, program, target and measured position, messages, clients."""
    controller = process.controller
    return {
        "timestamp": controller.time,
        "tick": controller.tick,
        "robot_mode": int(controller.safety.robot_mode),
        "safety_mode": int(controller.safety.mode),
        "runtime_state": controller.runtime_state,
        "program": controller.program.script.name if controller.program else None,
        "torque_mode": controller.torque_mode,
        "direct_torque": str(controller.program.script.torque) if controller.program else None,
        "force_mode": controller.force_mode,
        "q": controller.arm.q.tolist(),
        "target_q": controller.target[0].tolist(),
        "messages": list(controller.messages),
        "scenario": process.scenario.name,
        "clients": len(process.rtde.clients),
        "skipped": sum(client.skipped for client in process.rtde.clients.values()),
        "late": process.late,
    }
