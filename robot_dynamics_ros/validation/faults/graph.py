"""Faults of the ROS graph: a hardware node in a process of its own, commanded over its topic."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

import numpy as np

from robot_dynamics_ros.validation.faults.stand import SPEED, Stand, cpu_load
from robot_dynamics_ros.validation.faults.table import Case, Failed, require

TIMEOUT = 0.2  # s of the dead-man switch in these cases
RAMP = 0.1 + 0.06  # s of ramping out, and what the wire and a Python node add
WATCHED = 0.35  # s of wall time until a node has looked at who publishes, in controller time
EVENT_TIMEOUT = 40.0  # s


class Graph:
    """A simulated controller, a hardware node, and a node of ours that answers every state with a torque."""

    def __init__(self, publishes: bool = True, parameters: dict[str, Any] | None = None) -> None:
        self._publishes = publishes
        self._parameters = {"torque": "script", "control.time_scale": SPEED, "follow_host_clock": False}
        self._parameters |= parameters or {}

    def __enter__(self) -> Graph:
        os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
        import rclpy
        from rclpy.experimental import EventsExecutor

        self.stand = Stand(arm=False)
        self.stand.__enter__()
        self.node_process = self.start_node()
        self.context = rclpy.Context()
        rclpy.init(args=[], context=self.context)
        self.node = rclpy.create_node("commander", context=self.context)
        self.executor = EventsExecutor(context=self.context)
        self.executor.add_node(self.node)
        self._subscribe()
        try:
            self.spin(lambda: self.state is not None, "joint_states")
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def start_node(self) -> subprocess.Popen[bytes]:
        """The hardware node as a process."""
        given = {"robot": "ur5e", "ip": self.stand.ur.host, "publish_description": False} | self._parameters
        arguments = [a for name, value in given.items() for a in ("-p", f"{name}:={json.dumps(value)}")]
        executable = ("robot_dynamics_ros.nodes.executables", "hardware_node")
        command = [sys.executable, "-m", *executable, "--ros-args", *arguments]
        return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def start_commander(self) -> subprocess.Popen[bytes]:
        """A process that answers every state with a torque, as this object does."""
        return subprocess.Popen([sys.executable, "-m", "robot_dynamics_ros.validation.faults.commander"])

    def _subscribe(self) -> None:
        from rclpy.qos import QoSProfile, ReliabilityPolicy
        from sensor_msgs.msg import JointState

        quick = QoSProfile(depth=1, reliability=ReliabilityPolicy.BEST_EFFORT)
        self.state: Any = None
        self.torque: np.ndarray | None = None
        self.message = JointState
        self.publisher: Any = None
        if self._publishes:
            self.publisher = self.node.create_publisher(JointState, "robot_dynamics/joint_torque_command", quick)
        self.node.create_subscription(JointState, "joint_states", self._answer, quick)

    def _answer(self, state: Any) -> None:
        self.state = state
        if self.torque is not None and self._publishes:
            self.publisher.publish(self.command(self.torque))

    def command(self, torque: np.ndarray) -> Any:
        """A torque in answer to the last state."""
        message = self.message(name=self.state.name, effort=[float(x) for x in torque])
        message.header.stamp = self.state.header.stamp
        return message

    def spin(self, condition: Callable[[], bool], what: str, timeout: float = EVENT_TIMEOUT) -> None:
        """Until the condition holds; Failed otherwise."""
        end = time.monotonic() + timeout
        while not condition():
            require(time.monotonic() < end, f"waited in vain for {what}")
            self.executor.spin_once(timeout_sec=0.01)

    def run(self, seconds: float) -> None:
        """Spin for so many wall seconds."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            self.executor.spin_once(timeout_sec=0.005)

    def call(self, name: str) -> tuple[bool, str]:
        """A Trigger service of the hardware node."""
        from std_srvs.srv import Trigger

        client: Any = self.node.create_client(Trigger, f"hardware_node/{name}")
        self.spin(client.service_is_ready, name)
        future: Any = client.call_async(Trigger.Request())
        self.spin(future.done, name)
        self.node.destroy_client(client)
        return future.result().success, future.result().message

    def enable(self, service: str = "enable_torque") -> None:
        """Enabled and in torque mode; a busy machine may need more than one attempt."""
        for _ in range(4):
            self.torque = np.zeros(6)
            good, text = self.call(service)
            if good:
                self.torque = np.array([2.0, 0, 0, 0, 0, 0])
                self.run(0.4)
                if self.torque_mode:
                    return
                text = "torque mode ended again"
            self.call("disable_torque")
            self.run(1.0)
            self.call("rearm")
        raise Failed(f"cannot be enabled: {text}")

    @property
    def torque_mode(self) -> bool:
        """Whether the controller takes torques now."""
        return bool(self.stand.simulation.state["torque_mode"])

    def ends(self, begin: float, budget: float) -> str:
        """Torque mode ends within `budget` s of controller time and is not enabled again."""
        while True:
            state = self.stand.simulation.state
            passed = state["timestamp"] - begin
            if not state["torque_mode"]:
                break
            require(passed <= budget, f"torque mode on after {1e3 * passed:.0f} ms")
            self.executor.spin_once(timeout_sec=0.0)
        self.stand.comes_to_rest()
        self.run(0.2)
        return f"torque ended after {1e3 * passed:.0f} ms"

    def latched(self) -> None:
        """Demands that enabling is refused before a re-arm."""
        good, text = self.call("enable_torque")
        require(not good, "enabled again without a re-arm")
        require("guard" in text or "publishers" in text, f"refused for another reason: {text}")

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        import rclpy

        if self.node_process.poll() is None:
            self.node_process.terminate()
            try:
                self.node_process.wait(10)
            except subprocess.TimeoutExpired:
                self.node_process.kill()
        self.executor.remove_node(self.node)
        self.executor.shutdown()
        for publisher in list(self.node.publishers):
            self.node.destroy_publisher(publisher)
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)
        self.publisher = None
        del self.node, self.executor, self.context
        gc.collect()  # the middleware announces a publisher until the last reference to its context is gone
        self.stand.__exit__(None, None, None)


