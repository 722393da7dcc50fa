"""Running nodes: the events executor, driver-paced work between events, clean ends on SIGINT and SIGTERM."""

from __future__ import annotations

import ctypes
import gc
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress

import rclpy
from rclpy.executors import ExternalShutdownException
from rclpy.experimental import EventsExecutor
from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.signals import SignalHandlerOptions

from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.nodes.lifecycle_base import LifecycleBase
from robot_dynamics_ros.waiting import ends

EVENT_PERIOD = 0.005  # s between two polls of services, parameters and timers while samples arrive
IDLE_TIMEOUT = 0.2  # s
ANSWERS = 20  # events after the robot has been disconnected: a goal that ended with it is answered
SWITCH = 5e-4  # s; Python's 5 ms each time the thread of the stops needs the interpreter would add up
M_MMAP_THRESHOLD, LARGE = -3, 256 * 1024  # of glibc's mallopt; bytes


class Ending:
    """The signals of ends(): a KeyboardInterrupt during the start, later a flag for the loop; a second one is ignored,
    but SIGTERM.

    A KeyboardInterrupt inside the middleware, or a second Ctrl-C while the robot is disconnected, would abort the node.
    """

    def __init__(self) -> None:
        self.requested = self.starting = False
        for number in ends():
            signal.signal(number, self._request)

    def _request(self, *_: object) -> None:
        first, self.requested = not self.requested, True
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a second SIGTERM ends the process at once
        if first and self.starting:
            raise KeyboardInterrupt


def run(make: Callable[[], LifecycleBase]) -> int:
    """Run one node until a signal ends it; returns the exit status. User errors are one line, no traceback."""
    ending = Ending()
    return_large_blocks()
    sys.setswitchinterval(SWITCH)
    try:
        rclpy.init(signal_handler_options=SignalHandlerOptions.NO)
    except (RuntimeError, rclpy_implementation.RCLError) as error:  # ROS arguments, ROS_DOMAIN_ID
        print(f"error: ROS cannot start with these arguments: {str(error).split(', at /')[0]}", file=sys.stderr)
        return 1
    node = None
    try:
        node = make()
        ending.starting = not ending.requested
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
    spare_collections()
    polled = 0.0
    while rclpy.ok() and not ending.requested:
        if not node.work():
            executor.spin_once(timeout_sec=IDLE_TIMEOUT)
        elif node.low_latency or time.monotonic() - polled > EVENT_PERIOD:
            for _ in range(node.events_at_once):
                executor.spin_once(timeout_sec=0.0)  # one event
            polled = time.monotonic()
    node._leave()
    for _ in range(ANSWERS):
        executor.spin_once(timeout_sec=0.0)


def return_large_blocks() -> None:
    """Blocks of a large message go back to the system when they are freed; glibc keeps them otherwise."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(M_MMAP_THRESHOLD, LARGE)


def spare_collections() -> None:
    """Python's garbage collection is kept short and rare: what exists after the start is never looked at again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 50, 1000)


def _end(node: LifecycleBase | None, status: int) -> int:
    """Disconnect in order, also when the context is shut down already."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # during Python's own end a late Ctrl-C would kill the process
    with suppress(KeyboardInterrupt, rclpy_implementation.RCLError):
        if node is not None:
            node._leave()
            node.drop()
            node.destroy_node()
            node._state_machine.destroy_when_not_in_use()  # holds the node, whose shared memory would stay
    rclpy.try_shutdown()
    return status
