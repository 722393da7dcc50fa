"""The controller: one object whose step() is one 2 ms cycle of safety, program, motion and arm; and what RTDE clients
write: registers shared with the robot program, and their watchdogs.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from robot_dynamics_ros.simulation.ur import motion
from robot_dynamics_ros.simulation.ur import rtde_wire as wire
from robot_dynamics_ros.simulation.ur.arm import DT, Arm
from robot_dynamics_ros.simulation.ur.motion_control import ACCELERATION_LIMIT, STOP_DECELERATION, MotionControl
from robot_dynamics_ros.simulation.ur.safety import Safety, violation
from robot_dynamics_ros.simulation.ur.script import Program, ProgramError, Script, parse_script

START_DELAY = 0.02  # s between the end of an upload and the first cycle of the program


class RuntimeState:
    """runtime_state."""

    STOPPING, STOPPED, PLAYING = range(3)


class Controller(MotionControl):
    """Everything of the controller but its sockets; load_program makes a program of an uploaded script."""

    def __init__(self, arm: Arm, load_program: Callable[[Controller, Script], Program]) -> None:
        super().__init__(arm)
        self._load_program = load_program
        self.registers = Registers()
        self.watchdogs = Watchdogs(self.registers)
        self.safety = Safety()
        self.tick = 0
        self.clock_offset = 0.0  # s, of an injected clock step
        self.program: Program | None = None
        self.runtime_state = RuntimeState.STOPPED
        self.messages: deque[str] = deque(maxlen=100)
        self._next_program: tuple[float, Script] | None = None

    @property
    def time(self) -> float:
        """Time since the start [s]; the published timestamp is this plus `clock_offset`."""
        return self.tick * DT

    # -- one cycle ------------------------------------------------------------------------------------------------
    def step(self) -> None:
        """Advance by one cycle."""
        self.tick += 1
        self._check_watchdogs()
        self._step_program()
        try:
            self.step_arm(self.safety.may_move)
        except (motion.MotionError, ProgramError) as error:
            self.protective_stop(str(error))
            self.step_arm(self.safety.may_move)
        self._check_arm()

    def _step_program(self) -> None:
        if self.runtime_state == RuntimeState.STOPPING:
            self.runtime_state = RuntimeState.STOPPED
        if self._next_program is not None and self.time >= self._next_program[0]:
            script, self._next_program = self._next_program[1], None
            try:
                self.program = self._load_program(self, script)
                self.runtime_state = RuntimeState.PLAYING
            except ProgramError as error:
                self.report(f"program refused: {error}")
        if self.program is None or self.runtime_state != RuntimeState.PLAYING:
            return
        try:
            running = self.program.step()
        except (ProgramError, motion.MotionError) as error:
            self.report(f"program stopped: {error}")
            running = False
        if not running:
            self.stop_program()

    def _check_arm(self) -> None:
        if not self.safety.may_move:
            return
        force = float(np.linalg.norm(self.arm.external_wrench[:3]))
        reason = violation(self.arm, self.target[0], force)
        if reason:
            self.protective_stop(reason)

    def _check_watchdogs(self) -> None:
        overdue = self.watchdogs.overdue(self.time)
        if overdue is not None:
            self.report(f"watchdog: {overdue[0]} was not written for {overdue[1]:.3f} s, program stopped")
            self.stop_program()

    # -- programs -------------------------------------------------------------------------------------------------
    def write_inputs(self, values: dict[str, tuple[Any, ...]]) -> None:
        """Inputs of an RTDE package; they take effect in the next cycle."""
        self.registers.write_inputs(values, self.time)

    def upload(self, text: str) -> None:
        """A script has arrived: it replaces the running program, unless the robot may not move."""
        script = parse_script(text)
        if not self.safety.may_move:
            self.report(f"script {script.name!r} refused: the robot is not running")
            return
        self.stop_program()
        self._next_program = (self.time + START_DELAY, script)

    def stop_program(self) -> None:
        """End the program: the robot decelerates and holds, watchdogs are removed."""
        self.watchdogs.clear()
        self._next_program = None
        if self.program is not None:
            self.program = None
            self.runtime_state = RuntimeState.STOPPING
            if not self.torque_mode:
                self.stop_joints(STOP_DECELERATION)

    def protective_stop(self, reason: str) -> None:
        """Stop protectively: the program ends, the robot decelerates and holds."""
        self.safety.protective_stop(self.time)
        self.report(f"protective stop: {reason}")
        self.stop_program()
        self.stop_joints(STOP_DECELERATION)

    def emergency_stop(self, pressed: bool) -> None:
        """Press or release the emergency stop button."""
        self.safety.emergency_stop(pressed)
        if pressed:
            self.report("emergency stop")
            self.stop_program()
            self.stop_joints(ACCELERATION_LIMIT)

    def report(self, message: str) -> None:
        """A line for the controller's log."""
        self.messages.append(f"{self.time:.3f} {message}")


