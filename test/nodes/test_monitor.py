"""The listener of terminals: it wakes for no sample, and shows the newest one whenever it is asked."""

import time

import numpy as np
import pytest
import rclpy
from geometry_msgs.msg import WrenchStamped

from robot_dynamics_ros.nodes.topics.monitor import Monitor

TOPIC = "robot_dynamics/external_wrench_base"


@pytest.mark.ros
def test_a_snapshot_holds_the_newest_of_what_came_since_the_one_before():
    with Monitor(namespace="watched") as monitor:
        assert monitor.newest("external_wrench_base") is None and np.isnan(monitor.snapshot().wrench).all()
        node = rclpy.create_node("talker", context=monitor._context, namespace="watched")
        publisher = node.create_publisher(WrenchStamped, TOPIC, 10)
        until = time.monotonic() + 60.0
        sent, shown = 0, monitor.snapshot()
        while not shown.wrench[0] >= 100 and time.monotonic() < until:
            message = WrenchStamped()
            message.wrench.force.x = float(sent)
            publisher.publish(message)
            sent, shown = sent + 1, monitor.snapshot()
        node.destroy_node()
    assert shown.wrench[0] >= 100
