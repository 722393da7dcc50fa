"""The path of stops: served while nobody runs the node's own thread, and gone with the part."""

import threading

import pytest
from ros_graph import Listener
from std_msgs.msg import Bool
from std_srvs.srv import Trigger

from robot_dynamics_ros.nodes.lifecycle_base import LifecycleBase
from robot_dynamics_ros.nodes.robot.stops import StopThread


@pytest.fixture
def path():
    listener = Listener()
    arm = LifecycleBase("arm", (), context=listener.context, namespace="/left")
    stops = StopThread(arm)
    yield listener, arm, stops
    stops.destroy()
    arm.destroy_node()
    listener.close()


def test_a_stop_is_served_while_the_thread_of_its_node_does_something_else(path):
    listener, _, stops = path  # the node is not spun
    threads, held = [], []
    stops.trigger("~/stop", lambda: threads.append(threading.current_thread()) or "stopped")
    stops.subscribe(Bool, "~/enable_switch", held.append, 1)
    assert listener.call(Trigger, "/left/arm/stop").message == "stopped"
    assert threads[0] is not threading.main_thread()
    publisher = listener.node.create_publisher(Bool, "/left/arm/enable_switch", 1)
    listener.spin(lambda: publisher.get_subscription_count() == 1)
    listener.node.create_timer(0.02, lambda: publisher.publish(Bool(data=True)))
    listener.spin(lambda: bool(held))


def test_an_error_in_one_stop_does_not_end_the_path(path):
    listener, arm, stops = path
    calls = []

    def broken():
        calls.append(1)
        if len(calls) == 1:
            raise ZeroDivisionError("a defect")
        return "stopped"

    stops.trigger("~/stop", broken)
    client = listener.node.create_client(Trigger, "/left/arm/stop")
    listener.spin(client.service_is_ready)
    client.call_async(Trigger.Request())
    listener.spin(lambda: bool(calls))
    assert listener.call(Trigger, "/left/arm/stop").message == "stopped"


def test_the_entities_are_removed_with_the_part():
    listener = Listener()
    arm = LifecycleBase("arm", (), context=listener.context)
    stops = StopThread(arm)
    stops.trigger("~/stop", lambda: "stopped")
    client = listener.node.create_client(Trigger, "/arm/stop")
    listener.spin(client.service_is_ready)
    stops.destroy()
    listener.spin(lambda: not client.service_is_ready())
    arm.destroy_node()
    listener.close()
