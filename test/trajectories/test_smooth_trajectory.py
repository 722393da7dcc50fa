"""Trajectories: limits hold, derivatives are those of the positions, four of them are continuous."""

from pathlib import Path

import numpy as np
import pytest

from robot_dynamics_ros.errors import ConfigError, DataError
from robot_dynamics_ros.trajectories.files import load_waypoints
from robot_dynamics_ros.trajectories.smooth import through

SHIPPED = Path(__file__).resolve().parents[2] / "config/trajectories/madsen_ch6_waypoints.yaml"
NAMES = ["shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint", "wrist_1_joint", "wrist_2_joint", "wrist_3_joint"]


def some_waypoints():
    return np.random.default_rng(2).uniform(-2, 2, (5, 6))


def test_limits_hold_and_one_of_them_is_reached():
    trajectory = through(some_waypoints(), velocity=1.5, acceleration=4.0)
    v, a = np.abs(trajectory.qd).max(), np.abs(trajectory.qdd).max()
    assert v <= 1.5 * 1.01 and a <= 4.0 * 1.02
    assert v > 1.4 or a > 3.8


def test_limits_hold_beside_waypoints_that_are_nearly_the_same():
    """The piece of a millisecond between them was looked at in no sample: 2.4 % more acceleration than the limit."""
    velocity, acceleration, draw = np.array([1.0, 2.0, 1.5]), np.array([3.0, 2.0, 4.0]), np.random.default_rng(0)
    for _ in range(20):
        here, there = draw.uniform(-2, 2, (2, 3))
        points = np.array([here, here + 2e-6 * draw.normal(size=3), there])
        found = through(points, velocity=velocity, acceleration=acceleration, rate=2000.0)
        assert np.abs(found.qd / velocity).max() < 1.001 and np.abs(found.qdd / acceleration).max() < 1.001


def test_waypoints_of_more_than_an_hour_are_refused_before_their_samples_are_made():
    points = np.random.default_rng(0).uniform(-2, 2, (2000, 6))
    with pytest.raises(DataError, match=r"waypoints: 2000 take \d{4,} s within the limits, above 3600 s"):
        through(points, velocity=1.0, acceleration=2.0)


def test_it_starts_and_ends_at_rest_and_visits_every_waypoint():
    points = some_waypoints()
    trajectory = through(points, velocity=1.5, acceleration=4.0)
    for end in (0, -1):
        np.testing.assert_allclose(trajectory.q[end], points[end], atol=1e-9)
        np.testing.assert_allclose(trajectory.qd[end], 0, atol=1e-9)
        np.testing.assert_allclose(trajectory.qdd[end], 0, atol=1e-6)
    for point in points:
        assert np.abs(trajectory.q - point).max(axis=1).min() < 5e-3


def test_each_column_is_the_derivative_of_the_one_before():
    trajectory = through(some_waypoints(), velocity=1.0, acceleration=2.0, rate=4000)
    for lower, upper in (("q", "qd"), ("qd", "qdd"), ("qdd", "jerk"), ("jerk", "snap")):
        x, dx = getattr(trajectory, lower), getattr(trajectory, upper)
        numeric = np.gradient(x, trajectory.time, axis=0)[2:-2]
        assert np.abs(numeric - dx[2:-2]).max() <= 2e-2 * np.abs(dx).max() + 1e-9, upper


def test_four_derivatives_are_continuous():
    coarse, fine = (through(some_waypoints(), velocity=1.0, acceleration=2.0, rate=r).snap for r in (500, 4000))
    jump = [np.abs(np.diff(s, axis=0)).max() / np.abs(s).max() for s in (coarse, fine)]
    assert jump[1] < 0.25 * jump[0]  # a discontinuity would not shrink with the step


def test_the_shipped_waypoints_are_those_of_the_table_in_any_joint_order():
    points = load_waypoints(SHIPPED, NAMES)
    np.testing.assert_allclose(np.rad2deg(points[2]), [-140, -10, -130, -40, 125, 10])
    np.testing.assert_allclose(load_waypoints(SHIPPED, NAMES[::-1]), points[:, ::-1])


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("[1, 2", "malformed"),
        ("3", "mapping"),
        ("{joint_names: [a], waypoints: [[1], [2]]}", "joint_names"),
        ("{joint_names: [a, b], unit: grad, waypoints: [[1, 2], [2, 3]]}", "unit"),
        ("{joint_names: [a, b], waypoints: [[1, 2], [2, 3]]}", "unit: is missing: write rad or deg"),
        ("{joint_names: [a, b], unit: deg, speed: 0.1, waypoints: [[1, 2], [2, 3]]}", "speed: unknown key; known: "),
        ("{joint_names: [a, b], unit: rad, waypoints: [[1, 2], [2]]}", "waypoints"),
        ("{joint_names: [a, b], unit: rad, waypoints: [[1, 2], [2, .nan]]}", "waypoints"),
        ("{joint_names: [a, b], unit: rad, waypoints: [[1, 2]]}", "waypoints"),
    ],
)
def test_a_bad_file_names_itself_and_the_field(tmp_path, text, field):
    file = tmp_path / "w.yaml"
    file.write_text(text)
    with pytest.raises(ConfigError, match=rf"w\.yaml.*{field}"):
        load_waypoints(file, ["a", "b"])


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf])
@pytest.mark.parametrize("name", ["velocity", "acceleration"])
def test_limits_that_are_no_limits_are_refused(bad, name):
    with pytest.raises(DataError, match=name):
        through(some_waypoints(), **{"velocity": 1.0, "acceleration": 1.0, name: bad})
