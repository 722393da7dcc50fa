"""Friction from both encoders, an alternative to the friction model."""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros._core import Status
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.estimators.stiffness import elastic_coefficients, transmission_damping
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Log, Sample

BANDWIDTH = 100.0  # rad/s, L
STD = 1.0  # Nm, of motor minus joint torque
READS = ("q", "qd", "theta", "omega", "motor_torque")


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
        if any(np.isnan(getattr(s, name)).all() for name in READS):
            return Status.unavailable
        tau_J = np.ascontiguousarray(self._joint_torque(s))
        status = self.core.step(s.stamp_ns, s.omega, s.motor_torque, tau_J, s.friction_torque)
        s.friction_std.fill(np.nan if status == Status.dropped else STD)
        return status

    def run(self, log: Log, friction: np.ndarray, std: np.ndarray) -> np.ndarray:
        """The same over a log; statuses (N,)."""
        if not all(log.has(name) for name in READS):
            return np.full(len(log), int(Status.unavailable), dtype=np.int32)
        tau_J = np.ascontiguousarray(self._joint_torque(log))
        status = self.core.run(log.stamp_ns, log.omega, log.motor_torque, tau_J, friction)
        missing = np.any([np.isnan(getattr(log, name)).all(axis=1) for name in READS], axis=0)
        status[missing] = int(Status.unavailable)
        std[:] = np.where((missing | (status == int(Status.dropped)))[:, None], np.nan, STD)
        return status

    def _joint_torque(self, s: Any) -> np.ndarray:
        if self._sensor:
            return s.drive_torque
        phi, total = s.theta - s.q, self._D * (s.omega - s.qd)
        power = phi
        for p in range(self._a.shape[1]):
            total = total + self._a[:, p] * power
            power = power * phi * phi
        return total
