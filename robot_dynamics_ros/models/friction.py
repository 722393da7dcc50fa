"""Static friction maps: the named laws, their parameters with units and bounds, and a model of all joints of a robot.

Torque opposes motion and is positive for positive velocity. Every law is evaluated in the C++ core
(cpp_core/include/robot_dynamics/friction_static.hpp), live and offline alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import CapabilityError, ConfigError

INF = float("inf")


@dataclass(frozen=True)
class Parameter:
    """One parameter of a law: `role` is linear (torque is linear in it), nonlinear, thermal, or fixed (never fitted)."""

    name: str
    unit: str
    lower: float
    upper: float
    default: float
    role: str = "linear"


@dataclass(frozen=True)
class FrictionLaw:
    """A named law, its parameters in the order of the core, and where it comes from."""

    name: str
    source: str
    uses_load: bool
    uses_temperature: bool
    parameters: tuple[Parameter, ...]

    def names(self) -> list[str]:
        return [p.name for p in self.parameters]

    def index(self, name: str) -> int:
        return self.names().index(name)


def _viscous(name: str, power: int) -> Parameter:
    return Parameter(name, "Nm (s/rad)^" + str(power), -INF, INF, 0.0)


def _tail(offset: str = "fo", eps: str = "eps", width: float = 1e-3) -> tuple[Parameter, ...]:
    return (
        Parameter(offset, "Nm", -INF, INF, 0.0),
        Parameter(eps, "rad/s", 0.0, INF, width, "fixed"),
        Parameter("alpha", "1/K", -0.1, 0.1, 0.0, "thermal"),
        Parameter("beta", "1", 0.0, 10.0, 1.0, "fixed"),
        Parameter("gamma", "1/K", -0.1, 0.1, 0.0, "thermal"),
        Parameter("delta", "1", 0.0, 10.0, 1.0, "fixed"),
    )


def _coulomb(name: str) -> Parameter:
    return Parameter(name, "Nm", 0.0, INF, 0.0)


def _speed(name: str, default: float, lower: float = 1e-3, upper: float = 3.0) -> Parameter:
    return Parameter(name, "rad/s", lower, upper, default, "nonlinear")


LAWS: dict[str, FrictionLaw] = {
    law.name: law
    for law in (
        FrictionLaw("viscous_coulomb", "Liu2020, eq. 2", False, False, (_coulomb("fc"), _viscous("fv", 1), *_tail())),
        FrictionLaw(
            "liu",
            "Liu2020, eq. 3-4",
            False,
            False,
            (
                _coulomb("fc1"),
                _coulomb("fc2"),
                _viscous("fv1", 1),
                _viscous("fv2", 2),
                _viscous("fv3", 3),
                Parameter("even_quadratic", "0 or 1", 0.0, 1.0, 0.0, "fixed"),
                *_tail(width=0.01),
            ),
        ),
        FrictionLaw(
            "luo",
            "Luo2024, eq. 11",
            False,
            False,
            (_viscous("fv1", 1), _viscous("fv2", 2), _viscous("fv3", 3), _coulomb("fc"), *_tail("fb")),
        ),
        FrictionLaw(
            "luo_load",
            "Luo2024, eq. 8",
            True,
            False,
            (
                _viscous("fv1", 1),
                _viscous("fv2", 2),
                _viscous("fv3", 3),
                _coulomb("fc"),
                _speed("fc1", 0.05),
                _coulomb("fs"),
                _speed("fs1", 0.05),
                Parameter("ft", "1", -INF, INF, 0.0),
                Parameter("ft1", "Nm", -INF, INF, 0.0),
                Parameter("ft2", "rad/(s Nm)", 1e-4, 10.0, 0.01, "nonlinear"),
                Parameter("velocity_floor", "rad/s", 1e-6, INF, 0.01, "fixed"),
                *_tail("fb"),
            ),
        ),
        FrictionLaw(
            "clochiatti",
            "Clochiatti2024, eq. 11-18",
            True,
            False,
            (
                _viscous("kv", 1),
                _coulomb("tc_dir"),
                _coulomb("tc_rev"),
                Parameter("band", "W", 1e-9, INF, 0.05, "fixed"),
                *_tail(width=1e-5),  # 1e-3 rad/s on the motor side of a 100:1 gear
            ),
        ),
        FrictionLaw(
            "simoni",
            "Simoni2017, eq. 1-6, 11",
            False,
            True,
            (
                _coulomb("c0"),
                _viscous("c1", 1),
                _viscous("c2", 2),
                _viscous("c3", 3),
                Parameter("c4", "Nm", -INF, INF, 0.0),
                Parameter("h", "s/rad", 0.3, 1e3, 10.0, "nonlinear"),
                *_tail(eps="v_th"),
            ),
        ),
        FrictionLaw(
            "madsen",
            "Madsen2020, ch4 eq. 25, 27, 28",
            True,
            True,
            (
                _coulomb("fc"),
                _coulomb("fs"),
                _speed("vs", 0.05),
                Parameter("mu", "1", 0.2, 4.0, 1.0, "nonlinear"),
                _viscous("fv1", 1),
                _viscous("fv2", 2),
                _viscous("fv3", 3),
                Parameter("fl", "1/Nm", -INF, INF, 0.0),
                Parameter("ft2", "Nm (s/rad)^0.5 / K", -INF, INF, 0.0),
                Parameter("ft3", "Nm (s/rad)^0.5 K^3", -INF, INF, 0.0),
                *_tail(),
            ),
        ),
        FrictionLaw(
            "lugre",
            "Madsen2020, eq. 2.35-2.36 with Simoni2017, eq. 6",
            False,
            True,
            (
                _coulomb("fc"),
                _coulomb("fs"),
                _speed("vs", 0.05),
                _viscous("fv", 1),
                Parameter("s0", "Nm/rad", 1.0, 1e9, 1e4, "fixed"),
                Parameter("s1", "Nm s/rad", 0.0, 1e6, 0.0, "fixed"),
                *_tail(),
            ),
        ),
    )
}


def law_named(name: str) -> FrictionLaw:
    """The law called `name`; ConfigError lists the names there are."""
    if name not in LAWS:
        raise ConfigError("friction", "model", f"'{name}' is not one of {', '.join(LAWS)}")
    return LAWS[name]


def parameter_table(law: FrictionLaw, values: Mapping[str, Any], n: int) -> np.ndarray:
    """(n, P) parameters in the order of the core from a mapping name -> scalar or n numbers; absent names take defaults.

    Raises ConfigError for an unknown name, a wrong length, or a value outside the parameter's bounds (NaN included).
    """
    unknown = sorted(set(values) - set(law.names()))
    if unknown:
        raise ConfigError("friction", f"parameters.{unknown[0]}", f"{law.name} knows {', '.join(law.names())}")
    table = np.empty((n, len(law.parameters)))
    for k, p in enumerate(law.parameters):
        value = np.asarray(values.get(p.name, p.default), dtype=float)
        if value.shape not in ((), (n,)):
            raise ConfigError("friction", f"parameters.{p.name}", f"has shape {value.shape}, expected a scalar or {n}")
        if not np.all((p.lower <= value) & (value <= p.upper)):
            raise ConfigError("friction", f"parameters.{p.name}", f"{value} is outside [{p.lower:g}, {p.upper:g}]")
        table[:, k] = value
    return table


class FrictionModel:
    """Static friction of all joints: f(v, tau, T) [Nm] by one named law.

    v (N, n) or (n,) velocity [rad/s]; tau joint torque without friction [Nm]; T temperature [deg C]; absent load is 0,
    absent temperature is the reference. Temperatures are clamped to the identified range.
    """

    def __init__(
        self,
        law: str,
        parameters: Mapping[str, Any],
        n_joints: int,
        reference_temperature: float | Sequence[float] = 20.0,
        temperature_range: Sequence[float] | np.ndarray | None = None,
    ) -> None:
        self.law = law_named(law)
        self.n_joints = n_joints
        self.table = parameter_table(self.law, parameters, n_joints)
        self.reference = np.broadcast_to(np.asarray(reference_temperature, dtype=float), (n_joints,)).copy()
        limits = None
        if temperature_range is not None:
            limits = np.broadcast_to(np.asarray(temperature_range, dtype=float), (n_joints, 2)).copy()
        try:
            self.core = _core.FrictionMap(law, self.table, self.reference, limits)
        except ValueError as error:
            raise ConfigError("friction", "parameters", str(error)) from None

    @classmethod
    def from_robot(cls, robot: Any) -> FrictionModel:
        """The model in a robot file; CapabilityError when the file holds no friction parameters."""
        block = getattr(robot, "friction", None)
        if block is None or getattr(block, "model", None) is None:
            raise CapabilityError(f"{robot.name}: friction: not identified (run identify-joint --what friction)")
        reference = block.reference_temperature
        return cls(
            block.model,
            {k: v for k, v in block.parameters.items() if v is not None},
            robot.n_joints,
            20.0 if reference is None else reference,
            getattr(block, "temperature_range", None),
        )

    def parameters(self) -> dict[str, list[float]]:
        """The parameters as a robot file holds them: name -> n numbers."""
        return {p.name: self.table[:, k].tolist() for k, p in enumerate(self.law.parameters)}

    def torque(self, v: np.ndarray, load: np.ndarray | None = None, temperature: np.ndarray | None = None) -> np.ndarray:
        """Friction torque [Nm], same shape as v."""
        return self._batch(self.core.torque, v, load, temperature)

    def slope(self, v: np.ndarray, load: np.ndarray | None = None, temperature: np.ndarray | None = None) -> np.ndarray:
        """d friction / d v [Nm s], same shape as v; one-sided where the law has a corner."""
        return self._batch(self.core.slope, v, load, temperature)

    def _batch(self, call: Any, v: Any, load: Any, temperature: Any) -> np.ndarray:
        v = np.asarray(v, dtype=float)
        flat = np.ascontiguousarray(v.reshape(-1, self.n_joints))
        args = [
            None if x is None else np.ascontiguousarray(np.broadcast_to(np.asarray(x, float), v.shape)).reshape(flat.shape)
            for x in (load, temperature)
        ]
        return call(flat, *args).reshape(v.shape)
