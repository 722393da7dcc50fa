"""What a standing robot shows without contact is taken for an error of friction; a push is not, unless it is slow."""

import numpy as np
import pytest
from force_bench import UR5E, during, estimated, measured, still, through, with_residuals
from presliding_joint import elements

from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.models.hysteresis import friction_level

REST = np.array([1.0, 1.4, 1.0, 0.4, 0.4, 0.4])
ROBOT = with_residuals(0.3 * REST, REST, significance=4.0)
ERROR = np.array([0.8, -1.1, 0.7, 0.3, -0.3, 0.2])  # Nm, of the friction model at standstill


def seen(log, **force):
    pipeline, _ = estimated(log, ROBOT, **force)
    return log.external_joint_torque, pipeline


def standing(wrench=None, error=ERROR, seconds=8.0, noise=0.05):
    log = measured(still(seconds=seconds), wrench, noise=noise)
    log.effort = log.effort - error
    return log


def ramp(force, begin, rise, rate=500):
    t = np.arange(int(12.0 * rate)) / rate
    return np.clip((t - begin) / rise, 0.0, 1.0)[:, None] * np.array([0, 0, -force, 0, 0, 0])


def test_an_error_of_friction_at_rest_is_absorbed_and_the_deviation_stays():
    """What was absorbed is wrong by as much once the joint creeps on."""
    torque, _ = seen(log := standing())
    whole, _ = seen(without := standing(), rest_bias=0.0)
    assert (np.abs(torque[-1]) < 0.2 * np.abs(whole[-1])).all() and not log.contact.any()
    np.testing.assert_array_equal(log.external_joint_torque_std, without.external_joint_torque_std)


@pytest.mark.parametrize("size", [2.0, 3.0])
def test_no_more_than_1_4_of_the_residual_at_rest_is_absorbed(size):
    torque, _ = seen(standing(error=size * REST), contact_on_ratio=50.0)
    np.testing.assert_allclose(torque[-1], (size - 1.4) * REST, atol=0.05)


def test_what_was_absorbed_stays_in_contact():
    """Before, in and after a push of 25 N the same is taken off: what the estimate is without an error of friction."""
    wrench, linear = during(6.0, 10.0, 12.0, [0, 0, -25.0, 0, 0, 0]), {"onset_bandwidth": 1.0}  # two runs are compared
    torque, _ = seen(log := standing(wrench, seconds=12.0, noise=0.0), **linear)
    whole, _ = seen(standing(wrench, seconds=12.0, noise=0.0), rest_bias=0.0, **linear)
    absorbed, t = whole - torque, log.time
    assert log.contact[(t > 6.2) & (t < 10.0)].any(axis=1).all()
    inside = absorbed[(t > 6.1) & (t < 10.0)]
    np.testing.assert_array_less(np.ptp(inside, axis=0), 1e-9)
    np.testing.assert_allclose(inside[0], ERROR, atol=0.05)


@pytest.mark.parametrize("rest_bias", [0.0, 1.0])
def test_a_push_of_20_newton_begins_as_before(rest_bias):
    """Without an error of friction the bias neither delays nor hides it."""
    wrench = during(4.0, 7.0, 8.0, [0, 0, -20.0, 0, 0, 0])
    seen(log := standing(wrench, error=0.0), rest_bias=rest_bias)
    found, t = log.contact.any(axis=1), log.time
    assert not found[t < 4.0].any() and found[(t > 4.1) & (t < 7.0)].all()
    assert np.abs(log.external_wrench[(t > 4.5) & (t < 7.0), 2] + 20.0).max() < 3.0


def test_a_slow_push_is_found_but_shown_too_small():
    """The price, for 20 N over 3 s: absorbed before the flag, and kept while it lasts."""
    found, shown = {}, {}
    for rest_bias in (0.0, 1.0):
        seen(log := standing(ramp(20.0, 4.0, 3.0), error=0.0, seconds=12.0), rest_bias=rest_bias)
        assert log.contact[-1].any()
        found[rest_bias] = log.time[log.contact.any(axis=1)][0]
        shown[rest_bias] = -log.external_wrench[-1, 2]
    assert shown[0.0] == pytest.approx(20.0, abs=1.0) and 14.0 < shown[1.0] < 19.0
    assert abs(found[1.0] - found[0.0]) < 0.6


