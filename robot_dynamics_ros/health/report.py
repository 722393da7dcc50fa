"""Trends of all joints and quantities at equal temperature and load, as numbers, sentences and one HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from robot_dynamics_ros.health.measure import Measurement, medians
from robot_dynamics_ros.health.trend import LEAST_SPAN, THRESHOLDS, Trend, trend_of
from robot_dynamics_ros.identification.metrics import robust_std
from robot_dynamics_ros.pages import write_html
from robot_dynamics_ros.plots import GREY, MODEL, ORANGE, RED, concise_dates, grid
from robot_dynamics_ros.signals.table import shown
from robot_dynamics_ros.verdict import change, matrix, verdict, word, worst

QUANTITIES = {
    "coulomb": ("Coulomb level at equal load and temperature", "Nm"),
    "residual": ("RMS of what the model does not explain", "Nm"),
    "viscous": ("viscosity at equal load and temperature", "Nm s/rad"),
    "stiffness": ("transmission stiffness", "Nm/rad"),
    "thermal_time": ("thermal time constant", "s"),
    "thermal_resistance": ("warming per watt of friction", "K/W"),
    "temperature": ("median temperature while recorded", "°C"),
    "load": ("RMS of the model torque in motion", "Nm"),
}
RANK = ("unknown", "ok", "warn", "error")
COLOURS = {"warn": ORANGE, "error": RED}  # of a joint's change points; others are grey
GRADES = {"ok": "good", "warn": "fair", "error": "bad"}  # level of a joint -> that of the verdict
LEAST_REACH = 0.1  # of the median that an axis shows at least on either side of it
CORRECTED = ("coulomb", "viscous", "stiffness")


def trends(measured: Sequence[Measurement], joints: Sequence[str]) -> dict[str, list[Trend]]:
    """quantity -> trend of each joint, over recordings in order of time."""
    time = np.array([m.time for m in measured])
    found: dict[str, list[Trend]] = {}
    for quantity in QUANTITIES:
        columns = [corrected([measured], quantity, j)[0] for j in range(len(joints))]
        std = (
            np.array([m.coulomb_std for m in measured]) if quantity == "coulomb" else np.zeros((len(time), len(joints)))
        )
        found[quantity] = [trend_of(values, time, quantity, std[:, j]) for j, values in enumerate(columns)]
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
    robot: str,
    measured: Sequence[Measurement],
    found: dict[str, list[Trend]],
    joints: Sequence[str],
    history: Sequence[str] = (),
    file: str = "",
) -> dict[str, Any]:
    """Everything printed, for the JSON and the page; history: sentences of `learn`; file: what the user calls the robot
    file, of which `robot` is the name.
    """
    days, span = [date(m.time) for m in measured], measured[-1].time - measured[0].time
    within = f"{span:.0f} s" if span < 600 else f"{span / 3600:.3g} h"
    short = f"{len(measured)} recordings within {within}: a trend needs {LEAST_SPAN / 86400:.0f} days"
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
                "pattern": t.pattern,
                "changes": [days[k] for k in t.changes],
            }
            for joint, t in zip(joints, per_joint, strict=True)
        ]
        for quantity, per_joint in found.items()
    }
    lines = [short] if span < LEAST_SPAN else sentences(rows)
    if by_file := [Path(m.bag).name for m in measured if m.by_file]:
        lines.append(f"stamps that are no dates, those of the files are taken: {shown(by_file)}")
    if carried := {Path(m.bag).name: m.payload for m in measured if m.payload}:
        lines.append(f"{shown(list(carried))}: {list(carried.values())[-1]}")
    return {
        "robot": robot,
        "bags": [m.bag for m in measured],
        "dates": days,
        "thresholds": {name: {"warn": warn, "error": error} for name, (warn, error, _) in THRESHOLDS.items()},
        "quantities": rows,
        "sentences": lines,
        "matrix": _matrix(rows, joints),
        **_judged(rows, joints, [*lines, *history], span, f"{word(measured[-1].bag)} --robot {word(file or robot)}"),
    }


def _judged(
    rows: dict[str, list[dict[str, Any]]], joints: Sequence[str], lines: Sequence[str], span: float, newest: str
) -> dict[str, Any]:
    """Verdict on the robot file: it describes the joints still (good), roughly, or not; fair without a trend."""
    if span < LEAST_SPAN:
        return verdict("fair", "no trend can be told.", *lines, then="robot-dynamics record --out another_day")
    watched = [per for quantity, per in rows.items() if quantity in THRESHOLDS]
    unseen = [j for k, j in enumerate(joints) if all(per[k]["level"] == "unknown" for per in watched)]
    if len(unseen) == len(joints):
        return verdict("fair", "no joint could be compared.", *lines, then="robot-dynamics record --out another_day")
    alarms = {j: worst(GRADES.get(per[k]["level"], "") for per in watched) for k, j in enumerate(joints)}
    level = worst(alarms.values())
    off = ", ".join(name for name, one in alarms.items() if one == level)
    if level == "good":
        but = f"; of {', '.join(unseen)} nothing can be compared" if unseen else ""
        return verdict(level, f"no joint changed{but}.", *lines, then="robot-dynamics record --out next_month")
    text = f"{off} changed: {'inspect it, then identify again' if level == 'bad' else 'record again soon'}."
    return verdict(level, text, *lines, then=f"robot-dynamics identify {newest} --out identified")


def _matrix(rows: dict[str, list[dict[str, Any]]], joints: Sequence[str]) -> dict[str, Any]:
    """Change of each watched quantity that some joint has."""
    shown = {q: per for q, per in rows.items() if q in THRESHOLDS and any(r["change_percent"] is not None for r in per)}
    return matrix(
        joints,
        {
            f"{QUANTITIES[q][0].partition(' at ')[0]}, change": [
                (change(r["change_percent"]), GRADES.get(r["level"], "unknown")) for r in per
            ]
            for q, per in shown.items()
        },
    )


def sentences(rows: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Findings for a technician, worst first; one sentence when there are none."""
    found: list[tuple[int, str]] = []
    for quantity, per_joint in rows.items():
        for row in per_joint:
            text = _sentence(quantity, row)
            if text:
                found.append((RANK.index(row["level"]), text))
    return [text for _, text in sorted(found, key=lambda item: -item[0])] or ["no notable change"]


