"""A motion as every driver takes it and tells of it: rows of positions in, what became of them out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_dynamics_ros.errors import CapabilityError


@dataclass(frozen=True)
class Motion:
    """What became of the last request: idle, starting, moving, done, stopped or failed, with the reason."""

    state: str = "idle"
    reason: str = ""
    progress: float = 0.0  # 0..1 of a stream

    @property
    def active(self) -> bool:
        """True while the robot moves, or is about to, because of us."""
        return self.state in ("starting", "moving")


def position_rows(values: Any, n_joints: int, name: str) -> np.ndarray:
    """Positions (N, n_joints) [rad] as float64, N may be 0. Raises CapabilityError naming the argument: shape, NaN."""
    array = np.ascontiguousarray(np.atleast_2d(values), dtype=np.float64)
    if array.ndim != 2 or array.shape[1] != n_joints:
        raise CapabilityError(f"{name} has shape {array.shape}, expected (N, {n_joints})")
    if not np.isfinite(array).all():
        raise CapabilityError(f"{name} contains NaN or infinity")
    return array
