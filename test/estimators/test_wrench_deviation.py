"""Deviations by state: recent errors scale those of the wrench, friction beyond recorded speeds is wider."""

import itertools

import numpy as np
import pytest
from force_bench import POSE, UR5E, estimated, measured, model, moving, still, with_residuals

from robot_dynamics_ros import _core
from robot_dynamics_ros.estimators.external_force import ForceStage
from robot_dynamics_ros.estimators.friction import FrictionStage
from robot_dynamics_ros.estimators.motion import MotionStage
from robot_dynamics_ros.signals import Log

REST = np.array([1.5, 2.0, 1.5, 0.6, 0.6, 0.6])
ROBOT = with_residuals(0.3 * REST, REST, significance=6.0)
SURE = with_residuals(0.01 * REST, 0.01 * REST, significance=6.0)
SLOT, WINDOW, LATE = 50_000_000, 5, 2  # ns, slots of 0.25 s, newest slots that are left out


def run(log, **force):
    estimated(log := log[:], ROBOT, **force)
    return log


def wrong(size, wrench=None, seconds=5.0, stands=False):
    """Motion, or a stand, whose torques are off by up to `size` of their deviation for the second half."""
    log = measured(still(seconds=seconds) if stands else moving(seconds), wrench, noise=0.02)
    late, turns = (log.time > seconds / 2)[:, None], np.sign(np.sin(9.0 * log.time))[:, None]
    log.effort = log.effort + late * size * 0.3 * REST * np.linspace(0.2, 1.2, 6) * turns
    return log


def expected(log, counts, tails):
    """Scale of the variance (N, n) that a joint adds, from its torque and deviation, in plain numpy."""
    z = (log.external_joint_torque / log.external_joint_torque_std) ** 2
    slot, none = log.stamp_ns // SLOT - log.stamp_ns[0] // SLOT, np.full(z.shape[1], np.nan)
    rows = [(slot == k) & counts for k in range(slot[-1] + 1)]
    means = np.array([z[k].mean(axis=0) if k.any() else none for k in rows])
    found = []
    for k in range(slot[-1] + 1):
        last = means[max(k - LATE - WINDOW + 1, 0) : max(k - LATE + 1, 0)]
        known = last[np.isfinite(last[:, 0])]
        found.append(tails * (known.sum(axis=0) + 0.2 * WINDOW * 0.5) / (len(known) + 0.2 * WINDOW))
    return np.clip(np.array(found)[slot], 0.1, 9.0)


def published(log, row, scale):
    """Deviations (6,): joints add `scale` (n,) of their variance, what is expected its mean; a wrench of two deviations
    that is not decided yet adds itself.
    """
    q, tau, std = log.q[row], log.external_joint_torque[row], log.external_joint_torque_std[row]
    given = {"expected_moment": 1.5, "small_contact": 0.25}
    _, C, _ = _core.invert_wrench(UR5E.chain(), q, tau, std, **given)
    rare = _core.wrench_significance(UR5E.chain(), q[None], tau[None], std[None], **given)[0]
    columns, F = C @ model().jacobian(q) / std, log.external_wrench[row]
    added = columns @ np.diag(scale - scale.mean()) @ columns.T + np.clip(rare - 1.0, 0.0, 1.0) * np.outer(F, F)
    return np.sqrt(np.diag(scale.mean() * C + added)), rare


@pytest.mark.parametrize(
    ("size", "stands", "rest_bias", "tails"),
    [(0.5, False, 0.6, 0.54), (3.0, False, 0.6, 0.54), (2.0, True, 0.6, 0.54 * 0.65), (2.0, True, 0.0, 0.54)],
)
def test_errors_of_the_last_moments_scale_what_each_joint_adds(size, stands, rest_bias, tails):
    """At rest by less, where errors are absorbed."""
    log, given = wrong(size, stands=stands), {"contact_on_ratio": 50.0, "rest_bias": rest_bias}
    scaled, plain = run(log, **given), run(log, **given, recent_error=0.0)
    np.testing.assert_array_equal(scaled.external_wrench, plain.external_wrench)
    scale, rows = expected(plain, log.time >= 0.13, tails), range(500, len(log), 20)
    std, rare = zip(*(published(plain, row, scale[row]) for row in rows), strict=True)
    np.testing.assert_allclose(scaled.external_wrench_std[rows], std, rtol=1e-6)
    assert scale.min() < 0.5 and (scale.max() > 1.0) == (size > 2.0)
    assert max(rare) > 1.2 or size < 3.0  # the wrench itself is part of what was compared


def test_a_deviation_is_not_scaled_down_after_a_start_or_a_gap_before_errors_are_seen():
    log = wrong(0.5)
    log = log[(log.time < 2.0) | (log.time > 2.6)]
    scaled, plain = run(log), run(log, recent_error=0.0)
    for begin in (0.0, 2.6):
        rows = (log.time > begin) & (log.time < begin + 0.1)
        assert (scaled.external_wrench_std[rows] >= plain.external_wrench_std[rows]).all()


def test_contact_is_decided_without_and_keeps_its_deviation():
    wrench = np.zeros((2500, 6))
    wrench[1500:2000, 2] = -60.0
    log = wrong(0.5, wrench)
    scaled, plain = run(log), run(log, recent_error=0.0)
    np.testing.assert_array_equal(scaled.contact, plain.contact)
    flagged = plain.contact[:-1].any(axis=1) & plain.contact[1:].any(axis=1)  # at the end of the push it is free
    assert flagged.sum() > 400
    same = (scaled.external_joint_torque_std == plain.external_joint_torque_std).all()
    ratio = (scaled.external_wrench_std / plain.external_wrench_std)[1:][flagged] ** 2
    assert same and (ratio > 0.4599).all() and (ratio < 1.0).all()  # what the contact adds is not scaled


