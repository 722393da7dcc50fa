"""Digital and analogue outputs and the speed slider, as RTDE inputs set them through masks."""

from __future__ import annotations

from typing import Any

# input value, its mask, first bit in actual_digital_output_bits
DIGITAL = (
    ("standard_digital_output", "standard_digital_output_mask", 0),
    ("configurable_digital_output", "configurable_digital_output_mask", 8),
    ("tool_digital_output", "tool_digital_output_mask", 16),
)


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
