"""Faults of a UR controller, injected over the control channel, and the commands of that channel.

A fault changes what leaves the controller or stops it, never what it computes.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from robot_dynamics_ros.simulation.server.control_channel import ENVIRONMENT, Handler, Simulated, scalar
from robot_dynamics_ros.simulation.ur.controller import Controller
from robot_dynamics_ros.simulation.ur.rtde_server import RtdeServer
from robot_dynamics_ros.simulation.ur.rtde_wire import FIELD_TYPES, OUTPUTS
from robot_dynamics_ros.simulation.ur.signals import Signals

Values = dict[str, tuple[Any, ...]]
# signals that stand still when values are frozen: measurements and targets, not modes, registers or the timestamp
FROZEN_PREFIXES = ("actual_", "target_", "joint_", "ft_raw")


class Faults:
    """State of the injected faults; filter() is applied to every cycle's outputs."""

    def __init__(self, controller: Controller, seed: int = 0) -> None:
        self._controller = controller
        self._random = np.random.default_rng([seed, 2])
        self._frozen: Values | None = None
        self._stalled_until = -1.0
        self.drop_next = 0
        self.drop_probability = 0.0
        self.duplicate_next = 0
        self.nan_fields: dict[str, int | None] = {}  # output name -> element, None for all of it

    @property
    def stalled(self) -> bool:
        """True while the server is silent: it neither reads nor writes, controller time goes on."""
        return self._controller.time < self._stalled_until

    def stall(self, seconds: float) -> None:
        """Be silent for a stretch of controller time."""
        self._stalled_until = self._controller.time + seconds

    def freeze(self, on: bool, values: Values) -> None:
        """Repeat the present measurements under fresh timestamps, or stop doing so."""
        frozen = {name: value for name, value in values.items() if name.startswith(FROZEN_PREFIXES)}
        self._frozen = frozen if on else None

    def filter(self, values: Values) -> tuple[Values, int]:
        """Outputs as they leave, and how many copies of the package are sent (0 drops it)."""
        if self.stalled or self._dropped():
            return values, 0
        if self._frozen is not None or self.nan_fields:
            values = values | (self._frozen or {})
            for name, element in self.nan_fields.items():
                values[name] = tuple(
                    float("nan") if element in (None, i) else value for i, value in enumerate(values[name])
                )
        if self.duplicate_next > 0:
            self.duplicate_next -= 1
            return values, 2
        return values, 1

    def _dropped(self) -> bool:
        if self.drop_next > 0:
            self.drop_next -= 1
            return True
        return self.drop_probability > 0 and self._random.random() < self.drop_probability


class Process(Simulated, Protocol):
    """The process of a UR controller as the commands of the control channel use it."""

    controller: Controller
    faults: Faults
    signals: Signals
    rtde: RtdeServer


COMMANDS: dict[str, Handler] = dict(ENVIRONMENT)


def command(handler: Handler) -> Handler:
    """Enter a function into the table under its name; its docstring is the documentation."""
    COMMANDS[handler.__name__] = handler
    return handler


@command
def stall(process: Process, seconds: float) -> None:
    """The server neither reads nor writes for so long; controller time goes on."""
    process.faults.stall(scalar(seconds, "seconds"))


@command
def protective_stop(process: Process) -> None:
    """Stop as after a collision."""
    process.controller.protective_stop("control channel")


@command
def emergency_stop(process: Process, pressed: bool = True) -> None:
    """Press (or with pressed false release) the emergency stop button."""
    process.controller.emergency_stop(bool(pressed))


@command
def freeze(process: Process, on: bool = True) -> None:
    """Repeat the present measurements under fresh timestamps."""
    process.faults.freeze(bool(on), process.signals.values)


@command
def drop(process: Process, next: int = 0, probability: float = 0.0) -> None:
    """Drop the next n packages, and each one after with a probability. Raises ValueError outside 0..1."""
    if not 0 <= probability <= 1:
        raise ValueError(f"probability {probability} is outside 0..1")
    process.faults.drop_next, process.faults.drop_probability = int(next), float(probability)


@command
def duplicate(process: Process, next: int = 1) -> None:
    """Send each of the next n packages twice."""
    process.faults.duplicate_next = int(next)


@command
def nan(process: Process, field: str = "", element: int | None = None) -> None:
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
def clock_step(process: Process, seconds: float) -> None:
    """Set the controller clock forwards or backwards."""
    process.controller.clock_offset += scalar(seconds, "seconds")


@command
def state(process: Process) -> dict[str, Any]:
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
        "q": controller.arm.q.tolist(),
        "target_q": controller.target[0].tolist(),
        "messages": list(controller.messages),
        "scenario": process.scenario.name,
        "clients": len(process.rtde.clients),
        "skipped": sum(client.skipped for client in process.rtde.clients.values()),
        "late": process.pace.late,
    }
