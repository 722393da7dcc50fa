"""Static friction maps: the named laws, their parameters with units and bounds, and a model of all joints of a robot.

Torque opposes motion and is positive for positive velocity. Every law is evaluated in the C++ core
(cpp_core/include/robot_dynamics/friction/friction_static.hpp), live and offline alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import CapabilityError, ConfigError
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.robot_file.parameters import FRICTION

ENERGY_TOLERANCE = 1e-6  # Nm along the motion that count as rounding
FACTORS = ("alpha", "beta", "gamma", "delta")


@dataclass(frozen=True)
class FrictionParameter:
    """A parameter of a law: its role in fits, and the box the fit searches when torque is not linear in it."""

    name: str
    unit: str
    lower: float
    upper: float
    default: float = 0.0
    role: str = "linear"  # linear | nonlinear | thermal | fixed
    search: tuple[float, float] = (0.0, 0.0)


@dataclass(frozen=True)
class FrictionLaw:
    """A named law, its parameters in the order of the core, and where it comes from."""

    name: str
    source: str
    uses_load: bool
    parameters: tuple[FrictionParameter, ...]

    @property
    def names(self) -> list[str]:
        """Parameter names in the order of the core."""
        return [p.name for p in self.parameters]

    def of_role(self, *roles: str) -> list[int]:
        """Indices of the parameters with one of the roles."""
        return [k for k, p in enumerate(self.parameters) if p.role in roles]


def _fixed(default: float) -> dict[str, Any]:
    return {"role": "fixed", "default": default}


def _searched(default: float, lower: float, upper: float) -> dict[str, Any]:
    return {"role": "nonlinear", "default": default, "search": (lower, upper)}


_HEAT = {"role": "thermal", "default": 0.0, "search": (-0.05, 0.05)}
_COMMON: dict[str, dict[str, Any]] = {
    "eps": _fixed(1e-3),
    "v_th": _fixed(1e-3),
    "alpha": _HEAT,
    "beta": _fixed(1.0),
    "gamma": _HEAT,
    "delta": _fixed(1.0),
    "vs": _searched(0.05, 2e-3, 1.0),
    "mu": _searched(1.0, 0.3, 3.0),
    "h": _searched(10.0, 0.5, 500.0),
    "velocity_floor": _fixed(0.01),
    "band": _fixed(0.05),
}
# law -> (source, uses load, what differs from _COMMON)
_LAWS: dict[str, tuple[str, bool, dict[str, dict[str, Any]]]] = {
    "viscous_coulomb": ("Liu2020, eq. 2", False, {}),
    "liu": ("Liu2020, eq. 3-4", False, {"eps": _fixed(0.01)}),
    "luo": ("Luo2024, eq. 11", False, {}),
    "luo_load": (
        "Luo2024, eq. 8",
        True,
        {"fc1": _searched(0.05, 2e-3, 1.0), "fs1": _searched(0.05, 2e-3, 1.0), "ft2": _searched(0.01, 1e-4, 1.0)},
    ),
    # 1e-3 rad/s on the motor side of a 100:1 gear
    "clochiatti": ("Clochiatti2024, eq. 11-18", True, {"eps": _fixed(1e-5)}),
    "simoni": ("Simoni2017, eq. 1-6, 11", False, {}),
    "madsen": ("Madsen2020, ch4 eq. 25, 27, 28", True, {}),
}


def _law(name: str) -> FrictionLaw:
    source, uses_load, special = _LAWS[name]
    known = FRICTION[name]
    parameters = []
    for p in _core.friction_parameters(name):
        spec, role = known[p], _COMMON.get(p, {}) | special.get(p, {})
        parameters.append(FrictionParameter(p, spec.unit, spec.lower, spec.upper, **role))
    return FrictionLaw(name, source, uses_load, tuple(parameters))


LAWS: dict[str, FrictionLaw] = {name: _law(name) for name in _LAWS}


def law_named(name: str) -> FrictionLaw:
    """The law called `name`; ConfigError lists the names there are."""
    if name not in LAWS:
        raise ConfigError("friction", "model", f"'{name}' is not one of {', '.join(LAWS)}")
    return LAWS[name]


def parameter_table(law: FrictionLaw, values: Mapping[str, Any], n: int) -> np.ndarray:
    """(n, P) parameters in the order of the core from name -> scalar or n numbers; absent names take defaults.

    Raises ConfigError for an unknown name, a wrong length, or a value outside the parameter's bounds (NaN included).
    """
    unknown = sorted(set(values) - set(law.names) - {"t_min", "t_max"})
    if unknown:
        raise ConfigError(
            "friction", f"parameters.{unknown[0]}", f"is no parameter of {law.name}; known: {', '.join(law.names)}"
        )
    table = np.empty((n, len(law.parameters)))
    for k, p in enumerate(law.parameters):
        value = _per_joint(p.name, values.get(p.name, p.default), n)
        if not np.all((p.lower <= value) & (value <= p.upper)):
            raise ConfigError("friction", f"parameters.{p.name}", f"{value} is outside [{p.lower:g}, {p.upper:g}]")
        table[:, k] = value
    return table


def _per_joint(name: str, value: Any, n: int) -> np.ndarray:
    array = np.asarray(value, dtype=float)
    if array.shape not in ((), (1,), (n,)):
        raise ConfigError("friction", f"parameters.{name}", f"has shape {array.shape}, expected a scalar or {n}")
    return np.broadcast_to(array, (n,))


def created_energy(robot: RobotFile) -> dict[str, str]:
    """Joints of a robot file whose friction would create energy at a speed within limits.velocity, each with a text.

    Raises CapabilityError where the file holds no friction, ConfigError for values out of range.
    """
    least, speed = FrictionModel.from_robot(robot).least_dissipation(robot.array_or("limits.velocity", 1.0))
    text = "friction creates energy: {:.3g} Nm along the motion at {:.3g} rad/s; it must be >= 0"
    joints = zip(robot.joint_names, least, speed, strict=True)
    return {name: text.format(f, v) for name, f, v in joints if f < -ENERGY_TOLERANCE}


class FrictionModel:
    """Static friction of all joints: f(v, tau, T) [Nm] by one named law.

    v (N, n) or (n,) velocity [rad/s]; tau joint torque without friction [Nm]; T temperature [deg C]; absent load is 0,
    absent temperature is the reference. Temperatures are clamped to the identified range (t_min, t_max).
    Raises ConfigError for parameters that are out of range or of another length.
    """

    def __init__(
        self,
        law: str,
        parameters: Mapping[str, Any],
        n_joints: int,
        reference_temperature: float | Sequence[float] = 20.0,
    ) -> None:
        self.law = law_named(law)
        self.n_joints = n_joints
        self.table = parameter_table(self.law, parameters, n_joints)
        self.reference = np.array(np.broadcast_to(np.asarray(reference_temperature, dtype=float), (n_joints,)))
        self.limits: np.ndarray | None = None
        if {"t_min", "t_max"} & set(parameters):
            ends = [_per_joint(k, parameters.get(k, d), n_joints) for k, d in (("t_min", -60.0), ("t_max", 200.0))]
            self.limits = np.ascontiguousarray(np.transpose(ends))
        try:
            self.core = _core.FrictionMap(law, self.table, self.reference, self.limits)
        except ValueError as error:
            raise ConfigError("friction", "parameters", str(error)) from None

    @classmethod
    def none(cls, n_joints: int) -> FrictionModel:
        """No friction: the law under models with memory that hold all of it."""
        return cls("viscous_coulomb", {"fc": 0.0, "fv": 0.0}, n_joints)

    @classmethod
    def from_robot(cls, robot: RobotFile) -> FrictionModel:
        """The model in a robot file; factors of the thermal block apply where friction has none of its own, and
        not under a presliding law, whose change with temperature the force stage learns.

        Raises CapabilityError where the file holds no friction, ConfigError for values out of range.
        """
        block = robot.friction
        if block is None:
            raise CapabilityError(f"{robot.name}: friction is null in {robot.file}; identify it first")
        given = {k: robot.array(f"friction.parameters.{k}") for k in block.parameters}
        thermal = robot.heat_balance.parameters if robot.heat_balance is not None and robot.presliding is None else {}
        for name in FACTORS:
            if name in thermal and not set(FACTORS) & set(block.parameters):
                given[name] = robot.array(f"thermal.parameters.{name}")
        reference = block.reference_temperature
        return cls(block.model, given, robot.n_joints, 20.0 if reference is None else reference)

    def parameters(self) -> dict[str, list[float]]:
        """The parameters as a robot file holds them: name -> n numbers."""
        values = {p.name: self.table[:, k].tolist() for k, p in enumerate(self.law.parameters)}
        if self.limits is not None:
            values |= {"t_min": self.limits[:, 0].tolist(), "t_max": self.limits[:, 1].tolist()}
        return values

    def torque(
        self, v: np.ndarray, load: np.ndarray | None = None, temperature: np.ndarray | None = None
    ) -> np.ndarray:
        """Friction torque [Nm], same shape as v."""
        v = np.asarray(v, dtype=float)
        flat = np.ascontiguousarray(v.reshape(-1, self.n_joints))
        whole = [
            None if x is None else np.array(np.broadcast_to(np.asarray(x, float), v.shape)).reshape(flat.shape)
            for x in (load, temperature)
        ]
        return self.core.torque(flat, *whole).reshape(v.shape)

    def least_dissipation(self, speed: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Smallest friction opposing the motion (n,) [Nm] over speeds from 1 mrad/s to `speed` (n,) [rad/s], and where.

        (f(v) - f(-v)) / 2 without load, so that an offset does not count; below 0 a motion to and fro creates energy.
        At the reference temperature and the ends of the identified range.
        """
        v = np.geomspace(1e-3, np.broadcast_to(np.maximum(speed, 2e-3), self.n_joints), 200)
        rows = [self.reference] if self.limits is None else [self.reference, *self.limits.T]
        odd = np.array([0.5 * (self.torque(v, None, T) - self.torque(-v, None, T)) for T in rows]).min(axis=0)
        worst = odd.argmin(axis=0)
        joints = np.arange(self.n_joints)
        return odd[worst, joints], v[worst, joints]

    def coulomb_level(self) -> np.ndarray:
        """Coulomb friction F(0) of each joint (n,) [Nm]: without load, at the reference temperature."""
        return np.array([self.core.coulomb(i, 1.0, self.reference[i]) for i in range(self.n_joints)])
