"""The driver inside a node: made from parameters, its motion, torque and recovery on services, its stream's health."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from std_srvs.srv import Trigger

from robot_dynamics_ros._core import StreamState
from robot_dynamics_ros.drivers.factory import make_driver
from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.nodes.diagnostics import ERROR, OK, WARN, CpuShare, worst
from robot_dynamics_ros.nodes.robot.motion_interface import MotionInterface
from robot_dynamics_ros.nodes.robot.robot_settings import RobotSettings
from robot_dynamics_ros.nodes.robot.torque_interface import TorqueInterface
from robot_dynamics_ros.nodes.tables import DRIVER_OPTIONS, STREAM_OPTIONS
from robot_dynamics_ros.topics import DRIVER_TOPICS, MAIN

if TYPE_CHECKING:
    from robot_dynamics_ros.nodes.robot.robot_node import RobotNode
    from robot_dynamics_ros.signals import Sample

LEVELS = {StreamState.ok: OK, StreamState.degraded: WARN, StreamState.safe: ERROR, StreamState.fault: ERROR}


def driver_for(node: RobotNode) -> Any:
    """The driver that a node's parameters ask for; None where they say none. Raises what make_driver raises."""
    kind = node.value("driver") if node.has_parameter("driver") else "none"
    if kind == "none":
        return None
    options = {name: node.value(name) for name in STREAM_OPTIONS + DRIVER_OPTIONS.get(kind, ())}
    if not options.get("port"):
        options.pop("port", None)  # the driver's own default
    return make_driver(kind, node.robot, node.value("ip"), **options)


class DriverInterface:
    """Built before the driver connects; see() is called with every sample. Raises CapabilityError (torque)."""

    def __init__(self, node: RobotNode) -> None:
        self._node, driver = node, node.driver
        # first, because it refuses what the driver cannot do before anything has to be removed again
        self._torque = TorqueInterface(node) if node.value("torque") != "none" else None
        self._motion = MotionInterface(node)
        self.settings, self._busy = RobotSettings(node), CpuShare()
        self._services = [node.create_service(Trigger, "~/rearm", self._rearm)]
        if "recover" in driver.capabilities:
            self._services.append(node.create_service(Trigger, "~/recover", self._recover))

    def destroy(self) -> None:
        """Remove topics and services."""
        for service in self._services:
            self._node.destroy_service(service)
        self._motion.destroy()
        if self._torque is not None:
            self._torque.destroy()

    @property
    def topics(self) -> list[str]:
        """Topics of what is measured and commanded; joint_states last, so that its companions are there before it."""
        names = [name for name, need in DRIVER_TOPICS.items() if need in self._node.driver.capabilities]
        return [*names, *(["feedforward_torque"] if self._torque is not None else []), MAIN]

    @property
    def hurried(self) -> bool:
        """True while torques come over a topic: events are looked at between any two samples."""
        return self._torque is not None and self._torque.live

    def send_torque(self) -> None:
        """After every read: what the torque loop computed."""
        if self._torque is not None:
            self._node.driver.send_torque()

    def see(self, sample: Sample) -> None:
        """Every sample, before it is published: what was commanded goes into it."""
        if self._torque is not None:
            self._torque.see(sample)
        self._motion.see(sample)

    def _rearm(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        driver = self._node.driver
        if driver.condition >= StreamState.safe:
            response.success, response.message = False, f"the stream is {driver.condition.name} now"
            return response
        driver.rearm()
        if self._torque is not None:
            self._torque.rearm()
        response.success, response.message = True, "latched faults forgotten"
        return response

    def _recover(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        try:
            response.success, response.message = True, self._node.driver.recover()
        except RobotDynamicsError as error:
            response.success, response.message = False, str(error)
        return response

    # -- diagnostics --------------------------------------------------------------------------------------------------
    def diagnose(self) -> tuple[bytes, str, dict[str, Any]]:
        """Level, text and values of the stream and the robot behind it."""
        driver, counts, robot = self._node.driver, self._node.driver.statistics(), self._node.driver.status
        condition = driver.condition
        found = [(LEVELS[condition], driver.last_error or f"stream {condition.name}")]
        if not robot.safety_normal:
            found.append((ERROR, f"safety mode {robot.safety_text}"))
        if counts.overruns:
            found.append((ERROR, f"{counts.overruns} samples lost: this machine is too slow"))
        values = {
            "condition": condition.name,
            "latched": driver.latched.name,
            "robot mode": robot.mode_text,
            "safety mode": robot.safety_text,
            "program running": robot.program_running,
            "payload [kg]": robot.payload,
            "version": driver.info.version,
            "real-time thread": driver.info.realtime_text or driver.info.realtime,
            "motion": driver.motion.state,
        }
        values |= {k: getattr(counts, k) for k in counts.__dataclass_fields__ if k != "rate"}
        values |= {"this process [% of a core]": f"{100 * self._busy.share():.0f}"}
        values |= {"samples received [Hz]": f"{counts.rate:.1f}"} | driver.details()
        return *worst(*found), values

    def diagnose_torque(self) -> list[Any]:
        """Entries of the guard and of adaptation."""
        return self._torque.diagnose() if self._torque is not None else []
