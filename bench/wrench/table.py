"""Tables of the scores: one of the wrench, one of what is noticed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bench.wrench.score import CLASSES, DURATIONS

Scores = dict[str, dict[str, dict[str, Any]]]  # method -> PLANT_KIND -> figures of score.py
NEWTON, SHARE = "{:.1f}".format, lambda x: f"{100 * x:.0f}"
STATES = {"moving": "moving", "rest": "at rest", "contact": "contact", "contact_rest": "contact at rest"}
WRENCH: dict[str, tuple[str, Callable[[float], str]]] = {
    **{f"force_{state}": (f"{words} [N]", NEWTON) for state, words in STATES.items()},
    **{f"within_2_{state}": (f"within 2 std, {words} [%]", SHARE) for state, words in STATES.items()},
}
PRESSES: dict[str, tuple[str, Callable[[float], str]]] = {
    "force_contact_rest": ("force [N]", "{:.2f}".format),
    "moment_contact_rest": ("moment [Nm]", "{:.2f}".format),
    "within_2_contact_rest": ("within 2 std [%]", SHARE),
}
ALARMS: dict[str, tuple[str, Callable[[float], str]]] = {
    "events": ("contacts", lambda x: f"{x:.0f}"),
    "missed": ("missed [%]", SHARE),
    "missed_10_20": ("10 to 20 N [%]", SHARE),
    "missed_20_50": ("20 to 50 N [%]", SHARE),
    "missed_50_100": ("50 to 100 N [%]", SHARE),
    "missed_goal": ("from 20 N and 12 ms [%]", SHARE),
    "delay_median": ("delay, median [ms]", lambda x: f"{1e3 * x:.0f}"),
    "delay_95": ("95 % [ms]", lambda x: f"{1e3 * x:.0f}"),
    "false": ("false alarms", lambda x: f"{x:.0f}"),
    "false_per_hour": ("per hour", "{:.2g}".format),
    "false_low": ("from (95 %)", "{:.2g}".format),
    "false_high": ("to (95 %)", "{:.2g}".format),
    "free_hours": ("free time [h]", lambda x: f"{x:.2f}"),
    "threshold": ("threshold [N]", lambda x: f"{x:.0f}"),
}


def tables(scores: Scores) -> dict[str, list[list[str]]]:
    """Rows of text by name; methods without flags of their own show the threshold that the rate asks for."""
    found = {"wrench": _table(scores, WRENCH, "pushes")}
    for kind in ("pushes", "collisions", "free"):
        found[f"alarms {kind}"] = _table(scores, ALARMS, kind)
    found["presses"] = _table(scores, PRESSES, "presses")
    found["missed by force and duration"] = _by_duration(scores)
    return {name: rows for name, rows in found.items() if len(rows) > 1}


def _by_duration(scores: Scores) -> list[list[str]]:
    """Missed share of our entries by peak and duration of the collisions, with their number."""
    heads = [f"{low} to {high} ms [%] (of)" for low, high in DURATIONS]
    rows = [["plant, entry, peak", *(head.replace("102", "100") for head in heads)]]
    for method in (m for m in scores if m.startswith("ours")):
        for group, found in scores[method].items():
            for low, high in CLASSES if group.endswith("collisions") else ():
                keys = [f"{low}_{high}_{short}" for short, _ in DURATIONS]
                cells = [f"{100 * found[f'missed_{key}']:.0f} ({found[f'events_{key}']:.0f})" for key in keys]
                name = f"{group.removesuffix('_collisions')}: {method.replace('_', ' ')}, {low} to {high} N"
                rows.append([name, *cells])
    return rows


def _table(scores: Scores, columns: dict[str, tuple[str, Callable[[float], str]]], kind: str) -> list[list[str]]:
    groups = sorted({group for found in scores.values() for group in found if group.endswith(kind)})
    known = {key for found in scores.values() for group in groups for key in found[group]}
    columns = {key: column for key, column in columns.items() if key in known}
    rows = [["plant, entry", *(words for words, _ in columns.values())]]
    for group in groups:
        for method, found in scores.items():
            figures = found[group]
            cells = [text(figures[key]) if key in figures else "" for key, (_, text) in columns.items()]
            rows.append([f"{group.removesuffix('_' + kind)}: {method.replace('_', ' ')}", *cells])
    return rows