def test_motion_of_a_joint_resets_its_bias():
    poses = through([still()[0][0], still()[0][0] + 0.3], rest=6.0)
    log, plain = (measured(poses, noise=0.0) for _ in range(2))
    for given in (log, plain):
        given.effort = given.effort - ERROR
    torque, _ = seen(log)
    whole, _ = seen(plain, rest_bias=0.0)
    t, absorbed = log.time, np.abs(whole - torque)
    assert (absorbed[(t > 5.8) & (t < 6.0)].min(axis=0) > 0.7 * np.abs(ERROR)).all()
    assert (absorbed[(t > 6.4) & (t < 6.9)] < 1e-3).all()


def test_friction_that_no_memory_explains_is_what_balances():
    """Where the residual at rest is a large share of breakaway no memory explains it: it turns round at once."""
    level = friction_level(UR5E)
    arm = ROBOT.with_updates({"residuals.rest": 0.5 * level, "residuals.moving": 0.05 * level})
    log = standing(error=0.0, seconds=6.0)
    turned = log.time > 4.0
    log.effort = log.effort - 0.4 * level * turned[:, None]
    Pipeline(arm).run(log)
    assert not log.contact.any()
    assert (np.abs(log.external_joint_torque[log.time > 4.4]) < 0.1 * level).all()


def with_elements(span, share, level):
    """ROBOT whose joints have `share` of their level (n,) in elements of `span` [rad], the rest in those of 20 mrad."""
    block = elements([span, 0.02], np.outer(level, [share, 1 - share]))
    return ROBOT.with_updates({"hysteresis": block, "residuals.rest": 0.08 * level})


@pytest.mark.parametrize(("span", "follows"), [(3e-5, True), (2e-3, False)], ids=["dry", "presliding"])
def test_a_dry_joint_is_stuck_however_small_its_residual(span, follows):
    """The residual becomes smaller with more recordings; the friction that a stuck dry joint holds does not."""
    level = 10.0 * REST
    arm = with_elements(span, 0.9, level)
    log = standing(error=0.0, seconds=6.0)
    log.effort = log.effort - 0.7 * level * (log.time > 4.0)[:, None]
    Pipeline(arm, {"force": {"contact_on_ratio": 50.0}}).run(log)
    assert (np.abs(log.external_joint_torque[log.time > 4.6]) < 0.1 * level).all() == follows


@pytest.mark.parametrize(("span", "absorbed"), [(3e-5, 1.4 * 0.3 * 0.6), (2e-3, 1.4 * 0.08)], ids=["hidden", "shown"])
def test_of_friction_that_turns_round_unseen_more_is_absorbed(span, absorbed):
    """Six tenths of the level give way within 30 µrad: not dry, but a position does not show what they hold."""
    level = 10.0 * REST
    log = standing(error=0.4 * level, noise=0.0, seconds=12.0)
    Pipeline(with_elements(span, 0.6, level), {"force": {"contact_on_ratio": 50.0}}).run(log)
    np.testing.assert_allclose(log.external_joint_torque[-1], (0.4 - absorbed) * level, atol=0.01)


def test_a_joint_that_stands_beside_moving_ones_is_absorbed():
    begin = still()[0][0]
    log = measured(through([begin, begin + [0.0, *[0.5] * 5]], rest=0.5, travel=8.0), noise=0.0)
    log.effort[:, 0] -= ERROR[0]
    torque, _ = seen(log)
    assert np.abs(torque[(log.time > 6.0) & (log.time < 8.0), 0]).max() < 0.4 * ERROR[0]


def test_a_tare_starts_it_anew():
    log = standing(seconds=6.0)
    _, pipeline = seen(log)
    force = pipeline.stage("force")
    assert force.tare()[0]
    np.testing.assert_allclose(force.core.bias, ERROR, atol=0.05)  # of the whole torque, not of what is left


