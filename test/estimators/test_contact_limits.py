"""Peaks of contacts beside the limits of body regions."""

import numpy as np

from robot_dynamics_ros.estimators.contact_limits import LIMITS, NEVER_TRANSIENT, ContactPeak, contact_peaks
from robot_dynamics_ros.signals import Log


def test_every_flagged_stretch_is_a_contact_with_its_largest_force():
    time = np.arange(0, 4.0, 0.01)
    force = np.zeros((len(time), 6))
    force[100:120, 0], force[200:300, 2] = 30.0, -np.linspace(10.0, 90.0, 100)
    flags = np.zeros((len(time), 7))
    flags[105:122, -1] = flags[205:301, -1] = 1.0
    std = np.full((len(time), 6), 2.0)
    signals = {"external_wrench": force, "external_wrench_std": std, "contact": flags}
    first, second = contact_peaks(Log(tuple("abcdef"), np.round(1e9 * time).astype(np.int64), signals))
    assert (first.force, second.force) == (30.0, 90.0) and first.transient and not second.transient
    assert abs(first.begin - 1.05) < 1e-9 and abs(second.seconds - 0.95) < 1e-9


def test_a_transient_contact_may_be_twice_as_strong_but_at_the_head():
    for region, (force, _) in LIMITS.items():
        assert region not in ContactPeak(0.0, 2.0, force - 2.1, 1.0).exceeded()
        assert region in ContactPeak(0.0, 2.0, force - 1.9, 1.0).exceeded()
        twice = ContactPeak(0.0, 0.2, 2 * force - 2.1, 1.0).exceeded()
        assert (region in twice) == (region in NEVER_TRANSIENT)


def test_the_text_says_what_it_is_not():
    text = ContactPeak(0.0, 0.2, 300.0, 5.0).text()
    assert "abdomen" in text and "Not a safety function" in text and "pressure limit from 1.3 cm2" in text