def _zeros(table: dict[str, str], prefix: str) -> dict[str, tuple[Any, ...]]:
    return {name: (0,) * wire.FIELD_TYPES[kind][1] for name, kind in table.items() if name.startswith(prefix)}


class Registers:
    """`values` holds every register by its RTDE name as a tuple; inputs remember when they were last written."""

    def __init__(self) -> None:
        self.values = _zeros(wire.OUTPUTS, "output_") | _zeros(wire.INPUTS, "")
        self.written: dict[str, float] = {}  # controller time of the last write
        self._int_in = [f"input_int_register_{i}" for i in range(wire.N_REGISTERS)]
        self._double_in = [f"input_double_register_{i}" for i in range(wire.N_REGISTERS)]
        self._int_out = [f"output_int_register_{i}" for i in range(wire.N_REGISTERS)]
        self._double_out = [f"output_double_register_{i}" for i in range(wire.N_REGISTERS)]

    def write_inputs(self, values: dict[str, tuple[Any, ...]], now: float) -> None:
        """Values of an RTDE input package."""
        self.values.update(values)
        self.written.update(dict.fromkeys(values, now))

    def int_in(self, index: int) -> int:
        """An integer input register."""
        return int(self.values[self._int_in[index]][0])

    def doubles_in(self, first: int, count: int) -> list[float]:
        """Input registers of floating point in a row."""
        return [self.values[name][0] for name in self._double_in[first : first + count]]

    def write_int(self, index: int, value: int) -> None:
        """Set an integer output register. Raises ValueError for a value that does not fit."""
        if not -(2**31) <= value < 2**31:
            raise ValueError(f"{value} does not fit an integer register")
        self.values[self._int_out[index]] = (int(value),)

    def write_double(self, index: int, value: float) -> None:
        """Set an output register of floating point."""
        self.values[self._double_out[index]] = (float(value),)


ROUNDING = 1e-6  # s: a silence of the whole period is not too long, however its two times were rounded


class Watchdogs:
    """The armed ones, by the name of their register [UR script, rtde_set_watchdog with action "stop"]."""

    def __init__(self, registers: Registers) -> None:
        self._registers = registers
        self._armed: dict[str, tuple[float, float]] = {}  # register -> longest silence, armed at [s]

    def arm(self, register: str, min_frequency: float, now: float) -> None:
        """The register must be written every 1/min_frequency [s] from `now` on. Raises ProgramError unless > 0."""
        if not min_frequency > 0:
            raise ProgramError(f"watchdog frequency {min_frequency} Hz must be positive")
        self._armed[register] = (1 / min_frequency, now)

    def clear(self) -> None:
        """None any more: they end with the program."""
        self._armed.clear()

    def overdue(self, now: float, ahead: float = 0.0) -> tuple[str, float] | None:
        """Register that was silent for too long at `now`, or will be `ahead` [s] later, and its period; None: none."""
        for name, (period, armed) in self._armed.items():
            silence = now - max(armed, self._registers.written.get(name, armed))
            if silence + ahead > period + ROUNDING:
                return name, period
        return None
