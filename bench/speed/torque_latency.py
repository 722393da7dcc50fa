"""Torque mode of a simulated UR: from the bytes of a state to those of the command, in the receiving thread."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from robot_dynamics_ros._core import EnableResult, GuardState, TorqueLoop, TorqueMode
from robot_dynamics_ros.control.torque import torque_loop
from robot_dynamics_ros.drivers.guard import guard_limits
from robot_dynamics_ros.drivers.ur.driver import UrDriver
from robot_dynamics_ros.errors import CapabilityError, ConnectionFailed
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.simulation.server.launcher import SimulatedController

START_TIMEOUT = 20.0  # s until torque may leave
PRIORITY = 80  # SCHED_FIFO, of the second run


def torque_latency(robot: RobotFile, duration: float, priority: int) -> dict[str, Any]:
    """Hand guiding for `duration` [s]: p50, p99, max [us] from arrival and from reading of a state to its torque.

    priority: SCHED_FIFO of the receiving thread, 0: none. Raises CapabilityError for a robot that is no UR,
    ConnectionFailed where torque mode does not begin. `ended`: why the guard ended it early (a busy machine).
    """
    if robot.manufacturer != "Universal Robots":
        raise CapabilityError(f"{robot.name}: torque latency is measured with a UR's torque script")
    with SimulatedController(robot.file) as controller:
        driver = UrDriver(robot, controller.host, torque=True, realtime_priority=priority)
        loop = torque_loop(robot, guard_limits(robot))
        driver.attach(loop)
        driver.connect()
        try:
            _enable(driver, loop)
            before = len(driver.answered)
            _read(driver, lambda: loop.state in (GuardState.safe, GuardState.fault), duration)
            ended = "" if loop.state in (GuardState.ok, GuardState.degraded) else loop.reason.name
            latencies = driver.answered[before:]
            text = driver.info.realtime_text
        finally:
            driver.disconnect()
    if not len(latencies):
        raise ConnectionFailed(f"torque mode ended at once: {ended}")
    return {"scheduling": text, "states": len(latencies), "ended": ended} | {
        name: dict(zip(("p50", "p99", "max"), _percentiles(column), strict=True))
        for name, column in zip(("arrival", "reading"), latencies.T, strict=True)
    }


def _enable(driver: UrDriver, loop: TorqueLoop) -> None:
    _read(driver, lambda: bool(np.isfinite(driver.sample.q).all()), START_TIMEOUT)
    driver.start_torque()
    end = time.monotonic() + START_TIMEOUT
    while True:  # a state must be fresh at that instant, which a busy machine cannot always give
        loop.enable(TorqueMode.guide)
        _read(driver, lambda: loop.enabled != EnableResult.pending, START_TIMEOUT)
        if loop.enabled == EnableResult.done:
            return
        if time.monotonic() > end:
            raise ConnectionFailed(f"torque mode does not begin: {loop.enabled.name}")


def _read(driver: UrDriver, done: Any, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not done() and time.monotonic() < end:
        driver.read(0.02)
        driver.take_records()


def _percentiles(seconds: np.ndarray) -> list[float]:
    return [float(1e6 * value) for value in (*np.percentile(seconds, (50, 99)), seconds.max())]
