"""Watchdogs that clients arm: an input register that is not written often enough ends the program."""

from __future__ import annotations

from robot_dynamics_ros.simulation.ur.program import ProgramError
from robot_dynamics_ros.simulation.ur.registers import Registers


class Watchdogs:
    """The armed ones, by the name of their register [UR script, rtde_set_watchdog with action "stop"]."""

    def __init__(self, registers: Registers) -> None:
        self._registers = registers
        self._armed: dict[str, tuple[float, float]] = {}  # register -> longest silence, armed at [s]

    def arm(self, register: str, min_frequency: float, now: float) -> None:
        """The register must be written every 1/min_frequency [s] from `now` on. Raises ProgramError unless > 0."""
        if not min_frequency > 0:
            raise ProgramError(f"watchdog frequency {min_frequency} Hz must be positive")
        self._armed[register] = (1 / min_frequency, now)

    def clear(self) -> None:
        """None any more: they end with the program."""
        self._armed.clear()

    def overdue(self, now: float, ahead: float = 0.0) -> tuple[str, float] | None:
        """Register that was silent for too long at `now`, or will be `ahead` [s] later, and its period; None: none."""
        for name, (period, armed) in self._armed.items():
            silence = now - max(armed, self._registers.written.get(name, armed))
            if silence + ahead > period:
                return name, period
        return None
