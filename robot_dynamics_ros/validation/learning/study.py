"""Individuals that work, learn, and are judged: alone, with what their fleet knows, and by a dedicated motion."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from robot_dynamics_ros.errors import DataError, RobotDynamicsError
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.estimators.wrench_metrics import STATES, Series, figures
from robot_dynamics_ros.identification.arm.export import identified_robot
from robot_dynamics_ros.identification.arm.identify import identify_recordings
from robot_dynamics_ros.identification.arm.state import Options
from robot_dynamics_ros.identification.dataset.recording import Recording, recording
from robot_dynamics_ros.learning.changes import change_of
from robot_dynamics_ros.learning.columns import Columns
from robot_dynamics_ros.learning.fleet import evidence_of, fleet_prior
from robot_dynamics_ros.learning.intake import learn_recording
from robot_dynamics_ros.learning.triangles import Triangle
from robot_dynamics_ros.learning.update import Prior, file_prior, posterior
from robot_dynamics_ros.learning.written import with_residuals, written
from robot_dynamics_ros.robot_file import RobotFile, load_robot
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.validation.force.recordings import KINDS, TRIALS, Trial, recorded, trial
from robot_dynamics_ros.validation.force.zoo import Individual
from robot_dynamics_ros.validation.learning.tasks import worked

AT_HAND = 3  # newest recordings whose residuals the written file states
SETTLED = 2.0  # s at the beginning of a replay that are not judged
GROUPS = 5  # the fleet prior of each group of individuals is that of the others
EFFORT = Options(effort="torque")


@dataclass(frozen=True)
class Setup:
    """robot: name; tasks: how many of the ten; counts: recordings after which is judged; seconds of a recording."""

    robot: str
    tasks: int
    counts: tuple[int, ...]
    seconds: float
    work: Path


@dataclass
class Worked:
    """One individual: triangles of its days, why days were left out, processor seconds per recording."""

    who: Individual
    triangles: list[Triangle]
    left_out: list[str]
    seconds: float


@dataclass
class Judged:
    """Force RMS [N] of one individual: name of the method -> state -> N."""

    who: Individual
    force: dict[str, dict[str, float]] = field(default_factory=dict)


def study(
    setup: Setup, people: Sequence[Individual], pool: Executor | None, told: Callable[[str], None]
) -> tuple[list[Worked], list[Judged]]:
    """All individuals: first they work, then fleet priors are made, then all are judged."""
    over: Callable[..., Iterable] = map if pool is None else pool.map
    robots: list[Worked] = []
    for one in over(work, [setup] * len(people), people):
        robots.append(one)
        told(f"robot {one.who.index} has worked")
    prior = file_prior(Columns(load_robot(setup.robot)))
    priors = grouped_priors(prior, [evidence_of(prior.columns, one.triangles) for one in robots])
    told("fleet priors")
    judged: list[Judged] = []
    for result in over(judge, [setup] * len(people), robots, priors):
        judged.append(result)
        told(f"robot {result.who.index} is judged")
    return robots, judged


def grouped_priors(prior: Prior, states: Sequence[np.ndarray]) -> list[Prior]:
    """The fleet prior for every robot, from the rows (m, p + 1) of robots of other groups only."""
    group = np.arange(len(states)) % min(GROUPS, len(states))
    made = {g: fleet_prior(prior, [s for s, own in zip(states, group, strict=True) if own != g]) for g in set(group)}
    return [made[g] for g in group]


def work(setup: Setup, who: Individual) -> Worked:
    """The days of one individual as triangles; the recordings that are judged with are kept under setup.work.

    A day with a DataError, or one that is held back, is left out and replaced by a later one.
    """
    import time

    robot = load_robot(setup.robot)
    prior = file_prior(Columns(robot))
    found, begin = Worked(who, [], [], 0.0), 0.0
    kept: list[Recording] = []
    day = 0
    while len(found.triangles) < max(setup.counts) and day < 2 * max(setup.counts):
        log, task = worked(robot, who, day, setup.tasks, setup.seconds)
        begin = time.process_time()
        state = posterior(prior, found.triangles) if found.triangles else None
        try:
            triangle, free = learn_recording(prior, recording(log, f"day_{day}"), EFFORT, f"{day:064d}", state)
            change = None if state is None else change_of(state, triangle, prior.columns)
            if change is not None:
                raise DataError(f"held back, {change.text}")
            found.triangles.append(triangle)
            kept = [*kept[1 - AT_HAND :], free]
            if len(found.triangles) in setup.counts:
                _kept(setup, who, len(found.triangles)).write_bytes(pickle.dumps(kept))
        except DataError as error:
            found.left_out.append(f"robot {who.index} day {day} ({task.name}): {error}")
        found.seconds += time.process_time() - begin
        day += 1
    found.seconds /= max(day, 1)
    return found


def judge(setup: Setup, one: Worked, fleet: Prior) -> Judged:
    """Every method on the same pushes: learned after each count alone and with the fleet, and a dedicated motion."""
    robot = load_robot(setup.robot)
    trials = [trial(robot, one.who, kind) for kind in TRIALS]
    found = Judged(one.who)
    found.force["alone 0"] = force(robot, trials)
    alone = file_prior(Columns(robot))
    for name, prior in (("alone", alone), ("fleet", fleet)):
        for count in setup.counts:
            if count == 0 and name == "alone":
                continue
            file = written(prior.columns, posterior(prior, one.triangles[:count]), "study")
            if count:
                kept = pickle.loads(_kept(setup, one.who, min(count, len(one.triangles))).read_bytes())
                file = with_residuals(file, kept, next(k for k in file.sources if k.startswith("learned_")))
            found.force[f"{name} {count}"] = force(file, trials)
    log, _ = recorded(robot, one.who, (KINDS.index("fourier") - one.who.first) % len(KINDS))
    dedicated = recording(log, "dedicated")
    triangle, free = learn_recording(alone, dedicated, EFFORT, "0" * 64)
    file = written(alone.columns, posterior(alone, [triangle]), "study")
    file = with_residuals(file, [free], next(k for k in file.sources if k.startswith("learned_")))
    found.force["dedicated, learn"] = force(file, trials)
    try:
        found.force["dedicated, identify"] = force(
            identified_robot(identify_recordings(robot, [dedicated], [], EFFORT)), trials
        )
    except RobotDynamicsError:
        found.force["dedicated, identify"] = dict.fromkeys(STATES, float("nan"))
    return found


def force(robot: RobotFile, trials: Sequence[Trial]) -> dict[str, float]:
    """Force RMS [N] per axis by state, over all trials."""
    series: Series | None = None
    for t in trials:
        log = Log(t.log.joint_names, t.log.stamp_ns, {k: v.copy() for k, v in t.log.signals.items()})
        Pipeline(robot).run(log)
        late = log.time >= SETTLED
        truth, flagged = t.truth["external_wrench"], log.contact[:, -1] > 0.5
        columns = (log.time, log.external_wrench, log.external_wrench_std, truth, t.moving, t.contact, flagged)
        one = Series(*(values[late] for values in columns))
        series = one if series is None else series.joined(one)
    if series is None:
        return dict.fromkeys(STATES, float("nan"))
    found = figures(series)
    return {state: float(found[f"force_{state}"]) for state in STATES}  # type: ignore[arg-type]


def _kept(setup: Setup, who: Individual, count: int) -> Path:
    return setup.work / f"robot_{who.index}_{count}.pickle"
