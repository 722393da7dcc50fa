"""The force stage over whole motions: recovery of wrenches, contact decisions, tare, payload, sensor faults."""

import numpy as np
import pytest
from force_bench import POSE, RATE, UR5E, during, estimated, measured, model, moving, still, with_residuals

from robot_dynamics_ros._core import Status
from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.estimators.external_force import ForceStage
from robot_dynamics_ros.estimators.pipeline import Pipeline

WRENCH = np.array([12.0, -25.0, -60.0, 1.0, 2.0, -0.5])  # environment on robot
WIDE = {"expected_force": 1e6, "expected_moment": 1e6}  # nothing is expected: no shrinkage


def test_constant_wrench_at_standstill_is_recovered_with_its_sign():
    log = measured(still(seconds=12), WRENCH)
    estimated(log, **WIDE)
    np.testing.assert_allclose(log.external_wrench[-1], WRENCH, atol=1e-3)
    np.testing.assert_allclose(log.external_joint_torque[-1], model().jacobian(POSE).T @ WRENCH, atol=1e-3)


FORCE_ONLY = WRENCH * [1, 1, 1, 0, 0, 0]


@pytest.mark.parametrize(("wrench", "prior"), [(WRENCH, WIDE), (FORCE_ONLY, {})], ids=["wide", "default"])
def test_wrench_is_recovered_in_motion_within_its_band(wrench, prior):
    log = measured(moving(seconds=6), wrench, noise=0.2)
    _, status = estimated(log, **prior)
    late = log.time > 0.5
    error = log.external_wrench - wrench
    assert np.sqrt((error[late, :3] ** 2).mean(axis=0)).max() < 2.5
    inside = np.abs(error[late]) < 3 * log.external_wrench_std[late]
    assert inside.mean() > 0.99 and (status[late] == int(Status.ok)).all()


def test_band_is_wide_at_rest_and_narrow_in_motion():
    """Stiction: at rest the motor may hold anything within +-fc."""
    rest, slide = measured(still()), measured(moving())
    estimated(rest), estimated(slide)
    fc = UR5E.array("friction.parameters.fc")
    assert (rest.external_joint_torque_std[-1] > 0.57 * fc).all()
    assert (slide.external_joint_torque_std[200:].min(axis=0) < 0.9 * rest.external_joint_torque_std[-1]).all()


def test_contact_begins_and_ends_with_the_push():
    log = measured(moving(seconds=6), during(2.0, 4.0, 6.0, 2 * WRENCH), noise=0.1)
    estimated(log)
    t, tcp = log.time, log.contact[:, -1]
    assert not tcp[t < 2].any() and not tcp[t > 4.4].any()
    assert tcp[(t > 2.3) & (t < 4)].all()
    assert log.contact[(t > 2.3) & (t < 4), 1].all()  # the shoulder feels it too


def test_free_motion_with_noise_is_no_contact():
    log = measured(moving(seconds=10), noise=0.5)
    estimated(log)
    assert not log.contact.any() and not log.payload_or_bias.any()


