"""Trajectories from a topic: move to the first point, then stream at the robot's rate; refused with the reason."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.drivers.interface import MotionDriver
from robot_dynamics_ros.errors import CapabilityError, DataError, RobotDynamicsError
from robot_dynamics_ros.nodes.part import NodeContext, NodePart
from robot_dynamics_ros.nodes.robot.command_source import refuse_strangers
from robot_dynamics_ros.nodes.topics.outputs import LATCHED, Pace
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Sample, joint_columns
from robot_dynamics_ros.trajectories.files import resample
from robot_dynamics_ros.trajectories.limits import refuse_outside_limits

STATE_RATE = 20.0  # Hz
LONGEST_REASON = 300  # characters
STOP_TIMEOUT = 4.0  # s until a stop must be over; a client that does not answer one is ended before


class MotionInterface(NodePart):
    """Topic ~/play_trajectory, services ~/stop and ~/zero_ft, and ~/motion with the state of the last request."""

    def __init__(self, node: NodeContext, driver: MotionDriver, end_torque: Callable[[], bool] | None = None) -> None:
        """end_torque: as TorqueInterface.end, where the node has torque."""
        super().__init__(node)
        self._end_torque = end_torque
        self._driver, self._published = driver, ""
        self._position: NDArray[np.float64] | None = None
        self._pace = Pace()
        self._state = self._publish_on(String, "~/motion", LATCHED)
        self._subscribe(JointTrajectory, "~/play_trajectory", self.play, 5)
        self._trigger("~/stop", self._stop)
        self._trigger("~/zero_ft", lambda: self._call(driver.zero_ft, "sent"))

    def _call(self, action: Callable[[], None], text: str) -> str:
        self._require_active()
        action()
        return text

    def _stop(self) -> str:
        """End torque and motion, and say so when they have ended. Raises CapabilityError with what goes on."""
        self._require_active()
        driver, failure = self._driver, ""
        try:
            ended = self._end_torque() if self._end_torque is not None else False
        except CapabilityError as error:
            ended, failure = False, str(error)  # the motion is stopped all the same
        moved = driver.motion.active
        driver.stop()
        if not driver.wait_until(lambda: not driver.motion.active, STOP_TIMEOUT):
            failure = f"the motion goes on: {driver.motion.state}"
        if moved and driver.motion.state == "failed":
            failure = driver.motion.reason
        if failure:
            raise CapabilityError(f"not stopped in order: {failure}")
        what = " and ".join(name for name, was in (("torque", ended), ("motion", moved)) if was)
        return f"{what} ended" if what else "nothing of this node was moving"

    def _require_active(self) -> None:
        if not self._node.active:
            raise CapabilityError("the hardware node is not active")

    def play(self, message: JointTrajectory) -> None:
        """Callback: start the trajectory, or publish the reason for the refusal, also when it is the same again."""
        try:
            self._start(message)
        except RobotDynamicsError as error:
            self._published = ""
            text = str(error)[:LONGEST_REASON]  # names come from the message
            self._node.get_logger().warning(f"trajectory refused: {text}", throttle_duration_sec=2.0)
            self._publish_state(f"refused: {text}")

    def _start(self, message: JointTrajectory) -> None:
        driver = self._driver
        self._require_active()
        refuse_strangers(self._node)
        if "servo" not in driver.capabilities:
            raise CapabilityError(f"{driver.robot.name}: this driver cannot move the robot")
        rate = driver.info.rate or 500.0
        points = read_trajectory(message, driver.robot)
        samples = resample(*points, rate=rate)
        refuse_outside_limits(driver.robot, samples, rate, driver.speed_limit)
        self._refuse_far(samples[0])
        driver.play(samples[:1], samples, rate, self._node.value("approach_speed"))

    def _refuse_far(self, first: NDArray[np.float64]) -> None:
        here, farthest = self._position, self._node.value("max_start_distance")
        if here is None:
            raise CapabilityError("the robot's position is not known yet")
        distance = np.abs(first - here)
        if not distance.max() <= farthest:
            joint = self._driver.robot.joint_names[int(np.argmax(distance))]
            raise CapabilityError(f"{joint} starts {distance.max():.2f} rad from here, more than {farthest:.2f}")

    def on_sample(self, sample: Sample) -> None:
        """Take over the robot's position; STATE_RATE times per second publish the state of the motion if it changed."""
        if self._position is None:
            self._position = np.empty(sample.n_joints)
        self._position[:] = sample.q
        if self._pace.due(sample.stamp_ns, STATE_RATE):
            motion = self._driver.motion
            self._publish_state(motion.state + (f": {motion.reason}" if motion.reason else ""))

    def _publish_state(self, text: str) -> None:
        if text != self._published:
            self._published = text
            self._state.publish(String(data=text))


def read_trajectory(
    message: JointTrajectory, robot: RobotFile
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64] | None]:
    """Times (m,) [s], positions (m, n) [rad], velocities (m, n) [rad/s] or None, in the robot's joint order.

    Raises DataError: no points, a joint is missing, a point without one position per joint.
    """
    columns = joint_columns(message.joint_names, robot.joint_names, robot.joint_aliases)
    if not message.points:
        raise DataError("trajectory: no points")
    if any(len(p.positions) != len(message.joint_names) for p in message.points):
        raise DataError("trajectory: every point needs one position per joint")
    times = np.array([p.time_from_start.sec + 1e-9 * p.time_from_start.nanosec for p in message.points])
    q = np.array([p.positions for p in message.points])[:, columns]
    given = all(len(p.velocities) == len(message.joint_names) for p in message.points)
    return times, q, np.array([p.velocities for p in message.points])[:, columns] if given else None
