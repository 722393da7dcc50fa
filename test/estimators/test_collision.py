"""The collision detector: its rate of false alarms, the tail beyond the recordings, causality, short recordings."""

import numpy as np
import pytest
from synthetic import log_at

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.estimators.collision import BLOCK, TAIL, CollisionDetector, _exceeded, _states

RATE, SECONDS = 500.0, 60.0
NAMES = ("a", "b", "c")


def free(seed, seconds=SECONDS, rate=RATE):
    """A log of noise that is three times as large while the joints start, and of errors that last."""
    rng, time = np.random.default_rng(seed), np.arange(0, seconds, 1 / rate)
    qd = 0.2 * np.sin(0.5 * time + np.arange(3)[:, None]).T
    size = np.where(np.abs(qd) < 0.05, 3.0, 1.0) * (0.1, 0.2, 0.4)
    drift = 5.0 * np.sin(0.8 * time)[:, None]  # Nm: an error of friction, which is no collision
    torque = drift + size * rng.normal(size=(len(time), 3))
    zero = np.zeros_like(qd)
    signals = {"qd": qd, "drive_torque": torque, "model_torque": zero, "friction_torque": zero}
    signals["external_joint_torque"] = torque
    return log_at(time, signals, NAMES)


def test_false_alarms_come_at_the_rate_that_was_asked_for():
    detector = CollisionDetector.fitted([free(seed, rate=125.0) for seed in range(4)], rate=600.0)
    alarms = 0
    for log in (free(seed, rate=125.0) for seed in range(10, 14)):
        block = (log.time / BLOCK).astype(int)
        alarms += len(np.unique(block[detector.distance(log) > detector.threshold]))
    assert 20 < alarms < 70  # 40 expected in 4 minutes


def test_a_collision_is_found_and_held_and_a_slow_push_is_none():
    detector, log = CollisionDetector.fitted([free(0)], rate=1.0), free(5, 20.0)
    assert not detector.collided(log).any()
    hit = (log.time > 10.0) & (log.time < 10.02)
    log.drive_torque[hit, 1] += 6.0
    claimed = log.time[detector.collided(log)]
    assert 10.0 < claimed[0] < 10.01 and 10.1 < claimed[-1] < 10.2
    (found,) = detector.collisions(log)
    assert found["begin"] == claimed[0] and found["distance"] == detector.distance(log).max()
    log.drive_torque[:, 1] += 6.0 * np.clip((log.time - 14.0) / 2.0, 0, 1) - 6.0 * hit
    assert not detector.collided(log).any()


def test_closed_brakes_are_no_collision_and_hide_none():
    quiet, stopped, log = (free(seed, seconds, 125.0) for seed, seconds in ((0, 120.0), (0, 120.0), (5, 20.0)))
    for braked in (stopped, log):  # the weight falls to the brakes, and there is no estimate
        rows = (braked.time > 8.0) & (braked.time < 12.0)
        braked.drive_torque[rows] -= 40.0
        braked.external_joint_torque[rows] = np.nan
    detector = CollisionDetector.fitted([stopped], rate=600.0)
    assert not [found for found in detector.collisions(log) if 7.9 < found["begin"] < 12.2]
    assert detector.threshold == pytest.approx(CollisionDetector.fitted([quiet], 600.0).threshold, rel=0.1)


def test_a_clock_that_is_set_back_hides_no_collision_and_makes_none():
    detector, log = CollisionDetector.fitted([free(0)]), free(5, 20.0)
    log.stamp_ns[len(log) // 2 :] -= 9_000_000_000
    log.drive_torque[4000:4010, 1] += 6.0
    log.drive_torque[8000:8010, 1] += 6.0
    assert [found["begin"] for found in detector.collisions(log)] == pytest.approx([8.0, 7.0], abs=0.01)
    assert detector.collided(log).sum() < 0.3 * RATE


def test_a_robot_whose_friction_is_not_taken_off_has_collisions_too():
    """As behind joint torque sensors before `identify`."""
    quiet, log = free(0), free(5, 20.0)
    quiet.friction_torque = log.friction_torque = None
    log.drive_torque[(log.time > 10.0) & (log.time < 10.02), 1] += 6.0
    assert len(CollisionDetector.fitted([quiet]).collisions(log)) == 1


def test_a_distance_depends_on_no_later_sample():
    detector, log = CollisionDetector.fitted([free(0)]), free(5, 4.0)
    before = detector.distance(log)
    log.drive_torque[1000:] += 50.0
    np.testing.assert_array_equal(detector.distance(log)[:1000], before[:1000])
    assert detector.distance(log)[1000] > before[1000]


def test_beyond_the_recordings_the_threshold_follows_an_exponential_tail():
    largest = np.random.default_rng(0).exponential(2.0, 4000)
    for share in (0.2, TAIL, 1e-2, 1e-4, 1e-6):
        assert _exceeded(largest, share) == pytest.approx(-2.0 * np.log(share), rel=0.15)


def test_a_joint_that_breaks_away_still_starts_for_a_tenth_of_a_second():
    log = free(0, 4.0)
    log.qd[:], log.qd[1000:, 0] = 0.0, 0.2
    states = _states(log)
    assert not states[:1000].any() and not states[:, 1:].any()
    assert set(states[1000:1049, 0]) == {1} and set(states[1051:, 0]) == {2}


def test_short_recordings_are_refused():
    with pytest.raises(DataError, match="16 s without contact"):
        CollisionDetector.fitted([free(0, 10.0), free(1, 10.0)])
