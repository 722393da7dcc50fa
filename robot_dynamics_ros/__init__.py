"""Sensorless force estimation, friction and stiffness observers, and identification from bags for ROS 2 robot arms."""

from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from typing import Any

try:
    __version__ = version("robot_dynamics_ros")
except PackageNotFoundError:  # in-place source tree
    __version__ = "0.0.0+source"

# public name -> module that defines it, imported at the first use; __init__.pyi holds the same for type checkers
_PUBLIC = {
    "LiveForce": "live",
    "Log": "signals",
    "Pipeline": "estimators.pipeline",
    "RobotFile": "robot_file",
    "RobotModel": "models",
    "Sample": "signals",
    "identify": "identification.arm.identify",
    "load_bag": "bags",
    "load_robot": "robot_file",
    "save_robot": "robot_file",
    "write_bag": "bags",
}
__all__ = list(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name.startswith("__")), *_PUBLIC})
