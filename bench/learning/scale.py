"""What learning costs: bytes, seconds and memory per recording, and merging the triangles of many robots."""

from __future__ import annotations

import resource
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from bench.force import zoo
from bench.learning.tasks import worked
from robot_dynamics_ros.identification.arm.state import Options
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.learning.columns import Columns
from robot_dynamics_ros.learning.fleet import evidence_of
from robot_dynamics_ros.learning.intake import learn_recording
from robot_dynamics_ros.learning.running import Running
from robot_dynamics_ros.learning.triangles import Triangle, load, save
from robot_dynamics_ros.learning.update import file_prior
from robot_dynamics_ros.learning.written import written
from robot_dynamics_ros.robot_file import load_robot

BATCH = 50  # triangles that are stacked at once
NOISE = 1e-3  # relative, of a synthetic triangle against the measured one


@dataclass
class Cost:
    """Bytes and processor seconds of one recording of 60 s; peak memory [MB] of the process with it.

    robots: synthetic triangles that were merged, seconds for it, and megabytes read.
    """

    bytes: int
    learn_seconds: float
    posterior_seconds: float
    write_seconds: float
    memory: float
    robots: int
    merge_seconds: float
    read_seconds: float
    megabytes: float


def measure(name: str, robots: int, seed: int = 0) -> Cost:
    """Learn one recording of a simulated robot, then merge it with `robots` synthetic ones like it, read from files."""
    robot = load_robot(name)
    prior = file_prior(Columns(robot))
    who = zoo.individuals(robot, 1, seed, zoo.families("tuning"))[0]
    rec = recording(worked(robot, who, 0)[0], "day_0")
    begin = time.process_time()
    triangle, _ = learn_recording(prior, rec, Options(effort="torque"), "0" * 64)
    learned = time.process_time()
    state = Running.of(prior, [triangle]).state
    solved = time.process_time()
    written(prior.columns, state, "scale")
    done = time.process_time()
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sizes = [len(i) + 1 for i in prior.columns.index]
    with tempfile.TemporaryDirectory() as directory:
        read, merge, size = _merge(triangle, Path(directory), robots, prior.columns, sizes, seed)
    return Cost(
        size, learned - begin, solved - learned, done - solved, memory, robots, merge, read, 1e-6 * size * robots
    )


def _merge(
    triangle: Triangle, directory: Path, robots: int, columns: Columns, sizes: list[int], seed: int
) -> tuple[float, float, int]:
    """Processor seconds of reading and of merging, and bytes of a triangle."""
    rng, read, merge, size = np.random.default_rng(seed), 0.0, 0.0, 0
    for first in range(0, robots, BATCH):
        paths = [directory / f"{k}.triangle" for k in range(min(BATCH, robots - first))]
        for path in paths:
            joints = [T * (1 + NOISE * rng.standard_normal(T.shape)) for T in triangle.joints]
            other = Triangle(joints, triangle.count, triangle.correlation, triangle.reference, triangle.about)
            size = save(other, path)
        begin = time.process_time()
        batch = [load(path, columns.robot_id, sizes) for path in paths]
        loaded = time.process_time()
        evidence_of(columns, batch)
        read, merge = read + loaded - begin, merge + time.process_time() - loaded
    return read, merge, size


def page(cost: Cost, origin: str, name: str) -> str:
    """What stands between the marks of docs/scale.md."""
    day = 8 * 60
    rows = [
        ("a triangle (one recording of any length)", f"{cost.bytes / 1e3:.0f} kB"),
        ("a robot and day, one triangle per hour of work, 8 h", f"{8 * cost.bytes / 1e3:.0f} kB"),
        ("the same recordings as bags (500 Hz, q, qd, effort, temperature)", f"{day * 60 * 500 * 24 * 8 / 1e6:.0f} MB"),
        ("learning a recording of 60 s, contact search included", f"{cost.learn_seconds:.2f} s"),
        ("posterior", f"{cost.posterior_seconds:.3f} s"),
        ("consistent robot file from it", f"{cost.write_seconds:.3f} s"),
        ("memory of the process with one recording, peak", f"{cost.memory:.0f} MB"),
        (
            f"reading {cost.robots} triangles ({cost.megabytes:.0f} MB), checksums included",
            f"{cost.read_seconds:.1f} s",
        ),
        (f"merging {cost.robots} triangles", f"{cost.merge_seconds:.1f} s"),
    ]
    lines = [f"| {name} | |", "|---|---|", *(f"| {what} | {value} |" for what, value in rows)]
    return "\n\n".join([origin, "Processor seconds of one core, one thread.", "\n".join(lines)])


def as_dict(cost: Cost) -> dict[str, float]:
    """For JSON."""
    return asdict(cost)
