"""Ordinary work of a simulated robot: ten tasks, each a cycle of points repeated with its speed and its rests."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bench.force.recordings import DURATION, RATE, home, limits, reported, simulated
from bench.force.zoo import Individual
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.simulation.plant.build import FAST
from robot_dynamics_ros.trajectories import motions

DAY_NS = 86_400_000_000_000
BEGIN_NS = 1_788_220_800_000_000_000  # the first day of work, 2026-09-01
OVERRIDE = (0.7, 1.0)  # share of the programmed speed on a day
PUSH, DRAG = (8.0, 20.0), 0.3  # N of a process force, its friction across


@dataclass(frozen=True)
class Task:
    """reach, wrist: largest distance of a point from home [rad], arm and last three joints; velocity [rad/s],
    acceleration [rad/s2]; points of the cycle; rest (least, most) [s] at each; share of the cycle in contact.
    """

    name: str
    reach: float
    wrist: float
    velocity: float
    acceleration: float
    points: int
    rest: tuple[float, float]
    contact: float = 0.0


TASKS = (
    Task("point to point", 0.7, 0.7, 1.0, 3.0, 8, (0.5, 2.0)),
    Task("palletising", 0.6, 0.3, 1.2, 3.0, 12, (0.3, 0.6)),
    Task("polishing", 0.12, 0.08, 0.25, 1.0, 24, (0.0, 0.1), 0.3),
    Task("machine tending", 0.9, 0.5, 1.0, 2.5, 4, (3.0, 8.0)),
    Task("packing", 0.4, 0.4, 1.5, 4.0, 6, (0.2, 0.4)),
    Task("screwing", 0.15, 1.0, 0.8, 3.0, 6, (1.0, 2.0)),
    Task("dispensing", 0.3, 0.15, 0.15, 0.5, 10, (0.0, 0.1)),
    Task("inspection", 0.5, 0.6, 0.4, 1.0, 10, (1.0, 3.0)),
    Task("assembly", 0.2, 0.25, 0.3, 1.5, 8, (0.5, 1.5)),
    Task("kitting", 0.7, 0.3, 1.0, 3.0, 10, (0.2, 1.0)),
)


def worked(
    robot: RobotFile, who: Individual, day: int, tasks: int = len(TASKS), seconds: float = DURATION
) -> tuple[Log, Task]:
    """What the bag of day 0, 1, .. holds: `seconds` of the task of that day.

    The points of a task are the same every time; speed, place in the cycle, noise and temperature are of the day.
    """
    task = task_of(who, day, tasks)
    today = who.draw(1000 + day)
    motion = cycle(robot, who, task, today, seconds)
    machine = simulated(robot, quick(who), 1000 + day)
    machine.reset(motion[0][0])
    wrench = process_force(task, today, seconds) if task.contact else None
    log = reported(machine.run(*motion, wrench=wrench)[0])
    return Log(log.joint_names, log.stamp_ns + BEGIN_NS + day * DAY_NS, log.signals), task


def task_of(who: Individual, day: int, tasks: int = len(TASKS)) -> Task:
    """What an individual does on a day: the first `tasks` in an order of its own."""
    return TASKS[int(who.draw(40).permutation(tasks)[day % tasks])]


def quick(who: Individual) -> Individual:
    """The individual with one implicit step per cycle: 30 recordings of 50 robots are 25 hours (0.15 s a minute).

    What is learned from it predicts full recordings within 2 % as that learned from a full one (shoulder pan to wrist).
    """
    return replace(who, overrides=who.overrides | FAST)


def cycle(
    robot: RobotFile, who: Individual, task: Task, today: np.random.Generator, seconds: float = DURATION
) -> motions.JointMotion:
    """Some seconds of a task: q, qd, qdd (N, n)."""
    draw = who.draw(50 + TASKS.index(task))
    centre, (lower, upper), n = home(robot, who.draw(41)), limits(robot), robot.n_joints
    reach = np.where(np.arange(n) < n - 3, task.reach, task.wrist)
    points = np.clip(centre + reach * draw.uniform(-1, 1, (task.points, n)), lower, upper)
    rests, share = draw.uniform(*task.rest, task.points), today.uniform(*OVERRIDE)
    place = int(today.integers(task.points))
    parts: list[motions.JointMotion] = [motions.hold(points[place], 1.0, RATE)]
    while sum(len(part[0]) for part in parts) < seconds * RATE:
        following = (place + 1) % task.points
        parts.append(
            motions.quintic(points[place], points[following], RATE, share * task.velocity, share**2 * task.acceleration)
        )
        if rests[following] > 1 / RATE:
            parts.append(motions.hold(points[following], rests[following], RATE))
        place = following
    return motions.part(motions.join(*parts), slice(0, round(seconds * RATE)))


def process_force(task: Task, today: np.random.Generator, seconds: float = DURATION) -> np.ndarray:
    """Wrench (N, 6) [N, Nm] on the tool: pressed on from above for that share of the time, a few seconds at a time."""
    wrench, t = np.zeros((round(seconds * RATE), 6)), today.uniform(3.0, 6.0)
    while t < seconds:
        length, force = today.uniform(2.0, 5.0), today.uniform(*PUSH)
        rows = slice(round(t * RATE), round((t + length) * RATE))
        wrench[rows, 2] = force
        wrench[rows, 0] = DRAG * force
        t += length / task.contact
    return wrench
