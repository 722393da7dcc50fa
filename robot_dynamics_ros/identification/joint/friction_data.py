"""What a fit of a friction law takes and gives: measured friction of one joint, and the fitted law."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.models.friction import FrictionModel

REST = 0.01  # rad/s, below this a joint is at rest and friction is no function of velocity
SPAN_LOAD = 2.0  # Nm: least spread of the load that says something


@dataclass(frozen=True)
class FrictionData:
    """Measured friction of one joint: v (N,) [rad/s], torque (N,) [Nm]; load (N,) [Nm], temperature (N,) [deg C]."""

    v: np.ndarray
    torque: np.ndarray
    load: np.ndarray | None = None
    temperature: np.ndarray | None = None
    joint: str = "joint"

    def __post_init__(self) -> None:
        """Drop rows that are not finite; raises DataError for columns of different length."""
        columns = {k: getattr(self, k) for k in ("v", "torque", "load", "temperature") if getattr(self, k) is not None}
        arrays = {k: np.asarray(x, dtype=float).ravel() for k, x in columns.items()}
        lengths = {k: len(x) for k, x in arrays.items()}
        if len(set(lengths.values())) != 1:
            raise DataError(f"{self.joint}: columns differ in length: {lengths}")
        keep = np.all([np.isfinite(x) for x in arrays.values()], axis=0)
        for k, x in arrays.items():
            object.__setattr__(self, k, x[keep])

    def __len__(self) -> int:
        return len(self.v)

    def rows(self, mask: np.ndarray) -> FrictionData:
        """The rows of a mask or index array."""
        extra = [None if x is None else x[mask] for x in (self.load, self.temperature)]
        return FrictionData(self.v[mask], self.torque[mask], *extra, joint=self.joint)


@dataclass(frozen=True)
class FrictionFit:
    """A fitted law of one joint: parameters and standard deviations by name, errors in Nm, NRMSE in % [ch4 9]."""

    law: str
    joint: str
    parameters: dict[str, float]
    std: dict[str, float]
    reference_temperature: float
    temperature_range: tuple[float, float] | None
    samples: int
    rmse: float
    rmse_moving: float
    rmse_rest: float
    nrmse: float
    aic: float
    bic: float
    notes: tuple[str, ...] = field(default=())

    def model(self) -> FrictionModel:
        """The fitted law as a model of one joint."""
        limits = (
            {} if self.temperature_range is None else dict(zip(("t_min", "t_max"), self.temperature_range, strict=True))
        )
        return FrictionModel(self.law, self.parameters | limits, 1, self.reference_temperature)

    def torque(self, data: FrictionData) -> np.ndarray:
        """Friction (N,) [Nm] of the fitted law on other data."""
        columns = [None if x is None else x[:, None] for x in (data.load, data.temperature)]
        return self.model().torque(data.v[:, None], *columns)[:, 0]


def load_span(data: FrictionData) -> float:
    """Range of the load's size [Nm] without its outermost 2 % on either side; 0 where none was recorded."""
    return spread(None if data.load is None else np.abs(data.load))


def spread(x: np.ndarray | None) -> float:
    """Range of a signal (N,) without its outermost 2 % on either side; 0 for none."""
    return 0.0 if x is None or not len(x) else float(np.ptp(np.quantile(x, [0.02, 0.98])))
