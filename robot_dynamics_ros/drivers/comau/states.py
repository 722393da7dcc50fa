"""States of the LPC as samples: units, coupling of the motors, derived velocity; late and impossible ones dropped."""

from __future__ import annotations

import math

import numpy as np

from robot_dynamics_ros._core import SavitzkyGolay
from robot_dynamics_ros.drivers.comau import wire
from robot_dynamics_ros.drivers.comau.wire import DEGREE, RPM
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Sample

STEP_SPEED = 150.0 * DEGREE  # rad/s: the LPC rejects faster steps
JUMP_SPEED = 2.0 * STEP_SPEED  # rad/s: faster measured steps are counted as jumps
JUMPS = 20  # such steps in a row that are taken for a new truth (the LPC was restarted)
WINDOW = 5  # samples of the velocity where the LPC gives none: two samples late


class Coupling:
    """Motor to joint: q = C (motor angle / gear ratio), tau = C^-T (K_tau i); C = 1 where axes are not coupled.

    Signs are those of the ratios [Simoni2017 Table I] and of C. `known` is False where the robot file says the motors
    are coupled but not how: then nothing is converted.
    """

    def __init__(self, robot: RobotFile) -> None:
        drives = robot.drives
        self.known = not (drives.coupled_motors and drives.coupling is None) and robot.has("drives.gear_ratio")
        n = robot.n_joints
        matrix = np.eye(n) if drives.coupling is None else np.array(drives.coupling, dtype=float)
        ratio = robot.array_or("drives.gear_ratio", 1.0)
        self._motion = matrix / ratio[None, :]
        self._torque = np.linalg.inv(matrix).T

    def angle(self, motor: np.ndarray) -> np.ndarray:
        """Joint angles or velocities (n,) of motor ones."""
        return self._motion @ motor

    def torque(self, reflected: np.ndarray) -> np.ndarray:
        """Joint torques (n,) of motor torques reflected through the ratios."""
        return self._torque @ reflected


class ComauStates:
    """Judges and converts states in order; `sample` holds the last good one, without its stamp.

    effort: motor current as it is where the robot file says A, else C^-T (K_tau i) [Nm]; its sign is for who reads it.
    qd: of the motors where the LPC gives their speed and the coupling is known, else the derivative of q over WINDOW
    samples, 2 samples late. Raises CapabilityError for an effort in Nm of motors whose coupling is not known.
    """

    def __init__(self, robot: RobotFile, rate: float) -> None:
        self._sign, self._n, self._rate = robot.drives.effort.sign, robot.n_joints, rate
        self._coupling = Coupling(robot)
        if robot.drives.effort.unit == "Nm" and not self._coupling.known:
            why = (
                "effort in Nm needs drives.coupling and drives.gear_ratio (coupled_motors: false where none is coupled)"
            )
            raise CapabilityError(f"{robot.name}: {why}")
        self._torque_constant = robot.array("drives.torque_constant") if robot.drives.effort.unit == "Nm" else None
        self.sample = Sample(robot.joint_names)
        self._slope, self._target_slope = SavitzkyGolay(self._n, WINDOW, 2), SavitzkyGolay(self._n, WINDOW, 2)
        self.last: wire.State | None = None
        self._steps = self._older = 0
        self.out_of_order = self.jumps = 0

    def restart(self) -> None:
        """A new connection: the next state has no predecessor."""
        self.last = None

    def take(self, state: wire.State) -> np.ndarray | None:
        """Fill the sample; the target's velocity (n,) [rad/s], NaN where unknown. None: dropped and counted."""
        if not self._in_order(state) or not self._plausible(state):
            return None
        elapsed = 0.0 if self.last is None else 1e-6 * (state.time_us - self.last.time_us)
        self.last = state
        self._fill(state, elapsed)
        return self._target_velocity(self.sample.q_d, elapsed)

    def _in_order(self, state: wire.State) -> bool:
        """Late and repeated packets are dropped, unless the LPC started again from another count."""
        if self.last is None:
            return True
        ahead = (state.sequence - self.last.sequence + 2**31) % 2**32 - 2**31
        if ahead > 0 and state.time_us > self.last.time_us:
            self._older = 0
            return True
        self._older += 1
        self.out_of_order += 1
        return self._older >= JUMPS

    def _plausible(self, state: wire.State) -> bool:
        """No axis may have moved faster than it can."""
        values = state.link[: self._n] if math.isfinite(state.link[0]) else state.rounds[: self._n]
        if not all(map(math.isfinite, values)):
            return True  # judged as not finite further on
        if self.last is None or self._older:
            return True
        seconds = max(1e-6 * (state.time_us - self.last.time_us), 1e-4)
        step = np.abs(self._positions(state) - self._positions(self.last)).max()
        if step <= JUMP_SPEED * seconds + 1e-3:
            self._steps = 0
            return True
        self._steps += 1
        self.jumps += 1
        return self._steps >= JUMPS

    def _positions(self, state: wire.State) -> np.ndarray:
        """Joint positions (n,) [rad]: the controller's, else of the motors."""
        if math.isfinite(state.link[0]) or not self._coupling.known:
            return DEGREE * np.array(state.link[: self._n])
        return self._coupling.angle(2.0 * math.pi * np.array(state.rounds[: self._n]))

    def _fill(self, state: wire.State, elapsed: float) -> None:
        n, sample = self._n, self.sample
        sample.buffer.fill(np.nan)
        sample.q[:] = self._positions(state)
        sample.q_d[:] = DEGREE * np.array(state.target[:n])
        sample.current[:] = state.current[:n]
        sample.qd[:] = self._velocity(state, sample.q, elapsed)
        if self._torque_constant is None:
            sample.effort[:] = sample.current
        else:
            sample.effort[:] = self._coupling.torque(self._torque_constant * sample.current)
            model = self._sign * self._torque_constant * np.array(state.current_model[:n])
            sample.tau_d[:] = self._coupling.torque(model)

    def _velocity(self, state: wire.State, q: np.ndarray, elapsed: float) -> np.ndarray:
        slope = _slope(self._slope, q, elapsed, self._rate)
        if math.isfinite(state.rpm[0]) and self._coupling.known:
            return self._coupling.angle(RPM * np.array(state.rpm[: self._n]))
        return slope

    def _target_velocity(self, q_d: np.ndarray, elapsed: float) -> np.ndarray:
        if not np.isfinite(q_d).all():
            return np.full(self._n, np.nan)
        return _slope(self._target_slope, q_d.copy(), elapsed, self._rate)


def _slope(filter_: SavitzkyGolay, x: np.ndarray, elapsed: float, rate: float) -> np.ndarray:
    """Derivative of the middle of the last samples; starts again after a gap."""
    if not 0.0 < elapsed < 3.0 / rate:
        filter_.reset()
    if not np.isfinite(x).all() or not filter_.push(x):
        return np.full(len(x), np.nan)
    return filter_.first(1.0 / rate)
