"""Trends of one quantity: change points, drift and levels are found where they are and nowhere else."""

import numpy as np
import pytest

from robot_dynamics_ros.health.trend import MONTH, change_points, trend_of

START = 1_750_000_000


@pytest.mark.parametrize("seed", range(4))
def test_change_points_are_found_where_they_are_and_nowhere_else(seed):
    rng = np.random.default_rng(seed)
    noise = rng.normal(size=40)
    assert len(change_points(noise)) <= 1
    step = noise + np.where(np.arange(40) < 23, 0.0, 6.0)
    found = change_points(step)
    assert any(abs(k - 23) <= 1 for k in found) and len(found) <= 2


def test_few_false_alarms_in_noise():
    rng = np.random.default_rng(1)
    assert np.mean([bool(change_points(rng.normal(size=30))) for _ in range(200)]) < 0.1


def test_drift_is_measured_and_noise_is_not_a_drift():
    rng, time = np.random.default_rng(0), START + np.arange(24) * MONTH / 4
    steady = trend_of(5 + 0.05 * rng.normal(size=24), time, "coulomb")
    drifting = trend_of(5 + 0.2 * np.arange(24) / 4 + 0.05 * rng.normal(size=24), time, "coulomb")
    assert not steady.significant and steady.level == "ok"
    assert drifting.significant and drifting.interval[0] < 0.2 < drifting.interval[1]


@pytest.mark.parametrize("count", [3, 4, 6, 12])
def test_noise_of_few_recordings_is_no_drift(count):
    """Three values are in order, and their slopes of one sign, in a third of all cases."""
    rng, time = np.random.default_rng(0), START + np.arange(count) * MONTH
    assert np.mean([trend_of(8 + 0.8 * rng.normal(size=count), time, "coulomb").significant for _ in range(200)]) < 0.02


@pytest.mark.parametrize(
    ("quantity", "factor", "level"),
    [("coulomb", 1.4, "warn"), ("coulomb", 0.3, "error"), ("stiffness", 0.8, "warn"), ("stiffness", 1.5, "ok")],
)
def test_levels_follow_the_live_thresholds(quantity, factor, level):
    values = np.array([1.0] * 6 + [factor] * 6)
    assert trend_of(values, START + np.arange(12.0) * 86400, quantity).level == level
