"""Ctrl-C pressed twice ends a node once."""

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

from ros_graph import Listener, Process  # isort: skip  (sets the domain before rclpy is initialised)

from sensor_msgs.msg import JointState

from robot_dynamics_ros.simulation.server.launcher import SimulatedUR

pytestmark = pytest.mark.realtime


def test_ctrl_c_twice_ends_a_node_once_and_in_order():
    listener = Listener("twice")
    with SimulatedUR("ur5e") as sim:
        arguments = ("-r", "__ns:=/twice", "-p", f"ip:={sim.host}")
        node = Process("robot_dynamics_ros.nodes.executables", "composed_node", "--ros-args", *arguments)
        try:
            listener.hear(JointState, "/twice/joint_states", 5)
            listener.spin(lambda: len(listener.heard["/twice/joint_states"]) > 20, 60.0)
        finally:
            node.process.send_signal(2)
            status, output = node.end()
            listener.close()
    assert status == 0 and "Traceback" not in output and "terminate called" not in output, output
