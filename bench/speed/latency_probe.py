"""A subscriber in a process of its own: age of a topic's messages on arrival, missing ones, diagnostics."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from diagnostic_msgs.msg import DiagnosticArray

from bench.ros_probe import Probe
from robot_dynamics_ros.errors import ConnectionFailed
from robot_dynamics_ros.nodes.topics.encoding import MESSAGE_TYPES, to_ns
from robot_dynamics_ros.topics import PREFIX, TOPICS, below

START_TIMEOUT = 30.0  # s until the first message


def probe(duration: float, warm_up: float, topic: str) -> dict[str, Any]:
    """Listen for `duration` [s]: rate, age on arrival [us], samples missing by robot time, last diagnostics.

    Raises ConnectionFailed when nothing arrives.
    """
    rows: list[tuple[int, int]] = []
    last: dict[str, dict[str, str]] = {}
    kind, listener = MESSAGE_TYPES[TOPICS[topic].type], Probe("latency_probe", START_TIMEOUT)
    try:
        listener.node.create_subscription(
            kind, below(PREFIX, topic), lambda m: rows.append((to_ns(m.header.stamp), time.time_ns())), 50
        )
        listener.node.create_subscription(DiagnosticArray, "/diagnostics", lambda m: _keep(m, last), 10)
        if not listener.spin(lambda: rows):
            raise ConnectionFailed(f"no {topic} arrives; see the messages above")
        listener.spin(lambda: False, warm_up)
        rows.clear()
        listener.spin(lambda: False, duration)
    finally:
        listener.close()
    return _figures(np.array(rows), duration) | {"diagnostics": last}


def _keep(message: DiagnosticArray, into: dict[str, dict[str, str]]) -> None:
    for entry in message.status:
        into[entry.name] = {pair.key: pair.value for pair in entry.values}


def _figures(rows: np.ndarray, duration: float) -> dict[str, Any]:
    stamps, arrivals = rows.T
    age = (arrivals - stamps) * 1e-3
    steps = np.diff(np.sort(stamps))
    period = np.median(steps)
    p50, p99 = np.percentile(age, (50, 99))
    return {
        "rate": len(rows) / duration,
        "age_p50": float(p50),
        "age_p99": float(p99),
        "age_max": float(age.max()),
        "missing": int(np.sum(np.round(steps / period) - 1)),
    }
