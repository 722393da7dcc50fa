"""Torque control for long: after every piece a fault that must latch, and what our processes hold."""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros._core import GuardState, TorqueMode
from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.robot_file import RobotFile, load_robot
from robot_dynamics_ros.trajectories.smooth import Trajectory
from robot_dynamics_ros.validation.papers.labs.closed_loop import ClosedLoop
from robot_dynamics_ros.validation.papers.madsen_adaptive import CONTROL, six_waypoints

PIECE = 60.0  # s of controller time between two looks
LOOK = 2.0  # s of controller time of records kept at once
LOST = 60  # packages lost on purpose at the end of each piece: the guard must latch
GROWTH, PER_PIECE = 4.0, 0.1  # MB that the processes may grow after the first piece, and for each one after it


@dataclass(frozen=True)
class Held:
    """What a process holds: resident memory [MB], threads, file descriptors."""

    memory: float
    threads: int
    files: int

    @classmethod
    def of(cls, pid: int) -> Held:
        """As /proc says now."""
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
    coulomb: list[float]

    def as_dict(self) -> dict[str, Any]:
        """As JSON holds it."""
        return asdict(self)


def endure(
    pieces: int, piece: float = PIECE, transport: str = "script", robot: RobotFile | None = None
) -> Generator[Look, None, None]:
    """Follow the six waypoints by torque for so many pieces; a look after each. Raises RobotDynamicsError."""
    file = robot or load_robot("ur5e")
    path = six_waypoints(file)
    with ClosedLoop(file, CONTROL, transport=transport) as loop:
        for number in range(1, pieces + 1):
            yield _piece(loop, path, number, piece)


def _piece(loop: ClosedLoop, path: Trajectory, number: int, seconds: float) -> Look:
    loop.move_to(path.q[0])
    loop.enable(TorqueMode.track, path)
    left, largest, coulomb = seconds, 0.0, np.ones(6)
    while left > 1e-9:
        run = loop.run(min(LOOK, left))
        left -= LOOK
        largest, coulomb = max(largest, float(np.abs(run.position_error).max())), run.coulomb[-1]
    latched = _latches(loop)
    counts, process = loop.driver.statistics(), loop.ur.process
    ours, theirs = Held.of(os.getpid()), Held.of(process.pid if process else os.getpid())
    lost = loop.loop.lost_records, counts.overruns
    return Look(number, latched, largest, ours, theirs, *lost, [round(float(x), 3) for x in coulomb])


def _latches(loop: ClosedLoop) -> bool:
    """Lose packages until the guard latches; then re-arm."""
    loop.simulation.command("drop", next=LOST)
    end = time.monotonic() + 60.0
    while not _latched(loop) and time.monotonic() < end:
        loop.driver.read(0.02)
        loop.driver.send_torque()
    latched = _latched(loop)
    loop.slow()
    rest = time.monotonic() + 60.0
    while time.monotonic() < rest and (loop.simulation.state["torque_mode"] or loop.loop.state != GuardState.idle):
        loop.driver.read(0.05)
        loop.driver.send_torque()
        loop.driver.rearm()
        loop.loop.rearm()
    if loop.loop.state != GuardState.idle:
        raise RobotDynamicsError(f"the guard cannot be re-armed: {loop.loop.state.name}")
    return latched


def _latched(loop: ClosedLoop) -> bool:
    return loop.loop.state in (GuardState.safe, GuardState.fault)


def faults_of(looks: Iterable[Look]) -> list[str]:
    """What is wrong with a long run, one line each; none when nothing is."""
    rows = list(looks)
    first, last = rows[0], rows[-1]
    found = [f"the fault after piece {row.piece} did not latch" for row in rows if not row.latched]
    for name in ("ours", "controller"):
        begin, end = getattr(first, name), getattr(last, name)
        if not end.memory - begin.memory <= GROWTH + PER_PIECE * len(rows):
            found.append(f"memory, {name}: {begin.memory:.1f} -> {end.memory:.1f} MB")
        for kind in ("threads", "files"):
            if getattr(end, kind) > getattr(begin, kind):
                found.append(f"{kind}, {name}: {getattr(begin, kind)} -> {getattr(end, kind)}")
    if last.records_lost or last.samples_lost:
        found.append(f"{last.records_lost} records and {last.samples_lost} samples lost")
    return found
