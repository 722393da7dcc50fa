"""A FollowJointTrajectory goal for any ros2_control robot: from here to the first point, then along the motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import rclpy
from numpy.typing import NDArray
from rclpy.action import ActionClient
from rclpy.executors import SingleThreadedExecutor
from sensor_msgs.msg import JointState

from robot_dynamics_ros.errors import CapabilityError, ConnectionFailed, DataError
from robot_dynamics_ros.nodes.robot.follow_action import action_type
from robot_dynamics_ros.nodes.topics.encoding import MessageReader, trajectory
from robot_dynamics_ros.signals import Sample
from robot_dynamics_ros.topics import MAIN, TOPICS
from robot_dynamics_ros.waiting import interrupted, wait_until

CODES = {
    -1: "invalid goal",
    -2: "invalid joints",
    -3: "old header stamp",
    -4: "path tolerance violated",
    -5: "goal tolerance violated",
}
APPROACH = 0.3  # rad/s, mean speed of the fastest joint while approaching the first point
CANCELED = 5  # action_msgs/GoalStatus


def goal_of(kind: Any, joints: Sequence[str], points: tuple[Any, Any, Any], here: Any) -> Any:
    """Goal from `here` (n,) [rad]: at rest at the first point when it is reached, then times (m,) [s], positions and
    velocities (m, n) [rad, rad/s] of the motion.
    """
    times, q, qd = (np.asarray(part, dtype=float) for part in points)
    approach = max(1.0, float(np.abs(q[0] - here).max()) / APPROACH)
    velocities = qd.copy()
    velocities[[0, -1]] = 0.0
    return kind.Goal(trajectory=trajectory(joints, approach + (times - times[0]), q, velocities))


class FollowClient:
    """Context manager: a node of its own. Raises CapabilityError where control_msgs is not installed."""

    def __init__(self, action: str, joint_states: str = "joint_states", namespace: str = "") -> None:
        self._action, self._joint_states, self._namespace = action, joint_states, namespace
        self._kind = action_type()
        if self._kind is None:
            raise CapabilityError("--action needs control_msgs: apt install ros-<distribution>-control-msgs")
        self._state: Any = None

    def __enter__(self) -> FollowClient:
        self._context = rclpy.Context()
        self._context.init()
        self._node = rclpy.create_node("play", context=self._context, namespace=self._namespace)
        self._node.create_subscription(JointState, self._joint_states, self._keep, 5)
        self._client: Any = ActionClient(self._node, self._kind, self._action)
        self._executor = SingleThreadedExecutor(context=self._context)
        self._executor.add_node(self._node)
        return self

    def __exit__(self, *_: object) -> None:
        self._client.destroy()
        self._node.destroy_node()
        self._context.try_shutdown()

    def _keep(self, message: JointState) -> None:
        self._state = message

    def _spin(self, condition: Any, seconds: float) -> bool:
        return wait_until(condition, seconds, lambda: self._executor.spin_once(timeout_sec=0.1))

    def position(self, joints: Sequence[str], seconds: float) -> NDArray[np.float64]:
        """Present position (n,) [rad], of the first message that has it: a gripper may publish on the topic, too.

        Raises ConnectionFailed when no message comes, DataError where none has the position of every joint.
        """
        reader, sample, why = MessageReader(TOPICS[MAIN], joints), Sample(joints), ""

        def known() -> bool:
            nonlocal why
            message, self._state = self._state, None
            try:
                if message is not None:
                    why = f"{self._joint_states}: positions are missing or not finite"
                    reader.read(message, sample)
            except DataError as error:
                why = str(error)
            return sample.has("q")

        if not self._spin(known, seconds):
            raise DataError(why) if why else ConnectionFailed(f"no joint states on {self._joint_states}")
        return sample.q

    def follow(self, goal: Any, seconds: float) -> str:
        """Send the goal and wait for its end; Ctrl-C cancels it, and so does the end of twice its time, or an answer
        that comes late. Returns `done` or `canceled`.

        Raises ConnectionFailed without an answer, CapabilityError with the controller's reason.
        """
        if not self._spin(self._client.server_is_ready, seconds):
            raise ConnectionFailed(f"no action {self._action}: ros2 action list shows those that exist")
        with interrupted() as stop:
            sent = self._client.send_goal_async(goal)
            late = not self._spin(sent.done, seconds)
            if late and not self._spin(sent.done, seconds):
                raise ConnectionFailed(f"{self._action} does not answer: if the robot moves, stop it by its own button")
            handle = sent.result()
            if not handle.accepted:
                raise CapabilityError(f"{self._action} rejected the goal; the log of the controller has the reason")
            patience = 2.0 * goal.trajectory.points[-1].time_from_start.sec + seconds
            found = handle.get_result_async()
            in_time = self._spin(lambda: found.done() or stop.is_set(), 0.0 if late else patience)
            if not found.done():
                handle.cancel_goal_async()
                self._spin(found.done, seconds)
        if not found.done():
            raise ConnectionFailed(f"{self._action}: no result; the robot may still move")
        if late:
            raise ConnectionFailed(f"{self._action} answered after {seconds:g} s: the goal is canceled")
        if not in_time:
            raise ConnectionFailed(f"{self._action}: not done after {patience:.0f} s and canceled (speed scaling?)")
        status, result = found.result().status, found.result().result
        if status == CANCELED:
            return "canceled"
        if result.error_code:
            raise CapabilityError(f"{CODES.get(result.error_code, result.error_code)}: {result.error_string}")
        return "done"
