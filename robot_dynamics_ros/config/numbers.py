"""Number types of the robot file: finite, ranged, NaN-proof, each with its unit in the schema."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, pi
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer
from pydantic_core import PydanticCustomError


def number(unit: str, lower: float = -inf, upper: float = inf, *, above: bool = False, infinite: bool = False) -> Any:
    """Type of one finite number in [lower, upper] (lower excluded if `above`); pydantic's bounds reject NaN."""
    bounds: dict[str, float] = {}
    if lower > -inf:
        bounds["gt" if above else "ge"] = lower
    if upper < inf:
        bounds["le"] = upper
    field = Field(strict=True, allow_inf_nan=infinite, json_schema_extra={"unit": unit}, **bounds)
    return Annotated[float, field, AfterValidator(_not_nan)] if infinite else Annotated[float, field]


def _not_nan(value: float) -> float:
    if value != value:
        raise PydanticCustomError("not_nan", "must be a number, .inf or -.inf")
    return value


@dataclass(frozen=True)
class PerJointMarker:
    """Marks a field whose length must be the number of joints (length 1: the same for every joint)."""


def _as_tuple(value: Any) -> Any:
    return (value,) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _as_scalar(value: Any) -> Any:
    return value[0] if isinstance(value, tuple) and len(value) == 1 else value


def per_joint(one: Any) -> Any:
    """Type of a list with one number (or null = unknown) per joint; a bare number means every joint; null: unknown."""
    return Annotated[
        tuple[one | None, ...] | None, BeforeValidator(_as_tuple), PlainSerializer(_as_scalar), PerJointMarker()
    ]


Angle = number("rad", -4 * pi, 4 * pi)
Length = number("m", -20.0, 20.0)
Acceleration3 = number("m/s2", -100.0, 100.0)
Mass = number("kg", 0.0, 2000.0)
Inertia = number("kg m2", -1e4, 1e4)
Torque = number("Nm", 0.0, 1e5, above=True)
Velocity = number("rad/s", 0.0, 100.0, above=True)
Rate = number("Hz", 0.0, 1e5, above=True)
Speed = number("m/s", 0.0, 50.0, above=True)
Distance = number("m", 0.0, 20.0, above=True)
Celsius = number("deg C", -60.0, 200.0)
Coupling = number("1", -1e3, 1e3)
LinkParameter = number("kg, kg m, kg m2", -1e5, 1e5)

Torques = per_joint(Torque)
TorqueRates = per_joint(number("Nm/s", 0.0, 1e7, above=True))
Velocities = per_joint(Velocity)
Accelerations = per_joint(number("rad/s2", 0.0, 1e4, above=True))
Positions = per_joint(number("rad", infinite=True))
TorqueConstants = per_joint(number("Nm/A", 0.0, 1e4, above=True))
GearRatios = per_joint(number("1", -1000.0, 1000.0))
RotorInertias = per_joint(number("kg m2", 0.0, 1e4))
MotorConstants = per_joint(number("Nm/sqrt(W)", 0.0, 100.0, above=True))
Ratios = per_joint(number("1", 0.0, 10.0, above=True))

Vector3 = tuple[Length, Length, Length]
Rotation3 = tuple[Angle, Angle, Angle]
Inertia6 = tuple[Inertia, Inertia, Inertia, Inertia, Inertia, Inertia]


def _as_sources(value: Any) -> Any:
    return {"*": value} if isinstance(value, str) else value


def _plain_source(value: dict[str, str]) -> Any:
    return value["*"] if set(value) == {"*"} else value


def _nested_tuple(value: Any) -> Any:
    if isinstance(value, list | tuple):
        return tuple(_nested_tuple(v) for v in value)
    return value


def _as_parameter(value: Any) -> Any:
    value = _nested_tuple(value)
    return value if isinstance(value, tuple) else (value,)


ParameterValues = Annotated[Any, BeforeValidator(_as_parameter), PlainSerializer(_as_scalar)]
Source = Annotated[dict[str, str], BeforeValidator(_as_sources), PlainSerializer(_plain_source)]
