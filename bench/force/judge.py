"""One robot of the zoo: recorded, identified, replayed with pushes, and judged beside the baseline and the oracle."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from bench.force import baseline
from bench.force.recordings import SAME, TRIALS, Since, Trial, recorded, replayed, simulated, trial
from bench.force.zoo import Individual
from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.estimators.wrench_metrics import SETTLED, Series, figures
from robot_dynamics_ros.identification.arm.export import write_outputs
from robot_dynamics_ros.identification.arm.identify import identify_recordings
from robot_dynamics_ros.identification.arm.state import Options
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.robot_file import RobotFile, load_robot
from robot_dynamics_ros.signals import Log

T = TypeVar("T")

ORACLE_STD = 0.02  # share of the true friction that the oracle gives as deviation
METHODS = ("ours", "baseline", "oracle", "true_inertia")


@dataclass
class Verdict:
    """Figures of one robot by method and ours by trial, its laws, its recordings, processor seconds of each part, and
    the warnings of `identify`.
    """

    index: int
    laws: dict[str, str]
    recordings: list[str]
    figures: dict[str, dict[str, Any]] = field(default_factory=dict)
    trials: dict[str, dict[str, Any]] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    refused: str = ""
    warnings: list[str] = field(default_factory=list)


def each_robot(
    judged: Callable[[str, Individual, Path | None, Since], T],
    name: str,
    people: Sequence[Individual],
    work: Path | None,
    jobs: int,
    since: Since,
) -> Iterator[T]:
    """What `judged` finds, in the order of the robots, `jobs` at a time; figures do not depend on `jobs`."""
    arguments = [(name, who, work, since) for who in people]
    if jobs == 1:
        yield from (judged(*row) for row in arguments)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        yield from pool.map(judged, *zip(*arguments, strict=True))


def judge(name: str, who: Individual, work: Path | None, since: Since = SAME) -> Verdict:
    """Record, identify, replay what has changed `since`, judge a robot; files under `work` or a temporary one."""
    if work is None:
        with tempfile.TemporaryDirectory() as directory:
            return judge(name, who, Path(directory), since)
    robot, clock = since.robot(name), _Clock()
    taken = [recorded(robot, who, k) for k in range(who.bags)]
    trials = [trial(robot, who, kind, since) for kind in TRIALS]
    verdict = Verdict(who.index, who.laws, [kind for _, kind in taken])
    clock.lap("simulate")
    logs = [log for log, _ in taken]
    identified = identified_file(robot, logs, work / f"robot_{who.index}", verdict)
    clock.lap("identify")
    law = baseline.fit(identified, logs)
    found: dict[str, Series] = {}
    exact, true = _exact(robot, who, identified)
    clock.lap("baseline")
    for t in trials:
        estimates = _estimates(identified, exact, true, law, t)
        verdict.trials[t.name] = figures(estimates["ours"])
        for method, s in estimates.items():
            found[method] = found[method].joined(s) if method in found else s
    clock.lap("replay")
    verdict.figures = {method: figures(s) for method, s in found.items()}
    clock.lap("figures")
    verdict.seconds = clock.seconds
    return verdict


def identified_file(robot: RobotFile, logs: Sequence[Log], out: Path, verdict: Verdict) -> RobotFile:
    """The robot file that `identify` writes, read again. Where it refuses, the second try says what effort is, as the
    refusal advises; after another refusal the initial model is used.
    """
    for options in (Options(), Options(effort="torque")):
        taken = [recording(log, f"recording_{k}") for k, log in enumerate(logs)]
        try:
            found = identify_recordings(robot, taken, [], options)
            verdict.warnings = found.warnings
            return load_robot(write_outputs(found, out, [])["robot_file"])
        except RobotDynamicsError as error:
            verdict.refused = f"{verdict.refused}; then: {error}" if verdict.refused else str(error)
    return robot


def _exact(robot: RobotFile, who: Individual, identified: RobotFile) -> tuple[RobotFile, dict[str, np.ndarray]]:
    """Robot file with the individual's own masses and rotors and the residuals of the identified one, by which friction
    has the same deviation; all true numbers.
    """
    machine = simulated(robot, who, 0).machine  # with the true direction of gravity
    updates = {
        "links": {"source": "true", "parameters": machine.link_parameters},
        "drives.rotor_inertia": machine.true["drive.rotor_inertia"],
        "residuals": identified.residuals,
    }
    sources = {"true": "the simulated individual", **identified.sources}
    return machine.robot.with_updates(updates, sources), dict(machine.true)


def _estimates(
    identified: RobotFile, exact: RobotFile, true: dict[str, np.ndarray], law: baseline.Baseline, t: Trial
) -> dict[str, Series]:
    """Series of every method on one trial.

    The oracle's friction is scaled like the reported torque, whose gain is off; a torque sensor on the link sees
    friction of the link alone.
    """
    ours = replayed(identified, t.log)
    if identified.drives.torque_side == "link":
        gain, friction = true["sensing.torque_gain"], t.truth["link_friction_torque"]
    else:
        gain, friction = true["control.torque_constant"] / true["drive.torque_constant"], t.truth["friction_torque"]
    known = baseline.observed(identified, t.log, friction * gain, ORACLE_STD * np.abs(friction))
    scaled = Log(t.log.joint_names, t.log.stamp_ns, {**t.log.signals, "effort": t.log.effort / gain})
    best = baseline.observed(exact, scaled, friction, ORACLE_STD * np.abs(friction))
    plain = baseline.estimate(identified, t.log, law)
    logs = {"ours": ours, "oracle": known, "true_inertia": best}
    return {"baseline": series(t, *plain)} | {method: series_of(t, log) for method, log in logs.items()}


def series_of(t: Trial, log: Log) -> Series:
    """A trial with the estimates that its replayed log holds."""
    return series(t, log.external_wrench, log.external_wrench_std, log.contact[:, -1] > 0.5)


def series(t: Trial, wrench: np.ndarray, std: np.ndarray, flagged: np.ndarray) -> Series:
    """A trial with an estimated wrench and its deviation (N, 6), and a detection (N,); the settled rows."""
    late = t.log.time >= SETTLED
    columns = (t.log.time, wrench, std, t.truth["external_wrench"], t.moving, t.contact, flagged)
    return Series(*(values[late] for values in columns))


class _Clock:
    """Processor seconds of consecutive parts."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = time.process_time()

    def lap(self, name: str) -> None:
        """The part that ends here."""
        now = time.process_time()
        self.seconds[name], self._last = now - self._last, now
