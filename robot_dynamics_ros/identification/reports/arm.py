"""The report of an identification: one self-contained HTML file."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.identification.arm.export import identified_robot
from robot_dynamics_ros.identification.arm.state import Identification
from robot_dynamics_ros.identification.arm.written_file import file_effort
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.identification.reports import figures
from robot_dynamics_ros.identification.reports.result import baselines
from robot_dynamics_ros.pages import write_html

Predict = Callable[[Motion], np.ndarray]
TEMPLATE = "identification_report.html.j2"


def write_report(found: Identification, result: dict[str, Any], path: Path) -> Path:
    """Write the report atomically. Raises CapabilityError without jinja2 or matplotlib, DataError when it
    cannot be written.
    """
    return write_html(TEMPLATE, path, result=result, pictures=pictures(found, result))


def pictures(found: Identification, result: dict[str, Any]) -> dict[str, str]:
    """Data URIs of all figures of the first validation recording, except box plots, which take all."""
    names, unit, motions = list(result["joint_names"]), result["unit"], [found.judged(r) for r in found.validation]
    m, predict = motions[0], _written(found)
    y, p = found.as_recorded(m.effort), found.as_recorded(predict(m))
    load = found.consistent.load(m)
    drawn = {
        "tracks": figures.tracks(m.t - m.t[0], y, p, names, unit),
        "velocity": figures.residual_over(m.qd, y - p, names, "velocity [rad/s]", unit),
        "load": figures.residual_over(load, y - p, names, "torque without friction [Nm]", unit),
        "spectrum": figures.spectrum(y, y - p, m.rate, names, unit, found.structure.cutoff),
        "boxes": figures.boxes(_residuals(found, motions, predict), names, unit),
        "friction": _friction(found, m, load, names),
    }
    temperature = _temperature(found, m)
    if temperature is not None:
        drawn["temperature"] = figures.residual_over(temperature, y - p, names, "temperature [deg C]", unit)
    return drawn


def _written(found: Identification) -> Predict:
    return file_effort(identified_robot(found), found.rigid.gravity, found.structure.filters)


def curves(found: Identification, unit: str) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Stamps (N,) [ns] of the first validation recording; title -> residual, measured effort, prediction (N, n)."""
    m = found.judged(found.validation[0])
    y, p = found.as_recorded(m.effort), found.as_recorded(_written(found)(m))
    stamps = found.validation[0].start_ns + np.round(1e9 * m.t).astype(np.int64)
    return stamps, {f"residual [{unit}]": y - p, f"measured effort [{unit}]": y, f"model [{unit}]": p}


def _residuals(found: Identification, motions: list[Motion], predict: Predict) -> dict[str, np.ndarray]:
    predictions = {"robot_file": predict, "identified": found.consistent.predict} | baselines(found)
    return {k: np.concatenate([found.as_recorded(m.effort - f(m)) for m in motions]) for k, f in predictions.items()}


def _friction(found: Identification, m: Motion, load: np.ndarray, names: list[str]) -> str:
    inertial = np.column_stack([found.consistent.coefficient(j, "ia") * m.qdd[:, j] for j in range(m.n)])
    live = found.live.friction_torque(m, np.zeros_like(load))
    curve = found.consistent.friction_torque(m, load)
    return figures.friction_curves(m.qd, m.effort - load - inertial, curve, live, names, "Nm")


def _temperature(found: Identification, m: Motion) -> np.ndarray | None:
    rec = found.validation[0]
    if not all("temperature" in p.extra for p in rec.pieces):
        return None
    t, values = rec.stacked("t"), rec.stacked("temperature")
    return values[np.searchsorted(t, m.t).clip(0, len(t) - 1)]
