"""What comparing many recordings over the workers of a Dask cluster costs, on a cluster of this machine."""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.bags import write_bag
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.identification.arm.state import Options
from robot_dynamics_ros.identification.compare import compared, identify_each
from robot_dynamics_ros.identification.reports.compare import write_comparison
from robot_dynamics_ros.robot_file import RobotFile, load_robot
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.trajectories import motions

RATE, POSES, RANGE = 125.0, 8, 0.9  # Hz; poses of a recording, rad about the middle of the limits
WORN, EVERY, JOINT = 1.4, 10, 2  # every tenth recording: friction of the third joint is 1.4 times as large


@dataclass
class Run:
    """recordings, their seconds of robot time; wall seconds; processor seconds and peak memory [MB] of all workers;
    report [kB]; worn recordings whose friction is named, and how many there are; others whose friction is named.
    """

    recordings: int
    recorded: float
    seconds: float
    processor: float
    memory: float
    report: float
    found: int
    worn: int
    false: int


def measure(
    name: str, counts: Sequence[int], processes: int, directory: Path, report: Callable[[str], None] = lambda text: None
) -> list[Run]:
    """Compare the first of `counts` simulated recordings of one robot, on a Dask cluster of `processes` workers.

    Raises CapabilityError without the dask packages.
    """
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        raise CapabilityError("a cluster needs dask: pip install dask[distributed]") from None
    robot = load_robot(name)
    bags = []
    for k in range(max(counts)):
        report(f"recording {k + 1} of {max(counts)}")
        bags.append(record(robot, k, directory))
    seconds = [duration for _, duration in bags]
    with (
        LocalCluster(n_workers=processes, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        runs = []
        for count in counts:
            report(f"comparing {count} recordings")
            paths = [path for path, _ in bags[:count]]
            runs.append(_compare(name, paths, sum(seconds[:count]), client, directory / "fleet.html"))
    return runs


def record(robot: RobotFile, number: int, directory: Path) -> tuple[Path, float]:
    """A bag of one simulated robot on moves of its own, worn in every tenth recording; its path and length [s]."""
    random = np.random.default_rng(number)
    middle = 0.5 * (robot.array_or("limits.position_lower", -3.0) + robot.array_or("limits.position_upper", 3.0))
    middle = np.where(np.isfinite(middle), middle, 0.0)
    poses = [middle + random.uniform(-RANGE, RANGE, robot.n_joints) for _ in range(POSES)]
    path = motions.path([*poses, poses[0]], velocity=1.0, acceleration=3.0, rate=RATE)
    machine = SimulatedRobot(robot, seed=number, rate=RATE)
    if worn(number):
        levels = {k: np.array(machine.machine.true[k], dtype=float) for k in ("friction.coulomb", "friction.stribeck")}
        for level in levels.values():
            level[JOINT] *= WORN
        machine = SimulatedRobot(robot, seed=number, rate=RATE, overrides=levels)
    machine.reset(path[0][0])
    log = machine.run(*path)[0]
    return write_bag(log, directory / f"recording_{number:03d}", topics=["joint_states"]), float(log.time[-1])


def worn(number: int) -> bool:
    """Whether the friction of a recording is raised."""
    return number % EVERY == EVERY - 1


def _compare(robot: str, bags: Sequence[Path], recorded: float, client: Any, report: Path) -> Run:
    """One comparison; `compared` needs two recordings, so that a single one is identified only."""
    before, begin = sum(client.run(time.process_time).values()), time.perf_counter()
    results = identify_each(robot, bags, Options(), dask=client.scheduler.address)
    size, named = 0.0, set[int]()
    if len(bags) > 1:
        found = compared(results, robot)
        size = 1e-3 * os.path.getsize(write_comparison(found, report))
        named = {k for k in range(len(found["bags"])) if found["friction_differs"][k][JOINT]}
    changed = {k for k in range(len(bags)) if worn(k)}
    return Run(
        len(bags),
        recorded,
        time.perf_counter() - begin,
        sum(client.run(time.process_time).values()) - before,
        sum(client.run(_peak).values()),
        size,
        len(named & changed),
        len(changed),
        len(named - changed),
    )


def _peak() -> float:
    """Largest memory of this process [MB]."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def page(runs: Sequence[Run], origin: str, processes: int) -> str:
    """What stands between the marks of docs/scale.md."""
    head = (
        "| recordings | robot time [s] | wall [s] | processor, all workers [s] | memory, all workers [MB] "
        "| report [kB] | worn recordings named | others named |"
    )
    rows = [
        f"| {r.recordings} | {r.recorded:.0f} | {r.seconds:.0f} | {r.processor:.0f} | {r.memory:.0f} | {r.report:.0f} "
        f"| {r.found} of {r.worn} | {r.false} |"
        for r in runs
    ]
    return "\n\n".join([origin, f"{processes} workers of one thread.", "\n".join([head, "|---" * 8 + "|", *rows])])
