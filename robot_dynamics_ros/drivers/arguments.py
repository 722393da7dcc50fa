"""Arguments of a driver's calls as plain numbers; what makes no sense is refused by name, unsent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from robot_dynamics_ros.errors import CapabilityError

Rows: TypeAlias = NDArray[np.float64]


def finite_numbers(values: ArrayLike, count: int, name: str, largest: float) -> list[float]:
    """values (m,), m = count: finite, at most `largest` in magnitude. Raises CapabilityError naming the argument."""
    array = np.asarray(values, dtype=float).ravel()
    if len(array) != count or not (np.abs(array) <= largest).all():
        raise CapabilityError(f"{name} needs {count} numbers of at most {largest:g}, not {array.tolist()}")
    return [float(x) for x in array]


def load_of(mass: float, com: ArrayLike, inertia: ArrayLike, heaviest: float) -> dict[str, Any]:
    """Numbers of Driver.set_payload() as a client takes them, com (3,), inertia (6,).

    Raises CapabilityError above `heaviest` [kg], 1 m and 10 kg m2.
    """
    if not 0.0 <= mass <= heaviest:
        raise CapabilityError(f"payload mass {mass} kg is outside 0..{heaviest:g}")
    centre, own = finite_numbers(com, 3, "com", 1.0), finite_numbers(inertia, 6, "inertia", 10.0)
    return {"mass": float(mass), "com": centre, "inertia": own}


def position_rows(values: ArrayLike | Sequence[Any], n_joints: int, name: str) -> Rows:
    """Positions (N, n) [rad], n = n_joints, as float64; N may be 0. Raises CapabilityError with `name`: shape, NaN."""
    array = np.ascontiguousarray(np.atleast_2d(values), dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != n_joints:
        raise CapabilityError(f"{name} has shape {array.shape}, expected (N, {n_joints})")
    if not np.isfinite(array).all():
        raise CapabilityError(f"{name} contains NaN or infinity")
    return array
