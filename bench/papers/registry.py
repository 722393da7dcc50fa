"""Which protocols there are, in the order of `all`: madsen-joint is `run(quick) -> list[Row]` of madsen_joint.py."""

from __future__ import annotations

import importlib
import inspect
import time
from collections.abc import Callable, Iterator, Sequence

from bench.papers.table import Row
from robot_dynamics_ros.errors import ConfigError

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


def protocol(name: str) -> Callable[..., list[Row]]:
    """`run` of a protocol. Raises ConfigError listing the names there are."""
    if name not in PROTOCOLS:
        raise ConfigError("reproduce", name, f"is no protocol; known: {', '.join(PROTOCOLS)}, all")
    return importlib.import_module(f"bench.papers.{name.replace('-', '_')}").run


def run_all(
    names: Sequence[str], quick: bool = False, robot: str | None = None
) -> Iterator[tuple[str, list[Row], float]]:
    """Rows of each protocol, and the seconds it took; `quick`: shorter, as the module says.

    robot: simulated instead of the UR5e. Raises ConfigError for a protocol of one robot only.
    """
    for name in names:
        run = protocol(name)
        if robot is not None and "robot_name" not in inspect.signature(run).parameters:
            raise ConfigError("reproduce", "robot", f"{name} runs on the ur5e only")
        start = time.monotonic()
        rows = run(quick) if robot is None else run(quick, robot_name=robot)
        yield name, rows, time.monotonic() - start
