"""Peaks of contacts beside the limits of body regions."""

import numpy as np
from synthetic import log_at

from robot_dynamics_ros.estimators.contact_limits import LIMITS, NEVER_TRANSIENT, ContactPeak, contact_peaks, largest


def test_every_flagged_stretch_is_a_contact_with_its_largest_force():
    time = np.arange(0, 4.0, 0.01)
    force = np.zeros((len(time), 6))
    force[100:120, 0], force[200:300, 2] = 30.0, -np.linspace(10.0, 90.0, 100)
    flags = np.zeros((len(time), 7))
    flags[105:122, -1] = flags[205:301, -1] = 1.0
    std = np.full((len(time), 6), 2.0)
    signals = {"external_wrench": force, "external_wrench_std": std, "contact": flags}
    first, second = contact_peaks(log_at(time, signals, tuple("abcdef")))
    assert (first.force, second.force) == (30.0, 90.0) and first.transient and not second.transient
    assert abs(first.begin - 1.05) < 1e-9 and abs(second.seconds - 0.96) < 1e-9  # samples of 10 ms


def test_samples_without_an_estimate_do_not_end_a_contact():
    """One sample in ten has none, and once two seconds of them, after which it is another contact."""
    time = np.arange(0, 8.0, 0.01)
    flags, force = np.zeros((len(time), 7)), np.zeros((len(time), 6))
    flags[100:700, -1], force[100:700, 0] = 1.0, 20.0
    none = (np.arange(len(time)) % 10 == 5) | ((time > 3.0) & (time < 5.0))
    flags[none], force[none] = np.nan, np.nan
    signals = {"external_wrench": force, "external_wrench_std": np.ones((len(time), 6)), "contact": flags}
    found = contact_peaks(log_at(time, signals, tuple("abcdef")))
    assert [(round(peak.begin, 2), round(peak.seconds, 2), peak.force) for peak in found] == [
        (1.0, 2.01, 20.0),
        (5.0, 2.0, 20.0),
    ]


def test_a_clock_that_is_set_back_ends_a_contact():
    time, n = np.concatenate([np.arange(0, 2.0, 0.01), np.arange(0, 2.0, 0.01)]), 400
    flags, force = np.zeros((n, 7)), np.full((n, 6), 20.0)
    flags[150:250, -1] = 1.0
    signals = {"external_wrench": force, "external_wrench_std": np.ones((n, 6)), "contact": flags}
    found = contact_peaks(log_at(time, signals, tuple("abcdef")))
    assert [(peak.begin, round(peak.seconds, 2)) for peak in found] == [(1.5, 0.5), (0.0, 0.5)]


def test_a_transient_contact_may_be_twice_as_strong_but_at_the_head():
    for region, (force, _) in LIMITS.items():
        assert region not in ContactPeak(0.0, 2.0, force - 2.1, 1.0).exceeded()
        assert region in ContactPeak(0.0, 2.0, force - 1.9, 1.0).exceeded()
        twice = ContactPeak(0.0, 0.2, 2 * force - 2.1, 1.0).exceeded()
        assert (region in twice) == (region in NEVER_TRANSIENT)


def test_the_text_says_what_it_is_not():
    text = ContactPeak(0.0, 0.2, 300.0, 5.0).text()
    assert "300 +- 5 N, transient" in text and "with two deviations added above the ISO/TS 15066 force limit" in text
    assert "abdomen" in text and "Not a safety function" in text and "pressure limit from 1.3 cm2" in text


def test_the_largest_contact_is_the_surest_and_one_that_may_exceed_more_limits_is_not_hidden():
    sure, vague = ContactPeak(0.0, 0.2, 60.0, 5.0), ContactPeak(3.0, 0.06, 111.0, 113.0)
    (line,) = largest([ContactPeak(1.0, 0.2, 50.0, 5.0), sure])
    assert line.startswith("largest contact: 60 +- 5 N, transient (0.20 s)")
    first, second = largest([vague, sure])
    assert first.startswith("largest contact: 60 +- 5 N") and "uncertain" not in first
    assert second.startswith("may have been larger: 111 +- 113 N (uncertain: ") and "neck" in second
    (line,) = largest([ContactPeak(0.0, 0.2, 17.0, 19.0)])
    assert "17 +- 19 N (uncertain" in line and "of no body region" in line
