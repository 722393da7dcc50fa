"""Friction stage: the model of the robot file, with memory where it has one, or the observer over both encoders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros._core import Status
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.models.hysteresis import hysteresis_from_robot
from robot_dynamics_ros.parameters import Parameter, resolve
from robot_dynamics_ros.types import Log, Sample

if TYPE_CHECKING:
    from robot_dynamics_ros.config import RobotFile


def friction_memory(robot: RobotFile, friction: FrictionModel) -> Any:
    """The model with memory of a robot file: its hysteresis block, or LuGre where that is the law.

    Raises CapabilityError where the file has neither, ConfigError for values that do not fit together.
    """
    if robot.hysteresis is None and friction.law.name == "lugre":
        return _core.LuGre(friction.core)
    return hysteresis_from_robot(robot, friction)


def _identified(block: Any) -> bool:
    """True when a block of the robot file exists and none of its sources is an estimate."""
    return block is not None and not any(key.startswith("estimate") for key in block.source.values())


class FrictionStage:
    """Position, velocity, model torque, temperature -> friction torque and its standard deviation [Nm] (n,).

    The law of the robot file; where the file has an identified model with memory, that model once its state is known:
    f = F(tau_J) H(theta) + F_v(v, T) [Madsen2020, ch6 eq. 3-5]. The temperature is the estimated one, else the measured.
    """

    name = "friction"
    reads = ("qd",)
    optional = ("q", "theta", "model_torque", "temperature_estimate", "temperature_variance", "temperature")
    writes = ("friction_torque", "friction_std")
    parameters = (
        Parameter(
            "model",
            "auto",
            "static law, model with memory of the robot file (hysteresis), or auto: that where it is identified",
            choices=("auto", "static", "hysteresis"),
        ),
        Parameter(
            "relative_error",
            0.0,
            "standard deviation while sliding, share of it; 0: 0.1, or 0.3 if the file marks an estimate",
            "",
            0.0,
            10.0,
        ),
        Parameter("stiction_speed", 0.02, "below about this speed friction is anywhere in +-fc", "rad/s", 1e-6, 10.0),
        Parameter("known_stiction", 0.4, "share of that which a model with memory leaves", "", 0.0, 1.0),
        Parameter("unknown_spread", 15.0, "standard deviation of an unknown temperature", "K", 0.0, 200.0),
    )

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.core: Any = None
        self.hysteresis: Any = None

    def configure(self, robot: RobotFile, parameters: Mapping[str, Any] | None = None) -> None:
        """Build for a robot; one without friction parameters gives no friction, and says so in `notes`.

        Raises ConfigError for a parameter out of range, CapabilityError when a hysteresis model is asked for in vain.
        """
        p = resolve(self.parameters, parameters, self.name)
        if robot.friction is None:
            self.core, self.hysteresis = None, None
            self.notes = [f"{robot.name}: friction is unknown; identify it to sense small forces"]
            return
        friction, choice, known = FrictionModel.from_robot(robot), p.pop("model"), _identified(robot.friction)
        p["relative_error"] = p["relative_error"] or (0.1 if known else 0.3)
        lugre = friction.law.name == "lugre" and robot.hysteresis is None and known
        memory = None
        if choice == "hysteresis" or (choice == "auto" and (lugre or _identified(robot.hysteresis))):
            memory = friction_memory(robot, friction)
        self.core, self.hysteresis = _core.FrictionStage(friction.core, memory, **p), memory
        self.notes = [f"{robot.name}: friction is an estimate, not identified; forces are less certain"] * (not known)

    def reset(self) -> None:
        """Forget the state of pre-sliding."""
        if self.core is not None:
            self.core.reset()

    def step(self, sample: Sample) -> Status:
        """Friction of one sample."""
        if self.core is None:
            return Status.unavailable
        s = sample
        estimated = s.temperature_estimate[0] == s.temperature_estimate[0]
        temperature = s.temperature_estimate if estimated else s.temperature
        variance = s.temperature_variance if estimated else None
        position = s.theta if s.theta[0] == s.theta[0] else s.q
        model, out = s.model_torque, s.friction_torque
        return self.core.step(s.stamp_ns, position, s.qd, model, temperature, variance, out, s.friction_std)

    def run(self, log: Log) -> np.ndarray:
        """The same over a log."""
        out = [log.allocate(name) for name in self.writes]
        if self.core is None:
            return np.full(len(log), int(Status.unavailable), dtype=np.int32)
        estimate, measured = log.get("temperature_estimate"), log.get("temperature")
        temperature, variance = measured, None
        if estimate is not None:
            use = ~np.isnan(estimate[:, :1])
            temperature = np.where(use, estimate, log.temperature)
            variance = np.where(use, log.temperature_variance, np.nan)
        position = log.get("q")
        if log.has("theta"):
            position = np.where(np.isnan(log.theta[:, :1]), log.q, log.theta)
        return self.core.run(log.stamp_ns, position, log.qd, log.get("model_torque"), temperature, variance, *out)


class RotorFrictionStage:
    """Friction from both encoders: dw^/dt = (tau_m - f^ - tau_J)/B, f^ = L B (w^ - w), which settles at f^ = f.

    tau_J is the joint torque sensor's, else tau_E(phi) + D dphi/dt of the stiffness block, phi = theta - q. An
    alternative to the model where both sides of the transmission are measured. [Madsen2020, appB fig. 11]
    """

    name = "friction"
    reads = ("q", "qd", "theta", "omega", "motor_torque")
    optional = ("drive_torque",)
    writes = ("friction_torque", "friction_std")
    parameters = (
        Parameter("bandwidth", 100.0, "L, how fast the observer follows", "rad/s", 0.1, 1e5),
        Parameter("torque_std", 1.0, "standard deviation of motor minus joint torque", "Nm", 1e-3, 1e4),
    )

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.core: Any = None

    def configure(self, robot: RobotFile, parameters: Mapping[str, Any] | None = None) -> None:
        """Build for a robot. Raises CapabilityError where one side or the joint torque is unknown, ConfigError."""
        p = resolve(self.parameters, parameters, self.name)
        if not (robot.sensing.rotor_encoder and robot.sensing.motor_torque):
            raise CapabilityError(f"{robot.name}: sensing: the observer needs a rotor encoder and motor torque")
        sensor = robot.sensing.joint_torque_sensor and robot.drives.torque_side == "link"
        given = robot.stiffness.parameters if robot.stiffness is not None else {}
        if not sensor and "a" not in given:
            raise CapabilityError(f"{robot.name}: neither a joint torque sensor nor stiffness is known")
        n = robot.n_joints
        self._sensor = sensor
        self._a = None if sensor else np.broadcast_to(robot.array("stiffness.parameters.a"), (n, len(given["a"][0])))
        self._D = robot.array("stiffness.parameters.damping") if "damping" in given else np.zeros(n)
        self._std = p["torque_std"]
        self.core = _core.RotorFrictionObserver(
            np.ascontiguousarray(robot.array("drives.rotor_inertia")), np.full(n, p["bandwidth"])
        )

    def reset(self) -> None:
        """Forget the observed velocity."""
        self.core.reset()

    def step(self, sample: Sample) -> Status:
        """Advance by one sample."""
        s = sample
        if any(np.isnan(getattr(s, name)).all() for name in self.reads):
            return Status.unavailable
        tau_J = np.ascontiguousarray(self._joint_torque(s))
        status = self.core.step(s.stamp_ns, s.omega, s.motor_torque, tau_J, s.friction_torque)
        s.friction_std.fill(np.nan if status == Status.dropped else self._std)
        return status

    def run(self, log: Log) -> np.ndarray:
        """The same over a log."""
        friction, std = (log.allocate(name) for name in self.writes)
        if not all(log.has(name) for name in self.reads):
            return np.full(len(log), int(Status.unavailable), dtype=np.int32)
        tau_J = np.ascontiguousarray(self._joint_torque(log))
        status = self.core.run(log.stamp_ns, log.omega, log.motor_torque, tau_J, friction)[1]
        missing = np.any([np.isnan(getattr(log, name)).all(axis=1) for name in self.reads], axis=0)
        status[missing] = int(Status.unavailable)
        std[:] = np.where((status == int(Status.dropped))[:, None], np.nan, self._std)
        return status

    def _joint_torque(self, s: Any) -> np.ndarray:
        if self._sensor or self._a is None:
            return s.drive_torque
        phi, total = s.theta - s.q, self._D * (s.omega - s.qd)
        power = phi
        for p in range(self._a.shape[1]):
            total = total + self._a[:, p] * power
            power = power * phi * phi
        return total


class FrictionHealthStage:
    """Drift of measured friction against the model, for diagnostics: it writes no signal."""

    name = "friction_health"
    reads = ("qd", "drive_torque", "model_torque", "friction_torque")
    optional = ("contact",)
    writes = ()
    parameters = (
        Parameter("time_constant", 300.0, "memory of the average", "s", 1.0, 1e6),
        Parameter("moving", 0.05, "speed above which friction is compared", "rad/s", 1e-3, 10.0),
        Parameter("settle", 30.0, "free motion before anything is said", "s", 0.0, 1e6),
        Parameter("warn", 0.3, "drift that warns, share of the Coulomb level", "", 0.01, 10.0),
        Parameter("error", 0.6, "drift that is an error, share of the Coulomb level", "", 0.01, 10.0),
    )

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.core: Any = None

    def configure(self, robot: RobotFile, parameters: Mapping[str, Any] | None = None) -> None:
        """Build for a robot; raises ConfigError for a bad parameter."""
        p = resolve(self.parameters, parameters, self.name)
        self.names, self.values = robot.joint_names, p
        self.core = _core.FrictionHealth(robot.n_joints, p["time_constant"], p["moving"])
        self.level = None
        if robot.friction is not None and robot.drives.torque_side == "motor":
            model = FrictionModel.from_robot(robot)
            self.level = [model.core.coulomb(i, 1.0, model.reference[i]) for i in range(robot.n_joints)]

    def reset(self) -> None:
        """Forget the averages."""
        self.core.reset()

    def step(self, sample: Sample) -> Status:
        """Advance by one sample."""
        if self.level is None:
            return Status.unavailable
        s = sample
        return self.core.step(s.stamp_ns, s.qd, s.drive_torque, s.model_torque, s.friction_torque, s.contact)

    def run(self, log: Log) -> np.ndarray:
        """The same over a log."""
        if self.level is None:
            return np.full(len(log), int(Status.unavailable), dtype=np.int32)
        columns = [log.get(name) for name in (*self.reads, *self.optional)]
        return self.core.run(log.stamp_ns, *columns)

    def health(self) -> list[dict[str, Any]]:
        """Per joint: level unknown, ok, warn or error; drift (above the model) and scatter [Nm], seen [s]."""
        result = []
        for i, name in enumerate(self.names):
            drift, scatter, seen = self.core.drift(i), self.core.scatter(i), self.core.seen(i)
            known = self.level is not None and seen >= self.values["settle"]
            share = abs(drift) / max(self.level[i], 1e-9) if known and self.level else 0.0
            level = "error" if share > self.values["error"] else "warn" if share > self.values["warn"] else "ok"
            state = {"level": level if known else "unknown", "drift": drift, "scatter": scatter, "seen": seen}
            result.append({"joint": name} | state)
        return result
