"""Desired motions are consistent with their derivatives and stay inside their limits."""

import numpy as np
import pytest

from robot_dynamics_ros.trajectories import motions

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


def test_duty_cycle_moves_for_its_share_of_the_time():
    _, qd, _ = motions.duty_cycle(Q, np.ones(3), 4.0, 0.25, 240.0)
    assert np.mean(np.abs(qd[:, 0]) > 1e-9) == pytest.approx(0.25, abs=0.02)


def test_bad_arguments():
    with pytest.raises(ValueError, match="duration"):
        motions.times(float("nan"))
    with pytest.raises(ValueError, match="duty"):
        motions.duty_cycle(Q, np.ones(3), 4.0, 1.5, 10.0)
