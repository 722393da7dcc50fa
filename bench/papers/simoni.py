"""Contact force with and without the joints' temperature over hours of polishing [Simoni2017, VI-VII].

Two minutes free with the observer on, then five times two minutes of contact and fifteen of free motion (the source has
a sixth, which is not in its table). The robot has been at work before (42 deg C), the observer starts from the
temperature of a rested robot and sees no temperature sensor, as on the source's robot. Identification: velocity steps
of the rested robot, duty cycles (labs/thermal.py).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bench.papers.labs.thermal import KEEP, identified, rested, subject
from bench.papers.table import Row, at_most, beside
from bench.polishing import polishing
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.identification.metrics import rms
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.simulation.plant.assumed import assumed_file
from robot_dynamics_ros.simulation.plant.build import FAST
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.trajectories.motions import JointMotion, part

SOURCE = "Simoni2017"
TABLE_III = {1: (21.3078, 27.2322), 3: (21.7498, 27.4293), 5: (21.2590, 25.6366)}  # N, with and without temperature
USED = 42.0  # deg C, of the lubricant at the start, 4 K over the housing
LEAD_TURNS = 2  # turns until the tool follows its circle
APART = 24.0  # K between the two starts of the observer
OBSERVE, CONTACT, FREE = 120.0, 120.0, 900.0
ANOTHER = "another robot, another force: the ratio is what the protocol shows"
CONVERGENCE = 10.0  # s, of the observer; the source prints no gain
# the source's estimate has no prior; with that of the live stages, moments take up most of what temperature changes
NO_PRIOR = {"expected_force": 1e4, "expected_moment": 1e4}
LIVE = "with the prior on moments, which takes up most of what temperature changes"
AGAIN = "the observer corrects for two minutes of free motion every half hour, as the source suggests against drifts"
SETTLE = 5.0  # s after the contact begins and before it ends that are not judged


class Task(NamedTuple):
    """How a robot polishes: joint positions [rad], radius of the circle [m], seconds a turn, force [N].

    Circles are so large and fast that the work alone keeps the arm about as warm as the protocol begins, within its
    accelerations; a turn divides OBSERVE and CONTACT.
    """

    middle: tuple[float, ...]
    radius: float
    turn: float
    force: float


# The source's robot is a Comau NS16; ours is simulated from assumed numbers, the UR5e from its own file.
TASKS = {
    "ur5e": Task((0.0, -1.2, 1.6, -1.97, -1.57, 0.0), 0.12, 2.0, 30.0),
    "comau_ns16": Task((0.0, 0.309, -2.275, 0.0, 0.557, 0.0), 0.27, 3.0, 150.0),
}


@dataclass(frozen=True)
class Phase:
    """A part of the protocol: its log, true force along the wall's normal (N,) [N], true temperatures (N, n)."""

    log: Log
    force: np.ndarray
    lubricant: np.ndarray
    contact: bool


def run(quick: bool = False, robot_name: str = "ur5e") -> list[Row]:
    """Ratios of the RMS force errors in cycles 1, 3, 5; convergence of the observer; quick: 3 minutes between.

    Raises ConfigError for a robot without experiments.
    """
    robot = identified(name=robot_name)
    phases = list(protocol(robot, FREE / (5 if quick else 1)))
    cold = robot.with_updates({"thermal": None})
    with_T = sensed(robot, phases, force=NO_PRIOR)
    without = sensed(cold, phases, force=NO_PRIOR)
    rows = convergence(robot, phases[0])
    for cycle, (paper_with, paper_without) in TABLE_III.items():
        ours, plain = with_T[cycle - 1], without[cycle - 1]
        figure = f"contact force RMS error with over without T, cycle {cycle}"
        rows.append(at_most(SOURCE, figure, round(paper_with / paper_without, 3), ours / plain))
        rows.append(beside(SOURCE, f"contact force RMS error with T, cycle {cycle}", paper_with, ours, "N", ANOTHER))
    armed = sensed(robot, phases, again=True, force=NO_PRIOR)[4] / without[4]
    figure = "contact force RMS error with over without T, cycle 5, armed again"
    rows.append(beside(SOURCE, figure, None, armed, "", AGAIN))
    live = [sensed(r, phases)[4] for r in (robot, cold)]
    figure = f"the same as the live stages estimate it ({live[0]:.2f} and {live[1]:.2f} N), cycle 5"
    rows.append(beside(SOURCE, figure, None, live[0] / live[1], "", LIVE))
    return rows


