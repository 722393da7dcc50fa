"""Parameters of the configured stages as one text file, from which a C++ program makes a ContactForceEstimator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.models.robot_report import refuse_implausible
from robot_dynamics_ros.robot_file import RobotFile

STAGES = ("motion", "temperature", "friction", "force")


def core_text(robot: RobotFile, parameters: Mapping[str, Mapping[str, Any]] | None = None) -> str:
    """Every number of the stages of a robot file as text, for cpp_core's contact_force_parameters().

    parameters: as in Pipeline, e.g. {"force": {"bandwidth": 40.0}}. Raises ConfigError for an unknown parameter, one
    out of range, or friction.model observer, which needs a motor encoder; CapabilityError for unknown links.
    """
    refuse_implausible(robot)
    pipeline = Pipeline(robot, parameters, STAGES)
    motion, temperature, friction, force = (pipeline.stage(name) for name in STAGES)
    if friction.observer is not None:
        raise ConfigError("friction", "model", "'observer' is not available in ContactForceEstimator")
    motor_side = robot.drives.torque_side == "motor"
    try:
        return _core.contact_force_text(
            robot.joint_names,
            motion.core,
            temperature.core if robot.heat_balance is not None else None,
            motor_side,
            friction.core,
            force.core,
            pipeline.alignment.core,
            pipeline.least_rate,
        )
    except ValueError as error:
        raise ConfigError(robot.file, "", str(error)) from None
