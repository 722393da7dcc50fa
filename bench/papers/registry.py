"""Which protocols there are, in the order of `all`: madsen-joint is `run(quick) -> list[Row]` of madsen_joint.py."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from functools import partial

from bench.papers.table import Row
from robot_dynamics_ros.errors import ConfigError

UR5E = "ur5e"
PROTOCOLS = (
    "simoni",
    "madsen-stiffness",
    "madsen-joint",
    "madsen-adaptive",
    "madsen-egms-control",
    "liu-hand-guiding",
    "luo-friction",
    "clochiatti",
    "liu",
    "luo-identification",
    "madsen-calibration",
    "recovery",
    "torque-friction",
)


def protocol(name: str, robot: str = UR5E) -> Callable[[bool], list[Row]]:
    """`run(quick)` of a protocol, on a simulated robot.

    Raises ConfigError listing the names there are, or for a protocol of the UR5e only.
    """
    if name not in PROTOCOLS:
        raise ConfigError("reproduce", name, f"is no protocol; known: {', '.join(PROTOCOLS)}, all")
    run: Callable[..., list[Row]] = importlib.import_module(f"bench.papers.{name.replace('-', '_')}").run
    if robot == UR5E:
        return run
    if "robot_name" not in inspect.signature(run).parameters:
        raise ConfigError("reproduce", "--robot", f"{name} runs on the {UR5E} only")
    return partial(run, robot_name=robot)
