"""Figures of a wrench against closed forms: errors by state, coverage, detection, joined recordings."""

import numpy as np
import pytest

from robot_dynamics_ros.estimators import wrench_metrics as metrics

RATE = 500.0


def series(seconds=20.0, pushes=(), error=0.0, std=1.0, moving=None):
    """Pushes (start, end, N) along x; an estimate that is off by a normal error; flags as the reference."""
    t = np.arange(round(seconds * RATE)) / RATE
    reference = np.zeros((len(t), 6))
    for start, end, force in pushes:
        reference[(t >= start) & (t < end), 0] = force
    contact = (reference != 0).any(axis=1)
    estimate = reference + error * np.random.default_rng(0).normal(size=reference.shape)
    moving = np.ones(len(t), bool) if moving is None else moving(t)
    return metrics.Series(t, estimate, np.full_like(reference, std), reference, moving, contact, contact.copy())


def test_errors_coverage_and_false_claims_of_a_normal_error():
    s = series(60.0, [(10, 20, 20.0), (30, 40, 10.0)], error=2.0, std=2.0, moving=lambda t: t % 10 < 5)
    f = metrics.figures(s)
    for state in metrics.STATES:
        assert f[f"force_{state}"] == pytest.approx(2.0, rel=0.03)
        assert f[f"moment_{state}"] == pytest.approx(2.0, rel=0.03)
        assert f[f"within_1_{state}"] == pytest.approx(0.6827, abs=0.01)
        assert f[f"within_2_{state}"] == pytest.approx(0.9545, abs=0.01)
        assert f[f"axes_{state}"] == pytest.approx([2.0] * 6, rel=0.06)
    assert f["false_share"] == 0.0 and f["found_10"] == f["found_20"] == 1.0
    chi = np.exp(-12.5) * 5 * np.sqrt(2 / np.pi)  # P(chi_3 > 5) = erfc(5/sqrt 2) + this
    assert f["false_10"] == pytest.approx(chi + 5.7e-7, abs=2e-4)


def test_axes_without_a_deviation_are_no_coverage():
    s = series(60.0, [(10, 20, 20.0)], error=2.0, std=2.0, moving=lambda t: t % 10 < 5)
    s.estimate[:, 3:], s.std[:, 3:] = s.reference[:, 3:], 0.0  # a point contact: no moment
    f = metrics.figures(s)
    assert [f[f"within_1_{state}"] for state in metrics.STATES] == pytest.approx([0.6827] * 4, abs=0.015)


def test_states_do_not_leak_into_each_other():
    s = series(20.0, [(5, 10, 20.0)], moving=lambda t: t % 5 < 2.5)
    masks = {"moving": s.moving & ~s.contact, "rest": ~s.moving & ~s.contact, "contact_rest": s.contact & ~s.moving}
    for state, mask in masks.items():
        wrong = series(20.0, [(5, 10, 20.0)], moving=lambda t: t % 5 < 2.5)
        wrong.estimate[mask, 2] += 3.0
        f = metrics.figures(wrong)
        assert f[f"axes_{state}"] == pytest.approx([0, 0, 3.0, 0, 0, 0])
        assert all(f[f"force_{other}"] == 0.0 for other in masks if other != state)
    assert metrics.figures(wrong)["axes_contact"][2] == pytest.approx(3.0 * np.sqrt(0.5))


def test_detection_counts_contacts_by_their_level_and_measures_from_half_of_it():
    s = series(40.0, [(5, 6, 20.0), (10, 11, 22.0), (15, 16, 20.0), (20, 21, 10.0), (25, 26, 40.0)])
    ramp = np.linspace(0, 20.0, 100)  # 0.2 s, half of it after 0.1 s
    begin = round(5 * RATE)
    s.reference[begin : begin + 100, 0] = ramp
    s.flagged[:] = False
    s.flagged[begin + 80 : begin + 500] = True  # 0.06 s after half the force
    s.flagged[round(10 * RATE) + 10 : round(11 * RATE)] = True
    s.flagged[round(15 * RATE) : round(15.2 * RATE)] = True  # a fifth of the contact: not found
    f = metrics.detection(s, 20.0)
    assert f["events_20"] == 3 and f["found_20"] == pytest.approx(2 / 3)
    assert f["delay_20"] == pytest.approx(np.median([0.06, 0.02]), abs=2.1 / RATE)
    none = pytest.approx(np.nan, nan_ok=True)
    assert metrics.detection(s, 10.0) == {"found_10": 0.0, "delay_10": none, "events_10": 1}


def test_rows_without_an_estimate_are_left_out_and_no_rows_are_no_figure():
    s = series(10.0, error=1.0)
    s.estimate[: round(5 * RATE)] = np.nan
    f = metrics.figures(s)
    assert f["force_moving"] == pytest.approx(1.0, rel=0.05)
    absent = ("force_rest", "moment_contact", "within_1_contact_rest", "found_20", "delay_10")
    assert np.isnan([f[k] for k in absent]).all()


def test_moving_reaches_beyond_the_motion_by_the_hold_time():
    t = np.arange(2000) / RATE
    qd = np.zeros((2000, 2))
    qd[500:1000, 1] = 0.02
    mask = metrics.moving_mask(qd, t)
    assert metrics.runs(mask) == [(450, 1050)]
    assert not metrics.moving_mask(np.zeros((2000, 2)), t).any()


def test_joined_recordings_keep_their_contacts_apart():
    a, b = series(5.0, [(4, 5, 20.0)]), series(5.0, [(0, 1, 20.0)])
    joined = a.joined(b)
    assert len(joined.stamps) == 5000 and (np.diff(joined.stamps) > 0).all()
    assert metrics.detection(joined, 20.0)["events_20"] == 2
