"""Faults injected by command: they change what leaves the controller, or stop it, never what it computes."""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.simulation.ur.controller import Controller

Values = dict[str, tuple[Any, ...]]
# signals that stand still when values are frozen: measurements and targets, not modes, registers or the timestamp
FROZEN_PREFIXES = ("actual_", "target_", "joint_", "ft_raw")


class Faults:
    """State of the injected faults; filter() is applied to every cycle's outputs."""

    def __init__(self, controller: Controller, seed: int = 0) -> None:
        self._controller = controller
        self._random = np.random.default_rng([seed, 2])
        self._frozen: Values | None = None
        self._stalled_until = -1.0
        self.drop_next = 0
        self.drop_probability = 0.0
        self.duplicate_next = 0
        self.nan_fields: dict[str, int | None] = {}  # output name -> element, None for all of it

    @property
    def stalled(self) -> bool:
        """True while the server is silent: it neither reads nor writes, controller time goes on."""
        return self._controller.time < self._stalled_until

    def stall(self, seconds: float) -> None:
        """Be silent for a stretch of controller time."""
        self._stalled_until = self._controller.time + seconds

    def freeze(self, on: bool, values: Values) -> None:
        """Repeat the present measurements under fresh timestamps, or stop doing so."""
        frozen = {name: value for name, value in values.items() if name.startswith(FROZEN_PREFIXES)}
        self._frozen = frozen if on else None

    def filter(self, values: Values) -> tuple[Values, int]:
        """Outputs as they leave, and how many copies of the package are sent (0 drops it)."""
        if self.stalled or self._dropped():
            return values, 0
        if self._frozen is not None or self.nan_fields:
            values = values | (self._frozen or {})
            for name, element in self.nan_fields.items():
                values[name] = tuple(
                    float("nan") if element in (None, i) else value for i, value in enumerate(values[name])
                )
        if self.duplicate_next > 0:
            self.duplicate_next -= 1
            return values, 2
        return values, 1

    def _dropped(self) -> bool:
        if self.drop_next > 0:
            self.drop_next -= 1
            return True
        return self.drop_probability > 0 and self._random.random() < self.drop_probability
