"""Torque mode of a simulated UR: from the bytes of a state to those of the command, in the receiving thread."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from bench.faults.socket_bench import Arm
from robot_dynamics_ros._core import EnableResult, GuardState, TorqueMode
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
        arm = Arm(controller.host, robot, {"time_scale": 1.0}, follow_host_clock=True, realtime_priority=priority)
        driver, loop = arm.driver, arm.loop
        try:
            _enable(arm)
            before = len(driver.answered)
            arm.read(duration, lambda: loop.state in (GuardState.safe, GuardState.fault))
            ended = "" if loop.state in (GuardState.ok, GuardState.degraded) else loop.reason.name
            latencies = driver.answered[before:]
            text = driver.info.realtime_text
        finally:
            arm.close()
    if not len(latencies):
        raise ConnectionFailed(f"torque mode ended at once: {ended}")
    return {"scheduling": text, "states": len(latencies), "ended": ended} | {
        name: dict(zip(("p50", "p99", "max"), _percentiles(column), strict=True))
        for name, column in zip(("arrival", "reading"), latencies.T, strict=True)
    }


def _enable(arm: Arm) -> None:
    arm.read(START_TIMEOUT, arm.known)
    arm.driver.start_torque()
    end = time.monotonic() + START_TIMEOUT
    while True:  # a state must be fresh at that instant, which a busy machine cannot always give
        arm.loop.enable(TorqueMode.guide)
        arm.read(START_TIMEOUT, lambda: arm.loop.enabled != EnableResult.pending)
        if arm.loop.enabled == EnableResult.done:
            return
        if time.monotonic() > end:
            raise ConnectionFailed(f"torque mode does not begin: {arm.loop.enabled.name}")


def _percentiles(seconds: np.ndarray) -> list[float]:
    return [float(1e6 * value) for value in (*np.percentile(seconds, (50, 99)), seconds.max())]
