"""The controller: one object whose step() is one 2 ms cycle of safety, program, motion and arm."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from robot_dynamics_ros.simulation.ur import motion
from robot_dynamics_ros.simulation.ur.arm import DT, Arm
from robot_dynamics_ros.simulation.ur.motion_control import ACCELERATION_LIMIT, STOP_DECELERATION, MotionControl
from robot_dynamics_ros.simulation.ur.registers import Registers, Watchdogs
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

    def emergency_stop(self, pressed: bool = True) -> None:
        """Press or release the emergency stop button."""
        self.safety.emergency_stop(pressed)
        if pressed:
            self.report("emergency stop")
            self.stop_program()
            self.stop_joints(ACCELERATION_LIMIT)

    def report(self, message: str) -> None:
        """A line for the controller's log."""
        self.messages.append(f"{self.time:.3f} {message}")
