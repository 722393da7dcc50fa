"""Two `up` on one robot: the second is refused at its start, a node of the same name is reported while it runs."""

import pytest

pytest.importorskip("rclpy", reason="rclpy is not installed")

import rclpy
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from ros_graph import Listener, Process

pytestmark = [pytest.mark.ros, pytest.mark.realtime]
UP = ("robot_dynamics_ros.cli.main", "up", "--robot", "ur5e", "--driver", "none")


@pytest.fixture
def listener():
    made = Listener("two_ups_listener")
    made.hear(DiagnosticArray, "/diagnostics")
    yield made
    made.close()


@pytest.fixture
def first(listener):
    process = Process(*UP)
    listener.spin(lambda: middleware(listener) is not None, 120.0)
    yield process
    process.end()


def middleware(listener):
    """Newest entry of the node about its middleware, None before the first."""
    entries = [s for message in listener.heard["/diagnostics"] for s in message.status if "middleware" in s.name]
    return entries[-1] if entries else None


def test_the_second_is_refused_and_the_first_goes_on(first, listener):
    status, output = Process(*UP).wait(120.0)
    assert status == 1 and "runs on this machine already" in output and "Traceback" not in output
    listener.heard["/diagnostics"].clear()
    listener.spin(lambda: middleware(listener) is not None, 60.0)
    assert middleware(listener).level == DiagnosticStatus.OK and first.process.poll() is None


def test_a_node_of_the_same_name_on_another_machine_is_reported_while_it_runs(first, listener):
    """For the graph a node of another machine is one that does not hold the name on this machine."""
    assert middleware(listener).level == DiagnosticStatus.OK
    other = rclpy.create_node("composed_node", context=listener.context)
    listener.spin(lambda: middleware(listener).level == DiagnosticStatus.ERROR, 60.0)
    assert "1 other node of this name" in middleware(listener).message
    other.destroy_node()
    listener.spin(lambda: middleware(listener).level == DiagnosticStatus.OK, 60.0)