def _sentence(quantity: str, row: dict[str, Any]) -> str:
    """What happened to a quantity of a joint: a step on a day, a drift, or a change that is neither; empty: nothing."""
    alarm, watched = row["level"] in ("warn", "error"), quantity in THRESHOLDS
    if not alarm and not (watched and row["pattern"] != "none"):
        return ""
    title, unit = QUANTITIES[quantity]
    size = f"{change(row['change_percent'])} from first to last"
    if row["pattern"] == "step":
        text = f"changed its level on {', '.join(row['changes'])} ({size})"
    elif row["pattern"] == "drift":
        text = f"drifted by {row['slope_per_month']:+.3g} {unit} per month ({size})"
    else:
        text = f"changed ({size})"
    return (f"{row['level']}: " if alarm else "") + f"{row['joint']}: {title} {text}"


def write_page(
    result: dict[str, Any], measured: Sequence[Measurement], found: dict[str, list[Trend]], path: Path
) -> Path:
    """One HTML file that needs no network.

    Raises CapabilityError without jinja2 or matplotlib, DataError when it cannot be written.
    """
    order = {q: sorted(range(len(found[q])), key=lambda j: -RANK.index(found[q][j].level)) for q in found}
    pictures = {q: _picture(q, measured, found[q], order[q], result) for q in found if _known(found[q])}
    return write_html("health_report.html.j2", path, result=result, pictures=pictures, titles=QUANTITIES, order=order)


def _known(per_joint: Sequence[Trend]) -> bool:
    return any(np.isfinite(t.values).any() for t in per_joint)


