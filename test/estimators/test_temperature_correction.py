"""When the temperature observer corrects its estimate by friction, how fast, and when it must not."""

import numpy as np
import pytest
from thermal_bench import AIR, FRICTION, C, K, begin, hot, log, stage

from robot_dynamics_ros import _core
from robot_dynamics_ros._core import Status
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.signals import Sample


@pytest.mark.parametrize("start", [10.0, 70.0])
def test_converges_from_a_wrong_start_within_two_minutes(start):
    """[Simoni2017 Fig. 5]: the observer needs about two minutes."""
    truth = 45.0
    s = stage()
    begin(s, start)
    record = hot(120, truth)
    record.drive_torque += np.random.default_rng(0).normal(0, 0.3, record.drive_torque.shape)
    codes = s.run(record)
    assert abs(record.temperature_estimate[-1] - truth).max() < 2.5
    assert record.temperature_variance[-1].max() < 4.0 < record.temperature_variance[0].min()
    assert codes[0] == int(Status.warming_up)


def test_the_gain_of_the_source_is_used_when_the_file_has_one():
    slow, fast = hot(30, 60.0), hot(30, 60.0)
    for record, gain in ((slow, 0.02), (fast, 2.0)):
        stage(heat={"gain": gain}).run(record)
    assert AIR < slow.temperature_estimate[-1, 0] < fast.temperature_estimate[-1, 0] - 10


def test_correction_has_the_right_sign_where_friction_rises_with_temperature():
    rising = FRICTION | {"alpha": 0.01, "gamma": 0.01}
    model = FrictionModel("simoni", rising, 1, 30.0)
    core = _core.TemperatureObserver(model.core, np.array([[C, K, 0, 0]]), np.array([0.5]))
    v = np.ones((12000, 1))
    measured = model.torque(v, None, np.full_like(v, 45.0))
    T, variance = np.empty_like(v), np.empty_like(v)
    rows = core.rows(12000, v, None, measured, None, np.zeros((12000, 2)), T, variance)
    _core.run_in_turn(np.arange(12000) * 10_000_000, [rows])
    assert T[-1, 0] == pytest.approx(45.0, abs=1.5)


@pytest.mark.parametrize("first", [[0, 10_000], [0, 500_000, 1_000_000]])
def test_samples_that_come_slower_than_the_first_still_correct(first):
    """Two stamps of one burst, or another rate after a reset."""
    model = FrictionModel("simoni", FRICTION, 1, 30.0)
    core = _core.TemperatureObserver(model.core, np.array([[C, K, 0, 0]]), np.array([0.5]))
    if len(first) > 2:
        core.step(0, np.ones(1), *[None] * 4, np.empty(1), np.empty(1))
        core.step(500_000, np.ones(1), *[None] * 4, np.empty(1), np.empty(1))
        core.reset()
        first = first[:1]
    v = np.ones((12000, 1))
    stamps = np.append(first, first[-1] + 10_000_000 * np.arange(1, 12001 - len(first)))
    T, variance = np.empty_like(v), np.empty_like(v)
    measured = model.torque(v, None, np.full_like(v, 45.0))
    _core.run_in_turn(stamps, [core.rows(12000, v, None, measured, None, np.zeros((12000, 2)), T, variance)])
    assert T[-1, 0] == pytest.approx(45.0, abs=1.5)


@pytest.mark.parametrize("blocked", ["contact", "unknown contact", "standstill", "no effort"])
def test_no_correction_without_the_right_to(blocked):
    record = hot(60, 70.0, v=0.02 if blocked == "standstill" else 1.0)
    if blocked == "contact":
        record.contact[:, 3] = 1.0
    if blocked == "unknown contact":
        record.contact = None
    if blocked == "no effort":
        record.drive_torque = None
    reference = log(60, v=0.02 if blocked == "standstill" else 1.0)
    for each in (record, reference):
        stage().run(each)
    np.testing.assert_array_equal(record.temperature_estimate, reference.temperature_estimate)


def test_contact_freezes_the_correction_at_once():
    """Fault 22."""
    record = hot(60, 60.0)
    record.contact[3000:] = 1.0
    record.drive_torque[3000:] += 20.0
    stage().run(record)
    before, after = record.temperature_estimate[2999], record.temperature_estimate[-1]
    assert abs(after - before).max() < 3.0  # what the heat balance does in 30 s


def test_correction_closes_and_is_armed_again_on_a_timer():
    s = stage(observe_time=5.0, rearm_time=20.0)
    armed = []
    record = hot(60, 40.0)
    sample = Sample(record.joint_names)
    for k in range(len(record)):
        record.read(k, sample)
        s.step(sample)
        armed.append(s.core.armed[0])
    edges = np.flatnonzero(np.diff(armed)) * 0.01
    assert armed[0] and len(edges) >= 4
    assert edges[1] - edges[0] == pytest.approx(20.0, abs=0.1)


def test_rate_and_bounds_hold_for_absurd_friction():
    record = log(300)
    record.drive_torque = record.qd * 0.0
    codes = stage(rate_limit=0.5).run(record)
    T = record.temperature_estimate
    assert T.max() <= 120.0
    assert np.diff(T, axis=0).max() <= (0.5 + 0.1) * 0.01
    assert (codes == int(Status.saturated)).any()
