"""Ends of a piece: parameters are fitted where the filter has settled, figures are of all that it knows."""

import numpy as np
import pytest
from prepared import UR5E, run, steps, structure
from synthetic import excitation

from robot_dynamics_ros.identification.dataset.motion import EDGE_PERIODS, JUDGED_PERIODS, Motion, filtered, low_pass
from robot_dynamics_ros.identification.dataset.recording import Piece, Recording
from robot_dynamics_ros.identification.reports.result import summarise


def cut_motion(rate, seed):
    """A motion that begins and ends at speed, with the noise of an encoder, and its true velocity and acceleration."""
    t, q, qd, qdd = excitation(6, 12.0, rate, seed)
    noisy = q + 2e-5 * np.random.default_rng(seed).standard_normal(q.shape)
    return Recording("r", UR5E.joint_names, [Piece(t, noisy, None, q)]), qd, qdd


def worst(error, truth):
    return np.sqrt((error**2).mean()) / truth.std()


@pytest.mark.parametrize("rate, cutoff", [(125.0, 4.0), (500.0, 4.0), (500.0, 15.0)])
def test_the_state_is_known_up_to_the_ends(rate, cutoff):
    for seed in range(4):
        rec, qd, qdd = cut_motion(rate, seed)
        motion = filtered(rec, cutoff, margin=cutoff * EDGE_PERIODS / JUDGED_PERIODS)
        kept, t = filtered(rec, cutoff), rec.pieces[0].t
        inside = slice(np.searchsorted(t, motion.t[0]), np.searchsorted(t, motion.t[-1]) + 1)
        ends = np.r_[0 : round(JUDGED_PERIODS / cutoff * rate)]
        ends = np.r_[ends, -1 - ends]
        assert len(motion) > rec.samples - 2 * max(JUDGED_PERIODS / cutoff * rate, 4) - 4
        assert worst((motion.qd - qd[inside])[ends], qd) < 0.01
        assert worst((motion.qdd - qdd[inside])[ends], qdd) < 0.05
        velocity = np.gradient(low_pass(rec.pieces[0].q, cutoff, 1 / rate), 1 / rate, axis=0)
        reflected = np.gradient(velocity, 1 / rate, axis=0)[inside]
        assert worst((motion.qdd - qdd[inside])[ends], qdd) < 0.6 * worst((reflected - qdd[inside])[ends], qdd)
        inside = slice(np.searchsorted(t, kept.t[0]), np.searchsorted(t, kept.t[-1]) + 1)
        assert worst(kept.qdd - qdd[inside], qdd) < 0.03


@pytest.mark.parametrize("samples", [21, 30, 60])
def test_short_pieces_are_filtered(samples):
    t = np.arange(samples) * 0.008
    x = np.sin(3 * t)
    smooth = low_pass(x, 4.0, 0.008, continued=True)
    assert smooth.shape == x.shape and np.abs(smooth - x).max() < 0.05
    both = low_pass(np.column_stack([x, x]), 4.0, 0.008, continued=True)
    np.testing.assert_allclose(both[:, 1], smooth, atol=1e-12)


@pytest.mark.parametrize(
    ("rows", "begins"), [([0, 1, 2, 3, 8, 9], [0, 4]), ([0, 1, 2, 3, 4], [0]), ([5, 6, 7, 8], [0, 2]), ([], [])]
)
def test_samples_of_a_motion_begin_where_a_piece_does_and_after_a_hole(rows, begins):
    """The second piece begins at sample 7; the last sample before a hole with that in it was a piece of its own."""
    still = np.zeros((10, 1))
    start = np.isin(np.arange(10), [0, 7])
    taken = Motion(np.arange(10.0), still, still, still, still, start, 1.0).take(np.array(rows, dtype=int))
    assert np.flatnonzero(taken.start).tolist() == begins


def test_figures_are_of_all_samples_but_half_a_period_at_the_ends():
    runs = [run(seed) for seed in (1, 2)]
    found = steps(runs[:1], runs[1:], chosen=structure(cutoff=4.0))
    result = summarise(found, "ur5e")
    dropped = 2 * JUDGED_PERIODS / 4.0 * runs[1].rate
    assert result["validation"]["samples"] == pytest.approx(runs[1].samples - dropped, abs=4)
    inside, edges = found.filtered(runs[1]), 2 * EDGE_PERIODS / 4.0
    assert 12.0 - edges - 0.05 < len(inside) / runs[1].rate < 12.0 - edges + 0.05
    error = inside.effort - found.consistent.predict(inside)
    r2 = 1 - (error**2).sum(0) / ((inside.effort - inside.effort.mean(0)) ** 2).sum(0)
    assert result["comparison"]["consistent"]["mean_r2"] == pytest.approx(r2.mean(), abs=2e-3)
    assert result["validation"]["live_nodes"]["samples"] == pytest.approx(runs[1].samples - 0.1 * runs[1].rate, abs=2)
