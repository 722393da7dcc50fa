"""Real-time pacing of a simulated controller: cycles are due on an absolute clock, and delays are made up."""

from __future__ import annotations

import time

from robot_dynamics_ros.errors import RobotDynamicsError

MAX_LATE = 0.1  # s of wall time: a process further behind gives the time up instead of catching up


class Pace:
    """Cycle k is due at start + k period of wall time, whenever the cycles before it were finished.

    rate: cycles per second of controller time; speed: controller time per wall time, 0.01..1e6. `late` counts how often
    the process was more than MAX_LATE [s] behind, where the schedule starts again from the present time.
    Raises RobotDynamicsError for a speed out of range.
    """

    def __init__(self, rate: float, speed: float = 1.0) -> None:
        self._rate = rate
        self.late = 0
        self._due = time.perf_counter()
        self.set_speed(speed)

    def set_speed(self, factor: float) -> None:
        """Controller time per wall time; beyond what the machine can do it runs as fast as it can.

        Raises RobotDynamicsError outside 0.01..1e6.
        """
        if not 0.01 <= factor <= 1e6:
            raise RobotDynamicsError(f"speed {factor} is outside 0.01..1e6")
        self.speed, self.period = factor, 1.0 / self._rate / factor

    def left(self) -> float:
        """Wall time [s] until the next cycle is due, negative when it is late."""
        now = time.perf_counter()
        if now - self._due > MAX_LATE:
            self.late, self._due = self.late + 1, now
        return self._due - now

    def advance(self) -> None:
        """A cycle is done: the next one is due one period after the time at which this one was due."""
        self._due += self.period
