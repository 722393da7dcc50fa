"""Which protocols there are: name -> module here that holds `run(quick) -> list[Row]`, in the order of `all`."""

from __future__ import annotations

import importlib
import inspect
import time
from collections.abc import Callable, Iterator, Sequence

from bench.papers.table import Row
from robot_dynamics_ros.errors import ConfigError

PROTOCOLS: dict[str, str] = {
    "simoni": "simoni",
    "madsen-stiffness": "madsen_stiffness",
    "madsen-joint": "madsen_joint",
    "madsen-egms": "madsen_egms",
    "madsen-adaptive": "madsen_adaptive",
    "madsen-egms-control": "madsen_egms_control",
    "liu-hand-guiding": "liu_hand_guiding",
    "luo-friction": "luo_friction",
    "clochiatti-friction": "clochiatti_friction",
    "clochiatti": "clochiatti",
    "liu": "liu",
    "luo-identification": "luo_identification",
    "madsen-calibration": "madsen_calibration",
    "recovery": "recovery",
    "torque-friction": "torque_friction",
}
TRANSPORTS = ("sockets", "process")  # how torques reach the simulated controller, the default first


def protocol(name: str) -> Callable[[bool], list[Row]]:
    """`run` of a protocol. Raises ConfigError listing the names there are."""
    if name not in PROTOCOLS:
        raise ConfigError("reproduce", name, f"is no protocol; known: {', '.join(PROTOCOLS)}, all")
    return importlib.import_module(f"bench.papers.{PROTOCOLS[name]}").run


def run_all(
    names: Sequence[str], quick: bool = False, robot: str | None = None, transport: str | None = None
) -> Iterator[tuple[str, list[Row], float]]:
    """Rows of each protocol, each figure once, and the seconds it took; `quick`: shorter, as the module says.

    robot: simulated instead of the UR5e. Raises ConfigError for a protocol of one robot only.
    transport: how torques reach the simulated controller in closed loop (TRANSPORTS).
    """
    printed: set[tuple[str, str]] = set()
    for name in names:
        run: Callable[..., list[Row]] = protocol(name)
        takes = inspect.signature(run).parameters
        if robot is not None and "robot_name" not in takes:
            raise ConfigError("reproduce", "robot", f"{name} runs on the ur5e only")
        options = {} if robot is None else {"robot_name": robot}
        if transport is not None and "transport" in takes:
            options["transport"] = transport
        start = time.monotonic()
        rows = [row for row in run(quick, **options) if (row.source, row.figure) not in printed]
        printed |= {(row.source, row.figure) for row in rows}
        yield name, rows, time.monotonic() - start
