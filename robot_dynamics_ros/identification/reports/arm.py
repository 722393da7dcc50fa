"""The report of an identification: one self-contained HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.identification.arm.state import Identification
from robot_dynamics_ros.identification.arm.static_law import LAW
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.identification.reports import figures
from robot_dynamics_ros.identification.reports.result import baselines
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
    names, unit, motions = list(result["joint_names"]), result["unit"], [found.filtered(r) for r in found.validation]
    m = motions[0]
    y, p = found.as_recorded(m.effort), found.as_recorded(found.reported.predict(m))
    load = found.reported.load(m)
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
    predictions = {"identified": found.reported.predict} | baselines(found) | {"robot_file": found.live.predict}
    return {k: np.concatenate([found.as_recorded(m.effort - f(m)) for m in motions]) for k, f in predictions.items()}


def _friction(found: Identification, m: Motion, load: np.ndarray, names: list[str]) -> str:
    inertial = np.column_stack([found.reported.coefficient(j, "ia") * m.qdd[:, j] for j in range(m.n)])
    live = FrictionModel(LAW, found.live.friction, m.n).torque(m.qd)
    curve = found.reported.friction_torque(m, load)
    return figures.friction_curves(m.qd, m.effort - load - inertial, curve, live, names, "Nm")


def _temperature(found: Identification, m: Motion) -> np.ndarray | None:
    rec = found.validation[0]
    if not all("temperature" in p.extra for p in rec.pieces):
        return None
    t, values = rec.stacked("t"), rec.stacked("temperature")
    return values[np.searchsorted(t, m.t).clip(0, len(t) - 1)]


GRADES = ((0.97, "very good"), (0.93, "good"), (0.85, "fair"), (0.5, "poor"), (-np.inf, "not usable"))


def verdict(result: dict[str, Any]) -> list[str]:
    """Sentences for the top of the report, worst news included."""
    v = result["validation"]
    names = result["joint_names"]
    words = [_grade(v), *_against(result), *_joints(v, names), *_rest(v, names)]
    slow = [w for w in result["warnings"] if "slow reversals" in w]
    if slow:
        words.append("Next time add slow reversals (0.02 to 0.1 rad/s) of every joint.")
    if any("weak excitation" in w or "does not support" in w for w in result["warnings"]):
        words.append(
            "Some parameters rest on little data: record a faster, larger excitation of all joints together "
            "(20 s or more, five harmonics) before trusting the model away from these motions."
        )
    return words


def _grade(v: dict[str, Any]) -> str:
    mean = v["mean_r2"]
    if mean is None:
        return "Nothing could be validated: the effort does not vary."
    grade = next(word for bound, word in GRADES if mean >= bound)
    share = f"it explains {100 * mean:.1f} % of the measured effort's variance on data it has not seen"
    return f"The model is {grade}: {share} ({v['split']})."


def _against(result: dict[str, Any]) -> list[str]:
    ours = _floats(result["validation"]["rmse"])
    words = []
    for name, text in (
        ("constant_coulomb", "constant Coulomb friction"),
        ("catalogue", "initial model"),
    ):
        other = result["comparison"].get(name)
        if other:
            gain = 100 * (1 - np.nanmean(ours / _floats(other["rmse"])))
            words.append(f"Its error is {abs(gain):.0f} % {'lower' if gain >= 0 else 'HIGHER'} than with {text}.")
    return words


def _joints(v: dict[str, Any], names: list[str]) -> list[str]:
    r2 = _floats(v["r2"])
    bound = _floats(v["above_cutoff_bound_r2"])
    words = []
    if np.isfinite(r2).any():
        worst = int(np.nanargmin(r2))
        noise = 1 - bound[worst]
        share = noise / max(1 - r2[worst], 1e-12)
        words.append(
            f"Weakest is {names[worst]} (R2 {r2[worst]:.3f}); {100 * min(share, 1):.0f} % of what is missing there "
            f"is above "
            "the motion's frequencies (noise, ripple), which no model of the state can follow."
        )
    bad = [n for n, x in zip(names, r2, strict=True) if x < 0.5]
    if bad:
        words.append(f"Do not use the model for {', '.join(bad)}: it predicts little more than the mean.")
    return words


def _rest(v: dict[str, Any], names: list[str]) -> list[str]:
    moving, rest = _floats(v["moving"]["rmse"]), _floats(v["at_rest"]["rmse"])
    samples = np.array(v["at_rest"]["samples"])
    odd = [n for n, m, r, k in zip(names, moving, rest, samples, strict=True) if k > 100 and r > 2 * m]
    if not odd:
        return []
    return [
        f"At rest the error of {', '.join(odd)} is more than twice that of motion: stiction holds them within its band."
    ]


def _floats(values: list[float | None]) -> np.ndarray:
    return np.array([np.nan if x is None else x for x in values], dtype=float)
