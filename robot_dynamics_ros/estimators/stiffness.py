"""Transmission stiffness while the robot works, and wear against the baseline of the robot file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros._core import Status
from robot_dynamics_ros.errors import CapabilityError, ConfigError
from robot_dynamics_ros.estimators.motion import effort_inertia
from robot_dynamics_ros.estimators.stage import Columns, Stage
from robot_dynamics_ros.models.hysteresis import kinematic_error
from robot_dynamics_ros.parameters import Parameter, resolve
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Log, Sample


def elastic_coefficients(robot: RobotFile) -> np.ndarray:
    """a (n, P) [Nm/rad^(2p-1)] of tau_E(phi) = sum_p a_p phi^(2p-1) [Madsen2020, ch3 eq. 7-10].

    Raises CapabilityError where they are unknown.
    """
    return robot.array("stiffness.parameters.a")


def transmission_damping(robot: RobotFile) -> np.ndarray:
    """D (n,) [Nm s/rad] between rotor and link; zero where the robot file has none."""
    given = robot.stiffness.parameters if robot.stiffness is not None else {}
    return robot.array("stiffness.parameters.damping") if "damping" in given else np.zeros(robot.n_joints)


FOREIGN = (
    "no stiffness: rotor and joint angle differ by more than a transmission deflects: theta counts from the joint's "
    "zero, in its direction, divided by the gear ratio"
)
SIDES = ("auto", "motor", "link", "sensor", "fused")


class StiffnessStage(Stage):
    """k(phi) = d tau_E / d phi [Nm/rad] at the present deflection and its standard deviation; NaN while untrusted.

    tau_E(phi) = a_1 phi + a_2 phi^3 by RLS-DF* from the motor side (tau_m - B dw/dt - f - D dphi/dt), the link side
    (M qdd + C qd + g, only without contact), or a joint torque sensor; `fused` weighs all. Gated on deflection,
    torque and motion. configure() refuses robots that do not report both sides of the transmission.
    [Madsen2020, ch3 eq. 7-18; appA step 570]
    """

    name = "stiffness"
    reads = ("q", "theta")
    optional = (
        "omega",
        "motor_torque",
        "drive_torque",
        "model_torque",
        "qdd",
        "friction_torque",
        "contact",
        "temperature_estimate",
    )
    writes = ("stiffness", "stiffness_std")
    parameters = (
        Parameter("side", "auto", "where the elastic torque is seen; auto: sensor, else motor", choices=SIDES),
        Parameter("time_constant", 20.0, "time constant of the estimate", "s", 0.1, 1e5),
        Parameter("skew", 0.0, "theta is sampled this much later than q", "s", -0.05, 0.05),
        Parameter("cutoff", 20.0, "filter of deflection and torque", "Hz", 0.1, 1000.0),
        Parameter("deflection_gate", 5e-5, "smallest deflection that is learned from", "rad", 0.0, 0.1),
        Parameter("torque_gate", 1.0, "smallest torque that is learned from", "Nm", 0.0, 1e4),
        Parameter("motor_std", 1.0, "standard deviation of the motor side", "Nm", 1e-3, 1e4),
        Parameter("link_std", 1.0, "standard deviation of the link side", "Nm", 1e-3, 1e4),
        Parameter("publish_ratio", 0.25, "largest std / k that is published", "", 1e-3, 1.0),
        Parameter("explained", 0.5, "least share of torque that deflection must explain", "", 0.0, 1.0),
        Parameter("learn_time", 1.0, "excited motion before anything is published", "s", 0.0, 1e4),
        Parameter("wear_warn", 0.15, "relative drop that warns", "", 0.01, 0.9),
        Parameter("wear_error", 0.30, "relative drop that is an error", "", 0.02, 0.95),
        Parameter("wear_hold", 60.0, "time of comparable motion before a level changes", "s", 0.0, 1e5),
    )

    def configure(self, robot: RobotFile, parameters: Mapping[str, Any] | None = None) -> None:
        """Build for a robot. Raises CapabilityError where no deflection is measured, ConfigError for bad parameters."""
        p = resolve(self.parameters, parameters, self.name)
        if not robot.sensing.rotor_encoder:
            raise CapabilityError(
                f"{robot.name}: no motor encoder (sensing.rotor_encoder is false); stiffness needs rotor and link "
                "position, or force-gauge data (fit_stiffness)"
            )
        side = _side(robot, p["side"])
        given = robot.stiffness.parameters if robot.stiffness is not None else {}
        inertia = robot.array("drives.rotor_inertia") if side in ("motor", "fused") else np.zeros(robot.n_joints)
        joints = np.column_stack([inertia, transmission_damping(robot), np.full(robot.n_joints, p["skew"])])
        options = {k: v for k, v in p.items() if k not in ("side", "skew") and not k.startswith("wear_")}
        core = _core.StiffnessEstimator(np.ascontiguousarray(joints), kinematic_error(robot), **options)
        self.notes = self._set_baseline(robot, core, p, given)
        self.core, self.side = core, side
        self._motor_side = robot.drives.torque_side == "motor"
        self._rotor = effort_inertia(robot)
        self._names = robot.joint_names

    def _set_baseline(self, robot: RobotFile, core: Any, p: Mapping[str, Any], given: Mapping[str, Any]) -> list[str]:
        if "a" not in given:
            return [f"{robot.name}: stiffness is null in {robot.file}; wear has no baseline"]
        a, stored = np.zeros((robot.n_joints, 2)), elastic_coefficients(robot)
        if stored.shape[1] > 2:
            raise ConfigError(robot.name, "stiffness.parameters.a", f"{stored.shape[1]} powers; wear compares two")
        a[:, : stored.shape[1]] = stored
        reference = robot.stiffness.reference_temperature if robot.stiffness is not None else None
        try:
            core.set_baseline(
                a, np.nan if reference is None else reference, p["wear_warn"], p["wear_error"], p["wear_hold"]
            )
        except ValueError as error:
            raise ConfigError(self.name, "wear_warn", str(error)) from None
        return []

    def step(self, sample: Sample) -> Status:
        """Advance by one sample."""
        return self.core.step(sample.stamp_ns, *self._arguments(sample, sample))

    def rows(self, log: Log) -> _core.RowStep:
        """The same over the records of a log."""
        return self.core.rows(len(log), *self._arguments(Columns(log, self.writes), log))

    def _arguments(self, s: Any, whole: Any) -> tuple[np.ndarray | None, ...]:
        """What the core takes; torques as the side asks for them, from a sample or a log that is NaN where absent."""
        use = {"fused": ("motor", "link", "sensor")}.get(self.side, (self.side,))
        motor, drive = whole.motor_torque, whole.drive_torque
        rotor = np.where(np.isnan(motor), drive, motor) if self._motor_side else np.array(motor)
        free = np.where((whole.contact == 0).all(axis=-1, keepdims=True), 0.0, np.nan)
        link = whole.model_torque - self._rotor * np.where(np.isnan(whole.qdd), 0.0, whole.qdd) + free
        sensor = None if self._motor_side else np.array(drive)
        torques = (
            rotor if "motor" in use else None,
            np.array(whole.friction_torque) if "motor" in use else None,
            link if "link" in use else None,
            sensor if "sensor" in use else None,
        )
        return s.theta, s.q, s.omega, *torques, s.temperature_estimate, s.stiffness, s.stiffness_std

    def curve(self, phi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Learned tau_E [Nm] and k [Nm/rad] of every joint over deflections phi (N,): two arrays (N, n)."""
        a = self.core.coefficients
        odd = 2 * np.arange(a.shape[1]) + 1
        phi = np.asarray(phi, dtype=float)
        return np.power.outer(phi, odd) @ a.T, np.power.outer(phi, odd - 1) @ (odd * a).T

    def wear_health(self) -> dict[str, tuple[_core.Wear, str]]:
        """Joint -> wear status, and stiffness against the baseline in words; only joints of which it is known.

        A joint whose rotor angle is none of a spring's deflection has no stiffness, and a warning.
        """
        rows = zip(self._names, self.core.wear, self.core.wear_drop, self.core.confidence, strict=True)
        return {
            name: (wear, f"stiffness {-100 * drop:+.0f} % against the robot file's (confidence {sure:.2f})")
            for name, wear, drop, sure in rows
            if wear != _core.Wear.unknown
        } | {
            name: (_core.Wear.warn, FOREIGN)
            for name, foreign in zip(self._names, self.core.foreign, strict=True)
            if foreign
        }


def _side(robot: RobotFile, wanted: str) -> str:
    """The side to use; raises CapabilityError where the robot does not measure it."""
    sensor = robot.sensing.joint_torque_sensor and robot.drives.torque_side == "link"
    motor = robot.drives.torque_side == "motor" or robot.sensing.motor_torque
    if wanted == "auto":
        return "sensor" if sensor else "motor"
    lacking = {"sensor": not sensor, "motor": not motor}.get(wanted, False)
    if lacking:
        raise CapabilityError(f"{robot.name}: side {wanted} is not measured (drives.torque_side, sensing)")
    return wanted
