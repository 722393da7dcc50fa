"""How long torque lasts after ~/disable_torque or ~/stop in a flooded node: `python test/nodes/flood_of_stops.py`.

A simulated UR in real time, a hardware node and the flood are processes of their own. Prints a table: messages per
second that were sent, and seconds from the request until the robot has left torque mode (the ramp takes 0.1 of them).
"""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
from ros_graph import Listener, Process  # sets the middleware before rclpy is initialised

NODE = "hardware_node"
TIMEOUT = 30.0  # s
BUILD_UP = 0.5  # s of flood before a request


def flood(rate: float, points: int) -> None:
    """Publish trajectories outside the limits, until this process is ended; prints how many per second were sent."""
    from builtin_interfaces.msg import Duration
    from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

    from robot_dynamics_ros.robot_file import load_robot

    listener, names = Listener("flood"), list(load_robot("ur5e").joint_names)
    many = [JointTrajectoryPoint(positions=[50.0] * 6, time_from_start=Duration(sec=k + 1)) for k in range(points)]
    message = JointTrajectory(joint_names=names, points=many)
    publisher = listener.node.create_publisher(JointTrajectory, f"{NODE}/joint_trajectory", 5)
    listener.spin(lambda: publisher.get_subscription_count() > 0, 60.0)
    begin, sent = time.monotonic(), 0
    while True:
        publisher.publish(message)
        sent += 1
        if sent % 200 == 0:
            print(f"{sent / (time.monotonic() - begin):.0f}", flush=True)
        time.sleep(max(0.0, begin + sent / rate - time.monotonic()))


def tried(listener, simulation, service: str, sender) -> float:
    """Seconds from a request in the flood until the robot has left torque mode; the flood rests while it is enabled."""
    from std_srvs.srv import Trigger

    client = listener.node.create_client(Trigger, f"{NODE}/{service}")
    listener.spin(client.service_is_ready)
    hold(sender, signal.SIGSTOP)
    while not simulation.state["torque_mode"]:  # a busy machine refuses, or latches the guard
        listener.call(Trigger, f"{NODE}/rearm", timeout=TIMEOUT)
        listener.call(Trigger, f"{NODE}/enable_guiding", timeout=TIMEOUT)
        time.sleep(0.1)
    hold(sender, signal.SIGCONT)
    time.sleep(BUILD_UP)
    begin = time.monotonic()
    done = client.call_async(Trigger.Request())
    while simulation.state["torque_mode"]:
        listener.executor.spin_once(timeout_sec=0.001)
    seconds = time.monotonic() - begin
    listener.spin(done.done)
    assert done.result().success, done.result().message
    listener.node.destroy_client(client)
    return seconds


def hold(sender, number) -> None:
    if sender is not None:
        sender.send_signal(number)


def measure(rate: float, points: int, tries: int) -> None:
    """One row of the table for each service."""
    from robot_dynamics_ros.simulation.server.launcher import SimulatedUR

    with SimulatedUR("ur5e") as ur, ur.client() as simulation:
        parameters = {"robot": "ur5e", "ip": ur.host, "torque": "script"}
        arguments = [text for name, value in parameters.items() for text in ("-p", f"{name}:={value}")]
        node = Process("robot_dynamics_ros.nodes.executables", NODE, "--ros-args", *arguments)
        listener = Listener()
        command = [sys.executable, __file__, "--flood", str(rate), "--points", str(points)]
        sender = subprocess.Popen(command, stdout=subprocess.PIPE, text=True) if rate else None
        try:
            sent = sender.stdout.readline().strip() if sender else "0"  # after the first messages
            for service in ("disable_torque", "stop"):
                found = np.array([tried(listener, simulation, service, sender) for _ in range(tries)])
                print(f"| {sent} | {points} | {service} | {tries} | {np.median(found):.3f} | {found.max():.3f} |")
        finally:
            if sender:
                sender.kill()
                sender.wait()
            listener.close()
            node.end()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tries", type=int, default=100)
    parser.add_argument("--points", type=int, default=2)
    parser.add_argument("--flood", type=float, default=0.0, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.flood:
        return flood(given.flood, given.points)
    print("| messages per second | points | request | tries | median [s] | largest [s] |\n|---|---|---|---|---|---|")
    for rate in (0.0, 100.0, 1500.0, 1e9):
        measure(rate, given.points, given.tries)
    return None


if __name__ == "__main__":
    main()
