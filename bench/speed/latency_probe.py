"""A subscriber in a process of its own: age of a topic's messages on arrival, missing ones, diagnostics."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.experimental import EventsExecutor

from robot_dynamics_ros.errors import ConnectionFailed
from robot_dynamics_ros.nodes.topics.encoding import MESSAGE_TYPES, to_ns
from robot_dynamics_ros.topics import PREFIX, TOPICS, below
from robot_dynamics_ros.waiting import wait_until

START_TIMEOUT = 30.0  # s until the first message


def probe(duration: float, warm_up: float, topic: str) -> dict[str, Any]:
    """Listen for `duration` [s]: rate, age on arrival [us], samples missing by robot time, last diagnostics.

    Raises ConnectionFailed when nothing arrives.
    """
    rows: list[tuple[int, int]] = []
    last: dict[str, dict[str, str]] = {}
    kind, context = MESSAGE_TYPES[TOPICS[topic].type], rclpy.Context()
    rclpy.init(args=[], context=context)
    node, executor = rclpy.create_node("latency_probe", context=context), EventsExecutor(context=context)
    executor.add_node(node)
    spin = partial(executor.spin_once, timeout_sec=0.05)
    try:
        node.create_subscription(
            kind, below(PREFIX, topic), lambda m: rows.append((to_ns(m.header.stamp), time.time_ns())), 50
        )
        node.create_subscription(DiagnosticArray, "/diagnostics", lambda m: _keep(m, last), 10)
        if not wait_until(lambda: rows, START_TIMEOUT, spin):
            raise ConnectionFailed(f"no {topic} arrives; see the messages above")
        wait_until(lambda: False, warm_up, spin)
        rows.clear()
        wait_until(lambda: False, duration, spin)
    finally:
        node.destroy_node()
        rclpy.shutdown(context=context)
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
