"""Faults of the command path, injected and judged: `python -m bench faults`."""
