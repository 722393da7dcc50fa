"""The simulated arm as an existing driver publishes it: joint_states in real time (position, velocity, effort)."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

import rclpy
from sensor_msgs.msg import JointState

from robot_dynamics_ros.nodes.topics.encoding import to_time
from robot_dynamics_ros.simulation.robot import Record, SimulatedRobot

MAX_DELAY = 0.1  # s; a publisher that is later skips time instead of catching up


def publish(robot: SimulatedRobot, records: Iterable[Record]) -> int:
    """Publish records of control cycles at the robot's rate until they end or Ctrl-C; returns how many were late."""
    context = rclpy.Context()
    rclpy.init(args=[], context=context)
    node = rclpy.create_node("simulated_arm", context=context)
    publisher = node.create_publisher(JointState, "joint_states", 10)
    names, period = list(robot.robot.joint_names), 1.0 / robot.rate
    due, late, wall = time.monotonic(), 0, time.time_ns() - time.monotonic_ns()
    try:
        for record in records:
            publisher.publish(_message(names, record, robot, wall + round(1e9 * due)))
            due += period
            wait = due - time.monotonic()
            if wait > 0:
                time.sleep(wait)
            elif wait < -MAX_DELAY:
                due, late = time.monotonic(), late + 1
            if not context.ok():
                break
    except KeyboardInterrupt:
        pass
    finally:
        node.destroy_node()
        if context.ok():
            rclpy.shutdown(context=context)
    return late


def _message(names: list[str], record: Any, robot: SimulatedRobot, stamp_ns: int) -> Any:
    """Stamped when its cycle was due: published late, a stamp of that time would not fit the velocity."""
    message = JointState(name=names, position=record.q, velocity=record.qd, effort=robot.effort_of(record))
    message.header.stamp = to_time(stamp_ns)
    return message
