"""Deviations of parameters: the jackknife over regions of the state, and friction across recordings of several days."""

from dataclasses import replace

import numpy as np
import pytest
from prepared import NO_TORQUE, run, steps
from synthetic import TRUTH

from robot_dynamics_ros.identification.arm.solvers.uncertainty import between_recordings, jackknife, steady_friction
from robot_dynamics_ros.identification.dataset.motion import Motion


@pytest.mark.parametrize("scatter", [0.0, 0.6])
def test_deviations_of_friction_contain_the_scatter_between_recordings(scatter):
    """Four days whose Coulomb friction differs: what one fit states must cover a fifth day."""
    levels = scatter * np.array([-1.2, 0.3, 1.0, -0.1])
    days = []
    for seed, level in enumerate(levels):
        truth = replace(TRUTH, fc=TRUTH.fc + level * np.linspace(1, 0.2, 6))
        days.append(run(seed + 1, truth=truth, duration=8.0))
    found = steps(days, until="fit_together")
    std = steady_friction(found.fit, np.array([0.5]))[1][:, 0]
    expected = 1.2 * np.std(levels, ddof=1) * np.linspace(1, 0.2, 6) * np.sqrt(1 + 1 / 4)  # Student's t
    if scatter:
        assert np.all((std > 0.6 * expected) & (std < 1.6 * expected))
    else:
        assert std.max() < 0.06
    assert any("between the 4 recordings" in text for text in found.statements)


@pytest.mark.parametrize("days", [2, 5])
def test_two_of_three_further_days_lie_within_one_deviation(days):
    rng, t = np.random.default_rng(days), np.arange(300) * 0.02
    inside = []
    for _ in range(20):
        levels = rng.normal(size=(days + 1, 50))
        qd = np.ones((len(t), 50))
        motions = [Motion(t, qd, qd, 0 * qd, level * qd, t == 0, 50.0) for level in levels[:-1]]
        std = np.sqrt(between_recordings(NO_TORQUE, motions))
        inside.append(np.abs(levels[-1] - levels[:-1].mean(axis=0)) < std)
    assert np.mean(inside) == pytest.approx(0.68, abs=0.05)


def test_a_joint_that_stands_in_all_recordings_hides_the_scatter_of_no_other():
    """It did: the deviations of all joints stayed as they were, and the report said that they contain the scatter."""
    t, level = np.arange(300) * 0.02, np.linspace(1.0, 2.0, 50)
    qd = np.ones((len(t), 50)) * (np.arange(50) > 0)
    motions = [Motion(t, qd, qd, 0 * qd, day * level * qd, t == 0, 50.0) for day in (1.0, 1.5, 2.0)]
    found = between_recordings(NO_TORQUE, motions)
    assert found[0] == 0.0
    np.testing.assert_allclose(found[1:], found[1] * (level[1:] / level[1]) ** 2)
    assert found[1] > 0.1


def jackknifed(A, y):
    """Covariance of least squares whose 200 rows are 20 regions, and the moves of refits without each."""
    x, parts = np.linalg.lstsq(A, y)[0], np.split(np.arange(200), 20)
    covariance = jackknife(np.linalg.qr(A, mode="r"), [(A[k].T @ A[k], A[k].T @ (y[k] - A[k] @ x)) for k in parts])
    return covariance, np.array([np.linalg.lstsq(np.delete(A, k, 0), np.delete(y, k))[0] - x for k in parts])


def test_regions_are_left_out_as_refits_without_them():
    rng = np.random.default_rng(3)
    covariance, moved = jackknifed(rng.normal(size=(200, 3)), rng.normal(size=200))
    np.testing.assert_allclose(covariance, 19 / 20 * moved.T @ moved, rtol=1e-9)


def test_what_one_region_alone_shows_is_not_wrong_by_many_times_its_deviation():
    """Its refit would move by hundreds of them, and with it every parameter that is not quite independent of it."""
    rng = np.random.default_rng(4)
    A = np.column_stack([rng.normal(size=200), np.where(np.arange(200) < 10, 1.0, 1e-3)])
    covariance, moved = jackknifed(A, rng.normal(size=200))
    assert np.abs(moved[:, 1]).max() > 10.0 and 0.0 < np.sqrt(covariance[1, 1]) < 0.5  # 0.32 is right
