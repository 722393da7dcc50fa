"""An hour of work from a cold start: one pipeline over 60 recordings of a robot that warms up, judged by its age."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from functools import reduce
from pathlib import Path

import numpy as np

from bench.force.judge import Verdict, identified_file, series_of
from bench.force.recordings import Since, home, recorded, simulated, touched
from bench.force.table import NAMES
from bench.force.zoo import Individual
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.estimators.wrench_metrics import STATES, Series, figures
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.simulation.robot import SimulatedRobot

ENDS = 5, 15, 30, 60  # minutes
MINUTE = 100  # random numbers of the first one
COOL = 10.0  # K between the lubricant of the recordings and the air (see `simulated`)
Row = dict[str, float]


def judge(name: str, who: Individual, work: Path | None, since: Since, ends: Sequence[int] = ENDS) -> list[Row]:
    """Figures of the minutes up to each of `ends`, and `kelvin`, the lubricant against the recordings at their end.

    The robot begins at the temperature of the air, `since.warmer` warmer or colder than where it was recorded. Files
    under `work` or a temporary directory.
    """
    robot = since.robot(name)
    logs = [recorded(robot, who, k)[0] for k in range(who.bags)]
    with tempfile.TemporaryDirectory() as directory:
        out = (work or Path(directory)) / f"robot_{who.index}"
        identified = identified_file(robot, logs, out, Verdict(who.index, who.laws, []))
    machine, pipeline, rows = cold(robot, who, since), Pipeline(identified), []
    for begin, end in zip((0, *ends), ends, strict=False):
        parts = []
        for minute in range(begin, end):
            trial = touched(robot, who, f"minute {minute}", MINUTE + minute, since.pushes, since, machine)
            pipeline.run(log := trial.log)
            parts.append(series_of(trial, log))
        kelvin = float(np.mean(trial.truth["lubricant_temperature"][-1]) - who.temperature)
        known = figures(reduce(Series.joined, parts)).items()
        rows.append({"kelvin": kelvin} | {k: float(v) for k, v in known if not isinstance(v, list)})
    return rows


def cold(robot: RobotFile, who: Individual, since: Since) -> SimulatedRobot:
    """The machine as cold as the air, COOL below the lubricant of the recordings and `since.warmer` warmer."""
    machine, air = simulated(robot, since.who(who), 30), who.temperature + since.warmer - COOL
    machine.reset(home(robot, who.draw(MINUTE)))
    machine.set_ambient(air)
    machine.set_temperatures(air)
    return machine


def cells(robots: Sequence[Sequence[Row]], ends: Sequence[int] = ENDS) -> list[list[str]]:
    """A row per stretch of the hour, a header first: medians over the robots; of the claimed time the worst, too."""
    head = ["minutes", "lubricant [K]", "claimed while free [% of time]", "worst robot", "10 N found [%]"]
    rows = [[*head, *(f"{NAMES[s]} [N]" for s in STATES)]]
    for k, (begin, end) in enumerate(zip((0, *ends), ends, strict=False)):
        of = {key: np.array([rows[k][key] for rows in robots]) for key in robots[0][k]}
        claimed = 100 * of["false_share"]
        texts = [f"{begin} to {end}", f"{np.median(of['kelvin']):+.0f}", f"{np.median(claimed):.2f}"]
        texts += [f"{claimed.max():.2f}", f"{100 * np.median(of['found_10']):.0f}"]
        rows.append([*texts, *(f"{np.median(of[f'force_{s}']):.1f}" for s in STATES)])
    return rows
