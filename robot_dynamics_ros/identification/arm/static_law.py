"""The static friction law of a joint as nodes evaluate it, where a recording cannot show presliding friction.

f = fv1 v + fc step(v / eps) + fb, a case of Luo2024's load and velocity law [Luo2024 8].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.identification.arm.model import EffortFilter
from robot_dynamics_ros.models.friction import FrictionModel

LAW = "luo_load"
LINEAR = ("fv1", "fv2", "fv3", "fc", "fs", "ft", "fb")
COULOMB_RISE = 2e-3  # rad/s, fc1: the Coulomb level is reached at once, eps alone smooths the reversal
EPS_GRID = (0.002, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16)
STRIBECK_VELOCITY = 0.1  # rad/s, of a law without Stribeck friction


@dataclass(frozen=True)
class FrictionSamples:
    """What the rigid body leaves of one joint's effort: y (N,) friction [Nm] against velocity v (N,) [rad/s], torque
    without friction `load` (N,) [Nm] and measured position (N,) [rad].

    weight (N,): robust weights. start (N,) bool: first sample of each piece. folds: fold numbers (N,) of one or more
    partitions. effort_filter: the low-pass that the recorded effort has passed. rate: samples per second [Hz]. t (N,):
    stamps [s] within each piece. rotor (N,): position of the rotor from the reported velocity [rad], None where there
    is none.
    """

    y: np.ndarray
    v: np.ndarray
    load: np.ndarray
    position: np.ndarray
    weight: np.ndarray
    start: np.ndarray
    folds: Sequence[np.ndarray]
    effort_filter: EffortFilter | None
    rate: float
    t: np.ndarray
    rotor: np.ndarray | None = None

    def as_recorded(self, x: np.ndarray) -> np.ndarray:
        """Columns (N, k) as the recorded effort shows them: through the same low-pass."""
        return x if self.effort_filter is None else self.effort_filter.apply(x, self.rate, self.start)


def unit_column(name: str, eps: float, vs: float, v: np.ndarray, load: np.ndarray) -> np.ndarray:
    """Torque (N,) of the law with one linear parameter at one and the others at zero; vs: Stribeck velocity [rad/s]."""
    values = {
        "fc1": COULOMB_RISE,
        "fs1": vs,
        "eps": eps,
        "ft2": 1e-4,
        "velocity_floor": 0.01,
        "fc": 0.0,
        "fv1": 0.0,
        name: 1.0,
    }
    return FrictionModel(LAW, values, 1).torque(v[:, None], load[:, None])[:, 0]


def friction_table(laws: Sequence[dict[str, float]]) -> dict[str, list[float]]:
    """name -> one number per joint, as a robot file holds them; absent terms are 0."""
    names = (*LINEAR, "eps", "fs1", "fc1")
    return {name: [float(law.get(name, 0.0)) for law in laws] for name in names}
