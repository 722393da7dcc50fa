"""`robot-dynamics play`: what of a motion is sent."""

from contextlib import nullcontext
from threading import Event
from types import SimpleNamespace

import numpy as np
import pytest
from command_line import robot_dynamics
from scipy.interpolate import CubicHermiteSpline

from robot_dynamics_ros.cli import play
from robot_dynamics_ros.cli.play import _few, _wait_for_end
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.trajectories import motions
from robot_dynamics_ros.trajectories.files import MOST_POINTS, Points, write_trajectory

POSE = [0.0, -1.2, 1.5, -1.9, -1.57, 0.4]


@pytest.mark.parametrize("duration", [100.0, 600.0])
def test_a_long_motion_of_excite_fits_into_one_message_and_keeps_its_path(duration):
    """excite writes positions 125 times a second: 100 s are more points than a node takes."""
    q, qd, _ = motions.fourier(POSE, duration=duration, rate=125.0)
    times = np.arange(len(q)) / 125.0
    assert len(q) > MOST_POINTS
    few = _few(Points(times, q, None))
    assert len(few.times) <= MOST_POINTS and few.times[-1] == pytest.approx(times[-1], abs=0.02)
    assert not few.qd[[0, -1]].any()
    kept = _few(Points(times, q, qd + 0.1))
    assert np.array_equal(kept.qd[[0, -1]], (qd + 0.1)[[0, -1]])
    path = CubicHermiteSpline(*few)
    inside = times <= few.times[-1]
    assert np.abs(path(times[inside]) - q[inside]).max() < 2e-3
    assert np.abs(path(times[inside], 1)).max() < 1.02 * np.abs(qd).max()


def test_what_is_given_with_an_action_arrives(monkeypatch, tmp_path):
    given, file = [], tmp_path / "motion.csv"
    q, qd, _ = motions.fourier(POSE, duration=20.0, rate=125.0)
    arm = load_robot("ur5e")
    write_trajectory(file, arm.joint_names, Points(np.arange(len(q)) / 125.0, q, qd))
    monkeypatch.setattr(play, "require_ros", lambda: None)
    monkeypatch.setattr(play, "environment", dict)
    monkeypatch.setattr(play, "_by_action", lambda *words: given.append(words) or "done")
    words = "--robot ur5e --action /jtc/follow --joint-states /arm/js --speed 0.5 --node /left/node --yes"
    result = robot_dynamics("play", file, *words.split(), catch_exceptions=False)
    ((action, joint_states, namespace, _, points, yes),) = given
    assert (action, joint_states, namespace, yes) == ("/jtc/follow", "/arm/js", "/left", True)
    assert points.times[-1] == pytest.approx((len(q) - 1) / 62.5) and "done" in result.output


@pytest.mark.parametrize(("options", "why"), [((), "node listens"), (("--action", "/a"), "limits.velocity is unknown")])
def test_where_a_robot_file_has_no_limit_of_the_speed_the_node_judges_it(monkeypatch, tmp_path, options, why):
    """The driver of the Comau has that of its LPC; excite and play were made for such a file."""
    monitor = pytest.importorskip("robot_dynamics_ros.nodes.topics.monitor", reason="rclpy is not installed")
    arm, file = load_robot("comau_ns16"), tmp_path / "motion.csv"
    assert not arm.has("limits.velocity")
    times = np.linspace(0.0, 2.0, 50)
    q = np.tile([0.0, 0.3, -1.2, 0.0, 1.5, 0.0], (50, 1)) + 0.1 * np.sin(times)[:, None]
    write_trajectory(file, arm.joint_names, Points(times, q, np.gradient(q, times, axis=0)))
    monkeypatch.setattr(play, "require_ros", lambda: None)
    monkeypatch.setattr(play, "environment", dict)
    absent = nullcontext(SimpleNamespace(wait_for_node=lambda seconds: False))
    monkeypatch.setattr(monitor, "Monitor", lambda *words: absent)
    result = robot_dynamics("play", file, "--robot", "comau_ns16", "--yes", *options)
    assert why in str(result.exception)


@pytest.mark.parametrize(
    ("states", "end"),
    [
        (["moving", "refused: a motion is running", "done"], "done"),  # the trajectory of another command was refused
        (["starting", "moving", "stopped: stop was requested"], "stopped: stop was requested"),
        (["refused: too far", "moving"], "refused: too far"),
        (["failed: protective stop", "moving"], "failed: protective stop"),
    ],
)
def test_play_waits_for_the_end_of_its_own_motion(states, end):
    seen = SimpleNamespace(motion="")

    def wait(words, _timeout):
        while not seen.motion.startswith(words):
            seen.motion = states.pop(0)
        return True

    _wait_for_end(SimpleNamespace(wait_for_motion=wait, snapshot=lambda: seen, present=True), 1.0, Event())
    assert seen.motion == end


@pytest.fixture
def played(monkeypatch, tmp_path):
    """A node to which play sends a motion, and the command."""
    monitor = pytest.importorskip("robot_dynamics_ros.nodes.topics.monitor", reason="rclpy is not installed")
    node, file = SimpleNamespace(present=True, play=lambda *_: None, wait_for_node=lambda _: True), tmp_path / "m.csv"
    q, qd, _ = motions.fourier(POSE, duration=20.0, rate=125.0)
    write_trajectory(file, load_robot("ur5e").joint_names, Points(np.arange(len(q)) / 125.0, q, qd))
    monkeypatch.setattr(play, "require_ros", lambda: None)
    monkeypatch.setattr(play, "environment", dict)
    monkeypatch.setattr(monitor, "Monitor", lambda *words: nullcontext(node))
    return node, lambda: robot_dynamics("play", file, "--robot", "ur5e", "--yes")


def test_a_motion_that_takes_too_long_is_stopped(played, monkeypatch):
    """`play` ended with an error, and the robot moved on."""
    node, command = played
    state = SimpleNamespace(motion="moving")
    node.wait_for_motion, node.snapshot = lambda words, _: state.motion in words, lambda: state
    node.stop_robot = lambda _: setattr(state, "motion", "stopped") or True
    monkeypatch.setattr(play, "_wait_for_end", lambda *_: None)
    assert "not done after twice its time; stopped" in str(command().exception)


def test_of_a_node_that_has_gone_no_end_is_waited_for(played):
    """After the node was killed `play` waited for minutes, and then said "moving"."""
    (node, command), looks = played, []

    def wait(words, _timeout):
        looks.append(words)
        node.present = len(looks) < 4
        return "moving" in words

    node.wait_for_motion, node.snapshot = wait, lambda: SimpleNamespace(motion="moving")
    assert "composed_node has gone" in str(command().exception) and len(looks) == 5


def test_ctrl_c_ends_the_wait_for_the_end_of_a_motion():
    stop, looks = Event(), []

    def wait(words, _timeout):
        looks.append(words)
        if len(looks) == 3:
            stop.set()
        return "moving" in words

    moving = SimpleNamespace(motion="moving")
    _wait_for_end(SimpleNamespace(wait_for_motion=wait, snapshot=lambda: moving, present=True), 60.0, stop)
    assert len(looks) == 3
