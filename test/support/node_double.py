"""A node without a graph and a robot in simulated time: the callbacks of the parts are called directly."""

from __future__ import annotations

from collections import deque
from types import SimpleNamespace

from closed_rig import ROBOT, Closed
from rclpy.serialization import serialize_message
from std_srvs.srv import Trigger

from robot_dynamics_ros._core import StreamState
from robot_dynamics_ros.control.torque import CONTROL
from robot_dynamics_ros.drivers.interface import DriverInfo, Motion, RobotStatus, Statistics, TorqueDriver
from robot_dynamics_ros.signals import Sample


class NodeDouble:
    """Remembers callbacks by name and published messages by topic; parameters are a dictionary."""

    context, active, path = None, True, "robot"

    def __init__(self, **parameters):
        self.parameters = {
            "ip": "127.0.0.1",
            "prefix": "~",
            "realtime_priority": 0,
            "adaptation_file": "",
            "waypoints": "",
            "tracking_speed": 0.5,
            "approach_speed": 0.5,
            "max_start_distance": 0.5,
            "command_source": "",
        } | parameters
        self.callbacks, self.published = {}, {}
        self.log = []

    destroy_service = destroy_publisher = destroy_subscription = lambda self, entity: None

    def value(self, name):
        return self.parameters[name]

    def values(self, prefix):
        return {p.name: self.parameters.get(prefix + p.name, p.default) for p in CONTROL}

    def get_name(self):
        return "robot"

    def get_logger(self):
        note = lambda text, **_: self.log.append(text)  # noqa: E731
        return SimpleNamespace(warning=note, error=note, info=note)

    def get_clock(self):
        return SimpleNamespace(now=lambda: SimpleNamespace(nanoseconds=0))

    def namesakes(self):
        return 0

    def count_publishers(self, _):
        return 0

    def create_subscription(self, _, topic, callback, __, raw=False):
        self.callbacks[topic] = (lambda m: callback(serialize_message(m))) if raw else callback
        return SimpleNamespace(topic_name=topic)

    def create_publisher(self, _, topic, __):
        return SimpleNamespace(publish=self.published.setdefault(topic, []).append)

    def create_service(self, _, name, call):
        self.callbacks[name] = lambda: call(Trigger.Request(), Trigger.Response())


class RigDriver(TorqueDriver):
    """The closed rig as a driver; every wait steps it. during: called once while the program for torques starts."""

    robot, capabilities = ROBOT, frozenset({"servo", "torque"})

    def __init__(self):
        self.rig, self.records, self.sample = Closed(), deque(maxlen=4096), Sample(ROBOT.joint_names)
        self.streams, self._motion, self.during = [], Motion(), lambda: None

    def attach(self, loop):
        self.loop = self.rig.loop = loop
        self.read(0.0)

    def read(self, timeout):
        record = self.rig.cycle()
        sample, state = self.sample, self.rig.state
        sample.stamp_ns = self.rig.now
        sample.q[:], sample.qd[:], sample.effort[:] = record["q"], record["qd"], self.rig.constant * state.current
        return sample

    def wait_until(self, condition, seconds):
        for _ in range(round(500 * seconds)):
            if condition():
                return True
            self.read(0.0)
        return condition()

    def start_torque(self):
        self.refuse_busy("motion")
        self.during()
        self.wait_until(lambda: False, 0.3)

    info = DriverInfo("rig", "1", 500.0, capabilities=frozenset({"torque"}))
    status = RobotStatus(safety_normal=True, payload=0.0, payload_com=(0.0, 0.0, 0.0))
    condition = latched = StreamState.ok
    last_error = ""

    @property
    def motion(self):
        return self._motion

    def servo(self, positions, rate=500.0):
        self.refuse_busy("motion")
        self.streams.append(positions)
        self._motion = Motion("moving")

    def play(self, approach, positions, rate=500.0, speed=0.5):
        self.servo(positions)

    def move_path(self, waypoints, speed=0.5, acceleration=1.0):
        self.servo(waypoints)

    def stop(self):
        self._motion = Motion("stopped") if self._motion.active else self._motion

    def connect(self): ...
    def disconnect(self): ...
    def rearm(self): ...
    def statistics(self):
        return Statistics()
