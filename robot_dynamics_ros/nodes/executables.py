"""Executables of the nodes: `python -m robot_dynamics_ros.nodes.executables NODE`, or one console script for each."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable
from importlib import import_module, util

from robot_dynamics_ros.errors import CapabilityError


def require_ros() -> None:
    """Raises CapabilityError that states how to get ROS 2 into this Python."""
    if util.find_spec("rclpy") is None:
        raise CapabilityError(
            "nodes and topics need ROS 2 (rclpy): source /opt/ros/<distribution>/setup.bash, "
            'or pip install "robot_dynamics_ros[ros]"'
        )


def _main(node: str) -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # no traceback for a Ctrl-C while modules load; run() replaces it
    try:
        require_ros()
        import_module("robot_dynamics_ros.robot_file")
    except CapabilityError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    module = "viewer_node" if node == "viewer_node" else "robot.robot_node"
    import_module(f"robot_dynamics_ros.nodes.{module}").main(node)


def hardware_node() -> None:
    """Publish what a driver measures; no estimates."""
    _main("hardware_node")


def estimator_node() -> None:
    """Run one or more stages over the topics of a driver, of this package or any other."""
    _main("estimator_node")


def composed_node() -> None:
    """Run driver (or topics), all stages and all publishers in one process, for the lowest latency."""
    _main("composed_node")


def viewer_node() -> None:
    """Show the topics of the graph in rerun."""
    _main("viewer_node")


EXECUTABLES: dict[str, Callable[[], None]] = {
    node.__name__: node for node in (hardware_node, estimator_node, composed_node, viewer_node)
}

if __name__ == "__main__":
    EXECUTABLES[sys.argv[1]]()
