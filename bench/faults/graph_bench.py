"""The bench with a hardware node in a process of its own, commanded over its topic; and a commander to be killed."""

from __future__ import annotations

import gc
import math
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from bench.faults.socket_bench import ATTEMPTS, SPEED, SocketBench
from bench.faults.table import Failed, require
from bench.ros_probe import Probe
from robot_dynamics_ros._core import GuardReason
from robot_dynamics_ros.bringup import Graph, NodeSpec
from robot_dynamics_ros.supervisor import Supervisor

TORQUE = 2.0  # Nm at the first joint, that the commander sends
EVENT_TIMEOUT = 40.0  # s


class GraphBench(SocketBench):
    """A simulated controller, a hardware node, and a node of ours that answers every state with a torque."""

    transport = "graph"

    def __init__(self, publishes: bool = True, parameters: dict[str, Any] | None = None) -> None:
        super().__init__(arm=False)
        self._publishes = publishes
        self._nodes = Supervisor(say=lambda line: None)
        self._parameters = {"torque": True, "control.time_scale": SPEED, "follow_host_clock": False}
        self._parameters |= parameters or {}

    def __enter__(self) -> GraphBench:
        os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        super().__enter__()
        self.node_process = self.start_node()
        self.probe = Probe("commander", EVENT_TIMEOUT)
        self.node = self.probe.node
        self._subscribe()
        try:
            self.spin(lambda: self.state is not None, "joint_states")
        except BaseException:
            self.__exit__()
            raise
        return self

    def start_node(self) -> subprocess.Popen[bytes]:
        """The hardware node as a process."""
        given = {"robot": "ur5e", "ip": self.ur.host, "publish_description": False} | self._parameters
        node = NodeSpec("hardware_node", "hardware_node", given)
        self._nodes.start(node.name, Graph((node,)).command(node), {})
        return self._nodes.children[node.name]

    def start_commander(self) -> subprocess.Popen[bytes]:
        """A process that answers every state with a torque, as this object does."""
        return subprocess.Popen([sys.executable, "-m", "bench.faults.graph_bench"])

    def _subscribe(self) -> None:
        from sensor_msgs.msg import JointState

        from robot_dynamics_ros.nodes.topics.qos import NEWEST

        self.state: Any = None
        self.torque: np.ndarray | None = None
        self.message = JointState
        self.publisher: Any = None
        if self._publishes:
            self.publisher = self.node.create_publisher(JointState, "robot_dynamics/joint_torque_command", NEWEST)
        self.node.create_subscription(JointState, "joint_states", self._answer, NEWEST)

    def _answer(self, state: Any) -> None:
        self.state = state
        if self.torque is not None and self._publishes:
            self.publisher.publish(self.command(self.torque))

    def command(self, torque: np.ndarray) -> Any:
        """A torque in answer to the last state."""
        message = self.message(name=self.state.name, effort=[float(x) for x in torque])
        message.header.stamp = self.state.header.stamp
        return message

    def spin(self, condition: Callable[[], bool], what: str) -> None:
        """Until the condition holds; Failed otherwise."""
        require(self.probe.spin(condition, step=0.01), f"no {what} after {EVENT_TIMEOUT:g} s")

    def run(self, seconds: float, until: Callable[[], bool] = lambda: False) -> bool:
        """Spin for so many seconds of controller time, or until the condition holds."""
        return self.probe.spin(until, seconds / SPEED, min(0.005, seconds))

    def call(self, name: str) -> tuple[bool, str]:
        """A Trigger service of the hardware node."""
        from std_srvs.srv import Trigger

        response = self.probe.call(Trigger, f"hardware_node/{name}")
        require(response is not None, f"no {name} after {EVENT_TIMEOUT:g} s")
        return response.success, response.message

    def enable(self, service: str = "enable_torque") -> None:
        """Enabled and in torque mode; a busy machine may need more than one attempt."""
        for _ in range(ATTEMPTS):
            self.torque = np.zeros(6)
            good, text = self.call(service)
            if good:
                self.torque = np.array([TORQUE, 0, 0, 0, 0, 0])
                self.run(0.2)
                if self.torque_mode:
                    return
                text = "torque mode ended again"
            self.call("disable_torque")
            self.run(0.5)
            self.call("rearm")
        raise Failed(f"cannot be enabled: {text}")

    def commands_arrive(self) -> None:
        """Wait until the node reports commands of another process: discovery takes a while on a busy machine."""
        from diagnostic_msgs.msg import DiagnosticArray

        delays: list[str] = []

        def on_diagnostics(message: Any) -> None:
            values = (value for status in message.status for value in status.values)
            delays.extend(v.value for v in values if v.key.startswith("state to topic command p50"))

        heard = self.node.create_subscription(DiagnosticArray, "/diagnostics", on_diagnostics, 10)
        self.spin(lambda: any(delay != "nan" for delay in delays), "command of the commander")
        self.node.destroy_subscription(heard)

    @property
    def torque_mode(self) -> bool:
        """Whether the controller takes torques now."""
        return self.observe()[1]

    def stays_off(self, reason: GuardReason | None = None) -> None:
        """Require that the node refuses to enable before a re-arm, and names its guard."""
        good, text = self.call("enable_torque")
        require(not good, "enabled again without a re-arm")
        require("guard" in text or "publishers" in text, f"refused for another reason: {text}")

    def __exit__(self, *_: object) -> None:
        self._nodes.stop()
        for publisher in list(self.node.publishers):
            self.node.destroy_publisher(publisher)
        self.probe.close()
        self.publisher = None
        del self.node, self.probe
        gc.collect()  # the middleware announces a publisher until the last reference to its context is gone
        super().__exit__()


def main() -> None:
    """A commander in a process of its own: answers every joint_states with a small torque, until it is killed."""
    from sensor_msgs.msg import JointState

    from robot_dynamics_ros.nodes.topics.qos import NEWEST

    probe = Probe("commander_process", math.inf)
    publisher = probe.node.create_publisher(JointState, "robot_dynamics/joint_torque_command", NEWEST)

    def answer(state: JointState) -> None:
        message = JointState(name=state.name, effort=[TORQUE] + [0.0] * (len(state.name) - 1))
        message.header.stamp = state.header.stamp
        publisher.publish(message)

    probe.node.create_subscription(JointState, "joint_states", answer, NEWEST)
    probe.spin(lambda: False)


if __name__ == "__main__":
    main()
