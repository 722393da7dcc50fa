"""Running a plan: on the simulated robot, or on a real one through its driver; what was recorded is always kept."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.identification.experiments.plan import Plan
from robot_dynamics_ros.signals import Log, Sample

if TYPE_CHECKING:
    from robot_dynamics_ros.drivers.interface import MotionDriver
    from robot_dynamics_ros.simulation.robot import SimulatedRobot

Progress = Callable[[float], None]  # share done, 0..1
_CHUNK = 10.0  # s of simulated time between two looks at the keyboard
_SILENCE = 5.0  # s without samples until a run is given up
_APPROACH = 0.5  # rad/s


class ExperimentFailed(RobotDynamicsError):
    """The robot did not finish the motion; `log` holds what was recorded before."""

    def __init__(self, message: str, log: Log | None) -> None:
        super().__init__(message)
        self.log = log


def run_simulated(plan: Plan, robot: SimulatedRobot, progress: Progress | None = None, keep: int = 1) -> Log:
    """Faster than real time from the plan's start; on Ctrl-C what was run until then."""
    from robot_dynamics_ros.bags import concatenate

    robot.reset(plan.start)
    step, parts = max(round(_CHUNK * plan.rate) // keep, 1) * keep, []
    total = len(plan.motion[0])
    try:
        for begin in range(0, total, step):
            rows = slice(begin, min(begin + step, total))
            if (rows.stop - rows.start) // keep:
                q, qd, qdd = (x[rows] for x in plan.motion)
                parts.append(robot.run(q, qd, qdd, rate=plan.rate, keep=keep)[0])
            if progress:
                progress(rows.stop / total)
    except KeyboardInterrupt:
        if not parts:
            raise
    return concatenate(parts)


def run_driver(plan: Plan, driver: MotionDriver, progress: Progress | None = None) -> Log:
    """Move a connected robot to the start, stream the motion, record every sample from the start of the motion on.

    Ctrl-C stops the robot and returns what was recorded. Raises ExperimentFailed, with the log so far, when the robot
    stops by itself or falls silent.
    """
    samples: list[Sample] = []
    try:
        here = _here(driver)
        driver.move_path(np.stack([here, plan.start]), _APPROACH, 1.0)
        _record(driver, None, None)
        driver.servo(plan.motion[0], plan.rate)
        _record(driver, samples, progress)
    except KeyboardInterrupt:
        driver.stop()
        _until_still(driver)
        if not samples:
            raise
    except RobotDynamicsError as error:
        driver.stop()
        log = Log.from_samples(samples) if samples else None
        raise ExperimentFailed(str(error), log) from error
    return Log.from_samples(samples)


def _here(driver: MotionDriver) -> np.ndarray:
    sample = driver.read(_SILENCE)
    if sample is None:
        raise ExperimentFailed(f"no samples: {driver.last_error or 'the robot is silent'}", None)
    return sample.q.copy()


def _record(driver: MotionDriver, samples: list[Sample] | None, progress: Progress | None) -> None:
    """Read until the motion is over; a motion that failed raises."""
    last_sample = time.monotonic()
    while driver.motion.active:
        sample = driver.read(0.2)
        if sample is not None:
            last_sample = time.monotonic()
            if samples is not None:
                samples.append(sample.copy())
        elif time.monotonic() - last_sample > _SILENCE:
            raise RobotDynamicsError(f"no samples for {_SILENCE:g} s: {driver.last_error or 'the robot is silent'}")
        if progress:
            progress(driver.motion.progress)
    if driver.motion.state != "done":
        raise RobotDynamicsError(f"motion {driver.motion.state}: {driver.motion.reason or 'no reason given'}")


def _until_still(driver: MotionDriver, timeout: float = 5.0) -> None:
    end = time.monotonic() + timeout
    while driver.motion.active and time.monotonic() < end:
        driver.read(0.1)
