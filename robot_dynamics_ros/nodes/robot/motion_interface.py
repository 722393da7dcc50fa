"""Trajectories from a topic: move to the first point, then stream at the robot's rate; refused with the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from std_msgs.msg import String
from std_srvs.srv import Trigger
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.errors import CapabilityError, DataError, RobotDynamicsError
from robot_dynamics_ros.nodes.topics.outputs import LATCHED, Pace
from robot_dynamics_ros.signals import joint_columns
from robot_dynamics_ros.trajectories.files import refuse_outside_limits, resample

if TYPE_CHECKING:
    from robot_dynamics_ros.nodes.robot.robot_node import RobotNode
    from robot_dynamics_ros.signals import Sample

WATCH_RATE = 20.0  # Hz


class MotionInterface:
    """Topic ~/play_trajectory, services ~/stop and ~/zero_ft, and ~/motion that says what became of a request."""

    def __init__(self, node: RobotNode) -> None:
        self._node, self._said = node, ""
        self._position: np.ndarray | None = None
        self._pace = Pace()
        self._state = node.create_publisher(String, "~/motion", LATCHED)
        self._entities = [
            (node.destroy_subscription, node.create_subscription(JointTrajectory, "~/play_trajectory", self.play, 5)),
            (node.destroy_service, node.create_service(Trigger, "~/stop", self._stop)),
            (node.destroy_service, node.create_service(Trigger, "~/zero_ft", self._zero_ft)),
            (node.destroy_publisher, self._state),
        ]

    def destroy(self) -> None:
        """Remove topic and services."""
        for destroy, entity in self._entities:
            destroy(entity)

    def play(self, message: JointTrajectory) -> None:
        """Callback: start the trajectory or say why not; every request is answered, also in the same words."""
        try:
            self._start(message)
        except RobotDynamicsError as error:
            self._said = ""
            self._node.get_logger().warning(f"trajectory refused: {error}")
            self.say(f"refused: {error}")

    def _start(self, message: JointTrajectory) -> None:
        node, driver = self._node, self._node.driver
        if driver is None or not node.active:
            raise CapabilityError("the hardware node is not active")
        if "servo" not in driver.capabilities:
            raise CapabilityError(f"{driver.robot.name}: this driver cannot move the robot")
        rate = driver.info.rate or 500.0
        points = read_trajectory(message, driver.robot)
        samples = resample(*points, rate=rate)
        refuse_outside_limits(driver.robot, samples, rate, driver.speed_limit)
        self._refuse_far(samples[0])
        driver.play(samples[:1], samples, rate, node.value("approach_speed"))

    def _refuse_far(self, first: np.ndarray) -> None:
        here, farthest = self._position, self._node.value("max_start_distance")
        if here is None:
            raise CapabilityError("the robot's position is not known yet")
        distance = np.abs(first - here)
        if not distance.max() <= farthest:
            joint = self._node.robot.joint_names[int(np.argmax(distance))]
            raise CapabilityError(f"{joint} starts {distance.max():.2f} rad from here, more than {farthest:.2f}")

    def _stop(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return self._call(response, lambda driver: driver.stop(), "stopping")

    def _zero_ft(self, _: Trigger.Request, response: Trigger.Response) -> Trigger.Response:
        return self._call(response, lambda driver: driver.zero_ft(), "sent")

    def _call(self, response: Trigger.Response, action: Any, text: str) -> Trigger.Response:
        driver = self._node.driver
        try:
            if driver is None or not self._node.active:
                raise CapabilityError("the hardware node is not active")
            action(driver)
            response.success, response.message = True, text
        except RobotDynamicsError as error:
            response.success, response.message = False, str(error)
        return response

    def see(self, sample: Sample) -> None:
        """Every sample: where the robot is, and WATCH_RATE times per second what has become of the motion."""
        if self._position is None:
            self._position = np.empty(sample.n_joints)
        self._position[:] = sample.q
        if self._pace.due(sample.stamp_ns, WATCH_RATE):
            motion = self._node.driver.motion
            self.say(motion.state + (f": {motion.reason}" if motion.reason else ""))

    def say(self, text: str) -> None:
        """Publish the state when it is new."""
        if text != self._said:
            self._said = text
            self._state.publish(String(data=text))


def read_trajectory(message: JointTrajectory, robot: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Times (m,), positions (m, n) and velocities (m, n) or None, in the robot's joint order. Raises DataError."""
    columns = joint_columns(message.joint_names, robot.joint_names, robot.joint_aliases)
    if not message.points:
        raise DataError("trajectory: no points")
    if any(len(p.positions) != len(message.joint_names) for p in message.points):
        raise DataError("trajectory: every point needs one position per joint")
    times = np.array([p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in message.points])
    q = np.array([p.positions for p in message.points])[:, columns]
    given = all(len(p.velocities) == len(message.joint_names) for p in message.points)
    return times, q, np.array([p.velocities for p in message.points])[:, columns] if given else None
