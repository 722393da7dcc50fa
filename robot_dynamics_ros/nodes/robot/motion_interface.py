"""Trajectories from a topic: move to the first point, then stream at the robot's rate; refused with the reason."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from std_msgs.msg import String
from trajectory_msgs.msg import JointTrajectory

from robot_dynamics_ros.drivers.interface import MotionDriver, MotionState
from robot_dynamics_ros.errors import CapabilityError, RobotDynamicsError
from robot_dynamics_ros.nodes.lifecycle_base import LifecycleBase
from robot_dynamics_ros.nodes.part import NodePart, reason
from robot_dynamics_ros.nodes.robot.command_source import refuse_other_commanders
from robot_dynamics_ros.nodes.robot.follow_action import FollowAction, action_type
from robot_dynamics_ros.nodes.robot.joint_trajectory import Points, from_here, parsed, read_points, seconds_ahead
from robot_dynamics_ros.nodes.robot.refusals import Refusals
from robot_dynamics_ros.nodes.robot.stops import Stops
from robot_dynamics_ros.nodes.topics.outputs import Pace
from robot_dynamics_ros.nodes.topics.qos import LATCHED
from robot_dynamics_ros.signals import Sample
from robot_dynamics_ros.trajectories.files import resample
from robot_dynamics_ros.trajectories.limits import refuse_outside_limits

STATE_RATE = 20.0  # Hz
Message = TypeVar("Message", bytes, JointTrajectory)
WAIT = 1.0  # s that a stamp lies ahead from which on the console says so
DISCONNECTED = "the node was deactivated"
STOP_TIMEOUT = 4.0  # s until a stop must be over; a client that does not answer one is ended before


class MotionInterface(NodePart):
    """Topics ~/joint_trajectory and ~/play_trajectory, action ~/follow_joint_trajectory, services ~/stop and ~/zero_ft,
    and ~/motion with the state of the last request.
    """

    def __init__(
        self, node: LifecycleBase, driver: MotionDriver, stops: Stops, end_torque: Callable[[], bool] | None
    ) -> None:
        """stops: the path of ~/stop; end_torque: as TorqueInterface.end, where the node has torque."""
        super().__init__(node)
        self._stops, self._end_torque = stops, end_torque
        self._driver, self._published = driver, ""  # the driver's state as it was published last
        self._position: NDArray[np.float64] | None = None
        self._received_ns = 0  # of the sample that the position is from
        self._pace = Pace()
        self._state = self._publish_on(String, "~/motion", LATCHED)
        self._refusals, self._stopped, self._starting = Refusals(self._refuse), 0, threading.Lock()
        self.subscribe(JointTrajectory, "~/play_trajectory", lambda m: self._receive(m, self._approach), 5, raw=True)
        self.subscribe(JointTrajectory, "~/joint_trajectory", lambda m: self._receive(m, self._follow), 5, raw=True)
        kind = action_type()
        self._action = FollowAction(node, kind, driver, self.plan, self.begin) if kind is not None else None
        stops.trigger("~/stop", self._stop)
        self.trigger("~/zero_ft", self._zero_ft)

    def _zero_ft(self) -> str:
        self._require_active()
        self._driver.zero_ft()
        return "the sensor is zeroed"

    def _stop(self) -> str:
        """End torque and motion, and say so when they have ended. Raises CapabilityError with what goes on.

        On the path of the stops.
        """
        self._require_active()
        driver, failure = self._driver, ""
        with self._starting:
            self._stopped += 1  # what is being planned does not begin
        try:
            ended = self._end_torque() if self._end_torque is not None else False
        except CapabilityError as error:
            ended, failure = False, str(error)  # the motion is stopped all the same
        moved = driver.motion.active
        driver.stop()
        if not self._stops.wait(lambda: not driver.motion.active, STOP_TIMEOUT):
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

    def destroy(self) -> None:
        """Remove topics, services and the action."""
        if self._action is not None:
            self._action.destroy()
        super().destroy()

    @property
    def flooded(self) -> bool:
        """True while refused trajectories are dropped unread."""
        return self._refusals.flooded

    def _receive(self, data: bytes, start: Callable[[JointTrajectory], object]) -> None:
        """Callback: what cannot be taken is refused before it is parsed, and in a flood of refusals nothing is."""
        if self.flooded:
            self._refusals.drop()
        else:
            self._take(data, lambda d: start(parsed(d)))

    def _take(self, message: Message, start: Callable[[Message], object]) -> None:
        """Start the trajectory, or publish the reason for the refusal, also when it is the same again."""
        begin = self._refusals.clock()
        try:
            self._require_able()
            start(message)
            self._end_goal()
            self._published = ""
        except RobotDynamicsError as error:
            self._refusals.add(reason(error), begin)

    def _refuse(self, text: str) -> None:
        """A refusal stays the latched state until the driver's state changes: a late listener must not miss it."""
        self._node.get_logger().warning(f"trajectory refused: {text}", throttle_duration_sec=2.0)
        self._published = _state_text(self._driver.motion)
        self._state.publish(String(data=f"refused: {text}"))

    def _end_goal(self) -> None:
        if self._action is not None:
            self._action.replaced("replaced by another trajectory")

    def _approach(self, message: JointTrajectory) -> None:
        """~/play_trajectory: move to the first point at approach_speed, then follow the points."""
        driver, stopped = self._driver, self._stopped
        driver.refuse_torque_live("motion")
        refuse_other_commanders(self._node)
        samples = self._sampled(read_points(message, driver.robot))
        self._refuse_far(samples[0])
        speed = self._node.value("approach_speed")
        self._start(stopped, lambda: driver.play(samples[:1], samples, self._rate, speed))

    def _follow(self, message: JointTrajectory) -> None:
        """~/joint_trajectory: follow the points from here; none: stop."""
        if message.points:
            self.begin(message)
        else:
            self._driver.stop()

    # -- as joint_trajectory_controller -------------------------------------------------------------------------------
    def plan(self, message: JointTrajectory) -> NDArray[np.float64]:
        """Samples (N, n) [rad] from here through the points. Raises CapabilityError, DataError with the reason."""
        self._require_able()
        self._driver.refuse_torque_live("motion")
        refuse_other_commanders(self._node)
        if self._position is None:
            raise CapabilityError("the robot's position is not known yet")
        return self._sampled(from_here(message, self._driver.robot, self._position.copy(), self._now()))

    def begin(self, message: JointTrajectory) -> NDArray[np.float64]:
        """Stop a motion of this node, plan from where the robot is, start; samples (N, n) [rad] of the motion.

        Raises as plan(), CapabilityError.
        """
        stopped = self._stopped
        samples, driver = self.plan(message), self._driver  # refused before anything is stopped
        self._end_goal()  # before the stop, which would end it as stopped
        if driver.motion.active:
            driver.stop()
            if not driver.wait_until(lambda: not driver.motion.active, STOP_TIMEOUT):
                raise CapabilityError(f"the previous motion goes on: {driver.motion.state}")
            ended_ns = driver.clock.system_ns()  # samples received before may still wait to be processed
            if not driver.wait_until(lambda: self._received_ns >= ended_ns, STOP_TIMEOUT):
                raise CapabilityError("the robot's position is not known since the previous motion ended")
            samples = self.plan(message)
        self._start(stopped, lambda: driver.play(None, samples, self._rate))
        if (ahead := seconds_ahead(message, self._now())) > WAIT:
            what = "until its first point is due the robot moves there slowly"
            self._node.get_logger().info(f"the trajectory begins in {ahead:.1f} s, by its stamp; {what}")
        return samples

    def _now(self) -> int:
        return self._node.get_clock().now().nanoseconds

    def _start(self, stopped: int, motion: Callable[[], None]) -> None:
        """Begin a motion that was planned since the stop of this number. Raises CapabilityError after another one."""
        with self._starting:
            if self._stopped != stopped:
                raise CapabilityError("stopped before the motion could begin")
            motion()

    @property
    def _rate(self) -> float:
        return self._driver.info.rate or 500.0

    def _require_able(self) -> None:
        self._require_active()
        self._driver.refuse_listening()

    def _sampled(self, points: Points) -> NDArray[np.float64]:
        robot, bound = self._driver.robot, self._driver.speed_limit
        refuse_outside_limits(robot, points.q, 0.0, bound)  # positions, before a long motion is computed
        samples = resample(*points, rate=self._rate)
        refuse_outside_limits(robot, samples, self._rate, bound)
        return samples

    def _refuse_far(self, first: NDArray[np.float64]) -> None:
        here, farthest = self._position, self._node.value("max_start_distance")
        if here is None:
            raise CapabilityError("the robot's position is not known yet")
        distance = np.abs(first - here)
        if not distance.max() <= farthest:
            joint = self._driver.robot.joint_names[int(np.argmax(distance))]
            advice = "bring the robot nearer, or raise the parameter max_start_distance"
            raise CapabilityError(
                f"{joint} starts {distance.max():.2f} rad from here, more than {farthest:.2f}: {advice}"
            )

    def on_sample(self, sample: Sample) -> None:
        """Take over the robot's position; STATE_RATE times per second publish the state of the motion if it changed."""
        if self._position is None:
            self._position = np.empty(sample.n_joints)
        self._position[:], self._received_ns = sample.q, sample.receive_ns
        if self._action is not None:
            self._action.on_sample(sample)
        if self._pace.due(sample.stamp_ns, STATE_RATE):
            self._refusals.settle()
            self._publish_state(_state_text(self._driver.motion))

    def on_silence(self) -> None:
        """No sample has come: a motion that has ended is reported all the same."""
        if not self._driver.motion.active:
            if self._action is not None:
                self._action.on_silence()
            self._publish_state(_state_text(self._driver.motion))

    def on_disconnect(self) -> None:
        """The robot was stopped, because the driver was disconnected."""
        if self._action is not None:
            self._action.replaced(DISCONNECTED)
        if self._published in ("starting", "moving"):
            self._publish_state(f"stopped: {DISCONNECTED}")

    def _publish_state(self, text: str) -> None:
        if text != self._published:
            self._published = text
            self._state.publish(String(data=text))


def _state_text(motion: MotionState) -> str:
    return motion.state + (f": {motion.reason}" if motion.reason else "")
