"""A subscriber in a process of its own: age of a topic's messages on arrival, missing ones, diagnostics of robots."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from rclpy.experimental import EventsExecutor

from robot_dynamics_ros.errors import ConnectionFailed
from robot_dynamics_ros.nodes.topics.encoding import MESSAGE_TYPES, to_ns
from robot_dynamics_ros.topics import PREFIX, TOPICS, below

START_TIMEOUT = 30.0  # s until the first message


@contextmanager
def _listening() -> Iterator[tuple[Any, Any]]:
    """A node of its own and its executor."""
    context = rclpy.Context()
    rclpy.init(args=[], context=context)
    node = rclpy.create_node("latency_probe", context=context)
    executor = EventsExecutor(context=context)
    executor.add_node(node)
    try:
        yield node, executor
    finally:
        node.destroy_node()
        rclpy.shutdown(context=context)


def diagnostics(addresses: set[str], seconds: float) -> dict[str, dict[str, str]]:
    """The last stream diagnostics of each robot by its address, after the first of all and `seconds` more."""
    found: dict[str, dict[str, str]] = {}

    def keep(message: DiagnosticArray) -> None:
        for entry in message.status:
            if entry.hardware_id in addresses and entry.name.endswith(": stream"):
                found[entry.hardware_id] = _values(entry)

    with _listening() as (node, executor):
        node.create_subscription(DiagnosticArray, "/diagnostics", keep, 50)
        _spin(executor, lambda: len(found) == len(addresses), START_TIMEOUT)
        _spin(executor, lambda: False, seconds)
    return found


def probe(duration: float, warm_up: float = 2.0, topic: str = "external_wrench") -> dict[str, Any]:
    """Listen for `duration` [s]: rate, age on arrival [us], samples missing by robot time, last diagnostics.

    Raises ConnectionFailed when nothing arrives.
    """
    rows: list[tuple[int, int]] = []
    last: dict[str, dict[str, str]] = {}
    kind = MESSAGE_TYPES[TOPICS[topic].type]
    with _listening() as (node, executor):
        node.create_subscription(kind, below(PREFIX, topic), lambda m: rows.append((to_ns(m.header.stamp), _now())), 50)
        node.create_subscription(DiagnosticArray, "/diagnostics", lambda m: _keep(m, last), 10)
        _spin(executor, lambda: bool(rows), START_TIMEOUT)
        if not rows:
            raise ConnectionFailed(f"no {topic} arrives; see the messages above")
        _spin(executor, lambda: False, warm_up)
        rows.clear()
        _spin(executor, lambda: False, duration)
    return _figures(np.array(rows), duration) | {"diagnostics": last}


def _now() -> int:
    return time.time_ns()


def _keep(message: DiagnosticArray, into: dict[str, dict[str, str]]) -> None:
    for entry in message.status:
        into[entry.name] = _values(entry)


def _values(entry: DiagnosticStatus) -> dict[str, str]:
    return {pair.key: pair.value for pair in entry.values}


def _spin(executor: Any, done: Any, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not done() and time.monotonic() < end:
        executor.spin_once(timeout_sec=0.05)


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
