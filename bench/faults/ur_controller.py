"""A simulated UR controller with faults: `python -m bench.faults.ur_controller ROBOT --set=NAME=VALUE ...`.

A fault changes what leaves the controller or stops it, never what it computes; the control channel injects it.
"""

from __future__ import annotations

import sys
from typing import ClassVar

import numpy as np

from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.server.control_channel import scalar
from robot_dynamics_ros.simulation.server.launcher import SimulatedController, settings_of
from robot_dynamics_ros.simulation.ur.process import ControllerProcess, Settings, Values, serve
from robot_dynamics_ros.simulation.ur.rtde_wire import FIELD_TYPES, OUTPUTS

# signals that stand still when values are frozen: measurements and targets, not modes, registers or the timestamp
FROZEN_PREFIXES = ("actual_", "target_", "joint_")


class FaultyProcess(ControllerProcess):
    """A controller process whose outputs can be dropped, doubled, frozen, damaged or silent."""

    def __init__(self, settings: Settings) -> None:
        self._random = np.random.default_rng([settings.seed, 2])
        self.frozen: Values = {}
        self.silent_until = -1.0
        self.drop_next = self.duplicate_next = 0
        self.drop_probability = 0.0
        self.nan_fields: dict[str, int | None] = {}  # output name -> element, None for all of it
        super().__init__(settings)

    @property
    def silent(self) -> bool:  # type: ignore[override]
        """True while the server neither reads nor writes; controller time goes on."""
        return self.controller.time < self.silent_until

    def outgoing(self, values: Values) -> tuple[Values, int]:
        """See ControllerProcess: with the faults, 0 copies of a package that is dropped."""
        if self.silent or self._dropped():
            return values, 0
        if self.frozen or self.nan_fields:
            values = values | self.frozen
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


class FaultyController(SimulatedController):
    """See SimulatedController; in its process runs a FaultyProcess."""

    program: ClassVar[tuple[str, ...]] = ("bench.faults.ur_controller",)


def stall(process: FaultyProcess, seconds: float) -> None:
    """The server neither reads nor writes for so long; controller time goes on."""
    process.silent_until = process.time + scalar(seconds, "seconds")


def freeze(process: FaultyProcess, on: bool = True) -> None:
    """Repeat the present measurements under fresh timestamps."""
    values = process.signals.values
    process.frozen = {name: value for name, value in values.items() if on and name.startswith(FROZEN_PREFIXES)}


def drop(process: FaultyProcess, next: int = 0, probability: float = 0.0) -> None:
    """Drop the next n packages, and each one after with a probability. Raises ValueError outside 0..1."""
    if not 0 <= probability <= 1:
        raise ValueError(f"probability {probability} is outside 0..1")
    process.drop_next, process.drop_probability = int(next), float(probability)


def duplicate(process: FaultyProcess, next: int = 1) -> None:
    """Send each of the next n packages twice."""
    process.duplicate_next = int(next)


def nan(process: FaultyProcess, field: str = "", element: int | None = None) -> None:
    """Put NaN into a floating point output (one element or all of it); without a field, none any more.

    Raises ValueError for a field that cannot hold it.
    """
    if not field:
        process.nan_fields.clear()
        return
    if OUTPUTS[field] not in ("DOUBLE", "VECTOR3D", "VECTOR6D"):
        raise ValueError(f"{field} is {OUTPUTS[field]} and cannot hold NaN")
    if element is not None and not 0 <= element < FIELD_TYPES[OUTPUTS[field]][1]:
        raise ValueError(f"{field} has no element {element}")
    process.nan_fields[field] = element


def clock_step(process: FaultyProcess, seconds: float) -> None:
    """Set the controller clock forwards or backwards."""
    process.controller.clock_offset += scalar(seconds, "seconds")


FaultyProcess.commands = ControllerProcess.commands | {
    handler.__name__: handler for handler in (stall, freeze, drop, duplicate, nan, clock_step)
}

if __name__ == "__main__":
    name, *given = sys.argv[1:]
    serve(settings_of(load_robot(name), name, [text.removeprefix("--set=") for text in given]), kind=FaultyProcess)
