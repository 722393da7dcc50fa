"""Friction stage: static or hysteretic law of the robot file, or the observer over both encoders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros._core import RowStep, Status
from robot_dynamics_ros.errors import CapabilityError, ConfigError
from robot_dynamics_ros.estimators.stage import Stage
from robot_dynamics_ros.estimators.stiffness import elastic_coefficients, transmission_damping
from robot_dynamics_ros.models.friction import FrictionModel, created_energy
from robot_dynamics_ros.models.hysteresis import hysteresis_from_robot, presliding_motors
from robot_dynamics_ros.parameters import Parameter, resolve
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.robot_file.gaps import identified
from robot_dynamics_ros.signals import Log, Sample

BANDWIDTH = 100.0  # rad/s, L of the friction observer


def refuse_created_energy(robot: RobotFile) -> None:
    """Raises ConfigError naming joint, torque and speed where the friction of a robot file would create energy."""
    for name, text in created_energy(robot).items():
        raise ConfigError(robot.file, f"friction.parameters [{name}]", text)


def usual_error(robot: RobotFile) -> float:
    """Default of relative_error: standard deviation of friction as a share of it, by what the robot file knows."""
    return 0.01 if robot.residuals is not None else 0.1 if identified(robot.friction) else 0.3


class FrictionStage(Stage):
    """Position, velocity, model torque, temperature -> friction torque and its standard deviation [Nm] (n,).

    The law of the robot file; where the file has an identified hysteretic model, that model once its state is known:
    f = F(tau_J) H(theta) + F_v(v, T) [Madsen2020, ch6 eq. 3-5]. The temperature is that of the stage before.
    model=observer takes friction from both encoders instead (RotorFriction).
    """

    name = "friction"
    reads = ("qd",)
    optional = (
        "q",
        "theta",
        "omega",
        "motor_torque",
        "drive_torque",
        "model_torque",
        "contact_load",
        "temperature_estimate",
        "temperature_variance",
    )
    writes = ("friction_torque", "friction_std")
    parameters = (
        Parameter(
            "model",
            "auto",
            "static law; hysteretic model of the robot file; auto: that where identified; observer: both encoders",
            choices=("auto", "static", "hysteresis", "observer"),
        ),
        Parameter(
            "relative_error",
            0.0,
            "standard deviation as share of friction; 0: 0.01 beside residuals, 0.1 without, 0.3 for an estimate",
            "",
            0.0,
            10.0,
        ),
        Parameter("stiction_speed", 0.02, "below about this speed friction is anywhere in +-fc", "rad/s", 1e-6, 10.0),
        Parameter("known_stiction", 0.4, "share of it that remains with a hysteretic model", "", 0.0, 1.0),
    )

    hysteresis: Any = None
    observer: RotorFriction | None = None
    _behind = False  # the torque is sensed behind the gear, and so is its friction: driven by the link

    def configure(self, robot: RobotFile, parameters: Mapping[str, Any] | None = None) -> None:
        """Build for a robot; one without friction parameters gives no friction, and says so in `notes`.

        Raises ConfigError for a parameter out of range or friction that creates energy, CapabilityError when a
        hysteresis model is asked for and absent.
        """
        p = resolve(self.parameters, parameters, self.name)
        self._behind = robot.drives.torque_side == "link"
        if p["model"] == "observer":
            self.observer, self.core, self.hysteresis, self.notes = RotorFriction(robot), None, None, []
            return
        if robot.friction is None:
            self.observer, self.core, self.hysteresis = None, None, None
            self.notes = [f"{robot.name}: friction is unknown; identify it to sense small forces"] * (not self._behind)
            return
        refuse_created_energy(robot)
        friction, choice, known = FrictionModel.from_robot(robot), p.pop("model"), identified(robot.friction)
        p["relative_error"] = p["relative_error"] or usual_error(robot)
        memory = None
        if choice == "hysteresis" or (choice == "auto" and identified(robot.hysteresis)):
            memory = hysteresis_from_robot(robot, friction)
        if robot.residuals is not None:
            p |= {name: robot.array(f"residuals.{name}") for name in ("moving", "rest")}
            p |= {name: robot.array_or(f"residuals.{name}", 0.0) for name in ("speed", "slow")}
        core = _core.FrictionStage(friction.core, memory, **presliding_motors(robot), **p)
        self.observer, self.core, self.hysteresis = None, core, memory
        self.notes = [f"{robot.name}: friction is an estimate, not identified; forces are less certain"] * (not known)

    def reset(self) -> None:
        """Forget the state of pre-sliding and of the observer."""
        if self.observer is not None:
            self.observer.core.reset()
        if self.core is not None:
            self.core.reset()

    def step(self, sample: Sample) -> Status:
        """Friction of one sample."""
        if self.observer is not None:
            return self.observer.step(sample)
        if self.core is None:
            return Status.unavailable
        s = sample
        position = s.theta if not self._behind and s.theta[0] == s.theta[0] else s.q
        given = s.model_torque, s.contact_load, s.temperature_estimate, s.temperature_variance
        return self.core.step(s.stamp_ns, position, s.qd, *given, None, s.friction_torque, s.friction_std)

    def rows(self, log: Log) -> _core.RowStep:
        """The same over the records of a log."""
        out = (log.allocate(name) for name in self.writes)
        if self.observer is not None:
            return self.observer.rows(log, *out)
        if self.core is None:
            return _core.RowStep(np.full(len(log), int(Status.unavailable), dtype=np.int32))
        theta = None if self._behind else log.get("theta")
        names = ("qd", "model_torque", "contact_load", "temperature_estimate", "temperature_variance")
        given = (log.get(name) for name in names)
        return self.core.rows(len(log), log.get("q"), theta, *given, None, *out)


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