def _picture(
    quantity: str,
    measured: Sequence[Measurement],
    per_joint: Sequence[Trend],
    order: Sequence[int],
    result: dict[str, Any],
) -> str:
    """Values over dates, changed joints first; grey: within the warning of the oldest recordings."""
    joints = [row["joint"] for row in result["quantities"][quantity]]
    days = np.array([np.datetime64(round(m.time), "s") for m in measured])
    warn, _, sign = THRESHOLDS.get(quantity, (LEAST_REACH, 0.0, 0))

    def draw(axis: Any, place: int) -> None:
        j = order[place]
        t = per_joint[j]
        axis.plot(days, t.values, "o-", ms=3, lw=0.8, color=MODEL)
        if quantity == "coulomb":
            std = np.array([m.coulomb_std[j] for m in measured])
            axis.fill_between(days, t.values - 2 * std, t.values + 2 * std, alpha=0.2, color=MODEL)
        if quantity in THRESHOLDS and np.isfinite(t.old):
            axis.axhspan(t.old * (1 - warn), t.old * (1 + warn) if sign == 0 else 1e9, color=GREY, alpha=0.1, lw=0)
        for k in t.changes:
            axis.axvline(days[k], color=COLOURS.get(t.level, GREY), lw=1.0, ls="--")
        axis.set_ylim(*_reach(t.values, 1.3 * warn))
        if not np.ptp(days):
            axis.set_xlim(days[0] - np.timedelta64(1, "D"), days[0] + np.timedelta64(1, "D"))
        concise_dates(axis)

    return grid(len(joints), draw, [joints[j] for j in order], "", QUANTITIES[quantity][1])


def _reach(values: np.ndarray, share: float) -> tuple[float, float]:
    """Limits of an axis that hold all values and at least `share` on either side of their median."""
    known = values[np.isfinite(values)]
    if not len(known):
        return 0.0, 1.0
    usual = float(np.median(known))
    least = max(share * abs(usual), 1e-12)
    low, high = min(known.min(), usual - least), max(known.max(), usual + least)
    return float(low - 0.05 * (high - low)), float(high + 0.05 * (high - low))


MIN_DIFFERENCES = 6  # recordings, or differences of neighbours, for a statement about temperature or load
SPREAD = (5.0, 0.1)  # temperature [K] and load (share of its median) that must vary before anything is corrected


def slopes_of(values: Sequence[np.ndarray], conditions: Sequence[np.ndarray]) -> np.ndarray:
    """Change of a quantity per kelvin and per Nm of load (2,), from one or several robots.

    values: (N,) of each robot in order of time; conditions: (N, 2) temperature and load of each. Differences of
    neighbours, dy = s_T dT + s_L dL, so that slow wear is not taken for heat; their large ones count little, so that a
    step is not either. 0 where a condition does not vary enough, or with fewer than MIN_DIFFERENCES differences.
    """
    dy, dx = [np.zeros(0)], [np.zeros((0, 2))]
    for y, x in zip(values, conditions, strict=True):
        known = np.isfinite(y) & np.isfinite(x).all(axis=1)
        dy.append(np.diff(y[known]))
        dx.append(np.diff(x[known], axis=0))
    y, x = np.concatenate(dy), np.concatenate(dx)
    rows = np.concatenate([c[np.isfinite(c).all(axis=1)] for c in conditions])
    slopes = np.zeros(2)
    if len(y) < MIN_DIFFERENCES - 1 or len(rows) < MIN_DIFFERENCES:
        return slopes
    enough = np.array([SPREAD[0], SPREAD[1] * abs(float(np.median(rows[:, 1])))])
    use = (np.ptp(rows, axis=0) >= enough) & (np.ptp(x, axis=0) > 0)
    if use.any():
        slopes[use] = _robust(x[:, use], y)
    return slopes


def _robust(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    size = np.maximum(np.abs(x).max(axis=0), 1e-12)
    start, *_ = np.linalg.lstsq(x / size, y, rcond=None)
    noise = max(robust_std(y - x / size @ start), 1e-12)
    fit = least_squares(lambda s: (y - x / size @ s) / noise, start, loss="cauchy")
    return fit.x / size


def at_equal_conditions(
    values: np.ndarray, conditions: np.ndarray, slopes: np.ndarray, reference: np.ndarray
) -> np.ndarray:
    """Values (N,) as they would be at the reference temperature and load (2,); what is unknown stays as it is."""
    known = np.isfinite(conditions) & np.isfinite(reference)
    return values - np.where(known, conditions - reference, 0.0) @ slopes


def middle(conditions: Sequence[np.ndarray]) -> np.ndarray:
    """Median temperature and load (2,) over all recordings; NaN where unknown in all of them."""
    return medians(np.concatenate(list(conditions)))
