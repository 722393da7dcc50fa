"""The report of an identification: one self-contained HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.identification.arm.friction_differences import APART
from robot_dynamics_ros.identification.arm.state import Identification
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.identification.reports import figures
from robot_dynamics_ros.pages import write_html

TEMPLATE = "identification_report.html.j2"


def write_report(found: Identification, result: dict[str, Any], path: Path) -> Path:
    """Write the report of what `summarise` has judged, atomically. Raises CapabilityError without jinja2 or matplotlib,
    DataError when it cannot be written.
    """
    return write_html(TEMPLATE, path, result=result, pictures=pictures(found, result))


def pictures(found: Identification, result: dict[str, Any]) -> dict[str, str]:
    """SVG of all figures of the first validation recording."""
    names, unit = list(result["joint_names"]), result["unit"]
    m, torque = found.judged[0], found.predicted[0]
    y, p = found.as_recorded(m.effort), found.as_recorded(torque)
    load = found.consistent.load(m)
    rigid = load + np.array([found.consistent.coefficient(j, "ia") for j in range(m.n)]) * m.qdd
    drawn = {
        "tracks": figures.tracks(m.t - m.t[0], y, p, names, unit),
        "load": figures.residual_over(load, y - p, names, "torque without friction [Nm]", unit),
        "spectrum": figures.spectrum(y, y - p, m.rate, names, unit, found.structure.cutoff),
        "friction": figures.friction_curves(m.qd, m.effort - rigid, torque - rigid, names),
    }
    temperature = _temperature(found, m)
    if temperature is not None:
        drawn["temperature"] = figures.residual_over(temperature, y - p, names, "temperature [deg C]", unit)
    return drawn


def _temperature(found: Identification, m: Motion) -> np.ndarray | None:
    """Temperature (N, n) [deg C] of a motion; None where it was not recorded or stayed within APART."""
    rec = found.validation[0]
    if not all("temperature" in p.extra for p in rec.pieces):
        return None
    t, values = rec.stacked("time"), rec.stacked("temperature")
    if not (np.nanmax(values, axis=0) - np.nanmin(values, axis=0) >= APART).any():
        return None
    return values[np.searchsorted(t, m.t).clip(0, len(t) - 1)]
