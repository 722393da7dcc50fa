"""Trends of all joints and quantities as numbers, sentences and one HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.health.conditions import at_equal_conditions, middle, slopes_of
from robot_dynamics_ros.health.measure import Measurement
from robot_dynamics_ros.health.trend import THRESHOLDS, Trend, trend_of
from robot_dynamics_ros.pages import write_html
from robot_dynamics_ros.plots import grid

QUANTITIES = {
    "coulomb": ("Coulomb level at equal load and temperature", "Nm"),
    "residual": ("RMS of what the model does not explain", "Nm"),
    "stiffness": ("transmission stiffness", "Nm/rad"),
    "thermal_time": ("thermal time constant", "s"),
    "thermal_resistance": ("warming per watt of friction", "K/W"),
    "temperature": ("median temperature while recorded", "°C"),
    "load": ("RMS of the model torque in motion", "Nm"),
}
CORRECTED = ("coulomb", "stiffness")


def trends(measured: Sequence[Measurement], joints: Sequence[str]) -> dict[str, list[Trend]]:
    """quantity -> trend of each joint, over recordings in order of time."""
    time = np.array([m.time for m in measured])
    found: dict[str, list[Trend]] = {}
    for quantity in QUANTITIES:
        columns = [corrected([measured], quantity, j)[0] for j in range(len(joints))]
        found[quantity] = [trend_of(values, time, quantity) for values in columns]
    return found


def corrected(robots: Sequence[Sequence[Measurement]], quantity: str, joint: int) -> list[np.ndarray]:
    """Values (N,) of a joint for each robot; those of CORRECTED at the median temperature and load of all."""
    values = [np.array([getattr(m, quantity)[joint] for m in measured]) for measured in robots]
    if quantity not in CORRECTED:
        return values
    conditions = [np.array([m.conditions[joint] for m in measured]) for measured in robots]
    slopes, reference = slopes_of(values, conditions), middle(conditions)
    return [at_equal_conditions(v, c, slopes, reference) for v, c in zip(values, conditions, strict=True)]


def date(seconds: float) -> str:
    """Day of a time stamp (UTC)."""
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%d")


def as_dict(
    robot: str, measured: Sequence[Measurement], found: dict[str, list[Trend]], joints: Sequence[str]
) -> dict[str, Any]:
    """Everything printed, for --json and the page."""
    days = [date(m.time) for m in measured]
    rows = {
        quantity: [
            {
                "joint": joint,
                "level": t.level,
                "values": [None if np.isnan(v) else v for v in t.values],
                "change_percent": None if np.isnan(t.change) else 100 * t.change,
                "slope_per_month": None if np.isnan(t.slope) else t.slope,
                "slope_interval": None if np.isnan(t.interval[0]) else list(t.interval),
                "significant": t.significant,
                "changes": [days[k] for k in t.changes],
            }
            for joint, t in zip(joints, per_joint, strict=True)
        ]
        for quantity, per_joint in found.items()
    }
    return {
        "robot": robot,
        "bags": [m.bag for m in measured],
        "dates": days,
        "thresholds": {name: {"warn": warn, "error": error} for name, (warn, error, _) in THRESHOLDS.items()},
        "quantities": rows,
        "sentences": sentences(rows),
    }


def sentences(rows: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Findings for a technician, worst first; one sentence when there are none."""
    found: list[tuple[int, str]] = []
    for quantity, per_joint in rows.items():
        title, unit = QUANTITIES[quantity]
        for row in per_joint:
            if row["level"] in ("warn", "error"):
                text = f"{row['level']}: {row['joint']}: {title} changed by {row['change_percent']:+.0f} %"
                found.append((2 if row["level"] == "error" else 1, text))
            if quantity in THRESHOLDS:
                found += [(0, f"{row['joint']}: {title} changed its level on {day}") for day in row["changes"]]
                if row["significant"] and not row["changes"]:  # a step is no drift
                    found.append(
                        (0, f"{row['joint']}: {title} drifts by {row['slope_per_month']:+.3g} {unit} per month")
                    )
    return [text for _, text in sorted(found, key=lambda item: -item[0])] or ["no notable change"]


def write_page(
    result: dict[str, Any], measured: Sequence[Measurement], found: dict[str, list[Trend]], path: Path
) -> Path:
    """One HTML file that needs no network.

    Raises CapabilityError without jinja2 or matplotlib, DataError when it cannot be written.
    """
    pictures = {q: _picture(q, measured, found[q], result) for q in found if _known(found[q])}
    return write_html("health_report.html.j2", path, result=result, pictures=pictures, titles=QUANTITIES)


def _known(per_joint: Sequence[Trend]) -> bool:
    return any(np.isfinite(t.values).any() for t in per_joint)


def _picture(quantity: str, measured: Sequence[Measurement], per_joint: Sequence[Trend], result: dict[str, Any]) -> str:
    joints = [row["joint"] for row in result["quantities"][quantity]]
    days = (np.array([m.time for m in measured]) - measured[0].time) / 86400.0

    def draw(axis: Any, j: int) -> None:
        t = per_joint[j]
        axis.plot(days, t.values, "o-", ms=3, lw=0.8)
        if quantity == "coulomb":
            std = np.array([m.coulomb_std[j] for m in measured])
            axis.fill_between(days, t.values - 2 * std, t.values + 2 * std, alpha=0.2)
        for k in t.changes:
            axis.axvline(days[k], color="red", lw=1.0, ls="--")

    return grid(len(joints), draw, joints, f"days since {result['dates'][0]}", QUANTITIES[quantity][1])
