"""When samples were taken, from stamps that jitter: against the clock that sampled a simulated motion."""

import numpy as np
import pytest

from robot_dynamics_ros import _core

PERIOD, N = 2_000_000, 8000  # ns; 16 s
EVEN = 10**18 + PERIOD * np.arange(N, dtype=np.int64)
START = 1000  # samples; the joint stands before, and after every motion


def position(stamps):
    """Moves of two joints (N, 2) [rad] that begin and end slowly."""
    t = 1e-9 * (stamps - EVEN[START])
    s = np.sin(0.9 * t) ** 3 * (t > 0.0)
    return np.column_stack([s, 0.5 * s])


def velocity(stamps):
    return (position(stamps + 1000) - position(stamps - 1000)) / 2e-6


def taken(stamps, q, qd=None):
    """When the samples (N, 2) with these stamps (N,) [ns] were taken (N,) [ns]."""
    core, late = _core.SignalAlignment(2), np.zeros((len(q), 1))
    _core.run_in_turn(stamps, [core.rows(len(q), q.copy(), None, qd, None, None, late)])
    return stamps - late[:, 0].astype(np.int64)


def jitter(rng, share):
    return np.round(PERIOD * np.clip(share * rng.normal(size=N), -0.45, 0.45)).astype(np.int64)


def delay(rng):
    """Every twentieth sample comes late by a period in the mean, and those behind it with it at once."""
    late = PERIOD * np.where(rng.random(N) < 0.05, rng.exponential(1.0, N), rng.exponential(0.05, N))
    return np.maximum.accumulate(EVEN + np.round(late).astype(np.int64)) + 1000 * np.arange(N) - EVEN


def step_error(found, rows):
    """RMS of the steps of moving samples [periods]."""
    moving = np.abs(velocity(EVEN[rows])[:, 0])[1:] > 0.1
    return float(np.std((np.diff(found) - np.diff(EVEN[rows]))[moving & (rows[1:] > START)]) / PERIOD)


@pytest.mark.parametrize("reported", [True, False])
@pytest.mark.parametrize(
    ("late", "lost", "least"),
    [(lambda rng: jitter(rng, 0.02), 0.0, 0.02), (lambda rng: jitter(rng, 0.15), 0.03, 0.2), (delay, 0.0, 0.3)],
)
def test_samples_of_an_even_clock_have_even_ticks(late, lost, least, reported):
    rng = np.random.default_rng(7)
    rows = np.flatnonzero(rng.random(N) >= lost)
    stamps = (EVEN + late(rng))[rows]
    found = taken(stamps, position(EVEN[rows]), velocity(EVEN[rows]) if reported else None)
    assert (np.diff(found) > 0).all()
    assert step_error(stamps, rows) > least and step_error(found, rows) < 0.02
    assert np.abs(found - stamps).max() < 20e6


def test_clean_stamps_stay_also_where_samples_are_missing():
    rows = np.flatnonzero(np.random.default_rng(3).random(N) > 0.03)
    q = np.round(position(EVEN[rows]) / 1e-4) * 1e-4
    np.testing.assert_array_equal(taken(EVEN[rows], q, velocity(EVEN[rows])), EVEN[rows])


def test_stamps_of_a_controller_that_samples_when_it_is_asked_stay():
    """Positions are of the stamps, and so are velocities that follow from them."""
    stamps = EVEN + jitter(np.random.default_rng(5), 0.15)
    found = taken(stamps, position(stamps))
    np.testing.assert_array_equal(found[START + 500 :], stamps[START + 500 :])


@pytest.mark.parametrize("times", [0.25, 4.0])
def test_another_rate_is_followed(times):
    steps = np.where(np.arange(N) < N // 2, PERIOD, round(times * PERIOD))
    stamps = EVEN[0] + np.cumsum(steps) + jitter(np.random.default_rng(6), 0.02)
    found = taken(stamps, position(stamps))
    assert np.abs(found - stamps)[N // 2 + 500 :].max() < 1.5 * times * PERIOD


def test_a_gap_and_a_clock_that_is_set_back_begin_anew():
    stamps = EVEN + jitter(np.random.default_rng(8), 0.1)
    stamps[3000:] += 10**9
    stamps[6000:] -= 5 * 10**9
    found = taken(stamps, position(EVEN))
    assert found[3000] == stamps[3000] and found[6000] == stamps[6000]
    assert np.abs(found - stamps).max() < 2 * PERIOD
