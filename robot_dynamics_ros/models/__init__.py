"""Pure equations and their parameters: rigid bodies, friction, heat, stiffness."""

from robot_dynamics_ros.models.robot_model import RobotModel

__all__ = ["RobotModel"]
