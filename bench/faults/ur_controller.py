"""A simulated UR controller with faults, and in lockstep: `python -m bench.faults.ur_controller ROBOT --set=NAME=...`.

A fault changes what leaves the controller or stops it, never what it computes; the control channel injects it. In
lockstep cycles of torque mode, and of a watchdog that runs out, wait for the client: a loaded machine causes no fault.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import ClassVar

import numpy as np

from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.server.control_channel import scalar
from robot_dynamics_ros.simulation.server.launcher import SimulatedController, serve
from robot_dynamics_ros.simulation.ur import process
from robot_dynamics_ros.simulation.ur.arm import DT
from robot_dynamics_ros.simulation.ur.commands import CommandLoop
from robot_dynamics_ros.simulation.ur.process import ControllerProcess, Values
from robot_dynamics_ros.simulation.ur.rtde_wire import FIELD_TYPES, OUTPUTS

# signals that stand still when values are frozen: measurements and targets, not modes, registers or the timestamp
FROZEN_PREFIXES = ("actual_", "target_", "joint_")


ANSWER = 20.0  # s of wall time a cycle waits for its answer in lockstep
REPEAT = 0.5  # s after which its package is sent again: clients wait 2.5 s for data before they hang up
IN_STEP, QUIET = 250, 0.02  # every so many cycles an answer is the last one after so many s of silence: none is late


class Settings(process.Settings):
    """What it is started with."""

    lockstep: bool = False


class FaultyProcess(ControllerProcess):
    """A controller process whose outputs can be dropped, frozen, damaged or silent."""

    settings_type = Settings

    def __init__(self, settings: Settings) -> None:
        self._random = np.random.default_rng([settings.seed, 2])
        self.frozen: Values = {}
        self.silent_until = -1.0
        self.drop_next = 0
        self.drop_probability = 0.0
        self.nan_fields: dict[str, int | None] = {}  # output name -> element, None for all of it
        self.lockstep, self._answers = settings.lockstep, 0
        super().__init__(settings)
        self._published = self.signals.values

    @property
    def silent(self) -> bool:  # type: ignore[override]
        """True while the server neither reads nor writes; controller time goes on."""
        return self.controller.time < self.silent_until

    def outgoing(self, values: Values) -> Values | None:
        """See ControllerProcess."""
        if self.silent or self._dropped():
            return None
        if self.frozen or self.nan_fields:
            values = values | self.frozen
            for name, element in self.nan_fields.items():
                values[name] = tuple(
                    float("nan") if element in (None, i) else value for i, value in enumerate(values[name])
                )
        self._published = values
        return values

    def _dropped(self) -> bool:
        if self.drop_next > 0:
            self.drop_next -= 1
            return True
        return self.drop_probability > 0 and self._random.random() < self.drop_probability

    # -- lockstep -------------------------------------------------------------------------------------------------
    def write_inputs(self, values: Values) -> None:
        """See ControllerProcess; counted as an answer."""
        self._answers += 1
        super().write_inputs(values)

    def turn(self) -> None:
        """See ControllerProcess; in lockstep with the client."""
        self._answers = 0
        if self.lockstep:
            self._await(lambda: not self._watchdog_due())
        self.await_watched_input()
        if self.cycle() and self.lockstep and self._expects_torque():
            self._await_answer()

    def _watchdog_due(self) -> bool:
        """A watchdog would stop the program in the next cycle, and its client is not waiting for us."""
        program = self.controller.program
        waiting = isinstance(program, CommandLoop) and program.blocked
        return not waiting and self.controller.watchdogs.overdue(self.time, ahead=DT) is not None

    def _expects_torque(self) -> bool:
        program = self.controller.program
        own = program is not None and not program.script.is_command_loop and "direct_torque(" in program.script.text
        return own or self.controller.torque_mode

    def _await(self, reached: Callable[[], bool]) -> None:
        """Serve the sockets until the client has answered; the present state is sent again and again."""
        until = time.perf_counter() + ANSWER
        while not reached() and self._answerable and (left := until - time.perf_counter()) > 0:
            again = time.perf_counter() + REPEAT
            while not reached() and self._answerable and (pause := again - time.perf_counter()) > 0:
                self.hub_poll(min(left, pause))
            if not reached() and self._answerable:
                self.rtde.publish(self.controller.tick, self._published)

    def _await_answer(self) -> None:
        """Serve the sockets until a client has written inputs; at times until it has nothing more to say."""
        self._await(lambda: self._answers > 0)
        program = self.controller.program
        # our own client sends every torque again until it is answered
        vendor = program is not None and program.script.is_command_loop
        before, until = 0, time.perf_counter() + 5 * QUIET
        while (
            vendor and self.controller.tick % IN_STEP == 0 and before != self._answers and time.perf_counter() < until
        ):
            before = self._answers
            self.hub_poll(QUIET)

    @property
    def _answerable(self) -> bool:
        """True while a client that may write inputs is connected."""
        return not self.stopping and not self.silent and self.rtde.has_writer


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
    handler.__name__: handler for handler in (stall, freeze, drop, nan, clock_step)
}

if __name__ == "__main__":
    name, *given = sys.argv[1:]
    serve(load_robot(name), name, [text.removeprefix("--set=") for text in given], kind=FaultyProcess)
