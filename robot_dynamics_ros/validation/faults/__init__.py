"""Faults of the command path, injected and judged: `robot-dynamics faults`."""
