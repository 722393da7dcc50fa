"""The arm seen by the controller: what the plant measures, and the controller's own nominal model of it."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.simulation.ur_controller.standin import K, StandInModel, StandInRobot

DT = 0.002  # s, one controller cycle


class Arm:
    """Plant, nominal model with the payload the user set, and the force sensor at the flange."""

    def __init__(self, robot: str, seed: int = 0) -> None:
        self.name = robot
        self.plant = StandInRobot(seed)
        self._bare = StandInModel()
        self.torque_constant = K
        self._random = np.random.default_rng([seed, 1])
        self._force_zero = np.zeros(6)
        self._force_bias = self._random.normal(0, [1.0, 1.0, 1.5, 0.1, 0.1, 0.1])
        self.payload = (0.0, np.zeros(3), np.zeros(6))  # kg, m, kg m2 (xx yy zz xy xz yz)
        self.model = self._bare
        self.velocity_limit = np.full(6, np.pi)
        self.torque_limit = np.array([150.0, 150.0, 150.0, 28.0, 28.0, 28.0])
        self.position_limit = np.full(6, 2 * np.pi)
        self.target_moment = self.model.gravity(self.q)
        self.moving_mass = 10.0

    @property
    def target_current(self) -> np.ndarray:
        return self.target_moment / self.torque_constant

    @property
    def n(self) -> int:
        return len(self.plant.q)

    @property
    def q(self) -> np.ndarray:
        return self.plant.q

    @property
    def qd(self) -> np.ndarray:
        return self.plant.qd

    @property
    def current(self) -> np.ndarray:
        return self.plant.current

    @property
    def temperature(self) -> np.ndarray:
        return self.plant.temperature

    def set_payload(self, mass: float, center: np.ndarray, inertia: np.ndarray) -> None:
        """Payload the controller assumes."""
        self.payload = (mass, center, inertia)
        self.model = self._bare.with_payload(mass, center, inertia)

    def step_position(self, q_d: np.ndarray, qd_d: np.ndarray, qdd_d: np.ndarray) -> None:
        """One cycle under the inner position controller."""
        self.target_moment = self.model.rnea(q_d, qd_d, qdd_d)
        self.plant.step_position(q_d, qd_d, qdd_d, self.target_moment)

    def step_torque(self, torque: np.ndarray) -> None:
        """One cycle with a torque at each joint, gravity included by the caller."""
        self.target_moment = torque
        self.plant.step_torque(torque)

    def within_limits(self, q: np.ndarray) -> bool:
        return bool(np.all(np.abs(q) <= self.position_limit))

    def friction(self, qd: np.ndarray, viscous_scale: np.ndarray, coulomb_scale: np.ndarray) -> np.ndarray:
        """The controller's own friction model, scaled."""
        return viscous_scale * 8 * qd + coulomb_scale * 2 * np.tanh(qd / 0.01)

    def zero_force_sensor(self) -> None:
        self._force_zero = self._force_reading()

    def tcp_force(self) -> np.ndarray:
        """Force and torque of the environment on the tool, base frame orientation, less the zeroed reading."""
        return self._force_reading() - self._force_zero + self._random.normal(0, [0.3] * 3 + [0.02] * 3)

    def _force_reading(self) -> np.ndarray:
        return self.plant.wrench + self._force_bias

    def raw_wrench(self, rotation: np.ndarray) -> np.ndarray:
        """Sensor reading in the flange frame, nothing compensated."""
        reading = self._force_reading()
        return np.r_[rotation.T @ reading[:3], rotation.T @ reading[3:]]

    def truth(self) -> dict[str, np.ndarray]:
        """Ground truth of the plant."""
        zero = np.zeros(6)
        return {
            "external_wrench": self.plant.wrench,
            "external_joint_torque": self.model.jacobian(self.q).T @ self.plant.wrench,
            "friction_torque": zero,
            "lubricant_temperature": self.plant.temperature,
            "deflection": zero,
            "q": self.q,
            "qd": self.qd,
        }
