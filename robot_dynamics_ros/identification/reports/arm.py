"""The report of an identification: one HTML file that needs nothing else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.identification.arm.found import Identification
from robot_dynamics_ros.identification.arm.static_law import LAW
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.identification.reports import figures
from robot_dynamics_ros.identification.reports.baseline import baselines
from robot_dynamics_ros.identification.reports.verdict import verdict
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.pages import write_html

TEMPLATE = "identification_report.html.j2"


def write_report(found: Identification, result: dict[str, Any], path: Path) -> Path:
    """Write the report atomically. Raises CapabilityError without jinja2 or matplotlib, DataError when it
    cannot be written.
    """
    return write_html(TEMPLATE, path, result=result, verdict=verdict(result), pictures=pictures(found, result))


def pictures(found: Identification, result: dict[str, Any]) -> dict[str, str]:
    """Data URIs of all figures of the first validation recording, except box plots, which take all."""
    names, unit, motions = list(result["joint_names"]), result["unit"], [found.motion(r) for r in found.validation]
    m = motions[0]
    y, p = found.raw(m.effort), found.raw(found.headline.predict(m))
    load = found.headline.load(m)
    drawn = {
        "tracks": figures.tracks(m.t - m.t[0], y, p, names, unit),
        "velocity": figures.residual_over(m.qd, y - p, names, "velocity [rad/s]", unit),
        "load": figures.residual_over(load, y - p, names, "torque without friction [Nm]", unit),
        "spectrum": figures.spectrum(y, y - p, m.rate, names, unit, found.structure.cutoff),
        "boxes": figures.boxes(_residuals(found, motions), names, unit),
        "friction": _friction(found, m, load, names),
    }
    temperature = _temperature(found, m)
    if temperature is not None:
        drawn["temperature"] = figures.residual_over(temperature, y - p, names, "temperature [deg C]", unit)
    return drawn


def _residuals(found: Identification, motions: list[Motion]) -> dict[str, np.ndarray]:
    predictions = {"identified": found.headline.predict} | baselines(found)
    if found.written:
        predictions["robot_file"] = found.written.predict
    return {k: np.concatenate([found.raw(m.effort - f(m)) for m in motions]) for k, f in predictions.items()}


def _friction(found: Identification, m: Motion, load: np.ndarray, names: list[str]) -> str:
    inertial = np.column_stack([found.headline.coefficient(j, "ia") * m.qdd[:, j] for j in range(m.n)])
    live = np.zeros_like(m.qd)
    if found.written:
        live = FrictionModel(LAW, found.written.friction, m.n).torque(m.qd)
    curve = found.headline.friction_torque(m, load)
    return figures.friction_curves(m.qd, m.effort - load - inertial, curve, live, names, "Nm")


def _temperature(found: Identification, m: Motion) -> np.ndarray | None:
    rec = found.validation[0]
    if not all("temperature" in p.extra for p in rec.pieces):
        return None
    t, values = rec.stacked("t"), rec.stacked("temperature")
    return values[np.searchsorted(t, m.t).clip(0, len(t) - 1)]
