"""How long torque lasts after ~/disable_torque or ~/stop in a flooded node, and how long ~/rearm and ~/enable_guiding
take to answer in it: `python -m bench.faults.flood_of_stops`.

A simulated UR in real time, a hardware node and the flood of refused trajectories are processes of their own. Prints a
table: messages per second that were sent, their size, and seconds from each request to its answer or, for the two that
end torque, until the robot has left torque mode (the ramp of 0.1 s included).
"""

from __future__ import annotations

import argparse
import contextlib
import os
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.faults.table import require
from bench.ros_probe import Probe
from bench.running import measure_apart
from robot_dynamics_ros.bringup import Graph, NodeSpec, find_config
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.server.client import SimulationClient
from robot_dynamics_ros.simulation.server.launcher import SimulatedController
from robot_dynamics_ros.supervisor import Supervisor

NODE = "hardware_node"
START = 200.0  # s until the node answers
BUILD_UP = 0.3  # s of torque before a request that ends it
FLOODS = ((0.0, 0), (100.0, 2), (1500.0, 2), (1e9, 2), (1e9, 9000))  # messages per second, points of each


def flood(rate: float, points: int) -> None:
    """Publish trajectories outside the limits, until this process is ended; prints how many per second were sent."""
    from builtin_interfaces.msg import Duration
    from rclpy.impl.implementation_singleton import rclpy_implementation
    from rclpy.serialization import serialize_message
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    listener, names = Probe("flood"), list(load_robot("ur5e").joint_names)
    many = [JointTrajectoryPoint(positions=[50.0] * 6, time_from_start=Duration(sec=k + 1)) for k in range(points)]
    message = serialize_message(JointTrajectory(joint_names=names, points=many))
    publisher = listener.node.create_publisher(JointTrajectory, f"{NODE}/joint_trajectory", 5)
    listener.spin(lambda: publisher.get_subscription_count() > 0, 60.0)
    begin, sent = time.monotonic(), 0
    while True:
        with contextlib.suppress(rclpy_implementation.RCLError):  # the middleware takes no more of them now
            publisher.publish(message)
        sent += 1
        if sent % 200 == 0:
            print(f"{sent / (time.monotonic() - begin):.0f} | {len(message)}", flush=True)
        time.sleep(max(0.0, begin + sent / rate - time.monotonic()))


def asked(listener: Probe, client: Any, over: Callable[[], bool] = lambda: True) -> tuple[float, bool]:
    """Seconds from a request until `over` holds, or until its answer where `over` holds already; and its success."""
    from std_srvs.srv import Trigger

    begin = time.monotonic()
    future: Any = client.call_async(Trigger.Request())
    done = future.done if over() else over
    while not done():
        listener.executor.spin_once(timeout_sec=0.001)
    seconds = time.monotonic() - begin
    listener.spin(future.done)
    return seconds, future.result().success


def cycles(listener: Probe, simulation: SimulationClient, tries: int) -> dict[str, list[float]]:
    """Seconds by request: torque is enabled and ended twice per try, once by each of the two."""
    from std_srvs.srv import Trigger

    names = ("rearm", "enable_guiding", "disable_torque", "stop")
    clients: dict[str, Any] = {name: listener.node.create_client(Trigger, f"{NODE}/{name}") for name in names}
    for client in clients.values():
        require(listener.spin(client.service_is_ready), f"no {NODE} after {START:g} s")
    found: dict[str, list[float]] = defaultdict(list)
    for end in tries * ("disable_torque", "stop"):
        while not simulation.state["torque_mode"]:  # a busy machine refuses, or latches the guard
            for name in ("rearm", "enable_guiding"):
                seconds, success = asked(listener, clients[name])
                found[name if success else f"{name}, refused"].append(seconds)
            time.sleep(BUILD_UP)
        found[end].append(asked(listener, clients[end], lambda: not simulation.state["torque_mode"])[0])
    return found


def measure(rate: float, points: int, tries: int) -> None:
    """The rows of the table of one flood."""
    nodes = Supervisor(say=lambda line: None)
    with SimulatedController("ur5e") as ur, ur.client() as simulation:
        node = NodeSpec(NODE, NODE, {"robot": "ur5e", "ip": ur.host, "torque": True})
        nodes.start(NODE, Graph((node,)).command(node), {})
        listener = Probe("listener", START)
        command = [sys.executable, "-m", "bench.faults.flood_of_stops", "--flood", str(rate), "--points", str(points)]
        sender = subprocess.Popen(command, stdout=subprocess.PIPE, text=True) if rate else None
        try:
            sent = sender.stdout.readline().strip() if sender and sender.stdout else "0 | 0"  # after the first messages
            for name, found in sorted(cycles(listener, simulation, tries).items()):
                print(f"| {sent} | {name} | {len(found)} | {np.median(found):.3f} | {max(found):.3f} |", flush=True)
        finally:
            if sender:
                sender.kill()
                sender.wait()
            listener.close()
            nodes.stop()


def main() -> None:
    """The table, or the flood itself in a process of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=100)
    parser.add_argument("--points", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--flood", type=float, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.flood:
        return flood(given.flood, given.points)
    os.environ.setdefault("FASTDDS_DEFAULT_PROFILES_FILE", str(find_config("fastdds.xml")))
    measure_apart()
    print("| messages per second | bytes of each | request | tries | median [s] | largest [s] |")
    print("|---|---|---|---|---|---|")
    for rate, points in FLOODS:
        measure(rate, points, given.tries)
    print(f"load {', '.join(f'{x:.1f}' for x in os.getloadavg())} on {os.cpu_count()} processors")
    return None


if __name__ == "__main__":
    main()
