"""States of the monitor, and the map from the controller's clock to the host's, on made-up samples."""

import numpy as np
import pytest
from scripted_rtde import field

from robot_dynamics_ros import _core


def rtde_values(t, q=0.0, safety=1.0):
    values = np.zeros(_core.RTDE_WIDTH)
    field(values, "timestamp")[:] = t
    field(values, "actual_q")[:] = q
    field(values, "safety_mode")[:] = safety
    return values


def test_monitor_states_follow_silence_and_latch_until_rearmed():
    m = _core.StreamMonitor(rate=500.0)
    state, ms = _core.StreamState, 1_000_000
    assert m.condition(0) == state.fault
    m.accept(rtde_values(0.0), 0)
    states = [m.condition(k * ms).name for k in (1, 20, 21, 40, 41)]
    assert states == ["ok", "ok", "degraded", "degraded", "safe"]
    assert m.latched(41 * ms) == state.safe
    m.accept(rtde_values(0.042, q=1.0), 42 * ms)
    assert m.condition(42 * ms) == state.degraded  # the sample after a gap
    m.accept(rtde_values(0.044, q=2.0), 44 * ms)
    assert m.condition(44 * ms) == state.ok and m.latched(44 * ms) == state.safe
    m.rearm()
    assert m.latched(44 * ms) == state.ok


@pytest.mark.parametrize("mode", [3, 5, 6, 7, 8, 9, 11])
def test_monitor_any_safety_stop_is_safe(mode):
    m = _core.StreamMonitor()
    m.accept(rtde_values(0.0), 0)
    m.accept(rtde_values(0.002, q=1.0, safety=mode), 1)
    assert m.condition(1) == _core.StreamState.safe


def test_monitor_persistent_nan_is_safe():
    m = _core.StreamMonitor()
    m.accept(rtde_values(0.0), 0)
    for k in range(3):
        assert m.accept(rtde_values(0.002 * k, q=np.nan), 1) is None
    assert m.condition(1) == _core.StreamState.safe
    m.accept(rtde_values(0.01, q=1.0), 2)
    assert m.condition(2) == _core.StreamState.ok


def test_clock_map_removes_the_latency_and_keeps_order():
    rng = np.random.default_rng(5)
    clock = _core.ClockMap()
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
    clock = _core.ClockMap(follow=False)
    stamps = []
    for k in range(3000):
        if clock.observe(k * 2_000_000, 10**18 + k * 2_100_000):
            stamps.append(clock.stamp(k * 2_000_000))
    assert set(np.diff(stamps)) == {2_000_000}


def test_clock_map_reanchors_when_the_host_clock_is_set_back():
    clock = _core.ClockMap()
    for k in range(100):
        clock.observe(k * 2_000_000, 10**18 + k * 2_000_000)
    clock.observe(200_000_000, 10**18 + 200_000_000 - 3_600_000_000_000)
    assert clock.reanchored and clock.stamp(200_000_000) == 10**18 + 200_000_000 - 3_600_000_000_000


def test_clock_map_works_off_a_controller_that_lost_time_and_stamps_still_increase():
    clock, last, late = _core.ClockMap(), 0, 0
    for k in range(30000):
        late = 100_000_000 if k > 1000 else 0  # the controller stood still for 100 ms
        if clock.observe(k * 2_000_000, 10**18 + k * 2_000_000 + late):
            stamp = clock.stamp(k * 2_000_000)
            assert stamp - last >= 1_950_000
            last = stamp
    assert abs(last - (10**18 + 29999 * 2_000_000 + late)) < 1_000_000
