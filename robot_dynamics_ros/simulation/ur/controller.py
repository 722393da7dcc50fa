"""The controller: one object whose step() is one 2 ms cycle of safety, program, motion and arm."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from robot_dynamics_ros.simulation.ur import motion
from robot_dynamics_ros.simulation.ur.arm import DT, JOINTS, Arm
from robot_dynamics_ros.simulation.ur.command_loop import CommandLoop
from robot_dynamics_ros.simulation.ur.inputs_outputs import InputsOutputs
from robot_dynamics_ros.simulation.ur.kinematics import Kinematics, matrix_to_pose, pose_to_matrix
from robot_dynamics_ros.simulation.ur.program import Program, ProgramError, Statements
from robot_dynamics_ros.simulation.ur.registers import Registers
from robot_dynamics_ros.simulation.ur.safety import Safety, violation
from robot_dynamics_ros.simulation.ur.script import Script, parse_script
from robot_dynamics_ros.simulation.ur.urscript import Interpreter, is_torque_program
from robot_dynamics_ros.simulation.ur.watchdogs import Watchdogs

ACCELERATION_LIMIT = 40.0  # rad/s2, joint acceleration limit [ur_rtde 1.6.5, UR_JOINT_ACCELERATION_MAX]
STOP_DECELERATION = 8.0  # rad/s2, of a program stop or protective stop
START_DELAY = 0.02  # s between the end of an upload and the first cycle of the program
TARGET_SPEED_MARGIN = 1.1  # target speed over a joint's limit that is tolerated
TOUCH_FORCE = 3.0  # N, above which contact is counted from
MINIMAL_PACE = 1e-6  # a paused path advances by nothing that matters, and still has derivatives
HAND_DAMPING = 4.0  # Nm s/rad, in teach mode
PAUSE_TIME = 0.2  # s in which a paused path comes to rest


class RuntimeState:
    """runtime_state."""

    STOPPING, STOPPED, PLAYING, PAUSING, PAUSED, RESUMING = range(6)


class Controller:
    """Everything of the controller but its sockets."""

    def __init__(self, arm: Arm) -> None:
        self.arm: Arm = arm
        self.kinematics: Kinematics = Kinematics(arm.model)
        self.registers = Registers()
        self.watchdogs = Watchdogs(self.registers)
        self.io = InputsOutputs()
        self.safety = Safety()
        self.tick = 0
        self.clock_offset = 0.0  # s, of an injected clock step
        self.program: Program | None = None
        self.runtime_state = RuntimeState.STOPPED
        self.motion: motion.Motion = motion.Hold(arm.q)
        self.target: motion.Target = self.motion.step(DT)
        self.force_mode: dict[str, Any] | None = None
        self.messages: deque[str] = deque(maxlen=100)
        self._last_script: Script | None = None
        self._next_program: tuple[float, Script] | None = None
        self._torque: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
        self._torque_mode = self._free_drive = False
        self._pace = 1.0  # of a path, below 1 while pausing and resuming
        self._torque_hold = motion.Hold(arm.q)  # stands for whatever torque does
        self.contact_cycles = 0  # cycles since something touches the tool

    @property
    def time(self) -> float:
        """Time since the start [s]; the published timestamp is this plus `clock_offset`."""
        return self.tick * DT

    @property
    def torque_mode(self) -> bool:
        """True while a program or hand guiding commands torque."""
        return self._torque_mode

    @property
    def expects_torque(self) -> bool:
        """True while torques are commanded, or a program runs that waits for them."""
        return self._torque_mode or isinstance(self.program, Interpreter)

    @property
    def teaching(self) -> bool:
        """True in teach or freedrive mode."""
        return self._free_drive

    # -- one cycle ------------------------------------------------------------------------------------------------
    def step(self) -> None:
        """Advance by one cycle."""
        self.tick += 1
        self._check_watchdogs()
        self._step_program()
        try:
            self._step_arm()
        except (motion.MotionError, ProgramError) as error:
            self.protective_stop(str(error))
            self._step_arm()
        self._check_arm()

    def _step_program(self) -> None:
        if self.runtime_state == RuntimeState.STOPPING:
            self.runtime_state = RuntimeState.STOPPED
        if self._next_program is not None and self.time >= self._next_program[0]:
            script, self._next_program = self._next_program[1], None
            try:
                self._start_program(script)
            except ProgramError as error:
                self.say(f"program refused: {error}")
        if self.program is None or self.runtime_state != RuntimeState.PLAYING:
            return
        try:
            running = self.program.step()
        except (ProgramError, motion.MotionError) as error:
            self.say(f"program stopped: {error}")
            running = False
        if not running:
            self.stop_program()

    def _step_arm(self) -> None:
        torque, self._torque = self._torque, None
        if self._free_drive:
            torque = (-HAND_DAMPING * self.arm.qd, np.zeros(JOINTS), 0.9 * np.ones(JOINTS))
        if torque is not None and self.safety.may_move:
            self._torque_mode = True
            self.target = (self.arm.q, self.arm.qd, np.zeros(JOINTS))
            self.motion = self._torque_hold
            self.arm.step_torque(*torque)
            return
        if self._torque_mode:  # a cycle without direct_torque reverts to position control [UR direct_torque]
            self._torque_mode = False
            if self.motion is self._torque_hold:
                self.motion = motion.Stop(self.arm.q, self.arm.qd, STOP_DECELERATION)
        self.target = self._next_target()
        self.arm.step_position(*self.target)

    def _next_target(self) -> motion.Target:
        """The motion's next target; moves along a path slow down with the speed slider and while paused."""
        paused = self.runtime_state == RuntimeState.PAUSED
        self._pace = min(1.0, max(MINIMAL_PACE, self._pace + (-DT if paused else DT) / PAUSE_TIME))
        k = self._pace * self.io.speed_fraction if isinstance(self.motion, motion.PATH_MOTIONS) else 1.0
        q, qd, qdd = self.motion.step(k * DT)
        if not np.all(np.abs(qd) <= TARGET_SPEED_MARGIN * self.arm.velocity_limit):
            raise motion.MotionError("target speed exceeds a joint's limit")
        return (q, qd, qdd) if k == 1.0 else (q, k * qd, k * k * qdd)

    def _check_arm(self) -> None:
        if not self.safety.may_move:
            return
        force = float(np.linalg.norm(self.arm.external_wrench[:3]))
        self.contact_cycles = self.contact_cycles + 1 if force > TOUCH_FORCE else 0
        reason = violation(self.arm, self.target[0], force)
        if reason:
            self.protective_stop(reason)

    @property
    def watchdog_due(self) -> bool:
        """True when a watchdog would stop the program in the next cycle, and its client is not waiting for us."""
        if isinstance(self.program, CommandLoop) and self.program.blocked:
            return False
        return self.watchdogs.overdue(self.time, ahead=DT) is not None

    def _check_watchdogs(self) -> None:
        overdue = self.watchdogs.overdue(self.time)
        if overdue is not None:
            self.say(f"watchdog: {overdue[0]} was not written for {overdue[1]:.3f} s, program stopped")
            self.stop_program()

    # -- programs -------------------------------------------------------------------------------------------------
    def write_inputs(self, values: dict[str, tuple[Any, ...]]) -> None:
        """Inputs of an RTDE package; they take effect in the next cycle."""
        self.registers.write_inputs(values, self.time)
        self.io.write(values)

    def upload(self, text: str) -> None:
        """A script has arrived: it replaces the running program, unless the robot may not move."""
        script = parse_script(text)
        if not self.safety.may_move:
            self.say(f"script {script.name!r} refused: the robot is not running")
            return
        self.stop_program()
        self._next_program = (self.time + START_DELAY, script)

    def play(self) -> bool:
        """Dashboard 'play': start the last program again, or resume a paused one."""
        if not self.safety.may_move:
            return False
        if self.runtime_state == RuntimeState.PAUSED:
            self.runtime_state = RuntimeState.PLAYING
        elif self.program is None and self._last_script is not None:
            self._next_program = (self.time + START_DELAY, self._last_script)
        return self.program is not None or self._next_program is not None

    def pause(self) -> bool:
        """Dashboard 'pause': the program and its path keep their state, the robot comes to rest."""
        if self.program is None:
            return False
        self.runtime_state = RuntimeState.PAUSED
        if not isinstance(self.motion, motion.PATH_MOTIONS):
            self.stop_joints(STOP_DECELERATION)
        return True

    def stop_program(self) -> None:
        """End the program: the robot decelerates and holds, watchdogs are removed."""
        self.watchdogs.clear()
        self._next_program = None
        self._free_drive = False
        self.force_mode = None
        if self.program is not None:
            self.program = None
            self.runtime_state = RuntimeState.STOPPING
            if not self._torque_mode:
                self.stop_joints(STOP_DECELERATION)

    def _start_program(self, script: Script) -> None:
        self._last_script = script
        kind = CommandLoop if script.is_command_loop else Interpreter if is_torque_program(script) else Statements
        self.program = kind(self, script)
        self.runtime_state = RuntimeState.PLAYING

    # -- motion ---------------------------------------------------------------------------------------------------
    def start(self, build: Callable[[np.ndarray], motion.Motion]) -> motion.Motion:
        """Begin a motion from the present target; a moving robot is brought to rest first."""
        q, qd = self.target[0], self.target[1]
        if float(np.max(np.abs(qd))) > motion.STILL:
            self.motion = motion.Chained(q, [lambda _: motion.Stop(q, qd, STOP_DECELERATION), build])
        else:
            self.motion = build(q)
        return self.motion

    def wait_for(self, running: motion.Motion) -> Iterator[None]:
        """Cycles until a motion has finished or been replaced."""
        while self.motion is running and not running.finished:
            yield

    def stop_joints(self, deceleration: float) -> motion.Motion:
        """stopj: decelerate the fastest joint with the given rate [rad/s2]."""
        self._free_drive = False
        q, qd = (self.arm.q, self.arm.qd) if self._torque_mode else self.target[:2]
        self.motion = motion.Stop(q, qd, deceleration)
        return self.motion

    def stop_tool(self, deceleration: float) -> motion.Motion:
        """stopl: decelerate so that the tool slows with the given rate [m/s2]."""
        q, qd = self.target[:2]
        speed = float(np.linalg.norm((self.kinematics.jacobian(q) @ qd)[:3]))
        fastest = float(np.max(np.abs(qd)))
        per_joint = deceleration * fastest / speed if speed > 1e-6 else ACCELERATION_LIMIT
        return self.stop_joints(min(per_joint, ACCELERATION_LIMIT) if per_joint > 0 else STOP_DECELERATION)

    def speed(self, target: np.ndarray, acceleration: float, tool: bool) -> None:
        """speedj or speedl: set the velocity of the running speed motion, or start one."""
        kinematics = self.kinematics if tool else None
        current = self.motion if isinstance(self.motion, motion.Speed) and self.motion.tool is tool else None
        running = current or motion.Speed(self.target[0], self.target[1], kinematics)
        running.target, running.acceleration = target, acceleration
        self.motion = running

    def servo(self, target: np.ndarray, lookahead: float, gain: float) -> None:
        """servoj: set the target of the running servo motion, or start one."""
        running = self.motion
        if not isinstance(running, motion.Servo):
            running = motion.Servo(self.target[0], self.target[1], self.arm.velocity_limit, ACCELERATION_LIMIT)
        running.target, running.lookahead, running.gain = target, lookahead, gain
        self.motion = running

    def command_torque(self, torque: np.ndarray, viscous_scale: np.ndarray, coulomb_scale: np.ndarray) -> None:
        """direct_torque for this cycle: gravity and scaled friction are added, joint torque limits hold."""
        self._torque = (torque, viscous_scale, coulomb_scale)

    def free_drive(self, on: bool) -> None:
        """Teach mode on or off."""
        self._free_drive = on

    # -- settings and questions -----------------------------------------------------------------------------------
    def set_payload(self, mass: float, center: np.ndarray | None, inertia: np.ndarray | None = None) -> None:
        """Payload the controller assumes; None keeps the present value (centre) or means a point mass (inertia)."""
        if not 0 <= mass <= 100:
            raise ProgramError(f"payload mass {mass} kg is outside 0..100")
        center = self.arm.payload[1] if center is None else center
        inertia = np.zeros(6) if inertia is None else inertia
        if not (np.all(np.abs(center) <= 10) and np.all(np.abs(inertia) <= 1e3)):
            raise ProgramError(f"payload centre {center} m or inertia {inertia} kg m2 is out of range")
        self.arm.set_payload(mass, center, inertia)

    def inverse_kinematics(self, pose: np.ndarray, near: np.ndarray | None = None) -> np.ndarray:
        """Joint positions of a tool pose; a program asking for an unreachable one is stopped."""
        q = self.kinematics.solve(pose_to_matrix(pose), self.arm.q if near is None else near)
        if q is None:
            raise ProgramError(f"get_inverse_kin: no solution for {np.round(pose, 4).tolist()}")
        return q

    def forward_kinematics(self, q: np.ndarray) -> np.ndarray:
        """Tool pose at joint positions."""
        return matrix_to_pose(self.kinematics.tcp(q))

    def protective_stop(self, reason: str) -> None:
        """Stop protectively: the program ends, the robot decelerates and holds."""
        self.safety.protective_stop(self.time, reason)
        self.say(f"protective stop: {reason}")
        self.stop_program()
        self.stop_joints(STOP_DECELERATION)

    def emergency_stop(self, pressed: bool = True) -> None:
        """Press or release the emergency stop button."""
        self.safety.emergency_stop(pressed)
        if pressed:
            self.say("emergency stop")
            self.stop_program()
            self.stop_joints(ACCELERATION_LIMIT)

    def say(self, message: str) -> None:
        """A line for the controller's log."""
        self.messages.append(f"{self.time:.3f} {message}")
