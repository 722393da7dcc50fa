"""The matrix on top of the report of an identified arm: joint x (torque error, friction, masses)."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from robot_dynamics_ros.identification.reports.verdict import BOUNDS, explained
from robot_dynamics_ros.pages import number
from robot_dynamics_ros.verdict import DEVIATION, cell, level_of, matrix

SPEED = 0.5  # rad/s of the friction that is shown and compared


def arm_matrix(result: dict[str, Any]) -> dict[str, Any]:
    """Error by what noise leaves explainable, friction by its deviation; masses at worst fair: many add little."""
    v, names = result["validation"], result["joint_names"]
    at = list(zip(at_speed(result, "torque"), at_speed(result, "std"), strict=True))
    loose = [_link(result["parameters"]["base"], j + 1) for j in range(len(names))]
    columns = {
        f"torque error {result['unit']}": [
            cell(rmse, level_of(share, *BOUNDS)) for rmse, share in zip(v["rmse"], explained(v), strict=True)
        ],
        f"friction at {SPEED} rad/s Nm": [(f"{number(f, 3)} ± {number(s, 3)}", _share(f, s)) for f, s in at],
        "deviation of masses %": [cell(x, level_of(x, DEVIATION[0], np.inf)) for x in loose],
    }
    return matrix(names, columns)


def at_speed(result: dict[str, Any], key: str) -> list[float]:
    """Sliding friction (n,) [Nm] of a result at SPEED, or its deviation."""
    sliding = result["parameters"]["sliding_friction"]
    place = int(np.argmin(np.abs(np.array(sliding["speeds"]) - SPEED)))
    return [row[place] for row in sliding[key]]


def _share(value: float | None, std: float | None) -> str:
    return "unknown" if not value or std is None else level_of(100 * std / abs(value), *DEVIATION)


def _link(base: dict[str, Any], number: int) -> float:
    """Median relative deviation [%] of the base parameters of one link; NaN where it has none."""
    pairs = zip(base["names"], base["relative_std_percent"], strict=True)
    own = [x for name, x in pairs if x is not None and int(re.findall(r"[A-Za-z]+(\d+)", name)[0]) == number]
    return float(np.median(own)) if own else float("nan")
