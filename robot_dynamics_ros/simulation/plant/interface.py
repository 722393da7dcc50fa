"""What a simulated robot needs of its plant: the core's (`_core.Plant`, elastic joints) or that of a `module:class`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from robot_dynamics_ros._core import Status

ELASTIC = "elastic"


class Plant(Protocol):
    """Machine and inner controller. Signals have the names and widths of `_core.Plant.output_widths()`."""

    def reset(self, q: np.ndarray) -> None: ...
    def set_temperatures(self, lubricant: np.ndarray, housing: np.ndarray) -> None: ...
    def set_ambient(self, celsius: float) -> None: ...
    def set_wrench(self, wrench: np.ndarray) -> None: ...
    def set_wall(
        self, point: Sequence[float], normal: Sequence[float], stiffness: float, damping: float, friction: float
    ) -> None: ...
    def clear_wall(self) -> None: ...
    def set_payload(self, mass: float, com: Sequence[float], inertia: Sequence[float]) -> None: ...
    def set_nominal_payload(self, mass: float, com: Sequence[float], inertia: Sequence[float]) -> None: ...
    def get(self, name: str) -> np.ndarray: ...
    def cycle_position(self, q_d: np.ndarray, qd_d: np.ndarray, qdd_d: np.ndarray, dt: float) -> Status: ...
    def cycle_torque(self, torque: np.ndarray, viscous_scale: Any, coulomb_scale: Any, dt: float) -> Status: ...
    def run(
        self,
        q_d: np.ndarray,
        qd_d: np.ndarray,
        qdd_d: np.ndarray,
        dt: float,
        out: Mapping[str, np.ndarray],
        wrench: np.ndarray | None,
        ambient: np.ndarray | None,
        keep: int,
    ) -> Any: ...
