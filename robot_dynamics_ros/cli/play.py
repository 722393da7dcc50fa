"""`robot-dynamics play`: a motion of `excite` on the robot that `up` runs."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

import click
import numpy as np

from robot_dynamics_ros.bringup import check_names, environment
from robot_dynamics_ros.cli.options import robot_option
from robot_dynamics_ros.cli.printed import console, stderr
from robot_dynamics_ros.errors import CapabilityError, ConnectionFailed
from robot_dynamics_ros.nodes.executables import require_ros
from robot_dynamics_ros.robot_file import RobotFile, load_robot
from robot_dynamics_ros.trajectories.files import MOST_POINTS, Points, load_trajectory, resample
from robot_dynamics_ros.trajectories.limits import refuse_outside_limits
from robot_dynamics_ros.waiting import interrupted, wait_until

if TYPE_CHECKING:
    from robot_dynamics_ros.nodes.topics.monitor import Monitor

ENDED = ("done", "stopped", "failed")  # states of a motion that is over
ANSWER = 10.0  # s until the node accepts or refuses a trajectory
POINT_RATE = 50.0  # Hz of the points of an action's goal, and of a long motion
APPROACH = 120.0  # s that the move to the first point may take
LOOK = 0.1  # s between two looks whether Ctrl-C was pressed


@click.command("play")
@click.argument("motion", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@robot_option
@click.option(
    "--node", default="composed_node", show_default=True, help="Node that moves the robot: [/NAMESPACE/]NAME."
)
@click.option("--action", help="FollowJointTrajectory action of a ros2_control robot, instead of --node.")
@click.option("--joint-states", default="joint_states", show_default=True, help="With --action: where the robot is.")
@click.option(
    "--speed", default=1.0, show_default=True, type=click.FloatRange(0.01, 1.0), help="Share of the motion's speed."
)
@click.option("--yes", is_flag=True, help="Move without confirmation.")
def command(
    motion: Path, robot: str, node: str, action: str | None, joint_states: str, speed: float, yes: bool
) -> None:
    """Move the robot that `up` runs along MOTION (a CSV of `excite`), after a slow move to its first point.

    The node refuses a motion that violates the limits or starts too far away. Ctrl-C stops the robot. With --action the
    joint_trajectory_controller of any ros2_control robot moves it.

    Example: robot-dynamics play excitation.csv --robot ur5e
    """
    require_ros()
    check_names({"node": node})
    namespace, _, node = node.rpartition("/")
    arm = load_robot(robot)
    times, q, qd = load_trajectory(motion, arm)
    times, qd = times / speed, qd if qd is None else speed * qd
    unknown = None if action else np.inf  # where the file has no limit of the speed, the node has that of its driver
    refuse_outside_limits(arm, resample(times, q, qd, arm.rate), arm.rate, unknown)
    os.environ.update(environment())
    if action:
        console.print(f"{motion}: {_by_action(action, joint_states, namespace, arm, Points(times, q, qd), yes)}")
        return
    from robot_dynamics_ros.nodes.topics.monitor import Monitor

    if len(times) > MOST_POINTS:
        times, q, qd = _few(Points(times, q, qd))
    with Monitor(node, namespace) as monitor:
        if not monitor.wait_for_node(ANSWER):
            first = f"first robot-dynamics up --robot {robot} --ip ADDRESS, or name another node (--node)"
            raise ConnectionFailed(f"no {node} listens: {first}")
        if not yes:
            click.confirm("The robot will move. Is the space around it free?", abort=True)
        length = float(times[-1] - times[0])
        with stderr.status(f"moving, {length:.0f} s after the move to the first point"), interrupted() as stop:
            monitor.play(arm.joint_names, times - times[0], q, qd)
            _wait_for_end(monitor, length, stop)
            late = not (stop.is_set() or monitor.wait_for_motion(("refused", *ENDED), LOOK))
            if late and not monitor.present:
                raise ConnectionFailed(f"{node} has gone: where the robot does not stand, stop it by its own button")
            if stop.is_set() or late:  # a late motion does not go on unsupervised
                answered = monitor.stop_robot(ANSWER)
                if not (monitor.wait_for_motion(ENDED, ANSWER) and answered):
                    raise ConnectionFailed(f"{node} does not report that it stopped: stop the robot by its own button")
        answer = monitor.snapshot().motion or "no answer"
    if late:
        raise CapabilityError(f"{motion}: not done after twice its time; {answer}")
    if not answer.startswith(("done", "stopped")):
        raise CapabilityError(f"{motion}: {answer}")
    console.print(f"{motion}: {answer}")


def _wait_for_end(monitor: Monitor, length: float, stop: Event) -> None:
    """Block until the motion was refused or has ended, or, once the node has answered, until stop is set: a request to
    stop must not overtake the motion; or until the node has gone. A refusal after its start is of another command.
    """
    monitor.wait_for_motion(("starting", "moving", "refused", *ENDED), ANSWER)
    if not monitor.snapshot().motion.startswith("refused"):
        seconds = APPROACH + 2.0 * length
        wait_until(
            lambda: stop.is_set() or monitor.wait_for_motion(ENDED, LOOK) or not monitor.present, seconds, lambda: None
        )


def _few(points: Points) -> Points:
    """A motion at POINT_RATE, or as densely as one message may hold, with velocities."""
    rate = min(POINT_RATE, (MOST_POINTS - 2) / float(points.times[-1] - points.times[0]))
    samples = resample(points.times, points.q, points.qd, rate)
    speeds = np.gradient(samples, 1.0 / rate, axis=0)
    speeds[[0, -1]] = 0.0 if points.qd is None else points.qd[[0, -1]]  # at rest, as cubics through positions alone
    return Points(np.arange(len(samples)) / rate, samples, speeds)


def _by_action(action: str, joint_states: str, namespace: str, arm: RobotFile, points: Points, yes: bool) -> str:
    """How the goal ended. Raises CapabilityError, ConnectionFailed with the reason."""
    from robot_dynamics_ros.nodes.topics.follow_client import FollowClient, action_type, goal_of

    if points.qd is None:
        points = _few(points)
    with FollowClient(action, joint_states, namespace) as client:
        here = client.position(arm.joint_names, ANSWER)
        if not yes:
            click.confirm("The robot will move. Is the space around it free?", abort=True)
        goal = goal_of(action_type(), arm.joint_names, points, here)
        with stderr.status(
            f"moving, {goal.trajectory.points[-1].time_from_start.sec} s with the approach of the first point"
        ):
            return client.follow(goal, ANSWER)
