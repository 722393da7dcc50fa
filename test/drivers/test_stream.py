"""Rules of a state stream received in Python, with clocks given by the test."""

import numpy as np
import pytest

from robot_dynamics_ros._core import SampleFlag, StreamMonitor, StreamState
from robot_dynamics_ros.drivers.stream import Stream

PERIOD = 1_000_000


def feed(stream, count, start=0, moving=False, measured=None):
    """Samples at 1 kHz; measured None: values that change. Returns the stamps."""
    stamps = []
    for k in range(start, start + count):
        values = np.full(3, float(k)) if measured is None else measured
        t = k * PERIOD
        stamps.append(stream.take(t, values, moving, 1, t + 10**10, t + 1))
    return stamps


def test_stamps_are_controller_time_on_the_host_clock_once_the_offset_is_known():
    stream = Stream(rate=1000.0)
    stamps = feed(stream, 100)
    known = [s for s in stamps if s is not None]
    assert stamps[0] is None and len(known) > 70
    assert known[-1] == 99 * PERIOD + 10_000_000_000 and np.all(np.diff(known) == PERIOD)


def test_missed_duplicate_and_backward_samples_are_counted():
    stream = Stream(rate=1000.0)
    feed(stream, 60)
    feed(stream, 1, start=59)  # again
    feed(stream, 1, start=63)  # three missing
    assert stream.missed == 3
    feed(stream, 1, start=2)
    counts = stream.statistics()
    assert (counts.duplicates, counts.missed, counts.backwards, counts.samples) == (1, 3, 1, 62)


def test_frozen_values_in_motion_are_unsafe_and_at_rest_are_not():
    stream = Stream(rate=1000.0, frozen_repeats=5)
    feed(stream, 50, measured=np.ones(3))
    assert not stream.frozen
    feed(stream, 10, start=50, measured=np.ones(3), moving=True)
    assert stream.frozen and stream.flags & int(SampleFlag.frozen)


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
def test_values_that_are_no_numbers_are_dropped(bad):
    stream = Stream(rate=1000.0)
    feed(stream, 50)
    assert feed(stream, 1, start=50, measured=np.array([1.0, bad, 1.0])) == [None]
    assert stream.statistics().non_finite == 1


def test_too_many_values_are_refused():
    with pytest.raises(ValueError, match="64"):
        StreamMonitor().judge(0.0, np.zeros(65), False, 1, 0)


def test_signals_that_are_not_finite_are_absent_and_counted_once_each():
    stream = Stream(500.0)
    good, partly, infinite, absent = np.ones(3), np.array([1.0, np.nan, 2.0]), np.full(3, np.inf), np.full(3, np.nan)
    stream.clean(good, partly, infinite, absent)
    assert np.array_equal(good, np.ones(3))
    assert all(np.isnan(values).all() for values in (partly, infinite, absent))
    assert stream.statistics().non_finite == 2 == stream.statistics().non_finite


def test_a_late_reader_is_no_silent_robot(monkeypatch):
    """Silence is judged by the newest sample that arrived, also while samples wait to be read."""
    now = 10_000 * PERIOD
    monkeypatch.setattr("time.monotonic_ns", lambda: now)
    arrived = now - PERIOD
    stream = Stream(1000.0, lambda: arrived)
    feed(stream, 100)  # read 9.9 s late
    assert stream.condition == StreamState.ok and stream.latched == StreamState.ok
    arrived = now - 100 * PERIOD
    assert stream.condition == StreamState.safe and stream.latched == StreamState.safe
