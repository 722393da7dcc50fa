"""Running nodes: the events executor, driver-paced work between events, clean ends on SIGINT and SIGTERM."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Sequence

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.experimental import EventsExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.signals import SignalHandlerOptions

from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.nodes.lifecycle_base import LifecycleBase

EVENT_PERIOD = 0.005  # s between looks at services, parameters and timers while samples flow
IDLE = 0.2  # s


class Ending:
    """SIGINT and SIGTERM: during start an interrupt, then a wish the loop looks at; a later SIGINT changes nothing.

    A KeyboardInterrupt inside the middleware, or a second Ctrl-C while the robot is disconnected, would abort the node.
    """

    def __init__(self) -> None:
        self.asked = self.starting = False
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, self._ask)

    def _ask(self, *_: object) -> None:
        first, self.asked = not self.asked, True
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # who asks again, with SIGTERM, does not want to wait
        if first and self.starting:
            raise KeyboardInterrupt


def run(make: Callable[[], LifecycleBase], arguments: Sequence[str] | None = None) -> int:
    """Run one node until it is told to end; returns the exit status. User errors are one line, no traceback."""
    ending = Ending()
    rclpy.init(args=list(arguments) if arguments is not None else None, signal_handler_options=SignalHandlerOptions.NO)
    node = None
    try:
        node = make()
        ending.starting = not ending.asked
        if ending.starting and node.value("autostart") and not node.bring_up():
            return _end(node, 1)  # the reason is in the log
        ending.starting = False
        _loop(node, ending)
    except (KeyboardInterrupt, ExternalShutdownException, rclpy_implementation.RCLError):
        return _end(node, 0)
    except RobotDynamicsError as error:
        print(f"error: {error}", file=sys.stderr)
        return _end(node, 1)
    return _end(node, 0)


def _loop(node: LifecycleBase, ending: Ending) -> None:
    """Work and events in one thread: a second Python thread would cost milliseconds of jitter."""
    executor = EventsExecutor()
    executor.add_node(node)
    looked = 0.0
    while rclpy.ok() and not ending.asked:
        if not node.work():
            executor.spin_once(timeout_sec=IDLE)
        elif node.hurried or time.monotonic() - looked > EVENT_PERIOD:
            executor.spin_once(timeout_sec=0.0)
            looked = time.monotonic()


def _end(node: LifecycleBase | None, status: int) -> int:
    """Disconnect in order, also when the context is gone already."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Python's own end would give a late Ctrl-C its deadly meaning back
    try:
        if node is not None:
            node.stop()
            node.drop()
            node.destroy_node()
    except (KeyboardInterrupt, rclpy_implementation.RCLError):
        status = status or 0
    rclpy.try_shutdown()
    return status
