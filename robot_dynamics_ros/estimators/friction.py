"""Friction stage: the law of the robot file with its standard deviation; hysteresis models register here too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros._core import Status
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.parameters import Parameter, resolve
from robot_dynamics_ros.types import Log, Sample

if TYPE_CHECKING:
    from robot_dynamics_ros.config import RobotFile


class FrictionStage:
    """qd, model torque, temperature -> friction torque and its standard deviation (friction_stage.hpp)."""

    name = "friction"
    reads = ("qd",)
    optional = ("model_torque", "temperature_estimate", "temperature_variance", "temperature")
    writes = ("friction_torque", "friction_std")
    parameters = (
        Parameter(
            "relative_error",
            0.0,
            "standard deviation while sliding, share of it; 0: 0.1, or 0.3 if the file marks an estimate",
            "",
            0.0,
            10.0,
        ),
        Parameter("stiction_speed", 0.02, "below about this speed friction is anywhere in +-fc", "rad/s", 1e-6, 10.0),
        Parameter("unknown_spread", 15.0, "standard deviation of an unknown temperature", "K", 0.0, 200.0),
    )

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.core: Any = None

    def configure(self, robot: RobotFile, parameters: Mapping[str, Any] | None = None) -> None:
        """Build for a robot; one without friction parameters gives no friction, and says so in `notes`.

        Raises ConfigError for a parameter out of range.
        """
        p = resolve(self.parameters, parameters, self.name)
        if robot.friction is None:
            self.core, self.notes = None, [f"{robot.name}: friction is unknown; identify it to sense small forces"]
            return
        estimate = any(key.startswith("estimate") for key in robot.friction.source.values())
        p["relative_error"] = p["relative_error"] or (0.3 if estimate else 0.1)
        self.core = _core.FrictionStage(FrictionModel.from_robot(robot).core, **p)
        self.notes = [f"{robot.name}: friction is an estimate, not identified; forces are less certain"] * estimate

    def reset(self) -> None:
        """Static: nothing to forget."""

    def step(self, sample: Sample) -> Status:
        """Friction of one sample; the temperature is the estimated one, else the measured one."""
        if self.core is None:
            return Status.unavailable
        s = sample
        estimated = s.temperature_estimate[0] == s.temperature_estimate[0]
        temperature = s.temperature_estimate if estimated else s.temperature
        variance = s.temperature_variance if estimated else None
        return self.core.step(s.qd, s.model_torque, temperature, variance, s.friction_torque, s.friction_std)

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
        return self.core.run(log.qd, log.get("model_torque"), temperature, variance, *out)
