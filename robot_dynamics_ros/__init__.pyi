from robot_dynamics_ros.bags import load_bag, write_bag
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.identification.arm.identify import identify
from robot_dynamics_ros.live import LiveForce
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import RobotFile, load_robot, save_robot
from robot_dynamics_ros.signals import Log, Sample

__version__: str
__all__ = [
    "LiveForce",
    "Log",
    "Pipeline",
    "RobotFile",
    "RobotModel",
    "Sample",
    "identify",
    "load_bag",
    "load_robot",
    "save_robot",
    "write_bag",
]
