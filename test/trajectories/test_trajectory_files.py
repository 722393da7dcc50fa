"""Trajectories are resampled smoothly and refused with the joint, the value and the bound."""

import numpy as np
import pytest

from robot_dynamics_ros.errors import CapabilityError, DataError
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.trajectories.files import Points, load_trajectory, resample, write_trajectory
from robot_dynamics_ros.trajectories.limits import refuse_outside_limits

ROBOT = load_robot("ur5e")


def test_points_are_met_and_ends_are_at_rest():
    times, q = np.array([0.0, 1.0, 3.0]), np.array([[0.0] * 6, [0.5] * 6, [-0.5] * 6])
    samples = resample(times, q)
    assert samples.shape == (1501, 6)
    assert np.allclose(samples[[0, 500, 1500]], q)
    assert np.abs(np.diff(samples, axis=0)[[0, -1]]).max() * 500 < 0.01


def test_given_velocities_are_met():
    samples = resample([0.0, 1.0], np.zeros((2, 6)), np.ones((2, 6)))
    assert np.allclose((samples[1] - samples[0]) * 500, 1.0, atol=0.01)


@pytest.mark.parametrize("times", [[0.0, 0.0], [1.0, 0.0], [0.0, np.nan], [0.0, np.inf], [0.0, 1e9]], ids=str)
def test_bad_times_are_refused(times):
    with pytest.raises(DataError, match="trajectory"):
        resample(times, np.zeros((2, 6)))


def test_limits_are_named():
    with pytest.raises(CapabilityError, match=r"position 7\.000 rad of elbow_joint is outside"):
        refuse_outside_limits(ROBOT, np.array([[0, 0, 7.0, 0, 0, 0]]))
    with pytest.raises(CapabilityError, match="velocity"):
        refuse_outside_limits(ROBOT, np.array([[0.0] * 6, [0, 0, 0, 0, 0, 0.1]]))
    with pytest.raises(CapabilityError, match="position nan"):
        refuse_outside_limits(ROBOT, np.array([[0, 0, np.nan, 0, 0, 0]]))
    refuse_outside_limits(ROBOT, np.zeros((3, 6)))


def test_files_name_their_columns_in_any_order(tmp_path):
    names = ROBOT.joint_names[::-1]
    file = tmp_path / "t.csv"
    file.write_text("time," + ",".join(names) + "\n0,6,5,4,3,2,1\n1,6,5,4,3,2,1\n")
    times, q, qd = load_trajectory(file, ROBOT)
    assert times.tolist() == [0, 1] and q[0].tolist() == [1, 2, 3, 4, 5, 6] and qd is None
    points = Points(np.array([0.0, 2.0]), np.arange(12.0).reshape(2, 6), np.arange(12.0).reshape(2, 6) / 8)
    write_trajectory(file, ROBOT.joint_names, points)
    assert all(np.array_equal(a, b) for a, b in zip(load_trajectory(file, ROBOT), points, strict=True))
    file.write_text("\ufeff" + file.read_text(), encoding="utf-8")  # as a spreadsheet writes it
    assert np.array_equal(load_trajectory(file, ROBOT).q, points.q)
    for text in ("", "time,a\n0,1\n", "0,1,2,3,4,5,6\n", "time," + ",".join(names) + "\n0,x,1,1,1,1,1\n"):
        file.write_text(text)
        with pytest.raises(DataError, match=r"t\.csv"):
            load_trajectory(file, ROBOT)
