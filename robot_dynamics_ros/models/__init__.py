"""Equations and their parameters: rigid bodies, static and hysteretic friction, transmissions, energy."""

from robot_dynamics_ros.models.robot_model import RobotModel

__all__ = ["RobotModel"]
