"""A ROS node that reads force, deviation and contact, and stops a motion at a contact. It is not a safety function.

    robot-dynamics up --robot ur5e --ip 192.168.0.10      # in another terminal
    python examples/stop_at_contact.py

`composed_node/stop` ends the motions of the drivers of this package. With another driver cancel its goal there instead.
"""

from contextlib import suppress

import rclpy
from geometry_msgs.msg import WrenchStamped
from rclpy.executors import ExternalShutdownException
from rclpy.node import Node
from std_msgs.msg import Bool
from std_srvs.srv import Trigger


class StopAtContact(Node):
    """Calls the stop service when a contact begins."""

    def __init__(self) -> None:
        super().__init__("stop_at_contact")
        self.touched = False
        self.force: WrenchStamped | None = None
        self.deviation: WrenchStamped | None = None
        self.stop = self.create_client(Trigger, "composed_node/stop")
        self.create_subscription(Bool, "robot_dynamics/contact", self.on_contact, 10)
        self.create_subscription(WrenchStamped, "robot_dynamics/external_wrench_base", self.on_force, 10)
        self.create_subscription(WrenchStamped, "robot_dynamics/external_wrench_base_std", self.on_deviation, 10)

    def on_force(self, message: WrenchStamped) -> None:
        """Keep the newest force."""
        self.force = message

    def on_deviation(self, message: WrenchStamped) -> None:
        """Keep its newest standard deviation."""
        self.deviation = message

    def on_contact(self, message: Bool) -> None:
        """Contact comes at every change and at 10 Hz."""
        if message.data and not self.touched:
            self.stop.call_async(Trigger.Request()).add_done_callback(self.on_stopped)
        self.touched = message.data

    def on_stopped(self, answer: rclpy.task.Future) -> None:
        """Say what the node that moves the robot has answered."""
        force = "force not known yet"  # started in contact
        if self.force and self.deviation:
            f, s = self.force.wrench.force, self.deviation.wrench.force
            force = f"[{', '.join(f'{getattr(f, k):.1f} +- {getattr(s, k):.1f}' for k in 'xyz')}] N"
        self.get_logger().info(f"contact, {force}: {answer.result().message}")


def main() -> None:
    """Run until Ctrl-C."""
    rclpy.init()
    with suppress(KeyboardInterrupt, ExternalShutdownException):
        rclpy.spin(StopAtContact())
    rclpy.try_shutdown()


if __name__ == "__main__":
    main()
