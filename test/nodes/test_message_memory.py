"""Large messages leave no memory behind in a node: queues and heap give it back."""

import os
import subprocess
import sys

import pytest

from robot_dynamics_ros.bringup import environment

SIZE, COUNT = 5_000_000, 30
READER = """
import sys, rclpy
from pathlib import Path
from std_msgs.msg import String
from robot_dynamics_ros.nodes.run import return_large_blocks

def held():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20

def read(message):
    if message.data == "end":
        print(before, held(), largest, flush=True)
        sys.exit()
    largest[0] = max(largest[0], len(message.data))

return_large_blocks()
rclpy.init()
node, largest = rclpy.create_node("reader"), [0]
node.create_subscription(String, "large", read, 10)
before = held()
rclpy.spin(node)
"""
WRITER = """
import rclpy
from std_msgs.msg import String
rclpy.init()
node = rclpy.create_node("writer")
large = node.create_publisher(String, "large", 10)
pause = lambda s: rclpy.spin_once(node, timeout_sec=s)
while not large.get_subscription_count():
    pause(0.05)
for k in range({count}):
    large.publish(String(data="x" * {size}))
    pause(0.05)
while large.get_subscription_count():
    large.publish(String(data="end"))
    pause(0.1)
"""


@pytest.mark.long
@pytest.mark.realtime
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_large_messages_leave_no_memory_behind():
    names = ("ROS_AUTOMATIC_DISCOVERY_RANGE", "FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE")
    clean = {k: v for k, v in os.environ.items() if k not in names}
    with pytest.MonkeyPatch.context() as patch:
        for name in names:
            patch.delenv(name, raising=False)
        settings = clean | environment()
    reader = subprocess.Popen([sys.executable, "-c", READER], env=settings, stdout=subprocess.PIPE, text=True)
    writer = subprocess.Popen([sys.executable, "-c", WRITER.format(size=SIZE, count=COUNT)], env=settings)
    try:
        before, after, largest = reader.communicate(timeout=60)[0].replace("[", "").replace("]", "").split()
    finally:
        for process in (reader, writer):
            process.kill()
            process.communicate()
    assert int(largest) == SIZE and float(after) < float(before) + 5.0
