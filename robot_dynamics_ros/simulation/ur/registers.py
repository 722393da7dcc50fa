"""What RTDE clients write: registers shared with the robot program, and their watchdogs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from robot_dynamics_ros.simulation.ur import rtde_wire as wire
from robot_dynamics_ros.simulation.ur.script import ProgramError


def _zeros(table: dict[str, str], prefix: str) -> dict[str, tuple[Any, ...]]:
    return {name: (0,) * wire.FIELD_TYPES[kind][1] for name, kind in table.items() if name.startswith(prefix)}


class Registers:
    """`values` holds every register by its RTDE name as a tuple; inputs remember when they were last written."""

    def __init__(self) -> None:
        self.values = _zeros(wire.OUTPUTS, "output_") | _zeros(wire.INPUTS, "")
        self.written: dict[str, float] = {}  # controller time of the last write
        self._int_in = [f"input_int_register_{i}" for i in range(wire.N_REGISTERS)]
        self._double_in = [f"input_double_register_{i}" for i in range(wire.N_REGISTERS)]
        self._int_out = [f"output_int_register_{i}" for i in range(wire.N_REGISTERS)]
        self._double_out = [f"output_double_register_{i}" for i in range(wire.N_REGISTERS)]

    def write_inputs(self, values: dict[str, tuple[Any, ...]], now: float) -> None:
        """Values of an RTDE input package."""
        self.values.update(values)
        self.written.update(dict.fromkeys(values, now))

    def int_in(self, index: int) -> int:
        """An integer input register."""
        return int(self.values[self._int_in[index]][0])

    def doubles_in(self, first: int, count: int) -> list[float]:
        """Input registers of floating point in a row."""
        return [self.values[name][0] for name in self._double_in[first : first + count]]

    def write_int(self, index: int, value: int) -> None:
        """Set an integer output register. Raises ValueError for a value that does not fit."""
        if not -(2**31) <= value < 2**31:
            raise ValueError(f"{value} does not fit an integer register")
        self.values[self._int_out[index]] = (int(value),)

    def write_doubles(self, first: int, values: Iterable[float]) -> None:
        """Set output registers of floating point in a row."""
        for offset, value in enumerate(values):
            self.values[self._double_out[first + offset]] = (float(value),)


ROUNDING = 1e-6  # s: a silence of the whole period is not too long, however its two times were rounded


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
            if silence + ahead > period + ROUNDING:
                return name, period
        return None