@pytest.mark.parametrize(("velocity", "effort"), [(0.0, 0.4), (3.0, 0.0), (-3.0, 0.4)])
def test_a_reading_that_jumps_for_a_sample_is_no_contact_and_an_effort_that_stays_is(velocity, effort):
    log = measured(moving(seconds=4), noise=0.1)
    clean = log[:]
    estimated(clean)
    rows = np.arange(300, 1500, 60)
    log.effort[rows, rows // 60 % 6] += effort * UR5E.array("limits.torque")[rows // 60 % 6]
    log.qd[rows, rows // 60 % 6] += velocity
    log.effort[1700:] += 60.0 * np.eye(6)[2]
    estimated(log)
    before = slice(0, 1700)
    assert not log.contact[before].any() and log.contact[1720:, -1].all()
    off = np.abs(log.external_joint_torque - clean.external_joint_torque)[before]
    assert (off < 0.2 * clean.external_joint_torque_std[before]).all()


@pytest.mark.parametrize("period", [2, 3, 4])
def test_a_fast_vibration_has_no_mean(period):
    log = measured(moving(3.0), noise=0.1)
    log.effort[:, 1] += 20.0 * np.sin(2 * np.pi * np.arange(len(log)) / period + 0.7) * (log.time > 1.0)
    estimated(log)
    assert np.abs(log.external_joint_torque[log.time > 1.5, 1].mean()) < 0.5


def test_a_hit_that_changes_velocity_and_effort_within_a_sample_is_no_reading_error():
    (q, qd, qdd), hit = moving(3.0, rate=125), np.arange(375)[:, None] / 125 - 2.0
    kick = np.array([0, -0.4, 0, 0, 0, 0]) * np.where(hit > 0, np.exp(-20 * hit), 0.0)
    log = measured((q + np.cumsum(kick, axis=0) / 125, qd + kick, qdd - 20 * kick), noise=0.1, rate=125)
    estimated(log)
    assert 25.0 < np.abs(log.external_joint_torque[log.time > 2.0, 1]).max() < 35.0


def test_contact_threshold_follows_the_uncertainty():
    """The same small push is seen when friction is known well, not when it is not."""
    small = during(2.0, 4.0, 6.0, [0.0, 0.0, 25.0, 0, 0, 0])
    seen = []
    for relative in (0.02, 0.5):
        log = measured(moving(seconds=6), small)
        Pipeline(UR5E, {"friction": {"relative_error": relative}, "force": {"model_error": relative / 3}}).run(log)
        seen.append(log.contact[(log.time > 2.5) & (log.time < 4), -1].mean())
    assert seen[0] > 0.8 and seen[1] < 0.2


# ---- tare


def test_tare_removes_a_sensor_bias():
    log = measured(still(seconds=3))
    log.effort = log.effort + np.array([4.0, -3.0, 2.0, 0.5, 0.5, -0.5])
    pipeline, _ = estimated(log)
    before = log.external_wrench[-1].copy()
    done, text = pipeline.stage("force").tare()
    assert done and "bias" in text and np.abs(before).max() > 3
    log.stamp_ns = log.stamp_ns + 3_000_000_000
    pipeline.run(log)
    assert np.abs(log.external_joint_torque[-1]).max() < 0.01 and np.abs(log.external_wrench[-1]).max() < 0.05
    pipeline.stage("force").core.bias = np.zeros(6)
    log.stamp_ns = log.stamp_ns + 3_000_000_000
    pipeline.run(log)
    np.testing.assert_allclose(log.external_wrench[-1], before, atol=0.1)


SWING = 60 * np.cos(np.arange(4 * RATE) / 80.0)[:, None] * np.eye(6)[2]


@pytest.mark.parametrize(
    ("log", "why"),
    [
        (measured(still(seconds=1)), "too few samples"),
        (measured(moving(seconds=6), during(2.0, 9.0, 6.0, 2 * WRENCH)), "contact"),
        (measured(still(seconds=4), SWING), "changing"),
        (measured(still(seconds=4), np.array([0, 0, 300.0, 0, 0, 0])), "neither friction nor a payload"),
    ],
    ids=["early", "contact", "unsteady", "large"],
)
def test_tare_is_refused_when_it_would_hide_something(log, why):
    pipeline, _ = estimated(log)
    done, text = pipeline.stage("force").tare()
    assert not done and why in text
    assert not pipeline.stage("force").core.bias.any()


def test_a_push_that_begins_right_after_a_tare_is_not_tared():
    log = measured(still(seconds=6), during(3.1, 9.0, 6.0, [0.0, 0.0, 25.0, 0, 0, 0]), friction=False, noise=0.02)
    pipeline, _ = estimated(log[: 3 * RATE], with_residuals(np.full(6, 0.4), np.full(6, 0.8)))
    assert pipeline.stage("force").tare()[0]
    pipeline.run(log[3 * RATE :])
    done, text = pipeline.stage("force").tare()
    assert not done and "is now in contact" in text


# ---- fault 16: torque signal stuck, garbage


@pytest.mark.parametrize("jump", [0.0, 40.0])  # Nm, to the value at which it stays
def test_stuck_torque_isolates_the_joint_and_widens_the_band(jump):
    log, healthy = measured(moving()), measured(moving())
    log.effort[1000:, 1] = log.effort[1000, 1] + jump
    pipeline, status = estimated(log)
    estimated(healthy)
    assert pipeline.stage("force").core.isolated == [False, True, False, False, False, False]
    assert status[-1] == int(Status.degraded)
    assert log.external_joint_torque_std[-1, 1] > 1000 and log.external_joint_torque_std[-1, 0] < 10
    assert (log.external_wrench_std[-1] > healthy.external_wrench_std[-1]).all()
    assert log.external_wrench_std[-1, :3].max() > 1.3 * healthy.external_wrench_std[-1, :3].max()
    assert (np.abs(log.external_wrench[1800:]) < 3 * log.external_wrench_std[1800:]).all()
    assert not log.contact[1800:, -1].any()


def test_a_torque_in_coarse_steps_is_not_stuck_while_it_stays_at_one_of_them():
    log = measured(moving(seconds=6))
    steps = UR5E.array("friction.parameters.fc") * [1e-4, *[0.2] * 5]  # fine at the base
    log.effort[:] = np.round(log.effort / steps) * steps
    longest = max(np.diff(np.flatnonzero(np.diff(effort))).max() for effort in log.effort.T)
    _, status = estimated(log)
    assert longest > 0.6 * RATE and not (status == int(Status.degraded)).any()


def test_garbage_torque_of_one_joint_does_not_reach_the_others():
    log, healthy = measured(moving()), measured(moving())
    log.effort[1000:1200, 4] = 5e4
    _, status = estimated(log)
    estimated(healthy)
    assert (status[1000:1200] == int(Status.degraded)).all() and status[-1] == int(Status.ok)
    others = [0, 1, 2, 3, 5]
    np.testing.assert_array_equal(log.external_joint_torque[:, others], healthy.external_joint_torque[:, others])
    assert np.abs(log.external_joint_torque[:, 4] - healthy.external_joint_torque[:, 4]).max() < 3


# ---- fault 19


def test_singular_pose_is_finite_wide_and_flagged():
    pose = POSE.copy()
    pose[4] = 0.0
    log = measured(still(pose), WRENCH)
    _, status = estimated(log, small_contact=1.0)
    assert np.isfinite(log.external_wrench).all() and status[-1] == int(Status.degraded)
    assert (np.abs(log.external_wrench[-1] - WRENCH) < 3 * log.external_wrench_std[-1]).all()
    assert log.singular_value[-1, 0] < 1e-6 and log.external_wrench_std[-1, 3:].max() > 1.4  # of the expected 1.5 Nm


def test_a_refused_configuration_leaves_the_running_stage_as_it_was():
    stage = ForceStage.of(UR5E)
    core = stage.core
    for bad in ({"bandwidth": float("nan")}, {"contact_on_ratio": 0.01}, {"nonsense": 1}):
        with pytest.raises((ConfigError, ValueError), match="bandwidth|ratio|nonsense"):
            stage.configure(UR5E, bad)
        assert stage.core is core


def test_a_tool_that_bears_no_moment_leaves_all_of_the_torque_to_the_force():
    """A suction cup, by the robot file; a parameter that is given counts before it."""
    cup, std = UR5E.with_updates({"kinematics.tool.expected_moment": 0.0}), []
    for arm, given in ((UR5E, 0.0), (cup, 0.0), (cup, 1.5)):
        log = measured(still(seconds=2.0), FORCE_ONLY)
        pipeline, _ = estimated(log, arm, expected_moment=given)
        assert any("moments at the TCP are not estimated" in x for x in pipeline.notes) == (given == 0.0 and arm is cup)
        std.append(log.external_wrench_std[-1, :3])
        assert (log.external_wrench[:, 3:] == 0).all() == (given == 0.0 and arm is cup)
    assert (std[1] < std[0]).all()
    np.testing.assert_array_equal(std[2], std[0])
