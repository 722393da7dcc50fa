"""What RTDE clients write: registers shared with the robot program, outputs and speed slider, and their watchdogs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from robot_dynamics_ros.simulation.ur import rtde_wire as wire
from robot_dynamics_ros.simulation.ur.program import ProgramError

# input value, its mask, first bit in actual_digital_output_bits
DIGITAL = (
    ("standard_digital_output", "standard_digital_output_mask", 0),
    ("configurable_digital_output", "configurable_digital_output_mask", 8),
    ("tool_digital_output", "tool_digital_output_mask", 16),
)


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


class InputsOutputs:
    """Latched outputs; a package sets only what its mask selects."""

    def __init__(self) -> None:
        self.speed_fraction = 1.0
        self.digital_outputs = 0
        self.analog_outputs: list[tuple[float]] = [(0.0,), (0.0,)]

    def write(self, values: dict[str, tuple[Any, ...]]) -> None:
        """Apply the input variables of one package."""
        for name, mask_name, first in DIGITAL:
            if name in values and mask_name in values:
                mask = values[mask_name][0] << first
                self.digital_outputs = self.digital_outputs & ~mask | values[name][0] << first & mask
        if values.get("speed_slider_mask", (0,))[0] & 1 and "speed_slider_fraction" in values:
            fraction = values["speed_slider_fraction"][0]
            if 0.0 <= fraction <= 1.0:
                self.speed_fraction = max(fraction, 0.01)
        mask = values.get("standard_analog_output_mask", (0,))[0]
        for i in range(2):
            value = values.get(f"standard_analog_output_{i}", (float("nan"),))[0]
            if mask >> i & 1 and 0.0 <= value <= 1.0:
                self.analog_outputs[i] = (value,)


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
