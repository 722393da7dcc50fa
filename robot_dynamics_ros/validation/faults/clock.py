"""All faults that run with a clock of our own: a simulated robot and the torque loop in one thread, cycle by cycle."""

from __future__ import annotations

from robot_dynamics_ros.validation.faults import clock_commands, clock_learning, clock_meaning, clock_states
from robot_dynamics_ros.validation.faults.table import Case

CASES: list[Case] = sorted(
    clock_states.CASES + clock_commands.CASES + clock_learning.CASES + clock_meaning.CASES, key=lambda case: case.number
)
