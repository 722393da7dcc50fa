"""Experiments that make joints identifiable: the motion with its limits checked, a preview, and the recording."""
