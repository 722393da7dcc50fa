"""Temperature of each joint's lubricant: heat balance of friction, corrected by measured friction and housing."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros._core import Status
from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.estimators.stage import Columns, Stage
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.outputs import write_atomically
from robot_dynamics_ros.parameters import Parameter, resolve
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Log, Sample


def heat_parameters(robot: RobotFile) -> np.ndarray:
    """(n, 4) C, K, C_housing, K_housing of the thermal block; zeros in the last two: one node."""
    given = robot.thermal.parameters if robot.thermal is not None else {}
    names = ("heat_capacity", "heat_transfer", "housing_capacity", "housing_transfer")
    zero = np.zeros(robot.n_joints)
    columns = [robot.array(f"thermal.parameters.{k}") if k in given or k == names[0] else zero for k in names]
    return np.array(columns).T.copy()


class TemperatureStage(Stage):
    """Lubricant temperature T [deg C] (n,) and its variance [K2].

    C dT/dt = v f(v, tau, T) - K (T - T_env); T -= G (RMS f_measured - RMS f_model) dt without contact, while moving and
    armed; a reported housing temperature corrects the two-node model. `contact` is that of the cycle before.
    Without a thermal block the measured temperature is passed on with a large variance. [Simoni2017, eq. 7-10]
    """

    name = "temperature"
    reads = ("qd",)
    optional: tuple[str, ...] = ("drive_torque", "model_torque", "temperature", "contact")
    writes = ("temperature_estimate", "temperature_variance")
    parameters = (
        Parameter("ambient", 25.0, "temperature of the air", "degC", -20.0, 60.0),
        Parameter("rate_limit", 1.0, "fastest correction", "K/s", 1e-3, 100.0),
        Parameter("moving", 0.05, "velocity above which friction informs about temperature", "rad/s", 1e-3, 10.0),
        Parameter("convergence_time", 20.0, "time constant of the correction without a gain", "s", 0.1, 1e4),
        Parameter("observe_time", 120.0, "correction time of one armed period", "s", 0.0, 1e5),
        Parameter("rearm_time", 1800.0, "pause before the correction is armed again", "s", 0.0, 1e6),
        Parameter("max_gap", 0.5, "silence after which windows restart", "s", 1e-3, 1e4),
        Parameter("state_file", "", "file that keeps the temperatures over restarts; empty: none", read_only=True),
    )

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self.core: _core.TemperatureObserver | None = None
        self.robot: RobotFile | None = None

    def configure(self, robot: RobotFile, parameters: Mapping[str, Any] | None = None) -> None:
        """Build the observer and restore the temperatures of the last run; raises ConfigError."""
        values = resolve(self.parameters, parameters, self.name)
        core = self._build(robot, values) if robot.thermal is not None else None
        self.robot, self.values, self.core = robot, values, core
        self.optional = type(self).optional if core is not None else ("temperature",)  # no feedback without a model
        self._source = core or _core.MeasuredTemperature(robot.n_joints)
        self._motor_side = core is not None and robot.drives.torque_side == "motor"
        if core is not None and values["state_file"]:
            self.restore(Path(values["state_file"]))

    def _build(self, robot: RobotFile, values: Mapping[str, Any]) -> _core.TemperatureObserver:
        options = {name: value for name, value in values.items() if name != "state_file"}
        given = robot.thermal.parameters if robot.thermal is not None else {}
        gain = robot.array("thermal.parameters.gain") if "gain" in given else np.zeros(robot.n_joints)
        try:
            law, gain = FrictionModel.from_robot(robot).core, np.ascontiguousarray(gain)
            sensor = bool(robot.sensing.temperature)
            return _core.TemperatureObserver(law, heat_parameters(robot), gain, housing_sensor=sensor, **options)
        except ValueError as error:
            raise ConfigError(robot.file, "thermal.parameters", str(error)) from None

    def step(self, sample: Sample) -> Status:
        """Advance by one sample."""
        return self._source.step(sample.stamp_ns, *self.arguments(sample))

    def rows(self, log: Log) -> _core.RowStep:
        """The same over the records of a log."""
        return self._source.rows(len(log), *self.arguments(Columns(log, self.writes)))

    def arguments(self, s: Any) -> tuple[Any, ...]:
        """See Stage; friction where the motor measures it."""
        drive, model = s.drive_torque, s.model_torque
        friction = drive - model if self._motor_side and drive is not None and model is not None else None
        return s.qd, model, friction, s.temperature, s.contact, s.temperature_estimate, s.temperature_variance

    def set_ambient(self, ambient: float) -> None:
        """Change the temperature of the air [deg C]; raises ConfigError outside the bounds."""
        if self.core is not None and not self.core.set_ambient(ambient):
            raise ConfigError(self.name, "ambient", f"{ambient!r} is outside the bounds of the estimate")

    def save(self, path: Path | None = None) -> None:
        """Write temperatures and wall time atomically ; nothing without a file."""
        target = path or (Path(self.values["state_file"]) if self.values["state_file"] else None)
        if target is None or self.core is None or self.robot is None:
            return
        state = {
            "robot": self.robot.name,
            "wall_time": self._clock(),
            "lubricant": list(self.core.temperature),
            "housing": list(self.core.housing),
            "variance": list(self.core.variance),
        }
        write_atomically(target, json.dumps(state))

    def restore(self, path: Path) -> bool:
        """Temperatures of the last run, cooled down through the heat balance for the time since; False: not usable."""
        state = _read_state(path)
        if state is None or self.core is None or self.robot is None or state["robot"] != self.robot.name:
            return False
        age = self._clock() - state["wall_time"]
        rows = list(zip(state["lubricant"], state["housing"], state["variance"], strict=False))
        if not 0 <= age or len(rows) != self.robot.n_joints:
            return False
        try:
            for joint, (lubricant, housing, variance) in enumerate(rows):
                self.core.set_initial(joint, lubricant, housing, variance)
        except (TypeError, ValueError):
            self.core.reset()
            return False
        self.core.cool_down(age)
        return True


def _read_state(path: Path) -> dict[str, Any] | None:
    try:
        if path.stat().st_size > 100_000:
            return None
        state = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    wanted = {"robot": str, "wall_time": float, "lubricant": list, "housing": list, "variance": list}
    if not isinstance(state, dict) or any(not isinstance(state.get(k), t) for k, t in wanted.items()):
        return None
    return state if math.isfinite(state["wall_time"]) else None
