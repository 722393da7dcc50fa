"""The grade of an identified robot file, and the matrix on top of its report: joint x (torque error, friction, masses).
A joint that moves less in the held-out data is judged over the variance of its effort in the training.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from robot_dynamics_ros.identification.arm.residuals import SETTLING
from robot_dynamics_ros.identification.metrics import mean_r2
from robot_dynamics_ros.pages import number
from robot_dynamics_ros.verdict import DEVIATION, cell, level_of, matrix, worst

BOUNDS = (0.93, 0.8)  # R2 on held-out data of what noise leaves explainable, from which on a file is good, and fair
KNOWN = 0.5  # R2 below which, and share of noise in what is left above which, nobody knows how good the model is
SPOILT = 0.02  # of mean R2, and twice what is left, by which a file is not usable: it makes the initial model worse
COVERED = 0.8  # share of the free force within two deviations, below which they are too small; zoo: 0.87 and more
SPEED = 0.5  # rad/s of the friction that is shown and compared


def grade(result: dict[str, Any]) -> str:
    """good, fair or bad: the worst of the mean and of what single joints allow, fair below the second of BOUNDS and bad
    below KNOWN, unless most of the joint's effort is noise. Another robot's recording is bad, and a file that makes
    the initial model clearly worse. What repeats the training, is `unsettled`, `uncovered`, of several loads or in
    ampere is fair at best.
    """
    v = result["validation"]
    if result.get("other_robot") or v["mean_r2"] is None:
        return "bad"
    joints = zip(explained(result), r2_and_bound(result)[1], strict=True)
    single = ["bad" if share < KNOWN <= bound else "fair" for share, bound in joints if share < BOUNDS[1]]
    unsure = v.get("repeats_training") or unsettled(result) or uncovered(result)
    unsure = unsure or result["load_differences"] or result["in_ampere"]
    others = ["bad"] * bool(spoilt(result)) + ["fair"] * bool(unsure)
    return worst([level_of(explainable(result), *BOUNDS), *single, *others])


def unsettled(result: dict[str, Any]) -> bool:
    """Whether no held-out piece outlasts the settling of the live nodes, so that nothing shows their force."""
    return bool(result["validation"]["longest_piece"] <= SETTLING)


def uncovered(result: dict[str, Any]) -> bool:
    """Whether the force of the free robot is beyond its deviations more often than COVERED allows, along some axis."""
    force = result["validation"].get("force")
    return bool(force) and min(force["covered"]) < COVERED


def spoilt(result: dict[str, Any]) -> bool:
    """Whether the initial model explains clearly more (SPOILT)."""
    ours, theirs = result["validation"]["mean_r2"] or 0.0, initial_r2(result)
    return theirs - ours >= SPOILT and 1.0 - ours >= 2.0 * (1.0 - theirs)


def initial_r2(result: dict[str, Any]) -> float:
    """Mean R2 of the initial model; 0 where there is none."""
    return (result["comparison"].get("initial_model") or {}).get("mean_r2") or 0.0


def explained(result: dict[str, Any]) -> np.ndarray:
    """Share (n,) of the variance that noise above the motion's frequencies leaves explainable; NaN where nothing is."""
    r2, bound = r2_and_bound(result)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(bound > 0, np.minimum(r2 / bound, 1.0), np.nan)


def r2_and_bound(result: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """R2 of the held-out data, and what noise leaves of it, (n,); over the variance of the joint's effort in the
    training where that is more: an error is small or large beside what the joint does.
    """
    v = result["validation"]
    return _in_all(result, v["r2"]), _in_all(result, v["above_cutoff_bound_r2"])


def _in_all(result: dict[str, Any], r2: list[float | None]) -> np.ndarray:
    """R2 (n,) of the held-out data, over the larger variance of a joint's effort, there or in the training."""
    return np.asarray(1 - (1 - floats(r2)) / _times_more(result) ** 2)


def judged_r2(result: dict[str, Any], figures: dict[str, Any]) -> float:
    """Mean R2 of a model's `figures` on the held-out data (`metrics.mean_r2`), each by `_in_all`; NaN where nothing is
    known.
    """
    return float("nan") if figures["mean_r2"] is None else mean_r2(_in_all(result, figures["r2"]))


def _times_more(result: dict[str, Any]) -> np.ndarray:
    """How much more the effort of joints varies in the training than in the held-out data (n,), at least 1."""
    return np.fmax(floats(result["training"]["deviation"]) / floats(result["validation"]["deviation"]), 1.0)


def explainable(result: dict[str, Any]) -> float:
    """Mean R2, or where it is KNOWN the mean share of what noise leaves explainable, if that is more."""
    mean, shares = judged_r2(result, result["validation"]), explained(result)
    known = mean >= KNOWN and np.isfinite(shares).any()
    return max(mean, float(np.nanmean(shares))) if known else mean


def arm_matrix(result: dict[str, Any]) -> dict[str, Any]:
    """Error by what noise leaves explainable, friction by its deviation; masses at worst fair: many add little."""
    v, names = result["validation"], result["joint_names"]
    at = list(zip(at_speed(result, "torque"), at_speed(result, "std"), strict=True))
    loose = [_link(result["parameters"]["base"], j + 1) for j in range(len(names))]
    columns = {
        f"torque error {result['unit']}": [
            cell(rmse, level_of(share, *BOUNDS)) for rmse, share in zip(v["rmse"], explained(result), strict=True)
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


def floats(values: list[float | None]) -> np.ndarray:
    """Numbers (n,) of a report; NaN where there is none."""
    return np.array([np.nan if x is None else x for x in values], dtype=float)
