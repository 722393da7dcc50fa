"""Several bags identified each on its own and compared: robots of a fleet, or one robot over months."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.errors import CapabilityError, DataError, RobotDynamicsError
from robot_dynamics_ros.identification.identify import Options, identify
from robot_dynamics_ros.identification.result import summarise
from robot_dynamics_ros.identification.robots import any_robot
from robot_dynamics_ros.identification.static_law import LAW
from robot_dynamics_ros.models.friction import FrictionModel

SPEED = 0.5  # rad/s, at which friction is compared
CLEAR = 4.0  # standard deviations from the median of all bags that count as a difference
SHARE = 0.1  # of the median friction that counts as a difference

Task = tuple[str, str, Options]


def identify_one(task: Task) -> dict[str, Any]:
    """One bag identified on its first 70 %, judged on the rest; `error` in one line where it cannot be."""
    robot, bag, options = task
    try:
        return {"bag": bag, **summarise(identify(any_robot(robot, None, [bag]), [bag], (), options))}
    except RobotDynamicsError as error:
        return {"bag": bag, "error": str(error)}


def identify_each(
    robot: str,
    bags: Sequence[str | Path],
    options: Options,
    processes: int = 2,
    dask: str | None = None,
    done: Callable[[int, int], None] = lambda count, total: None,
) -> list[dict[str, Any]]:
    """`identify_one` for every bag, in their order: in processes of this machine, or on the cluster at `dask`.

    The workers of a cluster read the bags under the same paths. Raises CapabilityError without the dask packages,
    DataError when the cluster does not answer.
    """
    tasks = [(robot, str(Path(bag).absolute()), options) for bag in bags]
    pool = _processes(min(processes, len(tasks))) if dask is None else _cluster(dask)
    with pool:
        futures = {pool.submit(identify_one, task): place for place, task in enumerate(tasks)}
        results: list[dict[str, Any]] = [{}] * len(tasks)
        for count, future in enumerate(as_completed(futures), 1):
            results[futures[future]] = future.result()
            done(count, len(tasks))
    return results


def _processes(count: int) -> Executor:
    return ProcessPoolExecutor(count, mp_context=multiprocessing.get_context("spawn"))


def _cluster(address: str) -> Executor:
    try:
        from distributed import Client
    except ImportError:
        raise CapabilityError("a cluster address needs dask: pip install dask[distributed]") from None
    try:
        return Client(address, timeout="10s").get_executor()
    except (OSError, ValueError, TimeoutError) as error:
        raise DataError(f"no cluster answers at {address}: {error}") from None


def compared(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What differs between identified bags: accuracy, friction at SPEED per joint, base parameters.

    A base parameter differs where it is CLEAR standard deviations off the median of all bags, friction where it is
    SHARE off it. Raises DataError with fewer than two identified bags, or bags of different joints.
    """
    good = [r for r in results if "error" not in r]
    if len(good) < 2:
        reasons = "; ".join(f"{r['bag']}: {r['error']}" for r in results if "error" in r)
        raise DataError(f"a comparison needs two identified bags, there are {len(good)}; {reasons}".rstrip("; "))
    joints = good[0]["joint_names"]
    if any(r["joint_names"] != joints for r in good):
        raise DataError("the bags are of robots with different joints")
    friction = np.array([friction_at(r, SPEED) for r in good])
    usual = np.median(friction, axis=0)
    return {
        "joint_names": joints,
        "bags": [r["bag"] for r in good],
        "mean_r2": [r["validation"]["mean_r2"] for r in good],
        "rmse": [r["validation"]["rmse"] for r in good],
        "friction_speed": SPEED,
        "friction": friction.tolist(),
        "friction_change": ((friction - usual) / np.where(usual != 0, np.abs(usual), np.nan)).tolist(),
        "differences": _differences(good, joints, friction, usual),
        "failed": {r["bag"]: r["error"] for r in results if "error" in r},
    }


def friction_at(result: dict[str, Any], speed: float) -> np.ndarray:
    """Unloaded friction (n,) [Nm] of the written law, mean of both directions."""
    n = len(result["joint_names"])
    parameters = {k: np.array(v, dtype=float) for k, v in result["parameters"]["live_friction"].items()}
    law = FrictionModel(LAW, parameters, n)
    v = np.full((1, n), speed)
    return 0.5 * (law.torque(v, np.zeros((1, n))) - law.torque(-v, np.zeros((1, n))))[0]


def _differences(
    good: Sequence[dict[str, Any]], joints: Sequence[str], friction: np.ndarray, usual: np.ndarray
) -> list[str]:
    """Sentences, the largest difference of each bag first."""
    said = []
    for r, f in zip(good, friction, strict=True):
        share = (f - usual) / np.where(usual != 0, np.abs(usual), np.nan)
        name = Path(r["bag"]).name
        for j in np.argsort(-np.abs(np.nan_to_num(share))):
            if abs(share[j]) > SHARE:
                said.append(f"{name}: friction of {joints[j]} at {SPEED} rad/s {100 * share[j]:+.0f} % off the median")
    bases = [r["parameters"]["base"] for r in good]
    if all(b["names"] == bases[0]["names"] for b in bases):
        values, std = (np.array([b[k] for b in bases], dtype=float) for k in ("values", "std"))
        z = (values - np.median(values, axis=0)) / np.maximum(np.sqrt(std**2 + np.median(std, axis=0) ** 2), 1e-12)
        for r, row, value in zip(good, z, values, strict=True):
            for k in np.flatnonzero(np.abs(row) > CLEAR):
                middle = np.median(values[:, k])
                said.append(
                    f"{Path(r['bag']).name}: {bases[0]['names'][k]} is {value[k]:.4g}, the median {middle:.4g} "
                    f"({row[k]:+.1f} standard deviations)"
                )
    return said
