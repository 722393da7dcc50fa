"""A simulated robot of one family in a graph of its own, and what a test asks of it."""

from rcl_interfaces.srv import SetParametersAtomically
from rclpy.parameter import Parameter
from rclpy.qos import DurabilityPolicy, QoSProfile
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.server.launcher import SimulatedController

LATCHED = QoSProfile(depth=1, durability=DurabilityPolicy.TRANSIENT_LOCAL)
FAMILIES = ("ur5e", "fr3", "comau_ns16")
NEEDS = {"fr3": ("pylibfranka", "franka_sim")}
EXTRA = {"fr3": "motor_states", "comau_ns16": "motor_currents", "ur5e": "motor_currents"}
OWN = {  # parameters of one family
    "comau_ns16": "    enable_commands: true\n",
    "fr3": "    torque: client\n    control.time_scale: 0.05\n",
}


class Family:
    """A robot, its simulated controller, the node, and what is heard of it."""

    def __init__(self, name, stack, sim, listener, node):
        self.name, self.robot, self.listener = name, load_robot(name), listener
        self.stack, self.sim, self.node = stack, sim, node

    def restart(self):
        """The simulated controller again, at the same address."""
        self.sim = self.stack.enter_context(SimulatedController(self.name, host=self.sim.host))

    def recent(self, topic, count=50):
        self.listener.heard[topic].clear()
        self.listener.spin(lambda: len(self.listener.heard[topic]) >= count)
        return list(self.listener.heard[topic][:count])

    def diagnostics(self):
        self.listener.heard["/diagnostics"].clear()
        self.listener.spin(
            lambda: any("stream" in s.name for m in self.listener.heard["/diagnostics"] for s in m.status)
        )
        entries = [s for m in self.listener.heard["/diagnostics"] for s in m.status if "stream" in s.name]
        return {v.key: v.value for v in entries[-1].values}


def play(listener, message, expected):
    """Publish a trajectory and wait for the expected words."""
    publisher = listener.publisher(JointTrajectory, "composed_node/play_trajectory", "composed_node")
    listener.heard["composed_node/motion"].clear()
    publisher.publish(message)
    listener.spin(lambda: any(expected in m.data for m in listener.heard["composed_node/motion"]), 60.0)
    listener.node.destroy_publisher(publisher)


def trajectory(names, first, second, seconds=1):
    points = [JointTrajectoryPoint(positions=[float(x) for x in q]) for q in (first, second)]
    points[1].time_from_start.sec = seconds
    return JointTrajectory(joint_names=list(names), points=points)


def change_parameters(family, **values):
    """Whether the node takes them all at once, and why not."""
    request = SetParametersAtomically.Request()
    request.parameters = [Parameter(name, value=value).to_parameter_msg() for name, value in values.items()]
    service = "/composed_node/set_parameters_atomically"
    return family.listener.call(SetParametersAtomically, service, request).result
