"""How many robots one machine observes in real time: simulated controllers and nodes, one more at a time."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from typing import Any

from bench.running import cpu_seconds
from robot_dynamics_ros.bringup import describe
from robot_dynamics_ros.errors import ConnectionFailed
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.server.launcher import SimulatedController
from robot_dynamics_ros.supervisor import Supervisor

SETTLE = 3.0  # s after the start of a robot that are not measured


@dataclass
class FleetRow:
    """Robots at once: processor share of the nodes and of the simulated controllers, latency, losses."""

    robots: int
    rate: float  # Hz, the slowest robot
    missed: int  # samples, all robots
    p50_us: float  # bytes received to all topics published, the worst robot
    p99_us: float
    nodes_cpu: float  # cores, all robots
    controllers_cpu: float
    load: float

    def in_time(self, expected: float) -> bool:
        """No sample lost, and the controllers' clocks ran at the rate of the robot file within 1 %."""
        return self.missed == 0 and self.rate > 0.99 * expected

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def grow(robot: str, most: int, duration: float) -> Iterator[FleetRow]:
    """Start robots one by one up to `most` and measure each number of them for `duration` [s].

    Raises ConnectionFailed where a robot does not report.
    """
    with ExitStack() as running:
        nodes, controllers = Supervisor(), []
        running.callback(nodes.stop)
        for number in range(1, most + 1):
            controller = running.enter_context(SimulatedController(robot))
            controllers.append(controller)
            graph = describe(robot, ip=controller.host, namespace=f"fleet_{number}")
            for node in graph.nodes:
                nodes.start(f"{node.name}_{number}", graph.command(node), graph.environment)
            yield _measured(robot, nodes, controllers, duration)


def _measured(robot: str, nodes: Supervisor, controllers: list[Any], duration: float) -> FleetRow:
    from bench.speed.latency_probe import diagnostics  # needs rclpy

    hosts = {controller.host for controller in controllers}
    before = diagnostics(hosts, SETTLE)
    nodes_pids = [child.pid for child in nodes.children.values()]
    pids = [controller.process.pid for controller in controllers]
    began, used, simulated = time.monotonic(), cpu_seconds(nodes_pids), cpu_seconds(pids)
    after = diagnostics(hosts, duration)
    seconds = time.monotonic() - began
    if hosts - after.keys() or hosts - before.keys():
        raise ConnectionFailed(f"{len(hosts - after.keys())} of {len(hosts)} robots do not report")
    pairs = [(before[host], after[host]) for host in hosts]
    return FleetRow(
        robots=len(hosts),
        rate=min(float(last["samples received [Hz]"]) for _, last in pairs),
        missed=sum(int(last["missed"]) - int(first["missed"]) for first, last in pairs),
        p50_us=max(float(last["receive to published p50 [us]"]) for _, last in pairs),
        p99_us=max(float(last["receive to published p99 [us]"]) for _, last in pairs),
        nodes_cpu=(cpu_seconds(nodes_pids) - used) / seconds,
        controllers_cpu=(cpu_seconds(pids) - simulated) / seconds,
        load=os.getloadavg()[0],
    )


def expected_rate(robot: str) -> float:
    """Samples per second that the robot file states [Hz]."""
    return float(load_robot(robot).sensing.sample_rate or 0.0)
