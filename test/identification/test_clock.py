"""The clock of a recording, and what is dropped at the ends of its pieces."""

import numpy as np
import pytest
from synthetic import sines

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.dataset.motion import filtered
from robot_dynamics_ros.identification.dataset.recording import Piece, Recording, recording
from robot_dynamics_ros.signals import Log

RATE = 94.0


def log_of(sampled, stamped, with_velocity=True, seed=0):
    """A log that was sampled at some times and stamped with others [s]."""
    rng = np.random.default_rng(seed)
    q, qd = sines(sampled, 2)
    signals = {"q": q + 1e-5 * rng.standard_normal(q.shape), "effort": q}
    if with_velocity:
        signals["qd"] = qd + 1e-3 * rng.standard_normal(q.shape)
    return Log(("a", "b"), 1_000_000_000 + np.round(1e9 * stamped).astype(np.int64), signals)


def times(seed):
    """An even clock and one that jitters by 2 ms."""
    even = np.arange(0, 30, 1 / RATE)
    return even, even + np.random.default_rng(seed).uniform(-0.0035, 0.0035, len(even))


@pytest.mark.parametrize("seed", range(3))
def test_stamps_that_agree_with_the_velocity_are_kept(seed):
    _, uneven = times(seed)
    rec = recording(log_of(uneven, uneven), "uneven")
    t = rec.pieces[0].t
    np.testing.assert_allclose(t - t[0], uneven - uneven[0], atol=1e-8)
    assert any("kept" in note for note in rec.notes) and not any("replaced" in note for note in rec.notes)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("with_velocity", [True, False])
@pytest.mark.parametrize("share", [0.0, 0.002, 0.02, 0.1])
def test_late_stamps_of_an_even_clock_are_replaced_also_where_it_lacks_samples(seed, with_velocity, share):
    """Each sample gets the time of its own tick."""
    even, late = times(seed)
    there = np.random.default_rng(seed + 10).random(len(even)) > share
    rec = recording(log_of(even[there], late[there], with_velocity), "late")
    t = rec.pieces[0].t
    np.testing.assert_allclose(t - t[0], even[there] - even[there][0], atol=5e-4)
    (said,) = [note for note in rec.notes if "replaced by an even clock of 10.64 ms" in note]
    assert ("missing" in said) == (share > 0)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("share", [0.01, 0.1])
@pytest.mark.parametrize("jitter", [0.5, 1.5])
def test_the_motion_shows_how_many_periods_have_passed_where_stamps_do_not(seed, share, jitter):
    """Jitter of half of a period and more, of an arm that also stands for a while."""
    rng, even = np.random.default_rng(seed), np.arange(0, 30, 1 / RATE)
    there = rng.random(len(even)) > share
    late = np.sort(even[there] + rng.uniform(-jitter, jitter, there.sum()) / RATE)
    log = log_of(np.clip(even[there], 10.0, 28.0), late)
    log.qd[(even[there] < 10.0) | (even[there] > 28.0)] = 0.0
    rec = recording(log, "late")
    moves = np.minimum(*np.linalg.norm([log.qd[:-1], log.qd[1:]], axis=2)) > 0.1
    np.testing.assert_allclose(np.diff(rec.pieces[0].t)[moves], np.diff(even[there])[moves], rtol=0.01)
    assert any("replaced by an even clock" in note and "missing" in note for note in rec.notes)


@pytest.mark.parametrize("jitter", [1e-4, 4e-4])
def test_stamps_of_a_complete_log_may_wander_by_more_than_a_sample(jitter):
    """As the host's clock is slewed; no sample is said to be missing."""
    even = np.arange(0, 60, 1e-3)
    late = even + 3e-3 * np.sin(0.15 * even) + np.random.default_rng(0).uniform(-jitter, jitter, len(even))
    rec = recording(log_of(even, late, with_velocity=False), "late")
    np.testing.assert_allclose(np.diff(rec.pieces[0].t), 1e-3, rtol=1e-3)
    assert not any("missing" in note for note in rec.notes)


@pytest.mark.parametrize(("every", "resolution", "held"), [(4, 1e-6, True), (1, 1e-6, False), (1, 2e-3, False)])
def test_positions_that_come_less_often_than_velocities_are_interpolated(every, resolution, held):
    """Not those of a coarse encoder, at which slow joints stay for a while."""
    even = np.arange(0, 30, 1 / RATE)
    log = log_of(even, even)
    log.q = resolution * np.round(sines(even[np.arange(len(even)) // every * every], 2)[0] / resolution)
    rec = recording(log, "held")
    assert any("positions come less often" in note for note in rec.notes) == held
    assert np.abs(rec.pieces[0].q - sines(even, 2)[0])[:-every].max() < 2e-3


def test_stamps_without_an_even_clock_are_used_as_they_are():
    uneven = np.cumsum(np.random.default_rng(0).exponential(1 / RATE, 3000))
    rec = recording(log_of(uneven, uneven, with_velocity=False), "uneven")
    assert any("used as they are, please check" in note for note in rec.notes)  # a warning of identify
    assert not any("replaced" in note for note in rec.notes)


@pytest.mark.parametrize("with_velocity", [True, False])
@pytest.mark.parametrize("many", [3, 5])
def test_stamps_in_bursts_become_those_of_an_even_clock(with_velocity, many):
    """Also where the bursts are so regular that every step is a multiple of the shortest."""
    even = np.arange(0, 30, 1 / RATE)[: 2800 // many * many]
    rows = np.arange(len(even))
    arrived = np.round(even[rows - rows % many + many - 1], 4) + 1e-4 * (rows % many)
    rec = recording(log_of(even, arrived, with_velocity), "bursts")
    np.testing.assert_allclose(np.diff(rec.pieces[0].t), 1 / RATE, rtol=1e-3)
    assert len(rec.pieces) == 1


@pytest.mark.parametrize("many", [8, 30])
def test_bursts_that_show_no_even_clock_are_refused(many):
    """By eights: further than three periods off; by thirties: the pauses leave no pieces."""
    even = np.arange(0, 30, 1 / RATE)
    rows = np.arange(len(even))
    arrived = even[np.minimum(rows - rows % many + many - 1, len(even) - 1)] + 1e-4 * (rows % many)
    with pytest.raises(DataError, match="few: stamps come in bursts"):
        recording(log_of(even, arrived, with_velocity=False), "few")


@pytest.mark.parametrize("cutoff", [4.0, 8.0])
def test_ends_of_a_piece_are_dropped_as_far_as_the_filter_needs(cutoff):
    """Two periods of the cut-off on either side; acceleration of what is left is right to 1 %."""
    t, w = np.arange(0, 10, 1 / 125.0), 2 * np.pi * 0.5
    for phase in np.linspace(0, np.pi, 7):
        q = np.sin(w * t + phase)[:, None]
        m = filtered(Recording("x", ("a",), [Piece(t, q, None, q)]), cutoff)
        assert len(m) >= (10 - 4.2 / cutoff) * 125.0
        assert np.abs(m.qdd[:, 0] + w**2 * np.sin(w * m.t + phase)).max() < 0.01 * w**2
