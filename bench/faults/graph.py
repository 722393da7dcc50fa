"""Faults of the ROS graph: a hardware node in a process of its own, commanded over its topic."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bench.faults.bench import RAMP
from bench.faults.graph_bench import TORQUE, GraphBench
from bench.faults.socket_bench import HEARTBEAT, cpu_load
from bench.faults.table import Case, require

TIMEOUT = 0.2  # s of the dead-man switch in these cases
NODE = 0.04  # s that a Python node adds to a reaction
WATCHED = 0.35  # s until a node has looked at who publishes
LATE = 0.04  # s until a command is too old


def second_publisher(bench: GraphBench) -> None:
    bench.node.create_publisher(bench.message, "robot_dynamics/joint_torque_command", 1)


def nan_command(bench: GraphBench) -> None:
    bench.torque = np.array([0, np.nan, 0, 0, 0, 0])


def commander_gone(bench: GraphBench) -> None:
    bench.torque = None


def commander_killed(_: int) -> str:
    """The node that sends the torques is a process of its own, and is killed -9."""
    with GraphBench(publishes=False) as bench:
        commander = bench.start_commander()
        try:
            bench.spin(lambda: bench.node.count_publishers("robot_dynamics/joint_torque_command") == 1, "the commander")
            bench.enable()
            bench.commands_arrive()
        finally:
            begin = bench.now
            commander.kill()
            commander.wait()
        return bench.off_within(LATE + RAMP + NODE, begin=begin)


def protective_stop(_: int) -> str:
    """Stopped in motion: off at once, and after unlocking only an explicit re-arm and enable bring torque back."""
    with GraphBench() as bench:
        bench.enable()
        begin = bench.now
        bench.simulation.command("protective_stop")
        text = bench.torque_ends(begin, 0.01)
        require(not bench.call("enable_torque")[0], "enabled in a protective stop")
        bench.unlock()
        bench.run(0.5)
        require(not bench.torque_mode, "torque came back by itself")
        bench.stays_off()
        bench.call("rearm")
        bench.enable()
        return text + "; again after unlock, re-arm and enable"


def processor_load(_: int) -> str:
    """Four busy processes beside the node: late commands fade, none arrive in a burst, and the robot ends at rest."""
    with GraphBench() as bench:
        bench.enable()
        with cpu_load(2.0):
            bench.run(1.5)
        running = bench.torque_mode
        if not running:
            bench.comes_to_rest()
        return "torque goes on" if running else "torque faded and is off, at rest"


def dead_man(_: int) -> str:
    from std_msgs.msg import Bool

    with GraphBench(parameters={"control.enable_timeout": TIMEOUT}) as bench:
        good, text = bench.call("enable_guiding")
        require(not good and "switch" in text, f"enabled without the switch: {text}")
        switch = bench.node.create_publisher(Bool, "hardware_node/enable_switch", 1)
        timer = bench.node.create_timer(0.05, lambda: switch.publish(Bool(data=True)))
        bench.enable("enable_guiding")
        bench.run(0.5)
        require(bench.torque_mode, "lost although it was held")
        begin = bench.now
        timer.cancel()
        return bench.off_within(TIMEOUT + 0.05 + RAMP + NODE, begin=begin)


def node_killed(_: int) -> str:
    with GraphBench() as bench:
        bench.enable()
        begin = bench.now
        bench.node_process.kill()
        bench.node_process.wait()
        text = bench.torque_ends(begin, HEARTBEAT)
        bench.state, bench.torque = None, np.array([TORQUE, 0, 0, 0, 0, 0])
        bench.node_process = bench.start_node()
        bench.spin(lambda: bench.state is not None, "the restarted node")
        bench.run(0.5)
        require(not bench.torque_mode, "the restarted node takes torques by itself")
        return text + ", comes up inactive"


def _off(seconds: float, also: str = "latched") -> str:
    return f"off within {1e3 * seconds:.0f} ms, {also}"


def _ends(number: int, name: str, seconds: float, inject: Callable[[GraphBench], None]) -> Case:
    """What is injected ends an enabled torque within so many seconds, latched."""

    def run(_: int) -> str:
        with GraphBench() as bench:
            bench.enable()
            begin = bench.now
            inject(bench)
            return bench.off_within(seconds, begin=begin)

    return Case(number, name, "graph", _off(seconds), run)


CASES: list[Case] = [
    _ends(9, "NaN in a command", NODE, nan_command),
    _ends(24, "second publisher", WATCHED + RAMP + NODE, second_publisher),
    Case(25, "commander killed -9", "graph", _off(LATE + RAMP + NODE), commander_killed),
    _ends(25, "commander disconnected", LATE + RAMP + NODE, commander_gone),
    Case(25, "dead-man switch silent", "graph", _off(TIMEOUT + 0.05 + RAMP + NODE), dead_man),
    Case(27, "protective stop in motion", "graph", _off(0.01, "back only by re-arm and enable"), protective_stop),
    Case(28, "four processes load the CPU", "graph", "torque goes on, or is off and at rest", processor_load),
    Case(26, "hardware node killed -9", "graph", _off(HEARTBEAT, "restarted inactive"), node_killed),
]
