"""Motions fit their derivatives and limits; trajectories are resampled smoothly, or refused with joint and bound."""

import numpy as np
import pytest

from robot_dynamics_ros.errors import CapabilityError, DataError
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.trajectories import motions
from robot_dynamics_ros.trajectories.files import Points, load_trajectory, resample, write_trajectory
from robot_dynamics_ros.trajectories.limits import refuse_outside_limits

Q = np.array([0.3, -1.2, 1.5])
END = np.array([1.1, -1.3, 0.2])


def steps(velocities):
    """One joint back and forth at each constant speed."""
    end = Q + [1.0, 0.0, 0.0]
    there_and_back = [((Q, end), (end, Q), v) for v in velocities]
    return motions.join(*(motions.trapezoid(*way, 500.0, v, 4.0) for *ways, v in there_and_back for way in ways))


def cases():
    yield "quintic", motions.quintic(Q, END, velocity=1.0, acceleration=2.0)
    yield "path", motions.path([Q, END, Q])
    yield "fourier", motions.fourier(Q, duration=10.0, base=0.2 * np.pi, seed=2)
    yield "reversals", motions.reversals(Q, 1, count=3)
    yield "trapezoid", motions.trapezoid(Q, END, velocity=1.0, acceleration=2.0)
    yield "steps", steps([0.1, 0.5])
    yield "duty", motions.duty_cycle(Q, np.ones(3), 4.0, 0.5, 70.0)


@pytest.mark.parametrize("name, motion", list(cases()))
def test_derivatives_match_and_ends_rest(name, motion):
    q, qd, qdd = motion
    T = 1 / 500
    assert np.abs(np.diff(q, axis=0) - T * 0.5 * (qd[1:] + qd[:-1])).max() < 2 * T**2 * np.abs(qdd).max()
    assert np.abs(np.diff(qd, axis=0)).max() <= 1.01 * T * np.abs(qdd).max()
    assert np.abs(qd[-1]).max() < 1e-9 and np.isfinite(qdd).all()


@pytest.mark.parametrize("shape", [motions.quintic, motions.trapezoid])
@pytest.mark.parametrize("v, a", [(0.5, 1.0), (3.0, 6.0), (10.0, 2.0)])
def test_point_to_point_respects_limits_and_arrives(shape, v, a):
    q, qd, qdd = shape(Q, END, velocity=v, acceleration=a)
    assert q[-1] == pytest.approx(END)
    assert np.abs(qd).max() <= v * (1 + 1e-9) and np.abs(qdd).max() <= a * (1 + 1e-9)


def test_fourier_ends_at_its_first_point_after_whole_periods_and_the_time_of_its_blends():
    """20 s, the whole period, end 0.1 rad from it."""
    end = [motions.fourier(Q, duration, 500.0, 0.1 * np.pi)[0][[0, -1]] for duration in (20.0, 20.5)]
    assert np.abs(np.diff(end[0], axis=0)).max() > 0.05
    np.testing.assert_allclose(end[1][1], end[1][0], atol=1e-6)


def test_fourier_keeps_to_amplitude_and_velocity():
    q, qd, _ = motions.fourier(Q, amplitude=0.5, velocity=0.7, seed=9)
    assert np.abs(q - Q).max() <= 0.5 + 1e-12 and np.abs(qd).max() <= 0.7 + 1e-12
    assert np.abs(q - Q).max() > 0.4 or np.abs(qd).max() > 0.6
    assert not np.array_equal(q, motions.fourier(Q, amplitude=0.5, velocity=0.7, seed=10)[0])


def test_reversals_advance_and_change_direction_twice_per_cycle():
    q, qd, qdd = motions.reversals(Q, 0, count=4, advance=0.05)
    assert q[-1] - Q == pytest.approx([0.2, 0, 0])
    assert np.abs(qdd).max() == pytest.approx(0.05)
    moving = np.sign(qd[np.abs(qd[:, 0]) > 1e-3, 0])
    assert np.count_nonzero(np.diff(moving)) == 7


@pytest.mark.parametrize(("period", "duty"), [(4.0, 0.25), (40.0, 0.25), (60.0, 0.5), (20.0, 0.25), (150.0, 0.1)])
def test_duty_cycle_moves_for_its_share_of_the_time(period, duty):
    """Of a slow joint half a minute's share was none, and the joint stood all the time, or twice the share."""
    _, qd, _ = motions.duty_cycle(Q, np.ones(3), period, duty, 2400.0 * max(1.0, period / 60.0), rate=50.0)
    assert np.mean(np.abs(qd[:, 0]) > 1e-9) == pytest.approx(duty, abs=0.01)


def test_bad_arguments():
    with pytest.raises(ValueError, match="duration"):
        motions.times(float("nan"))
    with pytest.raises(ValueError, match="duty"):
        motions.duty_cycle(Q, np.ones(3), 4.0, 1.5, 10.0)


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
