"""Pure equations and their parameters: rigid bodies, friction with and without memory, transmissions, energy."""

from robot_dynamics_ros.models.robot_model import RobotModel

__all__ = ["RobotModel"]
