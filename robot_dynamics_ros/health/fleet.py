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
    against the scatter of the others (from their median absolute deviation); `unknown` with fewer than MIN_ROBOTS.
    """
    rows = []
    for quantity in THRESHOLDS:
        for j, joint in enumerate(joints):
            newest = np.array([_newest(v) for v in corrected(list(robots.values()), quantity, j)])
            rows += [
                {"robot": name, "quantity": quantity, "joint": joint, **_standing(newest, k, quantity)}
                for k, name in enumerate(robots)
            ]
    return rows


def _newest(values: np.ndarray) -> float:
    known = values[np.isfinite(values)]
    return float(np.median(known[-SEGMENT:])) if len(known) else float("nan")


def _standing(newest: np.ndarray, k: int, quantity: str) -> dict[str, Any]:
    others = np.delete(newest, k)
    others = others[np.isfinite(others)]
    if not np.isfinite(newest[k]) or len(others) < MIN_ROBOTS - 1:
        value = float(newest[k]) if np.isfinite(newest[k]) else None
        return {"value": value, "fleet": None, "deviation_percent": None, "level": "unknown"}
    middle = float(np.median(others))
    share = (newest[k] - middle) / max(abs(middle), 1e-12)
    scatter = robust_std(others - middle)
    clear = changed(newest[k] - middle, scatter, middle, 0.0)
    level = level_of(share, quantity) if clear else "ok"
    return {"value": float(newest[k]), "fleet": middle, "deviation_percent": 100 * share, "level": level}


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
