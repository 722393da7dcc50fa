"""Positions for a controller that takes one per cycle: smooth moves to waypoints, then a stream; stops on its path."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.trajectories.motions import minimum_jerk

JERK = 60.0  # rad/s3, largest of our own moves
STOP_TIME = 0.4  # s from full pace to rest, along the path
START_TOLERANCE = 0.02  # rad between the robot and the first point of a stream
MAX_CYCLES = 10_000_000


class Playback:
    """One position (n,) per cycle of `rate` [Hz].

    start (n,): where the controller's reference is; waypoints (m, n): visited in turn at rest, leading axis at most
    `speed` [rad/s], `acceleration` [rad/s2]; stream (N, n): samples at `rate` that follow. Raises CapabilityError where
    a stream starts elsewhere or the motion is too long.
    """

    def __init__(
        self,
        start: np.ndarray,
        waypoints: np.ndarray,
        stream: np.ndarray,
        rate: float,
        speed: float = 0.5,
        acceleration: float = 1.0,
    ) -> None:
        here = np.asarray(start, dtype=float)
        parts = [here[None]]
        for goal in waypoints:
            parts.append(_leg(here, goal, rate, speed, acceleration))
            here = goal
        if len(stream):
            refuse_start(stream[0], here)
            parts.append(_joined(here, stream, rate))
        self._path = np.vstack(parts)
        if not len(self._path) <= MAX_CYCLES:
            raise CapabilityError(f"a motion of {len(self._path)} cycles is longer than {MAX_CYCLES}")
        self._phase, self._slowing, self._steps = 0.0, 0, max(1, round(STOP_TIME * rate))
        self.stopped = False

    @property
    def progress(self) -> float:
        """Share of the path, 0..1."""
        return min(1.0, self._phase / max(len(self._path) - 1, 1))

    def stop(self) -> None:
        """Slow down along the path; next() ends soon."""
        if not self.stopped:
            self.stopped, self._slowing = True, 1

    def next(self) -> np.ndarray | None:
        """Position of the next cycle, None at the end."""
        if self._slowing > self._steps or self._phase >= len(self._path) - 1:
            return None
        self._phase = min(self._phase + self._pace(), len(self._path) - 1.0)
        return self._at(self._phase)

    def _pace(self) -> float:
        if not self._slowing:
            return 1.0
        x = self._slowing / self._steps
        self._slowing += 1
        return 1.0 - minimum_jerk(x)

    def _at(self, phase: float) -> np.ndarray:
        """Cubic through the neighbours; exact on samples."""
        last = len(self._path) - 1
        i = min(int(phase), last)
        x = phase - i
        if x == 0.0:
            return self._path[i]
        a, b, c, d = (self._path[min(max(j, 0), last)] for j in (i - 1, i, i + 1, i + 2))
        return b + 0.5 * x * (c - a + x * (2 * a - 5 * b + 4 * c - d + x * (3 * (b - c) + d - a)))


def refuse_start(first: np.ndarray, here: np.ndarray) -> None:
    """Raise CapabilityError where a stream that begins at `first` (n,) [rad] would move a robot at `here` by a jump."""
    distance = float(np.abs(np.asarray(first) - here).max())
    if not distance <= START_TOLERANCE:
        raise CapabilityError(f"the stream starts {distance:.3f} rad from the robot, more than {START_TOLERANCE}")


def _leg(start: np.ndarray, goal: np.ndarray, rate: float, speed: float, acceleration: float) -> np.ndarray:
    """Minimum-jerk move without its first point; peaks: 15/8 D/T, 5.7735 D/T2, 60 D/T3."""
    distance = float(np.abs(goal - start).max())
    seconds = max(
        1.875 * distance / speed, (5.7735 * distance / acceleration) ** 0.5, (60 * distance / JERK) ** (1 / 3)
    )
    cycles = int(np.ceil(seconds * rate))
    if not cycles <= MAX_CYCLES:
        raise CapabilityError(f"a move of {seconds:.0f} s is longer than {MAX_CYCLES} cycles")
    x = (np.arange(1, cycles + 1) / max(cycles, 1))[:, None]
    return start + (goal - start) * minimum_jerk(x)


def _joined(here: np.ndarray, stream: np.ndarray, rate: float) -> np.ndarray:
    """The stream, its small distance from `here` faded out over half a second."""
    x = np.clip(np.arange(1, len(stream) + 1) / (0.5 * rate), 0, 1)[:, None]
    return stream + (here - stream[0]) * (1 - minimum_jerk(x))
