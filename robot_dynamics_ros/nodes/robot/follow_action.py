"""Action ~/follow_joint_trajectory (control_msgs/FollowJointTrajectory), where control_msgs is installed."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rclpy.action import ActionServer, CancelResponse, GoalResponse
from rclpy.task import Future
from trajectory_msgs.msg import JointTrajectory, JointTrajectoryPoint

from robot_dynamics_ros.drivers.interface import MotionDriver, MotionState
from robot_dynamics_ros.errors import DataError, RobotDynamicsError
from robot_dynamics_ros.nodes.lifecycle_base import LifecycleBase
from robot_dynamics_ros.nodes.part import NodePart, reason
from robot_dynamics_ros.nodes.topics.encoding import to_time
from robot_dynamics_ros.nodes.topics.outputs import Pace
from robot_dynamics_ros.signals import Sample

FEEDBACK_RATE = 20.0  # Hz
SUCCESSFUL, INVALID_GOAL, PATH_TOLERANCE_VIOLATED, GOAL_TOLERANCE_VIOLATED = 0, -1, -4, -5


def action_type() -> Any:
    """control_msgs.action.FollowJointTrajectory, None where control_msgs is not installed."""
    try:
        return import_module("control_msgs.action").FollowJointTrajectory
    except ImportError:
        return None


Plan = Callable[[JointTrajectory], NDArray[np.float64]]


class FollowAction(NodePart):
    """One goal at a time; a new goal, or a trajectory on a topic, ends the one before (aborted).

    plan, begin: samples (N, n) [rad] of a motion, which begin starts, ending a goal before it with replaced(); both
    raise RobotDynamicsError with the reason of a refusal.
    """

    def __init__(self, node: LifecycleBase, kind: Any, driver: MotionDriver, plan: Plan, begin: Plan) -> None:
        super().__init__(node)
        self._kind, self._robot, self._driver, self._plan, self._begin = kind, driver.robot, driver, plan, begin
        self._goal: Any = None
        self._done: Any = None
        self._ends: dict[bytes, Any] = {}  # goal -> future of how it ends
        self._pace = Pace()
        self._ended_ns = 0
        self._canceling = False
        server = ActionServer(
            node,
            kind,
            "~/follow_joint_trajectory",
            self._execute,
            goal_callback=self._ask,
            handle_accepted_callback=self._accept,
            cancel_callback=self._cancel,
        )
        self._keep(lambda s: s.destroy(), server)

    def _ask(self, request: Any) -> GoalResponse:
        """Reject what would be refused, as joint_trajectory_controller does; the log has the reason."""
        try:
            self._tolerances(request.path_tolerance)
            self._tolerances(request.goal_tolerance)
            self._plan(request.trajectory)
        except RobotDynamicsError as error:
            self._node.get_logger().warning(f"goal rejected: {reason(error)}", throttle_duration_sec=2.0)
            return GoalResponse.REJECT
        return GoalResponse.ACCEPT

    def _cancel(self, goal: Any) -> CancelResponse:
        """Stop the robot; a goal that has ended already, replaced by the one that runs, does not."""
        if goal is not self._goal:
            return CancelResponse.REJECT
        self._canceling = True
        self._driver.stop()
        return CancelResponse.ACCEPT

    def _accept(self, goal: Any) -> None:
        """Start the motion as soon as the goal is accepted: a trajectory that arrives after it replaces it. Where it is
        refused now, a goal that runs goes on, as its motion does.
        """
        done = self._ends[bytes(goal.goal_id.uuid)] = Future()
        request = goal.request
        try:
            self._target = self._begin(request.trajectory)[-1]
            self._path, self._reach = self._tolerances(request.path_tolerance), self._tolerances(request.goal_tolerance)
            patience = request.goal_time_tolerance
            self._patience = max(0.0, patience.sec + 1e-9 * patience.nanosec)
            self._ended_ns, self._canceling = 0, False
            self._goal, self._done = goal, done
        except RobotDynamicsError as error:
            done.set_result((INVALID_GOAL, reason(error), "abort"))
        goal.execute()

    async def _execute(self, goal: Any) -> Any:
        code, text, how = await self._ends.pop(bytes(goal.goal_id.uuid))
        getattr(goal, how)()
        return self._kind.Result(error_code=code, error_string=text)

    def replaced(self, why: str) -> None:
        """End a running goal as aborted."""
        self._finish(INVALID_GOAL, why, "abort")

    def _finish(self, code: int, text: str, how: str) -> None:
        if self._done is not None:
            self._done.set_result((code, text, how))
        self._goal = self._done = None

    def on_sample(self, sample: Sample) -> None:
        """Feedback, tolerances and the end of the goal."""
        if self._goal is None:
            return
        desired, state = sample.q_d if sample.has("q_d") else sample.q, self._driver.motion
        if self._pace.due(sample.stamp_ns, FEEDBACK_RATE):
            self._feedback(sample, desired)
        if state.active:
            self._judge_path(desired - sample.q)
        elif self._complete(state):
            self._judge_end(sample)
        else:
            self._over(state)

    def on_silence(self) -> None:
        """End the goal without a sample; whether the robot is at its target is judged by samples."""
        state = self._driver.motion
        if self._goal is not None and not state.active and not self._complete(state):
            self._over(state)

    def _complete(self, state: MotionState) -> bool:
        return state.state == "done" and not self._canceling

    def _over(self, state: MotionState) -> None:
        if self._canceling and state.state != "failed":
            self._finish(SUCCESSFUL, "canceled: the robot has stopped", "canceled")
        else:
            self._finish(INVALID_GOAL, f"{state.state}: {state.reason}".rstrip(": "), "abort")

    def _judge_path(self, error: NDArray[np.float64]) -> None:
        if (outside := self._outside(error, self._path)) and not self._canceling:
            self._driver.stop()
            self._finish(PATH_TOLERANCE_VIOLATED, f"path tolerance violated: {outside}", "abort")

    def _judge_end(self, sample: Sample) -> None:
        """The time tolerance counts by the arrival of samples: earlier ones may still wait to be processed."""
        now = self._driver.clock.system_ns()
        self._ended_ns = min(self._ended_ns or now, now)  # the clock may be set back
        waited = 1e-9 * (sample.receive_ns - self._ended_ns)
        outside = self._outside(np.asarray(self._target) - sample.q, self._reach)
        if not outside:
            self._finish(SUCCESSFUL, "", "succeed")
        elif waited > self._patience:
            self._finish(GOAL_TOLERANCE_VIOLATED, f"goal tolerance violated: {outside}", "abort")

    def _outside(self, error: NDArray[np.float64], bound: NDArray[np.float64]) -> str:
        """The worst joint outside its bound as text, empty when there is none."""
        over = np.abs(error) - bound
        k = int(np.argmax(over))
        name = self._robot.joint_names[k]
        return f"{name} is off by {error[k]:.3g} rad, more than {bound[k]:g}" if over[k] > 0 else ""

    def _tolerances(self, given: Any) -> NDArray[np.float64]:
        """Largest position errors (n,) [rad]; 0 and -1 (unspecified, erased) are none. Raises DataError."""
        bound = np.full(self._robot.n_joints, np.inf)
        for entry in given:
            name = self._robot.joint_aliases.get(entry.name, entry.name)
            if name not in self._robot.joint_names:
                raise DataError(f"tolerance: {entry.name!r} is no joint of {self._robot.name}")
            if not (entry.position >= 0.0 or entry.position == -1.0):
                raise DataError(f"tolerance of {entry.name}: {entry.position:g} is neither positive, 0 nor -1")
            if entry.position > 0.0:
                bound[self._robot.joint_names.index(name)] = entry.position
        return bound

    def _feedback(self, sample: Sample, desired: NDArray[np.float64]) -> None:
        message = self._kind.Feedback(joint_names=list(self._robot.joint_names))
        message.header.stamp = to_time(sample.stamp_ns)
        message.actual = JointTrajectoryPoint(positions=sample.q.tolist(), velocities=sample.qd.tolist())
        message.desired = JointTrajectoryPoint(positions=desired.tolist())
        message.error = JointTrajectoryPoint(positions=(desired - sample.q).tolist())
        self._goal.publish_feedback(message)
