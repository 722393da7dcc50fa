"""The values that flow through the package: one table of signals, one record (Sample), many records (Log)."""

from robot_dynamics_ros.signals.log import Log, Sample
from robot_dynamics_ros.signals.table import (
    ESTIMATED,
    SIGNALS,
    TCP,
    TOTAL,
    WRENCH_AXES,
    WRENCH_UNITS,
    Signal,
    entries,
    joint_columns,
    width,
)

__all__ = [
    "ESTIMATED",
    "SIGNALS",
    "TCP",
    "TOTAL",
    "WRENCH_AXES",
    "WRENCH_UNITS",
    "Log",
    "Sample",
    "Signal",
    "entries",
    "joint_columns",
    "width",
]