def second_publisher(_: int) -> str:
    with Graph() as graph:
        graph.enable()
        begin = graph.stand.now
        other = graph.node.create_publisher(graph.message, "robot_dynamics/joint_torque_command", 1)
        text = graph.ends(begin, WATCHED + RAMP)
        graph.latched()
        graph.node.destroy_publisher(other)
        return text


def nan_command(_: int) -> str:
    with Graph() as graph:
        graph.enable()
        begin = graph.stand.now
        graph.torque = np.array([0, np.nan, 0, 0, 0, 0])
        text = graph.ends(begin, 0.06)
        graph.latched()
        return text


def commander_gone(_: int) -> str:
    with Graph() as graph:
        graph.enable()
        begin = graph.stand.now
        graph.torque = None
        text = graph.ends(begin, 0.04 + RAMP)
        graph.latched()
        return text


def commander_killed(_: int) -> str:
    """The node that sends the torques is a process of its own, and is killed -9."""
    with Graph(publishes=False) as graph:
        commander = graph.start_commander()
        try:
            graph.spin(lambda: graph.node.count_publishers("robot_dynamics/joint_torque_command") == 1, "the commander")
            graph.enable()
        finally:
            begin = graph.stand.now
            commander.kill()
            commander.wait()
        text = graph.ends(begin, 0.04 + RAMP)
        graph.latched()
        return text


def protective_stop(_: int) -> str:
    """Stopped in motion: off at once, and after unlocking only an explicit re-arm and enable bring torque back."""
    with Graph() as graph:
        graph.enable()
        begin = graph.stand.now
        graph.stand.simulation.command("protective_stop")
        text = graph.ends(begin, 0.03)
        require(not graph.call("enable_torque")[0], "enabled in a protective stop")
        graph.stand.unlock()
        graph.run(1.0)
        require(not graph.torque_mode, "torque came back by itself")
        graph.latched()
        graph.call("rearm")
        graph.enable()
        return text + "; again after unlock, re-arm and enable"


def processor_load(_: int) -> str:
    """Four busy processes beside the node: late commands fade, none arrive in a burst, and the robot ends at rest."""
    with Graph() as graph:
        graph.enable()
        with cpu_load(4, 2.0):
            graph.run(3.0)
        running = graph.torque_mode
        if not running:
            graph.stand.comes_to_rest()
        return "torque goes on" if running else "torque faded and is off, at rest"


def dead_man(_: int) -> str:
    from std_msgs.msg import Bool

    with Graph(parameters={"control.enable_timeout": TIMEOUT}) as graph:
        good, text = graph.call("enable_guiding")
        require(not good and "switch" in text, f"enabled without the switch: {text}")
        switch = graph.node.create_publisher(Bool, "hardware_node/enable_switch", 1)
        timer = graph.node.create_timer(0.05, lambda: switch.publish(Bool(data=True)))
        graph.enable("enable_guiding")
        graph.run(1.0)
        require(graph.torque_mode, "lost although it was held")
        begin = graph.stand.now
        timer.cancel()
        text = graph.ends(begin, TIMEOUT + 0.05 + RAMP)
        graph.latched()
        return text


def node_killed(_: int) -> str:
    with Graph() as graph:
        graph.enable()
        begin = graph.stand.now
        graph.node_process.kill()
        graph.node_process.wait()
        text = graph.ends(begin, 0.06)
        graph.state, graph.torque = None, np.array([2.0, 0, 0, 0, 0, 0])
        graph.node_process = graph.start_node()
        graph.spin(lambda: graph.state is not None, "the restarted node")
        graph.run(1.0)
        require(not graph.torque_mode, "the restarted node takes torques by itself")
        return text + ", comes up inactive"


CASES: list[Case] = [
    Case(9, "NaN in a command", "graph", "torque off within 60 ms, latched", nan_command),
    Case(24, "second publisher", "graph", f"off within {1e3 * (WATCHED + RAMP):.0f} ms, latched", second_publisher),
    Case(25, "commander killed -9", "graph", f"off within {1e3 * (0.04 + RAMP):.0f} ms, latched", commander_killed),
    Case(25, "commander disconnected", "graph", f"off within {1e3 * (0.04 + RAMP):.0f} ms, latched", commander_gone),
    Case(25, "dead-man switch silent", "graph", f"off within {1e3 * (TIMEOUT + 0.05 + RAMP):.0f} ms", dead_man),
    Case(27, "protective stop in motion", "graph", "off within 30 ms, back only by re-arm and enable", protective_stop),
    Case(28, "four processes load the CPU", "graph", "torque goes on, or is off and at rest", processor_load),
    Case(26, "hardware node killed -9", "graph", "off within 60 ms, restarted inactive", node_killed),
]
