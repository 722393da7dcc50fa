"""Parameters declared once: name, default, bounds, unit and text; stages, nodes and the command line read this."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from robot_dynamics_ros.errors import ConfigError


@dataclass(frozen=True)
class Parameter:
    """One parameter of a stage or node: a bool, int, float or str with bounds or choices."""

    name: str
    default: bool | int | float | str
    text: str
    unit: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    read_only: bool = False  # structural: needs configure() to change

    def checked(self, value: Any, owner: str = "parameters") -> Any:
        """The value in the parameter's type. Raises ConfigError naming parameter, value and bound; rejects NaN."""
        kind = type(self.default)
        if isinstance(value, bool) != (kind is bool) or not isinstance(value, (int, float) if kind is float else kind):
            raise ConfigError(owner, self.name, f"{value!r} is not a {kind.__name__}")
        if self.choices and value not in self.choices:
            raise ConfigError(owner, self.name, f"{value!r} is none of {', '.join(self.choices)}")
        low, high = self.low, self.high
        if isinstance(value, (int, float)) and kind is not bool:
            low = float("-inf") if low is None else low
            high = float("inf") if high is None else high
            if not low <= value <= high:
                raise ConfigError(owner, self.name, f"{value!r} is outside {low:g}..{high:g} {self.unit}".rstrip())
        return kind(value)


def resolve(
    declared: Iterable[Parameter], given: Mapping[str, Any] | None = None, owner: str = "parameters"
) -> dict[str, Any]:
    """All parameters with the given values over the defaults; an unknown name or bad value is refused.

    Raises ConfigError.
    """
    known = {p.name: p for p in declared}
    values = dict(given or {})
    for name in values:
        if name not in known:
            raise ConfigError(owner, name, f"unknown parameter; known: {', '.join(known) or 'none'}")
    return {name: p.checked(values[name], owner) if name in values else p.default for name, p in known.items()}
