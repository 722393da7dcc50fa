"""Robots of one type beside each other: who deviates from the fleet, at equal temperature and load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.health.measure import Measurement
from robot_dynamics_ros.health.report import COLOURS, QUANTITIES, corrected
from robot_dynamics_ros.health.trend import SEGMENT, THRESHOLDS, level_of
from robot_dynamics_ros.identification.metrics import robust_std
from robot_dynamics_ros.pages import write_html
from robot_dynamics_ros.plots import BLUE, GREY, grid
from robot_dynamics_ros.verdict import change, changed

MIN_ROBOTS = 3  # robots; two can differ, but not from a fleet
TEMPLATE = "health_fleet.html.j2"


def standings(robots: Mapping[str, Sequence[Measurement]], joints: Sequence[str]) -> list[dict[str, Any]]:
    """Newest value of every robot, joint and quantity against the median of the other robots.

    Newest: median of the last SEGMENT recordings. A robot deviates where it is off by the alarm's share and `changed`
    against the scatter of the others: from their median absolute deviation, at least what the median joint has as share
    of its value, since that of a few robots is small by chance; `unknown` with fewer than MIN_ROBOTS.
    """
    rows = []
    for quantity in THRESHOLDS:
        columns = (corrected(list(robots.values()), quantity, j) for j in range(len(joints)))
        newest = np.array([[_newest(values) for values in column] for column in columns])
        rows += [
            {"robot": name, "quantity": quantity, "joint": joint, **_standing(newest, j, k, quantity)}
            for j, joint in enumerate(joints)
            for k, name in enumerate(robots)
        ]
    return rows


def _newest(values: np.ndarray) -> float:
    known = values[np.isfinite(values)]
    return float(np.median(known[-SEGMENT:])) if len(known) else float("nan")


def _standing(newest: np.ndarray, j: int, k: int, quantity: str) -> dict[str, Any]:
    value = float(newest[j, k])
    known = [row[np.isfinite(row)] for row in np.delete(newest, k, axis=1)]
    if not np.isfinite(value) or len(known[j]) < MIN_ROBOTS - 1:
        return {
            "value": value if np.isfinite(value) else None,
            "fleet": None,
            "deviation_percent": None,
            "level": "unknown",
        }
    middle = float(np.median(known[j]))
    share = (value - middle) / max(abs(middle), 1e-12)
    usual = np.median([x.std(ddof=1) / max(abs(np.median(x)), 1e-12) for x in known if len(x) >= MIN_ROBOTS - 1])
    scatter = max(robust_std(known[j] - middle), float(usual) * abs(middle))
    level = level_of(share, quantity) if changed(value - middle, scatter, middle, 0.0) else "ok"
    return {"value": value, "fleet": middle, "deviation_percent": 100 * share, "level": level}


def fleet_sentences(rows: Sequence[dict[str, Any]]) -> list[str]:
    """Robots that deviate, worst first; one sentence when there are none."""
    if all(row["level"] == "unknown" for row in rows):
        return [f"a fleet needs {MIN_ROBOTS} robots with the same quantity"]
    off = [row for row in rows if row["level"] in ("warn", "error")]
    off.sort(key=lambda row: (row["level"] != "error", -abs(row["deviation_percent"])))
    return [
        f"{row['level']}: {row['robot']}: {row['joint']}: {QUANTITIES[row['quantity']][0]} "
        f"{change(row['deviation_percent'])} off the fleet"
        for row in off
    ] or ["no robot deviates from the fleet"]


def write_fleet_page(
    rows: Sequence[dict[str, Any]], robots: Mapping[str, str], joints: Sequence[str], path: Path
) -> Path:
    """One HTML page; robots: name -> file of its own page.

    Raises CapabilityError without jinja2 or matplotlib, DataError when it cannot be written.
    """
    tables = {
        quantity: {name: [r for r in rows if r["quantity"] == quantity and r["robot"] == name] for name in robots}
        for quantity in THRESHOLDS
        if any(r["value"] is not None for r in rows if r["quantity"] == quantity)
    }
    pictures = {quantity: _picture(quantity, table, joints) for quantity, table in tables.items()}
    return write_html(
        TEMPLATE,
        path,
        tables=tables,
        pictures=pictures,
        robots=robots,
        joints=joints,
        titles=QUANTITIES,
        thresholds=THRESHOLDS,
        sentences=fleet_sentences(rows),
    )


def _picture(quantity: str, table: Mapping[str, Sequence[dict[str, Any]]], joints: Sequence[str]) -> str:
    colours = {"ok": BLUE, "unknown": GREY, **COLOURS}

    def draw(axis: Any, j: int) -> None:
        for k, cells in enumerate(table.values()):
            if cells[j]["value"] is not None:
                axis.plot(k, cells[j]["value"], "o", color=colours[cells[j]["level"]])
            if cells[j]["fleet"] is not None:
                axis.plot([k - 0.3, k + 0.3], 2 * [cells[j]["fleet"]], color="0.6", lw=1)
        axis.set_xticks(range(len(table)), list(table), rotation=60, fontsize=7, parse_math=False)

    return grid(len(joints), draw, list(joints), "", QUANTITIES[quantity][1])
