"""Friction stage: the law of the robot file with its standard deviation; hysteresis models register here too."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros._core import Status
from robot_dynamics_ros.estimators.stage import run_stepwise
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.models.hysteresis import hysteresis_from_robot
from robot_dynamics_ros.parameters import Parameter, resolve
from robot_dynamics_ros.types import Log, Sample

if TYPE_CHECKING:
    from robot_dynamics_ros.config import RobotFile


class FrictionStage:
    """q or theta, qd, model torque, temperature -> friction torque and its standard deviation (friction_stage.hpp).

    The law of the robot file; where the file has an identified hysteresis model, that model once its state is known.
    """

    name = "friction"
    reads = ("qd",)
    optional = ("q", "theta", "model_torque", "temperature_estimate", "temperature_variance", "temperature")
    writes = ("friction_torque", "friction_std")
    parameters = (
        Parameter(
            "model",
            "auto",
            "static law, hysteresis model of the robot file, or auto: hysteresis where it is identified",
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
        Parameter("known_stiction", 0.4, "share of that which a valid hysteresis model leaves", "", 0.0, 1.0),
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
        hysteresis = None
        if p["model"] == "hysteresis" or (p["model"] == "auto" and _identified(robot.hysteresis)):
            hysteresis = hysteresis_from_robot(robot)
        model, spread = FrictionModel.from_robot(robot), p["unknown_spread"]
        share = p["relative_error"] or (0.1 if _identified(robot.friction) else 0.3)
        common = {"relative_error": share, "stiction_speed": p["stiction_speed"], "unknown_spread": spread}
        self.core = _core.FrictionStage(model.core, **common)
        self.known_core = _core.FrictionStage(model.core, stiction=p["known_stiction"], **common)
        self.hysteresis, n = hysteresis, robot.n_joints
        self._rate_state = isinstance(hysteresis, _core.RateStateGms)
        self._memory, self._spare = np.zeros(n), np.zeros(n)
        self.notes = []
        if not _identified(robot.friction):
            self.notes = [f"{robot.name}: friction is an estimate, not identified; forces are less certain"]

    def reset(self) -> None:
        """Forget the state of the hysteresis model."""
        if self.hysteresis is not None:
            self.hysteresis.reset()

    def step(self, sample: Sample) -> Status:
        """Friction of one sample; the temperature is the estimated one, else the measured one."""
        if self.core is None:
            return Status.unavailable
        s = sample
        estimated = s.temperature_estimate[0] == s.temperature_estimate[0]
        temperature = s.temperature_estimate if estimated else s.temperature
        variance = s.temperature_variance if estimated else None
        given = (s.qd, s.model_torque, temperature, variance)
        status = self.core.step(*given, s.friction_torque, s.friction_std)
        if self.hysteresis is None or status not in (Status.ok, Status.degraded):
            return status
        position = s.theta if s.theta[0] == s.theta[0] else s.q
        if self._remember(s.stamp_ns, position, s.qd, s.model_torque, temperature) == Status.ok:
            self.known_core.step(*given, self._spare, s.friction_std)
            s.friction_torque[:] = self._memory
        return status

    def _remember(self, stamp_ns: int, q: Any, qd: Any, load: Any, temperature: Any) -> Status:
        if self._rate_state:
            return self.hysteresis.step(stamp_ns, qd, temperature, self._memory)
        return self.hysteresis.step(stamp_ns, q, qd, load, temperature, self._memory)

    def run(self, log: Log) -> np.ndarray:
        """The same over a log."""
        if self.hysteresis is not None:
            return run_stepwise(self, log)
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


def _identified(block: Any) -> bool:
    """True when a block of the robot file exists and none of its sources is an estimate."""
    return block is not None and not any(key.startswith("estimate") for key in block.source.values())
