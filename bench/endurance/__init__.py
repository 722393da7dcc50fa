"""Torque control and nodes for hours, with faults."""
