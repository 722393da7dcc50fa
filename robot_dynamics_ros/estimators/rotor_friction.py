"""Friction from both encoders, an alternative to the friction model."""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros._core import RowStep, Status
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.estimators.stiffness import elastic_coefficients, transmission_damping
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Log, Sample

BANDWIDTH = 100.0  # rad/s, L


class RotorFriction:
    """dw^/dt = (tau_m - f^ - tau_J)/B, f^ = L B (w^ - w), which settles at f^ = f [Nm] (n,).

    tau_J is the joint torque sensor's, else tau_E(phi) + D dphi/dt of the stiffness block, phi = theta - q.
    Raises CapabilityError where a side is not measured.
    [Madsen2020, appB fig. 11]
    """

    def __init__(self, robot: RobotFile) -> None:
        if not (robot.sensing.rotor_encoder and robot.sensing.motor_torque):
            raise CapabilityError(f"{robot.name}: sensing: the observer needs a rotor encoder and motor torque")
        self._sensor = robot.sensing.joint_torque_sensor and robot.drives.torque_side == "link"
        given = robot.stiffness.parameters if robot.stiffness is not None else {}
        if not self._sensor and "a" not in given:
            raise CapabilityError(f"{robot.name}: neither a joint torque sensor nor stiffness is known")
        if not self._sensor:
            self._a, self._D = elastic_coefficients(robot), transmission_damping(robot)
        self.core = _core.RotorFrictionObserver(
            np.ascontiguousarray(robot.array("drives.rotor_inertia")), np.full(robot.n_joints, BANDWIDTH)
        )

    def step(self, sample: Sample) -> Status:
        """Friction of one sample."""
        s = sample
        torques = s.motor_torque, self._joint_torque(s)
        return self.core.step(s.stamp_ns, s.omega, *torques, s.friction_torque, s.friction_std)

    def rows(self, log: Log, friction: np.ndarray, std: np.ndarray) -> RowStep:
        """The same over the records of a log."""
        given = log.get("omega"), log.get("motor_torque"), np.ascontiguousarray(self._joint_torque(log))
        return self.core.rows(len(log), *given, friction, std)

    def _joint_torque(self, s: Any) -> np.ndarray:
        """Of a sample (n,) or a log (N, n); NaN where positions or velocities are absent."""
        if self._sensor:
            known = [~np.isnan(getattr(s, name)).all(axis=-1, keepdims=True) for name in ("q", "qd", "theta")]
            return np.where(np.logical_and.reduce(known), s.drive_torque, np.nan)
        phi, total = s.theta - s.q, self._D * (s.omega - s.qd)
        power = phi
        for p in range(self._a.shape[1]):
            total = total + self._a[:, p] * power
            power = power * phi * phi
        return total
