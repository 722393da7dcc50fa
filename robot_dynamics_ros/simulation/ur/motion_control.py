"""Motion control of the controller: the running motion, its target in each cycle, and what the arm does with it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from robot_dynamics_ros.simulation.ur import motion
from robot_dynamics_ros.simulation.ur.arm import DT, JOINTS, Arm
from robot_dynamics_ros.simulation.ur.script import ProgramError

ACCELERATION_LIMIT = 40.0  # rad/s2, joint acceleration limit [ur_rtde 1.6.5, UR_JOINT_ACCELERATION_MAX]
STOP_DECELERATION = 8.0  # rad/s2, of a program stop or protective stop
TARGET_SPEED_MARGIN = 1.1  # target speed over a joint's limit that is tolerated


class MotionControl:
    """Position, servo and torque commands; one motion runs at a time and gives the target of each cycle."""

    def __init__(self, arm: Arm) -> None:
        self.arm: Arm = arm
        self.motion: motion.ControllerMotion = motion.Hold(arm.q)
        self.target: motion.Target = self.motion.step(DT)
        self._torque: tuple[np.ndarray, np.ndarray, np.ndarray] | None = None
        self.torque_mode = False  # a program commands torque
        self._torque_hold = motion.Hold(arm.q)  # the motion while torques are commanded

    def step_arm(self, may_move: bool) -> None:
        """One cycle of the arm: the commanded torque, or the next target of the motion.

        may_move: safety allows torques. Raises MotionError for a target beyond a joint's speed limit or an arm driven
        out of its range.
        """
        torque, self._torque = self._torque, None
        if torque is not None and may_move:
            self.torque_mode = True
            self.target = (self.arm.q, self.arm.qd, np.zeros(JOINTS))
            self.motion = self._torque_hold
            self.arm.step_torque(*torque)
            return
        if self.torque_mode:  # a cycle without direct_torque reverts to position control [UR direct_torque]
            self.torque_mode = False
            if self.motion is self._torque_hold:
                self.motion = motion.Stop(self.arm.q, self.arm.qd, STOP_DECELERATION)
        target = self.motion.step(DT)
        limit = TARGET_SPEED_MARGIN * self.arm.velocity_limit
        if not isinstance(self.motion, motion.Stop) and not np.all(np.abs(target[1]) <= limit):
            raise motion.MotionError("target speed exceeds a joint's limit")
        self.target = target
        self.arm.step_position(*self.target)

    # -- commands -------------------------------------------------------------------------------------------------
    def start(self, build: Callable[[np.ndarray], motion.ControllerMotion]) -> motion.ControllerMotion:
        """Begin a motion from the present target; a moving robot is brought to rest first."""
        q, qd = self.target[0], self.target[1]
        if float(np.max(np.abs(qd))) > motion.STILL:
            self.motion = motion.Chained(motion.Stop(q, qd, STOP_DECELERATION), build)
        else:
            self.motion = build(q)
        return self.motion

    def wait_for(self, running: motion.ControllerMotion) -> Iterator[None]:
        """Cycles until a motion has finished or been replaced."""
        while self.motion is running and not running.finished:
            yield

    def stop_joints(self, deceleration: float) -> motion.ControllerMotion:
        """stopj: decelerate the fastest joint with the given rate [rad/s2]."""
        q, qd = (self.arm.q, self.arm.qd) if self.torque_mode else self.target[:2]
        self.motion = motion.Stop(q, qd, deceleration)
        return self.motion

    def stop_tool(self, deceleration: float) -> motion.ControllerMotion:
        """stopl: decelerate so that the tool slows with the given rate [m/s2]."""
        q, qd = self.target[:2]
        speed = float(np.linalg.norm((self.arm.jacobian(q) @ qd)[:3]))
        fastest = float(np.max(np.abs(qd)))
        per_joint = deceleration * fastest / speed if speed > 1e-6 else ACCELERATION_LIMIT
        return self.stop_joints(min(per_joint, ACCELERATION_LIMIT) if per_joint > 0 else STOP_DECELERATION)

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

    # -- settings ----------------------------------------------------------------------------------------------
    def set_payload(self, mass: float, center: np.ndarray | None, inertia: np.ndarray | None = None) -> None:
        """Payload the controller assumes; None keeps the present value (centre) or means a point mass (inertia)."""
        if not 0 <= mass <= 100:
            raise ProgramError(f"payload mass {mass} kg is outside 0..100")
        center = self.arm.payload[1] if center is None else center
        inertia = np.zeros(6) if inertia is None else inertia
        if not (np.all(np.abs(center) <= 10) and np.all(np.abs(inertia) <= 1e3)):
            raise ProgramError(f"payload centre {center} m or inertia {inertia} kg m2 is out of range")
        self.arm.set_payload(mass, center, inertia)
