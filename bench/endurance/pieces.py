"""Torque control for long: after every piece a fault that must latch, and what our processes hold.

In lockstep a cycle of the controller waits for its answer, so that no result depends on how busy the machine is; the
wire and the torque program are those of real time.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bench.faults.clock_bench import START
from bench.faults.socket_bench import Arm, SocketBench
from robot_dynamics_ros._core import GuardState
from robot_dynamics_ros.errors import RobotDynamicsError

PIECE = 60.0  # s of controller time between two looks
LOOK = 1.0  # s between two looks at the records
LOST = 60  # packages lost on purpose at the end of each piece: the guard must latch
SETTLED, FLAT = 10, 5.0  # pieces in which caches fill (one in a shorter run); MB by which memory may grow afterwards
STALL = 60.0  # s of wall time without progress
SLOW = 0.004  # controller time per wall time that faults of this side are judged by: the controller waits for us


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


class Lockstep(SocketBench):
    """The bench in lockstep, at the pace of the clock or slower; parameters: of the loop."""

    def __init__(self, parameters: dict[str, Any] | None = None) -> None:
        super().__init__(lockstep=True, speed=1.0)
        self._parameters = {"time_scale": SLOW} | (parameters or {})

    def made_arm(self) -> Arm:
        """See SocketBench; at START."""
        arm = Arm(self.ur.host, None, self._parameters, client_silence=STALL, silence=STALL)
        arm.read(STALL, arm.known)
        back_to_start(arm)
        return arm


def back_to_start(arm: Arm) -> None:
    """Point to point under the controller's own position control. Raises RobotDynamicsError when it fails."""
    arm.driver.play(START[None, :], speed=1.5, acceleration=3.0)
    arm.read(STALL, lambda: not arm.driver.motion.active)
    if arm.driver.motion.state != "done":
        raise RobotDynamicsError(f"the move to the start: {arm.driver.motion.reason}")


def endure(pieces: int, piece: float = PIECE) -> Generator[Look, None, None]:
    """Move up and down by torque for so many pieces; a look after each. Raises RobotDynamicsError."""
    with Lockstep() as bench:
        for number in range(1, pieces + 1):
            yield _piece(bench, number, piece)


def _piece(bench: SocketBench, number: int, seconds: float) -> Look:
    arm, largest, end = bench.arm, 0.0, bench.now + seconds
    while bench.now < end:
        arm.read(LOOK)
        if bench.loop.state not in (GuardState.ok, GuardState.degraded):
            raise RobotDynamicsError(f"torque ended: {bench.loop.state.name}, {bench.loop.reason.name}")
        while arm.driver.records:
            record = arm.driver.records.popleft()
            largest = max(largest, float(np.abs(record["q"] - record["q_d"]).max()) if record["run"] else 0.0)
    latched = _latches(bench)
    process, lost = bench.ur.process, (bench.loop.lost_records, arm.driver.statistics().overruns)
    return Look(number, latched, largest, Held.of(os.getpid()), Held.of(process.pid if process else os.getpid()), *lost)


def _latches(bench: SocketBench) -> bool:
    """Lose packages until the guard latches; then re-arm, and move again from the start."""
    bench.lose(LOST)
    latched = bench.arm.read(STALL, lambda: bench.latched)
    rest = time.monotonic() + STALL
    while time.monotonic() < rest and (bench.simulation.state["torque_mode"] or bench.loop.state != GuardState.idle):
        bench.arm.read(0.05)
        bench.arm.driver.rearm()
        bench.loop.rearm()
    back_to_start(bench.arm)
    bench.arm.move()
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
