"""Robot joints, known better than the data sheet: observers, controllers and identification for ROS 2."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("robot_dynamics_ros")
except PackageNotFoundError:  # in-place source tree
    __version__ = "0.0.0+source"
