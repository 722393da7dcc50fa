"""Who could command a node, as its graph shows it: real nodes, each with one way to command or none."""

import rclpy
from std_msgs.msg import Bool, String
from std_srvs.srv import Trigger

from robot_dynamics_ros.nodes.interfaces import COMMAND_TOPICS, ENABLING_SERVICES
from robot_dynamics_ros.nodes.lifecycle_base import LifecycleBase


def test_clients_of_enabling_services_and_publishers_of_commands_are_found_and_nobody_else():
    context = rclpy.Context()
    rclpy.init(args=[], context=context)
    arm = LifecycleBase("arm", (), context=context, namespace="/left")
    others = {name: rclpy.create_node(name, context=context) for name in ("caller", "switch", "viewer", "stopper")}
    others["caller"].create_client(Trigger, "/left/arm/enable_guiding")
    others["switch"].create_publisher(Bool, "/left/arm/enable_switch", 1)
    others["viewer"].create_publisher(String, "/left/something", 1)
    others["stopper"].create_client(Trigger, "/left/arm/stop")
    for _ in range(600):
        if len(arm.get_node_names()) >= 5:
            found = arm.commanders(ENABLING_SERVICES, [name for name in COMMAND_TOPICS if "<" not in name])
            if len(found) >= 2:
                break
        rclpy.spin_once(arm, timeout_sec=0.05)
    assert sorted(name for name, _ in found) == ["/caller", "/switch"]
    assert all(enclave == "/" for _, enclave in found)
    for node in (*others.values(), arm):
        node.destroy_node()
    rclpy.shutdown(context=context)
