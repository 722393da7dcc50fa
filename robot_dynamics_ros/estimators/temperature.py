"""Temperature of each joint's lubricant: heat balance of friction, corrected by measured friction and housing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.estimators.stage import Stage
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.parameters import Parameter, resolve
from robot_dynamics_ros.robot_file import RobotFile


def heat_parameters(robot: RobotFile) -> np.ndarray:
    """(n, 4) C, K, C_housing, K_housing of the thermal block; zeros in the last two: one node."""
    given = robot.heat_balance.parameters if robot.heat_balance is not None else {}
    names = ("heat_capacity", "heat_transfer", "housing_capacity", "housing_transfer")
    zero = np.zeros(robot.n_joints)
    columns = [robot.array(f"thermal.parameters.{k}") if k in given or k == names[0] else zero for k in names]
    return np.array(columns).T.copy()


class TemperatureStage(Stage):
    """Lubricant temperature T [deg C] (n,) and its variance [K2].

    C dT/dt = v f(v, tau, T) - K (T - T_env). A reported temperature, unless it is that of a motor, corrects the housing
    of the two-node model; without one T -= G (RMS f_measured - RMS f_model) dt without contact, while moving and armed.
    `contact`: of the cycle before.
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
    )

    def configure(self, robot: RobotFile, parameters: Mapping[str, Any] | None = None) -> None:
        """Build the observer; raises ConfigError."""
        values = resolve(self.parameters, parameters, self.name)
        model = robot.heat_balance is not None
        self.core = self._build(robot, values) if model else _core.MeasuredTemperature(robot.n_joints)
        self.optional = type(self).optional if model else ("temperature",)  # no feedback without a model
        self._motor_side = model and robot.drives.torque_side == "motor"

    def _build(self, robot: RobotFile, values: Mapping[str, Any]) -> _core.TemperatureObserver:
        given = robot.heat_balance.parameters if robot.heat_balance is not None else {}
        gain = robot.array("thermal.parameters.gain") if "gain" in given else np.zeros(robot.n_joints)
        try:
            law, gain = FrictionModel.from_robot(robot).core, np.ascontiguousarray(gain)
            sensor = robot.sensing.temperature and robot.sensing.temperature_place != "motor"
            return _core.TemperatureObserver(law, heat_parameters(robot), gain, housing_sensor=sensor, **values)
        except ValueError as error:
            raise ConfigError(robot.file, "thermal.parameters", str(error)) from None

    def arguments(self, s: Any) -> tuple[Any, ...]:
        """See Stage; friction where the motor measures it."""
        drive, model = s.drive_torque, s.model_torque
        friction = drive - model if self._motor_side and drive is not None and model is not None else None
        return s.qd, model, friction, s.temperature, s.contact, s.temperature_estimate, s.temperature_variance