@pytest.mark.parametrize(
    ("force", "payload", "taken"),
    [
        ([0, 0, 0], 0.0, True),  # an error of friction
        ([0, 0, 0], 3.0, True),  # what hangs at the flange
        ([20, 0, 0], 0.0, False),  # somebody leans on it since before the start
        ([0, 0, -120], 0.0, False),  # more than the payload of the arm
    ],
    ids=["friction", "payload", "push", "too heavy"],
)
def test_a_tare_takes_what_friction_and_a_payload_explain(force, payload, taken):
    log = measured(still(seconds=6.0), np.r_[force, 0, 0, 0], (payload, (0, 0, 0.08), (0,) * 6), noise=0.05)
    log.effort = log.effort - ERROR
    _, pipeline = seen(log)
    done, why = pipeline.stage("force").tare()
    assert done == taken == pipeline.stage("force").core.bias.any(), why
    assert done or "neither friction nor a payload" in why


@pytest.mark.parametrize("parameter", ["rest_bias", "recent_error"])
def test_robots_without_residuals_have_the_estimates_and_deviations_of_before(parameter):
    log, off = standing(), standing()
    estimated(log), estimated(off, **{parameter: 0.0})
    np.testing.assert_array_equal(log.external_wrench, off.external_wrench)
    np.testing.assert_array_equal(log.external_wrench_std, off.external_wrench_std)


def test_what_friction_keeps_of_a_push_is_no_contact_and_the_flag_ends_with_the_push():
    """A tenth of the torque of a push that is over; without the push before it the same torque is a contact."""
    wrench, t = during(4.0, 6.0, 8.0, [0, 0, -120.0, 0, 0, 0]), np.arange(4000) / 500
    logs = [standing(wrench, error=0.0), standing(None, error=0.0)]
    kept = 0.1 * (standing(wrench, error=0.0, noise=0.0).effort - standing(None, error=0.0, noise=0.0).effort)[2500]
    for log in logs:
        log.effort[t >= 6.0] += kept
        seen(log)
    after, anew = (log.contact.any(axis=1) for log in logs)
    assert after[(t > 4.1) & (t < 6.0)].all() and not after[(t > 6.15)].any() and anew[(t > 6.1) & (t < 6.5)].any()


def test_what_a_push_leaves_is_absorbed_within_a_second():
    """The same error of friction that begins without a push takes longer."""
    left = []
    for wrench in (during(4.0, 6.0, 8.0, [0, 0, -40.0, 0, 0, 0]), None):
        log = standing(wrench, error=0.0)
        log.effort[log.time >= 6.0] -= ERROR
        left.append(np.abs(seen(log, rest_bias=10.0)[0][np.searchsorted(log.time, 7.1)] / ERROR))
    assert (left[0] < 0.15).all() and (left[1] > 0.25).all()


def test_a_contact_does_not_end_by_its_own_uncertainty():
    """Friction that a load of 60 Nm adds is unsure by more than a sixth of it: published, not decided with."""
    log = standing(error=0.0, seconds=6.0)
    inside = (log.time >= 3.0) & (log.time < 5.0)
    log.effort[inside, 1] += 60.0
    seen(log)
    late = inside & (log.time > 3.2)
    assert log.contact[late, 1].all() and not log.contact[log.time > 5.2].any()
    added = (log.friction_std * log.contact_load / friction_level(ROBOT))[late, 1]
    assert added.min() > 10.0
    np.testing.assert_allclose(log.external_joint_torque_std[late, 1], added, rtol=0.01)


def test_an_unsure_torque_constant_is_in_the_deviation_of_a_contact():
    amperes = {"drives.effort.unit": "A", "drives.torque_constant": [10.0] * 6}
    variance = []
    for std in (None, [1.0] * 6):
        log = standing(error=0.0, seconds=6.0)
        log.effort[(log.time >= 3.0) & (log.time < 5.0), 1] += 60.0
        log.effort /= 10.0
        Pipeline(ROBOT.with_updates(amperes | {"drives.torque_constant_std": std}, {"test": "made up"})).run(log)
        variance.append(log.external_joint_torque_std**2)
    inside = (log.time > 3.2) & (log.time < 5.0)
    added = np.sqrt((variance[1] - variance[0])[inside])
    np.testing.assert_allclose(added, 0.1 * np.abs(log.contact_load[inside]), atol=0.2)
    assert added[:, 1].min() > 5.0
    np.testing.assert_allclose(variance[1][log.time < 3.0], variance[0][log.time < 3.0])
