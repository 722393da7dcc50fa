"""The arm seen by the controller: the simulated robot's measurements, the nominal model, and the force sensor."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.plant.interface import ELASTIC
from robot_dynamics_ros.simulation.robot import Record
from robot_dynamics_ros.simulation.server.arm import Arm as SimulatedArm
from robot_dynamics_ros.simulation.ur.motion import MotionError

DT = 0.002  # s, one controller cycle
START = (0.0, -np.pi / 2, np.pi / 2, -np.pi / 2, -np.pi / 2, 0.0)  # rad, tool pointing down
JOINTS = 6

# Force sensor of an e-Series flange: noise as seen at 500 Hz and offset before zeroing; estimates within the data
# sheet's precision (3.5 N, 0.1 Nm) and accuracy (4 N, 0.3 Nm).
FORCE_NOISE = np.array([0.3, 0.3, 0.3, 0.02, 0.02, 0.02])
FORCE_OFFSET = np.array([1.5, 1.5, 1.5, 0.1, 0.1, 0.1])


class Arm(SimulatedArm):
    """A simulated robot, the model of its controller, and its sensors.

    Raises ConfigError for an arm without a UR controller.
    """

    def __init__(self, robot: str, seed: int = 0, q: tuple[float, ...] = START, plant: str = ELASTIC) -> None:
        file = load_robot(robot)
        if file.manufacturer != "Universal Robots":
            raise ConfigError(file.name, "manufacturer", f"{file.manufacturer}: only UR arms have a UR controller")
        if file.n_joints != JOINTS:
            raise ConfigError(file.name, "kinematics.joints", f"{file.n_joints} joints; a UR controller moves {JOINTS}")
        super().__init__(file, q, seed, 1 / DT, plant)
        self.torque_constant = self.simulated.machine.true["control.torque_constant"]  # Nm/A, of the controller
        self.velocity_limit = file.array("limits.velocity")
        self.torque_limit = file.array("limits.torque")
        self._lower, self._upper = file.array("limits.position_lower"), file.array("limits.position_upper")
        self._chain = file.chain()
        self._gravity = np.asarray(file.gravity)
        self._random = np.random.default_rng([seed, 1])
        self._offset = FORCE_OFFSET * self._random.uniform(-1, 1, 6)
        self._zero = np.zeros(6)
        self._carried = (0.0, np.zeros(3))  # what is really mounted
        self.set_payload(0.0, np.zeros(3), np.zeros(6))
        self.record = self.simulated.record()
        self.target_moment = self.record.target_moment

    # -- measurements ---------------------------------------------------------------------------------------------
    @property
    def current(self) -> np.ndarray:
        """Measured currents [A]."""
        return self.record.current

    @property
    def drive_torque(self) -> np.ndarray:
        """Measured current times the nominal torque constant [Nm], gravity included."""
        return self.torque_constant * self.record.current

    @property
    def external_wrench(self) -> np.ndarray:
        """True wrench of the environment on the robot at the TCP of the robot file, walls included."""
        return self.simulated.core.get("true_external_wrench")

    # -- one cycle ------------------------------------------------------------------------------------------------
    def step_position(self, q_d: np.ndarray, qd_d: np.ndarray, qdd_d: np.ndarray) -> None:
        """One cycle under the inner position controller with model feedforward."""
        self._take(self.simulated.step_position(q_d, qd_d, qdd_d))
        self.target_moment = self.record.target_moment

    def step_torque(self, torque: np.ndarray, viscous_scale: np.ndarray, coulomb_scale: np.ndarray) -> None:
        """One cycle of direct torque; gravity and that share of friction are added inside, limits hold."""
        self._take(self.simulated.step_torque(torque, viscous_scale, coulomb_scale))
        self.target_moment = np.clip(self.record.target_moment + torque, -self.torque_limit, self.torque_limit)

    def _take(self, record: Record) -> None:
        """Accept a cycle's measurements; a plant driven out of its numbers starts again where it last was."""
        if not self.accept(record):
            raise MotionError("the simulated robot was driven out of its range")

    def within_limits(self, q: np.ndarray) -> bool:
        """True when every joint is inside its position limits."""
        return bool(np.all((self._lower <= q) & (q <= self._upper)))

    # -- what is mounted, and what acts on it ---------------------------------------------------------------------
    def set_payload(self, mass: float, center: np.ndarray, inertia: np.ndarray) -> None:
        """Payload the controller assumes: kg, m from the flange, kg m2 as xx yy zz xy xz yz."""
        xx, yy, zz, xy, xz, yz = map(float, inertia)
        ordered = [xx, xy, xz, yy, yz, zz]
        self.payload = (float(mass), np.asarray(center, float), np.asarray(inertia, float))
        self.simulated.set_nominal_payload(mass, center, ordered)
        self.model = _core.RigidBody(self._chain.with_payload(float(mass), list(map(float, center)), ordered))

    def mount(self, mass: float, center: np.ndarray) -> None:
        """Mount a point mass at the flange; the payload setting of the controller is not changed."""
        self._carried = (float(mass), np.asarray(center, float))
        super().mount(mass, center)

    # -- force sensor ---------------------------------------------------------------------------------------------
    def zero_force_sensor(self) -> None:
        """Take the present reading as zero."""
        self._zero = self._reading(self.payload[0], self.payload[1])

    def tcp_force(self) -> np.ndarray:
        """Environment on robot, base orientation, the configured payload compensated.

        Moments are about the flange, whatever the TCP, as e-Series controllers publish actual_TCP_force
        [Universal_Robots_ROS2_Driver, pull request 1615].
        """
        return self._reading(*self.payload[:2]) - self._zero + FORCE_NOISE * self._random.standard_normal(6)

    def _reading(self, configured_mass: float, configured_center: np.ndarray) -> np.ndarray:
        """External wrench at the flange plus offset plus the weight that the configured payload leaves out."""
        mass, center = self._carried
        wrench, (*_, flange, tcp) = self.external_wrench + self._offset, self.model.fk(self.q)
        wrench[3:] += np.cross(tcp[:3, 3] - flange[:3, 3], self.external_wrench[:3])
        wrench[:3] += (mass - configured_mass) * self._gravity
        first = mass * center - configured_mass * configured_center  # kg m, flange axes
        wrench[3:] += np.cross(flange[:3, :3] @ first, self._gravity)
        return wrench
