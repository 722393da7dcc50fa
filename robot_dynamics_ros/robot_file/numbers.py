"""Number types of the robot file: finite, ranged, NaN-proof, each with its unit in the schema."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, pi
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer
from pydantic_core import PydanticCustomError

LONGEST_DELAY = 0.05  # s


def bounded(unit: str, lower: float = -inf, upper: float = inf, *, above: bool = False) -> Any:
    """One finite number in [lower, upper] (lower excluded if `above`); pydantic's bounds reject NaN."""
    bounds: dict[str, Any] = {}
    if lower > -inf:
        bounds["gt" if above else "ge"] = lower
    if upper < inf:
        bounds["le"] = upper
    return Field(strict=True, allow_inf_nan=False, json_schema_extra={"unit": unit}, **bounds)


def _not_nan(value: float) -> float:
    if value != value:
        raise PydanticCustomError("not_nan", "must be a number, .inf or -.inf")
    return value


def _not_small(value: float) -> float:
    if abs(value) < 1e-3:
        raise PydanticCustomError("too_small", "must be <= -0.001 or >= 0.001")
    return value


def _as_tuple(value: Any) -> Any:
    return (value,) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _as_scalar(value: Any) -> Any:
    return value[0] if isinstance(value, tuple) and len(value) == 1 else value


@dataclass(frozen=True)
class PerJointMarker:
    """Marks a list with one number (or null: unknown) per joint; a bare number means every joint."""


T = TypeVar("T")
PerJoint = Annotated[
    tuple[T | None, ...] | None, BeforeValidator(_as_tuple), PlainSerializer(_as_scalar), PerJointMarker()
]

Angle = Annotated[float, bounded("rad", -4 * pi, 4 * pi)]
Delay = Annotated[float, bounded("s", -LONGEST_DELAY, LONGEST_DELAY)]
DelayStd = Annotated[float, bounded("s", 0.0, LONGEST_DELAY)]
Length = Annotated[float, bounded("m", -20.0, 20.0)]
Acceleration3 = Annotated[float, bounded("m/s2", -100.0, 100.0)]
LARGEST_VELOCITY, LARGEST_TORQUE = 100.0, 1e5  # rad/s, Nm, of a joint

Mass = Annotated[float, bounded("kg", 0.0, 2000.0)]
Deviations = Annotated[float, bounded("1", 0.0, 1000.0)]
Inertia = Annotated[float, bounded("kg m2", -1e4, 1e4)]
RotorInertia = Annotated[float, bounded("kg m2", 0.0, 1e4)]
Cutoff = Annotated[float, bounded("rad/s", 1.0, 1e5)]
Bandwidth = Annotated[float, bounded("rad/s", 0.0, 1000.0)]
Rate = Annotated[float, bounded("Hz", 1.0, 8000.0)]  # what drivers, torque loop and guard can step
Speed = Annotated[float, bounded("m/s", 0.0, 50.0, above=True)]
Distance = Annotated[float, bounded("m", 0.0, 20.0, above=True)]
Celsius = Annotated[float, bounded("deg C", -60.0, 200.0)]
Moment = Annotated[float, bounded("Nm", 0.0, 1e6)]
Coupling = Annotated[float, bounded("1", -1e3, 1e3)]
LinkParameter = Annotated[float, bounded("kg, kg m, kg m2", -1e5, 1e5)]

Positions = PerJoint[
    Annotated[
        float, Field(strict=True, allow_inf_nan=True, json_schema_extra={"unit": "rad"}), AfterValidator(_not_nan)
    ]
]
SignedInertias = PerJoint[Inertia]
Torques = PerJoint[Annotated[float, bounded("Nm", 1e-3, LARGEST_TORQUE)]]
TorqueRates = PerJoint[Annotated[float, bounded("Nm/s", 1e-3, 1e7)]]
Velocities = PerJoint[Annotated[float, bounded("rad/s", 1e-3, LARGEST_VELOCITY)]]
Accelerations = PerJoint[Annotated[float, bounded("rad/s2", 1e-3, 1e4)]]
TorqueConstants = PerJoint[Annotated[float, bounded("Nm/A", 1e-6, 1e4)]]
GearRatios = PerJoint[Annotated[float, bounded("1", -1000.0, 1000.0), AfterValidator(_not_small)]]
RotorInertias = PerJoint[RotorInertia]
MotorConstants = PerJoint[Annotated[float, bounded("Nm/sqrt(W)", 1e-4, 100.0)]]
VelocityGains = PerJoint[Annotated[float, bounded("1", 0.1, 10.0)]]
VelocityBiases = PerJoint[Annotated[float, bounded("rad/s", -10.0, 10.0)]]
GainStds = PerJoint[Annotated[float, bounded("1", 0.0, 10.0)]]
Ratios = PerJoint[Annotated[float, bounded("1", 0.1, 10.0)]]

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


def _plain_parameter(value: Any) -> Any:
    """The list of a single joint stays a list of lists."""
    return value if value and isinstance(value[0], tuple) else _as_scalar(value)


ParameterValue = Annotated[
    Any, BeforeValidator(lambda value: (_nested_tuple(value),)), PlainSerializer(lambda value: value[0])
]
ParameterValues = Annotated[Any, BeforeValidator(_as_parameter), PlainSerializer(_plain_parameter)]
Source = Annotated[dict[str, str], BeforeValidator(_as_sources), PlainSerializer(_plain_source)]
