"""Answers every joint_states with a small torque, until it is killed: for the table of faults."""

from __future__ import annotations

import rclpy
from rclpy.experimental import EventsExecutor
from rclpy.qos import QoSProfile, ReliabilityPolicy
from sensor_msgs.msg import JointState

TORQUE = 2.0  # Nm at the first joint


def main() -> None:
    """Runs for ever."""
    rclpy.init()
    node = rclpy.create_node("commander_process")
    quick = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
    publisher = node.create_publisher(JointState, "robot_dynamics/joint_torque_command", quick)

    def answer(state: JointState) -> None:
        message = JointState(name=state.name, effort=[TORQUE] + [0.0] * (len(state.name) - 1))
        message.header.stamp = state.header.stamp
        publisher.publish(message)

    node.create_subscription(JointState, "joint_states", answer, quick)
    executor = EventsExecutor()
    executor.add_node(node)
    while rclpy.ok():
        executor.spin_once(timeout_sec=0.1)


if __name__ == "__main__":
    main()