def protocol(robot: RobotFile, free: float) -> Iterator[Phase]:
    """The phases in order, on one machine that stays warm between them: the one the identification has seen."""
    machine = SimulatedRobot(assumed_file(robot.name), seed=0, overrides=FAST)
    rested(machine)
    machine.set_temperatures(USED, USED - 4.0)
    middle, radius, turn, force = TASKS[robot.name]
    rate, begin = machine.rate, LEAD_TURNS * turn  # phases are whole turns: one goes on where the other ends
    task = polishing(robot, middle, ((begin + 1, begin + CONTACT - 1),), begin + CONTACT, force, rate, radius, turn)
    task.start(machine)
    lead = round(begin * rate)
    contact = part(task.motion, slice(lead, None))
    circle = polishing(robot, middle, (), begin + turn, force, rate, radius, turn).motion
    machine.run(*part(circle, slice(lead)))
    free_turn = part(circle, slice(lead, None))
    # The observer averages over 20 samples of the live rate.
    yield _phase(machine, free_turn, OBSERVE, False, keep=1)
    for _ in range(max(TABLE_III)):
        yield _phase(machine, contact, CONTACT, True)
        yield _phase(machine, free_turn, free, False)


def _phase(machine: SimulatedRobot, motion: JointMotion, duration: float, contact: bool, keep: int = KEEP) -> Phase:
    repeats = max(1, round(duration * machine.rate / len(motion[0])))
    q, qd, qdd = (np.tile(x, (repeats, 1)) for x in motion)
    log, truth = machine.run(q, qd, qdd, keep=keep)
    log.temperature = None  # the source's robot reports none
    return Phase(log, truth["external_wrench"][:, 2].copy(), truth["lubricant_temperature"], contact)


def observer(robot: RobotFile) -> dict[str, float]:
    """Parameters of the temperature stage."""
    return {"ambient": subject(robot).rest, "convergence_time": CONVERGENCE}


def sensed(
    robot: RobotFile, phases: list[Phase], again: bool = False, force: Mapping[str, Any] | None = None
) -> list[float]:
    """RMS error [N] of the force along z of each contact, by the live stages.

    The observer corrects in the first two minutes only, as in the source; after that the heat balance runs alone.
    again: every half hour it corrects for two minutes of free motion, as the source suggests and the live stage does.
    """
    pipeline = Pipeline(robot, {"force": force or {}, "temperature": observer(robot)})
    found: list[float] = []
    for phase in phases:
        log = _through(pipeline, phase, bool(phase.contact or (found and not again)))
        if phase.contact:
            judged = (log.time > SETTLE) & (log.time < log.time[-1] - SETTLE)
            found.append(rms((log.external_wrench[:, 2] - phase.force)[judged]))
    return found


def _through(pipeline: Pipeline, phase: Phase, closed: bool) -> Log:
    """The log of a phase with the signals of the stages; closed: the temperature observer does not correct."""
    log = Log(phase.log.joint_names, phase.log.stamp_ns, phase.log.signals)
    for stage in pipeline.stages:
        if stage.name == "temperature":
            log.contact = np.full(log.shape("contact"), float(closed))
        stage.run(log)
    return log


def convergence(robot: RobotFile, phase: Phase) -> list[Row]:
    """Time until two wrong starts give every moving joint the same temperature, within a tenth of their distance."""
    rest = subject(robot).rest
    estimates = [_observed(robot, phase, start) for start in (rest, rest + APART)]
    moving = np.mean(np.abs(phase.log.qd) > 0.05, axis=0) > 0.5
    apart = (np.abs(estimates[1] - estimates[0])[:, moving] > 0.1 * APART).any(axis=1)
    seconds = float(phase.log.time[np.flatnonzero(apart)[-1]]) if not apart[-1] else float("nan")
    wrong = np.abs(estimates[0][-1] - phase.lubricant[-1])[moving]
    names = ", ".join(f"{x:.0f}" for x in wrong)
    note = f"error of each moving joint after two minutes: {names} K; what the friction law gets wrong looks like heat"
    return [
        at_most(SOURCE, "observer converges from two wrong starts", 120.0, seconds, "s", f"starts {APART:g} K apart"),
        beside(SOURCE, "mean error of the converged temperature", None, float(wrong.mean()), "K", note),
    ]


def _observed(robot: RobotFile, phase: Phase, start: float) -> np.ndarray:
    """Temperature estimates (N, n) of a phase without contact from one start [deg C]."""
    pipeline = Pipeline(robot, {"temperature": observer(robot)}, stages=["motion", "temperature"])
    for joint in range(robot.n_joints):
        pipeline.stage("temperature").core.set_initial(joint, start, start, 100.0)
    return _through(pipeline, phase, False).temperature_estimate
