"""Status of a UR controller from RTDE: modes as numbers and texts, payload, speed scaling."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from robot_dynamics_ros.drivers.interface import RobotStatus

ROBOT_MODES = {
    -1: "no controller",
    0: "disconnected",
    1: "confirm safety",
    2: "booting",
    3: "power off",
    4: "power on",
    5: "idle",
    6: "backdrive",
    7: "running",
    8: "updating firmware",
}
SAFETY_MODES = {
    1: "normal",
    2: "reduced",
    3: "protective stop",
    4: "recovery",
    5: "safeguard stop",
    6: "system emergency stop",
    7: "robot emergency stop",
    8: "violation",
    9: "fault",
    10: "validate joint id",
    11: "undefined",
}
RUNNING = 7  # robot mode in which the arm moves
NORMAL = (1, 2)  # safety modes in which it may: normal, reduced
PLAYING = 2  # runtime state of a program that runs


def status_of(value: Callable[[str], np.ndarray]) -> RobotStatus:
    """Status from `value`, which gives an RTDE output (m,) by its name, NaN where the controller has none."""
    mode, safety, state = (_integer(value(name)) for name in ("robot_mode", "safety_mode", "runtime_state"))
    return RobotStatus(
        program_running=state == PLAYING,
        payload=float(value("payload")[0]),
        payload_com=tuple(value("payload_cog").tolist()),
        safety_text=SAFETY_MODES.get(safety, f"unknown ({safety})"),
        mode_text=ROBOT_MODES.get(mode, f"unknown ({mode})"),
        safety_normal=safety in NORMAL,
        drives_hold=mode == RUNNING,
    )


def _integer(values: np.ndarray) -> int:
    return int(values[0]) if np.isfinite(values[0]) else -1
