"""One friction law on one joint's moving samples: which parameters are free, where they may lie, what they predict."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.joint.friction_data import REST, SPAN_LOAD, FrictionData, load_span
from robot_dynamics_ros.models.friction import FrictionLaw, FrictionModel

STRIBECK = ("luo_load", "simoni", "madsen", "lugre")  # laws with a Stribeck part, whose change with heat is gamma


class FrictionProblem:
    """One law on one joint's moving samples: free parameters, their box, predictions of the core.

    Raises DataError for a fixed parameter that the law does not have.
    """

    def __init__(self, law: FrictionLaw, data: FrictionData, T0: float, fixed: Mapping[str, float], heat: bool) -> None:
        self.law, self.data, self.T0 = law, data, T0
        unknown = sorted(set(fixed) - set(law.names))
        if unknown:
            raise DataError(f"{law.name} has no parameter {unknown[0]}; it has {', '.join(law.names)}")
        self.start = np.array([fixed.get(p.name, p.default) for p in law.parameters])
        no_load = set() if law.name != "madsen" or load_span(data) >= SPAN_LOAD else {"fl"}
        no_heat = set() if heat else {"alpha", "gamma", "ft2", "ft3"}
        held = set(fixed) | no_load | no_heat | (set() if law.name in STRIBECK else {"gamma"})
        roles = {"linear", "nonlinear", "thermal"}
        speed, force = np.abs(data.v), np.abs(data.torque)
        self.slowest, self.fastest = np.quantile(speed, [0.02, 0.98]).tolist() if len(data) else (REST, 1.0)
        self.largest = float(np.quantile(force, 0.999)) + 1e-9 if len(data) else 1.0
        self.free = [k for k, p in enumerate(law.parameters) if p.role in roles and p.name not in held]
        self.linear = [k for k in self.free if law.parameters[k].role == "linear"]
        self.search = [k for k in self.free if law.parameters[k].role == "nonlinear"]

    @property
    def names(self) -> list[str]:
        """Names of the free parameters."""
        return [self.law.parameters[k].name for k in self.free]

    def predict(self, p: np.ndarray, data: FrictionData | None = None) -> np.ndarray:
        """Friction (N,) [Nm] for all parameters p of the law, on the moving samples or on other data."""
        d = self.data if data is None else data
        model = FrictionModel(self.law.name, dict(zip(self.law.names, p, strict=True)), 1, self.T0)
        columns = [None if x is None else x[:, None] for x in (d.load, d.temperature)]
        return model.torque(d.v[:, None], *columns)[:, 0]

    def columns(self, p: np.ndarray, data: FrictionData) -> np.ndarray:
        """Design (N, L): torque of each linear parameter set to one, the nonlinear ones as in p."""
        zero = p.copy()
        zero[self.linear] = 0.0
        base = self.predict(zero, data)
        result = np.empty((len(data), len(self.linear)))
        for column, k in enumerate(self.linear):
            one = zero.copy()
            one[k] = 1.0
            result[:, column] = self.predict(one, data) - base
        return result

    def solve_linear(self, p: np.ndarray, data: FrictionData) -> tuple[np.ndarray, float]:
        """p with its linear parameters by reweighted least squares, and the robust cost."""
        A = self.columns(p, data)
        scale = np.linalg.norm(A, axis=0)
        scale[scale == 0] = 1.0
        w, x = np.ones(len(data)), np.zeros(A.shape[1])
        for _ in range(3):
            x = np.linalg.lstsq(A / scale * w[:, None], data.torque * w, rcond=1e-10)[0] / scale
            r = data.torque - A @ x
            spread = 1.4826 * np.median(np.abs(r)) + 1e-9
            w = (1 + (r / (2 * spread)) ** 2) ** -0.25  # soft L1
        out = p.copy()
        out[self.linear] = x
        return out, float(np.sum(np.sqrt(1 + (r / (2 * spread)) ** 2) - 1) * spread**2)

    def box(self, k: int) -> tuple[float, float]:
        """Where parameter k may lie: inside the law's bounds and what the data resolves.

        No Stribeck speed below the slowest sample or above a third of the fastest (there the polynomial rules), no
        torque beyond twice the largest, and the Coulomb level of every law is not negative.
        """
        p = self.law.parameters[k]
        low, high = (p.lower, p.upper) if p.role == "linear" else p.search
        if p.role == "nonlinear" and p.unit == "rad/s":
            low, high = max(low, self.slowest), min(high, self.fastest / 3)
        elif p.name == "h":
            low, high = max(low, 3 / self.fastest), min(high, 1 / self.slowest)
        elif p.name == "c0":
            low, high = 0.0, 2 * self.largest
        elif p.unit == "Nm" and p.role == "linear":
            low, high = max(low, -2 * self.largest), min(high, 2 * self.largest)
        return low, max(high, low * (1 + 1e-6) if low > 0 else high)

    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Lower and upper ends of the free parameters' boxes."""
        box = np.array([self.box(k) for k in self.free])
        return box[:, 0], box[:, 1]
