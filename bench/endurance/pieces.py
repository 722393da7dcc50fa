"""Torque control for long: after every piece a fault that must latch, and what our processes hold."""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bench.endurance.closed_loop import ClosedLoop
from bench.papers.madsen_adaptive import CONTROL, six_waypoints
from robot_dynamics_ros._core import GuardState, TorqueMode
from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.trajectories.smooth import Trajectory

PIECE = 60.0  # s of controller time between two looks
LOOK = 2.0  # s of controller time of records kept at once
LOST = 60  # packages lost on purpose at the end of each piece: the guard must latch
SETTLED, FLAT = 10, 5.0  # pieces in which caches fill (one in a shorter run); MB by which memory may grow afterwards


@dataclass(frozen=True)
class Held:
    """What a process holds: resident memory [MB], threads, file descriptors."""

    memory: float
    threads: int
    files: int

    @classmethod
    def of(cls, pid: int) -> Held:
        """Present values of /proc."""
        place = Path("/proc") / str(pid)
        pages = int((place / "statm").read_text().split()[1])
        page = os.sysconf("SC_PAGE_SIZE") / 2**20
        return cls(pages * page, len(list((place / "task").iterdir())), len(list((place / "fd").iterdir())))


@dataclass(frozen=True)
class Look:
    """One piece: whether its fault latched, how far the robot was off its path, what is held, what was lost."""

    piece: int
    latched: bool
    largest_error: float  # rad
    ours: Held
    controller: Held
    records_lost: int
    samples_lost: int


def endure(pieces: int, piece: float = PIECE) -> Generator[Look, None, None]:
    """Follow the six waypoints by torque for so many pieces; a look after each. Raises RobotDynamicsError."""
    file = load_robot("ur5e")
    path = six_waypoints(file)
    with ClosedLoop(file, CONTROL) as loop:
        for number in range(1, pieces + 1):
            yield _piece(loop, path, number, piece)


def _piece(loop: ClosedLoop, path: Trajectory, number: int, seconds: float) -> Look:
    loop.move_to(path.q[0])
    loop.enable(TorqueMode.track, path)
    left, largest = seconds, 0.0
    while left > 1e-9:
        largest = max(largest, float(np.abs(loop.run(min(LOOK, left)).position_error).max()))
        left -= LOOK
    latched = _latches(loop)
    counts, process = loop.driver.statistics(), loop.ur.process
    ours, theirs = Held.of(os.getpid()), Held.of(process.pid if process else os.getpid())
    return Look(number, latched, largest, ours, theirs, loop.loop.lost_records, counts.overruns)


def _latches(loop: ClosedLoop) -> bool:
    """Lose packages until the guard latches; then re-arm."""
    loop.simulation.command("drop", next=LOST)
    latched = loop.arm.read(60.0, lambda: loop.loop.state in (GuardState.safe, GuardState.fault))
    rest = time.monotonic() + 60.0
    while time.monotonic() < rest and (loop.simulation.state["torque_mode"] or loop.loop.state != GuardState.idle):
        loop.arm.read(0.05)
        loop.driver.rearm()
        loop.loop.rearm()
    if loop.loop.state != GuardState.idle:
        raise RobotDynamicsError(f"the guard cannot be re-armed: {loop.loop.state.name}")
    return latched


def faults_of(looks: Iterable[Look]) -> list[str]:
    """What is wrong with a long run, one line each; none when nothing is."""
    rows = list(looks)
    found = [f"the fault after piece {row.piece} did not latch" for row in rows if not row.latched]
    for name in ("ours", "controller"):
        found += growth_of(name, [getattr(row, name) for row in rows])
    if rows[-1].records_lost or rows[-1].samples_lost:
        found.append(f"{rows[-1].records_lost} records and {rows[-1].samples_lost} samples lost")
    return found


def growth_of(name: str, held: Sequence[Held]) -> list[str]:
    """What a process holds beyond what it held when it had settled, one line each; held: after each piece."""
    begin = SETTLED if len(held) > SETTLED else 1
    settled, later = held[begin - 1], held[begin:] or held
    most, found = float(np.max([h.memory for h in later])), []
    if not most - settled.memory <= FLAT:
        found.append(f"memory, {name}: {settled.memory:.1f} -> {most:.1f} MB")
    for kind in ("threads", "files"):
        if getattr(held[-1], kind) > getattr(settled, kind):
            found.append(f"{kind}, {name}: {getattr(settled, kind)} -> {getattr(held[-1], kind)}")
    return found
