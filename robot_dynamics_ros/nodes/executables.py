"""Executables of the nodes, and the one sentence for a Python that has no ROS 2."""

from __future__ import annotations

import signal
import sys
from importlib import import_module, util

from robot_dynamics_ros.errors import CapabilityError


def require_ros() -> None:
    """Raises CapabilityError saying how to get ROS 2 into this Python."""
    if util.find_spec("rclpy") is None:
        raise CapabilityError(
            "nodes and topics need ROS 2 (rclpy): source /opt/ros/<distribution>/setup.bash, "
            'or pip install "robot_dynamics_ros[ros]"'
        )


def _main(module: str) -> None:
    try:
        require_ros()
    except CapabilityError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # quietly, should Ctrl-C come while modules load; run() takes it over
    import_module(f"robot_dynamics_ros.nodes.{module}").main()


def hardware_node() -> None:
    """Driver's topics, no estimates."""
    _main("hardware_node")


def estimator_node() -> None:
    """One or more stages over topics."""
    _main("estimator_node")


def composed_node() -> None:
    """Driver, stages and publishers in one process."""
    _main("composed_node")


def viewer_node() -> None:
    """The graph's topics in rerun."""
    _main("viewer_node")
