"""Nodes of ours on a robot that a test steps: with a listener in one thread, or without ROS traffic."""

import gc
from collections import defaultdict
from types import SimpleNamespace

import pytest
from rclpy.parameter import Parameter
from rclpy.serialization import deserialize_message, serialize_message
from ros_graph import Listener  # sets the middleware before rclpy is initialised
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger
from stepped_driver import BEGIN, UR, SteppedDriver  # noqa: F401

from robot_dynamics_ros.nodes.robot import robot_node
from robot_dynamics_ros.nodes.robot.driver_interface import DriverInterface
from robot_dynamics_ros.nodes.tables import NODES
from robot_dynamics_ros.nodes.topics.encoding import to_ns, to_time
from robot_dynamics_ros.topics import TOPICS


class NodeDouble:
    """What the parts of a node use of it, without ROS traffic: callbacks and messages by name.

    With a driver the parts around it, stepped. others: nodes of its name; commanding: (name, enclave) of who could.
    """

    context, active, path, others, commanding = None, True, "composed_node", 0, ()

    def __init__(self, driver=None, **given):
        self.table = {p.name: p.default for p in NODES["composed_node"]} | {"torque": True} | given
        self.callbacks, self.published, self.log = {}, defaultdict(list), []
        if driver is not None:
            self.parts = DriverInterface(self, driver)
            self.cycle(20)

    def cycle(self, count):
        for _ in range(count):
            self.work()

    def work(self):
        sample = self.parts.exchange(0.0)
        if sample is not None:
            self.parts.on_sample(sample)
        return True

    def call(self, service):
        """Success and text of a service."""
        answer = self.callbacks[f"~/{service}"](Trigger.Request(), Trigger.Response())
        return answer.success, answer.message

    def value(self, name):
        return self.table[name]

    def values(self, prefix):
        return {k[len(prefix) :]: v for k, v in self.table.items() if k.startswith(prefix)}

    def get_name(self):
        return self.path

    def get_logger(self):
        note = lambda text, **limits: self.log.append((text, limits))  # noqa: E731
        return SimpleNamespace(warning=note, error=note, info=note)

    def get_clock(self):
        return SimpleNamespace(now=lambda: SimpleNamespace(nanoseconds=BEGIN))

    def namesakes(self):
        return self.others

    def commanders(self, services, topics):
        return self.commanding

    def count_publishers(self, topic):
        return 0

    def create_subscription(self, kind, topic, callback, qos, raw=False):
        self.callbacks[topic] = (lambda m: callback(serialize_message(m))) if raw else callback
        return SimpleNamespace(topic_name=topic)

    def create_publisher(self, kind, topic, *_):
        publish = self.published[topic].append
        take = lambda m: publish(deserialize_message(m, kind) if isinstance(m, bytes) else m)  # noqa: E731
        return SimpleNamespace(publish=take, get_subscription_count=lambda: 1)

    def create_service(self, kind, name, call):
        self.callbacks[name] = call

    create_lifecycle_publisher = create_publisher
    destroy_service = destroy_publisher = destroy_subscription = destroy_lifecycle_publisher = lambda self, entity: None


class Observed(Listener):
    """Listener and nodes of ours, made from descriptions of graphs, on the topics of somebody else's driver."""

    open = 0

    def __init__(self, *graphs, max_age=0.0):
        if not Observed.open:  # of another rig nothing may be kept; the rest is left out: it took close() half a second
            gc.freeze()
        Observed.open += 1
        super().__init__()
        self.stamp_ns, self.processed, self.nodes = BEGIN, 0, []
        for graph in graphs:
            (node,) = graph.nodes
            self.nodes.append(self.made(cli_args=[*graph.arguments(node), "-p", f"max_age:={max_age}"]))

    def made(self, kind="composed_node", **options):
        """A node of ours in this process."""
        node = robot_node.RobotNode(kind, context=self.context, use_global_arguments=False, **options)
        on_joined = node._on_joined
        node._on_joined = lambda sample: (on_joined(sample), setattr(self, "processed", sample.stamp_ns))
        self.executor.add_node(node)
        assert node.bring_up(), node.failure
        return node

    def tell(self, publisher, names, q, effort):
        """One state at rest, 2 ms later than the one before, and what a node does with it."""
        self.stamp_ns += 2_000_000
        message = JointState(name=list(names), position=list(q), velocity=[0.0] * len(q), effort=list(effort))
        message.header.stamp = to_time(self.stamp_ns)
        publisher.publish(message)
        self.spin(lambda: self.processed == self.stamp_ns)

    def close(self):
        self.executor.shutdown()
        for node in self.nodes:
            node._leave()
            node.drop()
            node.destroy_node()
        super().close()
        self.__dict__.clear()
        Observed.open -= 1
        gc.collect()  # nodes in circles of references would stay in the graph, and the next test would see them


class Stepped(Observed):
    """A node of ours around a SteppedDriver, and a listener; parameters with __ for a dot."""

    def __init__(self, driver, **parameters):
        super().__init__()
        self.driver, self._patch = driver, pytest.MonkeyPatch()
        self._patch.setattr(robot_node, "driver_for", lambda node, robot: driver)
        given = {"robot": driver.robot.name} | parameters
        overrides = [Parameter(k.replace("__", "."), value=v) for k, v in given.items()]
        self.robot_node = self.made(parameter_overrides=overrides)
        self.nodes = [self.robot_node]

    def cycle(self, count=1):
        """So many samples through the node, without events."""
        for _ in range(count):
            self.robot_node.work()

    def seconds(self, seconds):
        self.cycle(round(seconds * self.driver.sim.rate))

    def until(self, condition, seconds=60.0):
        """Samples through the node until the condition holds; events after each tenth of a second."""
        for _ in range(round(10 * seconds)):
            for _ in range(round(0.1 * self.driver.sim.rate)):
                if condition():
                    return
                self.cycle()
            self.executor.spin_once(timeout_sec=0.0)
        assert condition(), (self.driver.motion, {topic: len(found) for topic, found in self.heard.items()})

    def published(self, count, *topics):
        """What the node publishes on topics that are heard, while it takes `count` samples: a list for each."""
        self.cycle(2 * len(TOPICS))  # it looks at one topic per sample whether somebody listens
        begin = self.driver.now
        self.cycle(count)
        heard = [self.heard[topic] for topic in topics]
        self.spin(lambda: all(found and to_ns(found[-1].header.stamp) == self.driver.now for found in heard))
        return [[m for m in found if to_ns(m.header.stamp) > begin] for found in heard]

    def trigger(self, service):
        """Success and text of a service of the node."""
        answer = self.call(Trigger, f"/composed_node/{service}")
        return answer.success, answer.message

    def settled(self, seconds=60.0):
        """The state in which the present motion ends."""
        self.until(lambda: not self.driver.motion.active, seconds)
        self.seconds(0.1)
        return self.driver.motion.state

    def diagnosed(self, entry):
        """(message, values) of an entry of the node's diagnostics."""
        (found,) = (s for s in self.robot_node.diagnose() if s.name.endswith(entry))
        return found.message, {value.key: value.value for value in found.values}

    def close(self):
        self._patch.undo()
        driver = self.driver
        super().close()
        driver.__dict__.clear()  # it is older than the rig, so its circle with the node is not looked at
        gc.collect()
