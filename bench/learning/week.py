"""A week of one simulated robot in pictures: it works, learns every evening, and is judged on other motions."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from bench.force import zoo
from bench.force.recordings import trial
from bench.learning.study import force
from bench.learning.tasks import worked
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.identification.arm.state import Options
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.learning.observability import knowledge
from robot_dynamics_ros.learning.session import Session
from robot_dynamics_ros.learning.store import Store
from robot_dynamics_ros.outputs import replacing
from robot_dynamics_ros.plots import BLUE, GREEN, ORANGE, RED, figure, plotting_available, png_bytes
from robot_dynamics_ros.robot_file import load_robot

DAYS, A_DAY = 7, 2  # recordings a day
PAYLOAD, LOADED = 1.0, 4  # kg, on that day (0, 1, ..)
COLOURS = {"moving": BLUE, "rest": ORANGE, "contact": GREEN, "contact_rest": RED}


@dataclass
class Week:
    """Per evening 0 (before), 1 .. 7: force by state [N] and version; share of the prior deviation that is left of
    every base parameter (b,) from evening 1; what was held back on which day; the tasks.
    """

    force: list[dict[str, float]]
    left: list[np.ndarray] = field(default_factory=list)
    versions: list[int] = field(default_factory=list)
    held: list[tuple[int, str]] = field(default_factory=list)
    tasks: list[str] = field(default_factory=list)


def week(name: str, seed: int, progress: Callable[[str], None] = lambda text: None) -> Week:
    """Seven days of two tasks each; on one of them it carries a payload that its robot file does not contain.

    Raises CapabilityError without matplotlib, before anything is computed.
    """
    if missing := plotting_available():
        raise CapabilityError(missing)
    robot = load_robot(name)
    who = zoo.individuals(robot, 2, seed, zoo.families("tuning"))[1]
    trials = [trial(robot, who, "moves")]
    found = Week([force(robot, trials)], versions=[0])
    with tempfile.TemporaryDirectory() as directory:
        store = Store(Path(directory), robot)
        for day in range(DAYS):
            progress(f"day {day + 1}")
            session = Session.of(store, None, Options(effort="torque"))
            found.tasks.append(_work(session, robot, who, day))
            proposal = session.propose()
            if proposal.robot is not None:
                session.apply(proposal)
            found.held += [(day, line.removeprefix("held: ")) for line in session.lines if line.startswith("held")]
            present = store.present()
            found.versions.append(len(store.versions()))
            found.force.append(force(robot if present is None else present, trials))
            found.left.append(np.array([k.left for k in knowledge(session.prior, proposal.state)]))
    return found


def _work(session: Session, robot: Any, who: zoo.Individual, day: int) -> str:
    names = []
    for k in range(A_DAY * day, A_DAY * day + A_DAY):
        log, task = worked(robot, who, k, payload=PAYLOAD if day == LOADED else 0.0)
        names.append(task.name)
        session.add(recording(log, f"day {day + 1}, {task.name}"), hashlib.sha256(str(k).encode()).hexdigest())
    return " and ".join(names)


def draw(found: Week, path: Path) -> None:
    """Three panels over the evenings: force error, what is left open, versions and change points.

    Raises CapabilityError without matplotlib, OSError naming the path.
    """
    drawing, axes = figure(1, 3, 13, 3.6)
    left, middle, right = axes.flat
    evenings = np.arange(len(found.force))
    for state, colour in COLOURS.items():
        left.plot(evenings, [f[state] for f in found.force], "o-", color=colour, label=state.replace("_", " at "))
    left.set_ylabel("force RMS on other motions [N]")
    left.set_ylim(0)
    left.legend(fontsize=8)
    shares = np.array(found.left)
    middle.plot(evenings[1:], 100 * shares, color="0.75", lw=0.8)
    middle.plot(evenings[1:], 100 * np.median(shares, axis=1), "o-", color=BLUE, label="median")
    middle.set_ylabel("deviation of base parameters\nleft of the prior's [%]")
    middle.set_ylim(0, 105)
    middle.legend(fontsize=8)
    right.step(evenings, found.versions, where="post", color=BLUE)
    right.set_ylabel("version of the robot file")
    for k, (day, text) in enumerate(found.held):
        words = text.split(": held back, ")[-1].split(" (")[0]
        right.axvline(day + 1, color=RED, lw=1)
        right.text(day + 1.08 - 0.45 * (k % 2), 0.2, words, rotation=90, fontsize=7, va="bottom", color=RED)
    for axis in axes.flat:
        axis.set_xlabel("evening of day")
        axis.set_xticks(evenings)
    with replacing(path) as temporary:
        temporary.write_bytes(png_bytes(drawing))