def pushed(side, rise=1, robot=ROBOT, sign=1.0, **parameters):
    """A standing robot under a push in the second half, which rises within so many samples; and the push. Friction is
    zero and known within the residuals.
    """
    push = sign * np.array([40.0, -10.0, -20.0, 0.3, 0.2, 0.0])
    wrench = np.clip((np.arange(1500)[:, None] - 749) / rise, 0.0, 1.0) * push
    log, force = measured(still(seconds=3.0), wrench, friction=False), {"rest_bias": 0.0, "recent_error": 0.0}
    log.friction_torque, log.friction_std = np.zeros_like(log.q), np.tile(robot.array("residuals.rest"), (1500, 1))
    robot = robot.with_updates({"drives.torque_side": side}, {"test": "of a test"})
    MotionStage.of(robot).run(log)
    ForceStage.of(robot, force | parameters).run(log)
    return log, wrench


@pytest.mark.parametrize(
    ("side", "row", "recent", "scale"),
    [("motor", -1, 0.0, 1.0), ("link", 770, 0.0, 1.0), ("motor", -1, 0.25, 0.7), ("link", 770, 0.25, 0.7)],
)
def test_what_a_contact_adds_widens_the_wrench(side, row, recent, scale):
    """As errors of the torques pass the gain G of the estimate: G D G' of friction, or of 1 % of the contact's torque
    behind torque sensors; of the lag of all joints g g', and 0.04 G D G' of what the filters of the joints differ by.
    The rest counts by 0.7 in a robot that stands.
    """
    free, wrench = pushed(side, contact_on_ratio=100.0)
    touched, _ = pushed(side, recent_error=recent)
    assert not free.contact.any() and touched.contact[row - 1].any()
    tau, std, J = touched.external_joint_torque[row], free.external_joint_torque_std[row], model().jacobian(POSE)
    F, C, _ = _core.invert_wrench(UR5E.chain(), POSE, tau, std, expected_moment=1.5, small_contact=0.25)
    np.testing.assert_allclose(touched.external_wrench[row], F, rtol=1e-9, atol=1e-12)
    added, gain = np.sqrt(touched.external_joint_torque_std[row] ** 2 - std**2), C @ J / std**2
    own = added if side == "motor" else 0.01 * touched.contact_load[row - 1]
    assert (np.abs(own) > 0.0).all()
    lag = np.sqrt(np.maximum(added**2 - own**2, 0.0)) * np.sign(J.T @ wrench[row])
    columns = np.column_stack([gain @ lag, 0.2 * gain * lag, gain * own])
    wider = np.sqrt(np.diag(scale * C + columns @ columns.T))
    np.testing.assert_allclose(touched.external_wrench_std[row], wider, rtol=1e-4)
    assert (wider > 1.05 * np.sqrt(scale) * free.external_wrench_std[row]).any()


def test_under_a_contact_the_torque_is_ahead_of_the_filters_and_does_not_exceed_a_step():
    """Where fast changes are followed faster than small ones, and where the lag is more than noise."""
    rows, size, error, given = slice(750, 900), {}, {}, {"free": {"contact_on_time": 1.0}, "touched": {}}
    for (name, parameters), rise in itertools.product(given.items(), (1, 100)):
        log, wrench = pushed("link", rise, SURE, **parameters)
        truth, found = (wrench @ model().jacobian(POSE))[rows], log.external_joint_torque[rows]
        size[name, rise], error[name, rise] = found / truth[-1], np.linalg.norm((found - truth)[20:])
    assert all((size["touched", rise] > size["free", rise] - 1e-6).all() for rise in (1, 100))
    assert size["touched", 1].max() < 1.02 and error["touched", 100] < 0.5 * error["free", 100]
    slow = SURE.with_updates({"residuals.onset": 0.0})
    np.testing.assert_array_equal(*(pushed("link", 100, slow, **x)[0].external_joint_torque for x in given.values()))
    unsure = [pushed("link", 100, **x)[0] for x in given.values()]
    assert unsure[1].contact.any()
    np.testing.assert_allclose(*(x.external_joint_torque for x in unsure), atol=0.2)


def test_the_torque_of_a_push_the_other_way_is_its_negative_from_the_first_sample():
    one, other = (pushed("link", 1, SURE, sign)[0].external_joint_torque[750:900] for sign in (1.0, -1.0))
    np.testing.assert_allclose(one, -other, atol=1e-6)
    assert np.abs(one).max() > 5.0


@pytest.mark.parametrize(
    ("name", "value", "share"),
    [
        ("speed", 0.5, lambda v: 0.1 * np.maximum(np.abs(v) / 0.5 - 1.0, 0.0)),
        ("slow", 0.15, lambda v: 0.15 * np.maximum(1.0 - np.abs(v) / 0.1, 0.0)),
    ],
)
def test_friction_beyond_the_recorded_speeds_is_known_less_well(name, value, share):
    """By a tenth of it at twice the largest speed of the recordings, and where these show no slow sliding."""
    v = np.linspace(-2.0, 2.0, 161)[:, None] * np.ones(6)
    found = {}
    for given in (None, [value] * 6):
        robot = ROBOT.with_updates({f"residuals.{name}": given})
        log = Log(robot.joint_names, np.arange(161) * 2_000_000, {"qd": v, "model_torque": np.zeros_like(v)})
        FrictionStage.of(robot, {"model": "static"}).run(log)
        found[given is None] = log
    more = found[False].friction_std ** 2 - found[True].friction_std ** 2
    np.testing.assert_allclose(more, (share(v) * found[True].friction_torque) ** 2, atol=1e-9)
