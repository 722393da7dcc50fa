"""Tables and pictures of an estimate against a force sensor."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from robot_dynamics_ros.cli.printed import console
from robot_dynamics_ros.estimators.reference import Comparison
from robot_dynamics_ros.estimators.replay import Replay
from robot_dynamics_ros.plots import plot_against_truth, plotting_available
from robot_dynamics_ros.signals import WRENCH_AXES

ROWS = (  # state of wrench_metrics -> word
    ("moving", "RMS moving"),
    ("rest", "RMS at rest"),
    ("contact", "RMS in contact"),
    ("contact_rest", "RMS in contact at rest"),
)


def show_comparison(c: Comparison) -> None:
    """Print estimate against sensor: errors, correlation, gain, bias per axis; coverage, detection, delay."""
    from rich.table import Table

    for note in c.notes:
        console.print(note)
    table = Table("estimate - sensor", *WRENCH_AXES)
    for state, word in ROWS:
        table.add_row(word, *map(_number, c.figures[f"axes_{state}"]))
    for word, values in (("correlation", c.correlation), ("gain", c.gain), ("bias", c.bias)):
        table.add_row(word, *map(_number, values))
    console.print(table)
    covered = ", ".join(
        f"{word.removeprefix('RMS ')} {_percent(c.figures[f'within_1_{state}'])} / "
        f"{_percent(c.figures[f'within_2_{state}'])}"
        for state, word in ROWS
    )
    console.print(f"within 1 / 2 standard deviations (68 / 95 %): {covered}")
    flagged = f"precision {_percent(c.precision)}, recall {_percent(c.recall)}"
    delay = "unknown" if np.isnan(c.delay) else f"{1e3 * c.delay:.0f} ms"
    false = f"false alarms {_percent(c.figures['false_share'])} of the free time"
    console.print(f"contact: {flagged}, {false}; delay {delay}")


def draw_comparison(result: Replay, path: Path, topic: str) -> list[Path]:
    """The picture of estimate and sensor; nothing, with a note of the replay, without matplotlib."""
    if plotting_available():
        return []
    title = f"{result.robot.name}: {topic}"
    return [plot_against_truth(result.log, result.log.measured_wrench, path, title, label="sensor")]


def _number(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.2f}"


def _percent(share: float) -> str:
    return "-" if np.isnan(share) else f"{100 * share:.3g} %"
