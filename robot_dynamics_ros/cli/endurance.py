"""`robot-dynamics endurance`: hours of torque control in a simulated controller's time, with faults on the way."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import click

from robot_dynamics_ros._core import GuardState, TorqueMode
from robot_dynamics_ros.cli.options import console, json_option, progress, write_json
from robot_dynamics_ros.config import load_robot
from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.reproduction.closed_loop import ClosedLoop
from robot_dynamics_ros.reproduction.loop_run import RATE
from robot_dynamics_ros.reproduction.madsen_adaptive import CONTROL, six_waypoints

PIECE = 60.0  # s of controller time between two looks
LOST = 60  # packets lost on purpose at the end of each piece: the guard must latch
GROWTH = 4.0  # MB that a process may grow after its first piece


@click.command()
@click.option("--minutes", default=30, type=click.IntRange(2, 100_000), show_default=True, help="Controller time.")
@json_option
def command(minutes: int, json_file: Path | None) -> None:
    """Follow the six waypoints by torque; every minute a fault must latch; exit 1 if one does not or memory grows.

    Example: robot-dynamics endurance --minutes 30 --json endurance.json
    """
    robot, rows = load_robot("ur5e"), []
    path, begin = six_waypoints(robot), time.monotonic()
    with ClosedLoop(robot, CONTROL, way="script") as loop:
        for minute in progress(range(minutes), "torque control"):
            loop.move_to(path.q[0])
            loop.enable(TorqueMode.track, path)
            for _ in range(int(PIECE / 2)):
                loop.run(2.0)
            latched = _latches(loop)
            own = loop.driver.statistics()
            rows.append(
                {
                    "minute": minute + 1,
                    "latched": latched,
                    "rss": _memory(os.getpid()),
                    "rss_controller": _memory(loop.ur.process.pid) if loop.ur.process else 0.0,
                    "coulomb": loop.driver.records[-1]["coulomb"] if loop.driver.records else [],
                    "overruns": own.overruns,
                    "records_lost": loop.loop.lost_records,
                }
            )
    missed = sum(not row["latched"] for row in rows)
    grown = max(rows[-1][k] - rows[0][k] for k in ("rss", "rss_controller"))
    wall = time.monotonic() - begin
    console.print(
        f"{minutes} min of torque control in {wall / 60:.1f} min ({minutes * PIECE * RATE:.0f} cycles): "
        f"{len(rows) - missed} of {len(rows)} faults latched, memory grew by {grown:.1f} MB after the first minute"
    )
    write_json(json_file, {"rows": rows, "missed": missed, "grown": grown, "wall": wall})
    sys.exit(bool(missed) or grown > GROWTH + 0.1 * minutes)


def _latches(loop: ClosedLoop) -> bool:
    """Lose packets until the guard latches; then re-arm."""
    loop.simulation.command("drop", next=LOST)
    end = time.monotonic() + 30.0
    while loop.loop.state not in (GuardState.safe, GuardState.fault) and time.monotonic() < end:
        loop.driver.read(0.02)
    latched = loop.loop.state in (GuardState.safe, GuardState.fault)
    loop.simulation.command("speed", factor=1.0)
    rest = time.monotonic() + 8.0
    while time.monotonic() < rest and (loop.simulation.state["torque_mode"] or loop.loop.state != GuardState.idle):
        loop.driver.read(0.05)
        loop.driver.rearm()
        loop.loop.rearm()
    if loop.loop.state != GuardState.idle:
        raise RobotDynamicsError(f"the guard cannot be re-armed: {loop.loop.state.name}")
    return latched


def _memory(pid: int) -> float:
    """Resident memory of a process [MB]."""
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
