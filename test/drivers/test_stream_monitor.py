"""States of the monitor, and the map from the controller's clock to the host's, on made-up samples."""

import numpy as np
import pytest

from robot_dynamics_ros._core import ClockMap, StreamMonitor, StreamState

MS = 1_000_000


def judged(monitor, t, now_ns, value=0.0, safety=1):
    return monitor.judge(t, np.full(6, value), False, safety, now_ns)


@pytest.fixture
def monitor():
    """Connected, with one sample at the time 0."""
    made = StreamMonitor(rate=500.0)
    assert made.condition(0) == StreamState.fault
    made.set_connected(True)
    judged(made, 0.0, 0)
    return made


def test_states_follow_silence_and_latch_until_rearmed(monitor):
    states = [monitor.condition(k * MS).name for k in (1, 20, 21, 40, 41)]
    assert states == ["ok", "ok", "degraded", "degraded", "safe"]
    assert monitor.latched(41 * MS) == StreamState.safe
    judged(monitor, 0.042, 42 * MS, 1.0)
    assert monitor.condition(42 * MS) == StreamState.degraded  # the sample after a gap
    judged(monitor, 0.044, 44 * MS, 2.0)
    assert monitor.condition(44 * MS) == StreamState.ok and monitor.latched(44 * MS) == StreamState.safe
    monitor.rearm()
    assert monitor.latched(44 * MS) == StreamState.ok


@pytest.mark.parametrize("mode", [3, 5, 6, 7, 8, 9, 11])
def test_any_safety_stop_is_safe_and_no_connection_is_a_fault(monitor, mode):
    judged(monitor, 0.002, 1, 1.0, mode)
    assert monitor.condition(1) == StreamState.safe
    monitor.set_connected(False)
    assert monitor.condition(2) == StreamState.fault


def test_persistent_nan_is_safe(monitor):
    for k in range(3):
        assert judged(monitor, 0.002 * k, 1, np.nan) is None
    assert monitor.condition(1) == StreamState.safe
    judged(monitor, 0.01, 2, 1.0)
    assert monitor.condition(2) == StreamState.ok


def test_clock_map_removes_the_latency_and_keeps_order():
    rng = np.random.default_rng(5)
    clock = ClockMap()
    offset, period, last = 1_700_000_000_000_000_000, 2_000_000, -1
    errors = []
    for k in range(20000):
        latency = int(rng.exponential(300_000))
        t = k * period
        drift = int(t * 50e-6)  # 50 ppm between the crystals
        if not clock.observe(t, offset + t + drift + latency):
            continue
        stamp = clock.stamp(t)
        assert stamp > last
        if last > 0:
            assert abs(stamp - last - period) <= 0.0006 * period
        last = stamp
        errors.append(stamp - (offset + t + drift))
    assert np.max(np.abs(errors[2000:])) < 150_000  # ns; the latencies have a mean of twice that


def test_clock_map_without_following_keeps_controller_time_exactly():
    clock = ClockMap(follow=False)
    stamps = []
    for k in range(3000):
        if clock.observe(k * 2_000_000, 10**18 + k * 2_100_000):
            stamps.append(clock.stamp(k * 2_000_000))
    assert set(np.diff(stamps)) == {2_000_000}


def test_clock_map_reanchors_when_the_host_clock_is_set_back():
    clock = ClockMap()
    for k in range(100):
        clock.observe(k * 2_000_000, 10**18 + k * 2_000_000)
    clock.observe(200_000_000, 10**18 + 200_000_000 - 3_600_000_000_000)
    assert clock.reanchored and clock.stamp(200_000_000) == 10**18 + 200_000_000 - 3_600_000_000_000


def test_clock_map_works_off_a_controller_that_lost_time_and_stamps_still_increase():
    clock, last, late = ClockMap(), 0, 0
    for k in range(30000):
        late = 100_000_000 if k > 1000 else 0  # the controller stood still for 100 ms
        if clock.observe(k * 2_000_000, 10**18 + k * 2_000_000 + late):
            stamp = clock.stamp(k * 2_000_000)
            assert stamp - last >= 1_950_000
            last = stamp
    assert abs(last - (10**18 + 29999 * 2_000_000 + late)) < 1_000_000
