"""examples/stop_at_contact.py calls the stop service once per contact."""

import runpy
import time
from pathlib import Path

import pytest
import rclpy
from rclpy.executors import SingleThreadedExecutor
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

EXAMPLE = Path(__file__).parents[2] / "examples" / "stop_at_contact.py"


@pytest.fixture
def initialised():
    rclpy.init()
    yield
    rclpy.try_shutdown()


@pytest.mark.ros
def test_a_contact_stops_the_robot_once(initialised):
    example = runpy.run_path(str(EXAMPLE))
    calls, node, robot = [], example["StopAtContact"](), rclpy.create_node("composed_node")

    def stop(_, answer):
        calls.append(1)
        return answer

    robot.create_service(Trigger, "~/stop", stop)
    contact = robot.create_publisher(Bool, "robot_dynamics/contact", 10)
    executor = SingleThreadedExecutor()
    executor.add_node(node)
    executor.add_node(robot)

    def spin_until(expected, state):
        end = time.monotonic() + 60.0
        while state() != expected and time.monotonic() < end:
            executor.spin_once(timeout_sec=0.05)
        assert state() == expected

    spin_until((1, True), lambda: (contact.get_subscription_count(), node.stop.service_is_ready()))
    for touching, stops in ((False, 0), (True, 1), (True, 1), (False, 1), (True, 2)):
        contact.publish(Bool(data=touching))
        spin_until((touching, stops), lambda: (node.touched, len(calls)))


def test_it_runs_where_init_gives_no_context_to_enter_and_ends_with_ctrl_c(monkeypatch):
    """rclpy before Kilted."""

    def spin(node):
        spun.append(node)
        raise KeyboardInterrupt

    main, spun = runpy.run_path(str(EXAMPLE))["main"], []
    main.__globals__["StopAtContact"] = lambda: "node"
    for name, double in (("init", lambda: None), ("spin", spin), ("try_shutdown", lambda: None)):
        monkeypatch.setattr(rclpy, name, double)
    main()
    assert spun == ["node"]
