"""Individuals that work, learn, and are judged: alone, with what their fleet knows, and by a dedicated motion."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import numpy as np

from bench.force.judge import series_of
from bench.force.recordings import TRIALS, Trial, recorded, replayed, trial
from bench.force.zoo import Individual
from bench.learning.tasks import quick, task_of, worked
from robot_dynamics_ros.errors import DataError, RobotDynamicsError
from robot_dynamics_ros.estimators.wrench_metrics import STATES, Series, figures
from robot_dynamics_ros.identification.arm.export import identified_robot
from robot_dynamics_ros.identification.arm.identify import identify_recordings
from robot_dynamics_ros.identification.arm.state import Options
from robot_dynamics_ros.identification.dataset.recording import Recording, recording
from robot_dynamics_ros.learning.changes import change_since
from robot_dynamics_ros.learning.columns import Columns
from robot_dynamics_ros.learning.fleet import evidence_of, fleet_prior
from robot_dynamics_ros.learning.intake import learn_recording
from robot_dynamics_ros.learning.running import Running
from robot_dynamics_ros.learning.triangles import Triangle
from robot_dynamics_ros.learning.update import Prior, file_prior
from robot_dynamics_ros.learning.written import shows_rotors, with_residuals, written
from robot_dynamics_ros.robot_file import RobotFile, load_robot

AT_HAND = 3  # newest recordings whose residuals the written file states
GROUPS = 5  # the fleet prior of each group of individuals is that of the others
EFFORT = Options(effort="torque")


@dataclass(frozen=True)
class Setup:
    """robot: name; tasks: how many of the ten; counts: recordings after which is judged; seconds of a recording."""

    robot: str
    tasks: int
    counts: tuple[int, ...]
    seconds: float


@dataclass
class Worked:
    """One individual: triangles of its days, why days were left out, processor seconds per recording.

    newest: count of recordings -> the last AT_HAND of them, in Nm and free of contact.
    """

    who: Individual
    triangles: list[Triangle] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    seconds: float = 0.0
    newest: dict[int, list[Recording]] = field(default_factory=dict)


@dataclass
class Judged:
    """Force RMS [N] of one individual: name of the method -> state -> N."""

    who: Individual
    force: dict[str, dict[str, float]] = field(default_factory=dict)


def study(
    setup: Setup, people: Sequence[Individual], pool: Executor | None, progress: Callable[[str], None]
) -> tuple[list[Worked], list[Judged]]:
    """All individuals work and are judged alone; then fleet priors are made and they are judged with them."""
    over: Callable[..., Iterable[Any]] = map if pool is None else pool.map
    robots: list[Worked] = []
    judged: list[Judged] = []
    for one, result in over(alone, [setup] * len(people), people):
        robots.append(one)
        judged.append(result)
        progress(f"robot {one.who.index} has worked")
    prior = file_prior(Columns(load_robot(setup.robot)))
    priors = grouped_priors(prior, [evidence_of(prior.columns, one.triangles) for one in robots])
    progress("fleet priors")
    for result, more in zip(judged, over(with_fleet, [setup] * len(people), robots, priors), strict=True):
        result.force |= more
        progress(f"robot {result.who.index} is judged")
    return robots, judged


def grouped_priors(prior: Prior, states: Sequence[np.ndarray]) -> list[Prior]:
    """The fleet prior for every robot, from the rows (m, p + 1) of robots of other groups only."""
    group = np.arange(len(states)) % min(GROUPS, len(states))
    made = {g: fleet_prior(prior, [s for s, own in zip(states, group, strict=True) if own != g]) for g in set(group)}
    return [made[g] for g in group]


def alone(setup: Setup, who: Individual) -> tuple[Worked, Judged]:
    """An individual without a fleet: it works, and is judged with what it learned and with a dedicated motion."""
    one = work(setup, who)
    return one, judge(setup, one)


def work(setup: Setup, who: Individual) -> Worked:
    """The days of one individual as triangles.

    A day with a DataError, or one that is held back, is left out and replaced by a later one.
    """
    robot = load_robot(setup.robot)
    prior = file_prior(Columns(robot))
    found, known, day = Worked(who), Running.of(prior), 0
    free: list[Recording] = []
    while len(found.triangles) < max(setup.counts) and day < 2 * max(setup.counts):
        log, _ = worked(robot, who, day, setup.tasks, setup.seconds)
        begin = time.process_time()
        try:
            rec = recording(log, f"day_{day}")
            state = known.at(1e-9 * rec.start_ns) if known.recordings else None
            triangle, rest = learn_recording(prior, rec, EFFORT, f"{day:064d}", state)
            change = None if state is None else change_since(state, triangle, lambda: found.triangles, prior.columns)
            if change is not None:
                raise DataError(f"held back, {change.text}")
            known = known.with_all([triangle])
            found.triangles.append(triangle)
            free = [*free[1 - AT_HAND :], rest]
            if len(found.triangles) in setup.counts:
                found.newest[len(found.triangles)] = free
        except DataError as error:
            name = task_of(who, day, setup.tasks).name
            found.left_out.append(f"robot {who.index} day {day} ({name}): {error}")
        found.seconds += time.process_time() - begin
        day += 1
    found.seconds /= max(day, 1)
    return found


def judge(setup: Setup, one: Worked) -> Judged:
    """Without a fleet, every method on the same pushes."""
    robot, who = load_robot(setup.robot), one.who
    trials, prior = trials_of(setup, who), file_prior(Columns(robot))
    found = Judged(who, {"alone 0": force(robot, trials)})
    for count in (n for n in setup.counts if n):
        found.force[f"alone {count}"] = force(learned(prior, one, count), trials)
    log, _ = recorded(robot, quick(who), who.kinds.index("fourier"))
    dedicated = recording(log, "dedicated")
    triangle, free = learn_recording(prior, dedicated, EFFORT, "0" * 64)
    found.force["dedicated, learn"] = force(learned(prior, Worked(who, [triangle], newest={1: [free]}), 1), trials)
    try:
        identified = identified_robot(identify_recordings(robot, [dedicated], [], EFFORT))
        found.force["dedicated, identify"] = force(identified, trials)
    except RobotDynamicsError:
        found.force["dedicated, identify"] = dict.fromkeys(STATES, float("nan"))
    return found


def with_fleet(setup: Setup, one: Worked, fleet: Prior) -> dict[str, dict[str, float]]:
    """Force RMS [N] of an individual that begins with the fleet's prior, by method and state."""
    trials = trials_of(setup, one.who)
    return {f"fleet {count}": force(learned(fleet, one, count), trials) for count in setup.counts}


def learned(prior: Prior, one: Worked, count: int) -> RobotFile:
    """The robot file of an individual after `count` recordings."""
    newest = one.newest[min(count, max(one.newest))] if count else []
    by_rotor = not count or shows_rotors(prior.columns, newest)
    file = written(prior.columns, Running.of(prior, one.triangles[:count]).state, "study", by_rotor)
    return with_residuals(file, newest) if count else file


def trials_of(setup: Setup, who: Individual) -> list[Trial]:
    """Motions with pushes and rests that an individual is judged on."""
    return [trial(load_robot(setup.robot), who, kind) for kind in TRIALS]


def force(robot: RobotFile, trials: Sequence[Trial]) -> dict[str, float]:
    """Force RMS [N] per axis by state, over all trials."""
    found = figures(reduce(Series.joined, (series_of(t, replayed(robot, t.log)) for t in trials)))
    return {state: float(found[f"force_{state}"]) for state in STATES}  # type: ignore[arg-type]
