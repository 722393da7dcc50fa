"""What the control channel of a UR controller understands besides the environment: faults, stops, and its state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from robot_dynamics_ros.simulation.server.control_channel import ENVIRONMENT, Handler, scalar
from robot_dynamics_ros.simulation.ur.rtde_wire import FIELD_TYPES, OUTPUTS

if TYPE_CHECKING:
    from robot_dynamics_ros.simulation.ur.process import ControllerProcess

COMMANDS: dict[str, Handler] = dict(ENVIRONMENT)


def command(handler: Handler) -> Handler:
    """Enter a function into the table under its name; its docstring is the documentation."""
    COMMANDS[handler.__name__] = handler
    return handler


@command
def stall(process: ControllerProcess, seconds: float) -> None:
    """The server neither reads nor writes for so long; controller time goes on."""
    process.faults.stall(scalar(seconds, "seconds"))


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
    process.controller.clock_offset += scalar(seconds, "seconds")


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
