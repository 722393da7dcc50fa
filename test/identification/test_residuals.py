"""Residuals of the written file: wider where few recordings show their scatter, without presliding that is unknown."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from presliding_joint import elements
from synthetic import MODEL, TRUTH, UR5E, excitation, log_at, synthetic_log, with_signals

from robot_dynamics_ros._core import CONTACT_ENDS, DRY_SPAN
from robot_dynamics_ros.estimators.force_arguments import CONTACT
from robot_dynamics_ros.identification.arm.residuals import (
    FLOORS,
    ONSETS,
    SETTLING,
    UNLOADED,
    UNSEEN,
    WIDER,
    deviations,
    gravity_deviation,
    largest_spans,
    residuals,
    slow_error,
)
from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.identification.dataset.recording import Piece, recording
from robot_dynamics_ros.models.hysteresis import friction_level, friction_within
from robot_dynamics_ros.signals import Log

ONE = np.ones(6)
MEMORIES = elements([0.002, 0.02, 0.2], [1.0, 1.0, 0.0], fv1=1.0), elements([DRY_SPAN], [1.0], fv1=1.0)
REMEMBERING, DRY = (UR5E.with_updates({"hysteresis": block}, {"test": "made up"}) for block in MEMORIES)


@pytest.fixture
def log():
    return synthetic_log(UR5E, TRUTH, 1, duration=12.0)


def residuals_at(speed, *efforts):
    """Residuals of an arm whose joints move with speed (N,) [rad/s] at 500 Hz, for efforts (N, 1 or 6) [Nm] beside
    gravity, with a robot file each.
    """
    q = excitation(6, 4.0, 500.0, 2)[1][0] + np.cumsum(speed)[:, None] / 500.0 * ONE
    gravity, stamps = MODEL.gravity(q), (2_000_000 * np.arange(len(q))).astype(np.int64)
    signals = {"q": q, "qd": np.tile(speed[:, None], (1, 6))}
    logs = [(robot, Log(UR5E.joint_names, stamps, signals | {"effort": gravity + x})) for robot, x in efforts]
    return [residuals(robot, [recording(one, "bag")]) for robot, one in logs]


@pytest.mark.parametrize("side", ["motor", "link"])
def test_of_a_joint_that_never_moved_nothing_is_known_behind_a_motor(log, side):
    """Its friction was known to 0.09 Nm by its rest: 38 % were claimed as soon as it moved, by friction of 1.2 Nm."""
    log.q[:, 5], log.qd[:, 5], log.effort[:, 5] = 0.4, 0.0, 0.0
    found = residuals(UR5E.with_updates({"drives.torque_side": side}), [recording(log, "bag")])
    least = 0.1 * UR5E.array("limits.torque")
    for state in ("moving", "rest"):
        assert ((found[state] >= least) == (np.arange(6) == 5) * (side == "motor")).all()


def test_few_recordings_widen_the_residual(log):
    bags = [recording(log, f"bag {k}") for k in range(3)]
    one, two, three = (residuals(UR5E, bags[:count])["moving"] for count in (1, 2, 3))
    np.testing.assert_allclose(one / two, 1.3 / 1.0, rtol=0.01)
    np.testing.assert_allclose(two / three, 1.0 / 0.9, rtol=0.01)
    parts = residuals(UR5E, [recording(log, "bag"), recording(log, "bag")])  # pieces of one recording
    np.testing.assert_allclose(parts["moving"], one)


def test_a_piece_that_ends_while_the_observer_settles_says_nothing(log):
    whole = recording(log, "bag")
    (piece,) = whole.pieces
    short = piece.take(slice(0, int((piece.t <= SETTLING).sum())))
    one, two = (residuals(UR5E, [replace(whole, pieces=pieces)]) for pieces in ([piece], [piece, short]))
    np.testing.assert_allclose(two["moving"], one["moving"], rtol=0.01)
    np.testing.assert_allclose(two["significance"], one["significance"], rtol=0.01)


def test_unknown_gravity_and_the_level_of_friction_are_in_the_residuals(log):
    taken = [recording(log, "bag")]
    plain, wide = residuals(UR5E, taken), residuals(UR5E, taken, elsewhere=3.0 * ONE)
    for name in ("moving", "rest"):
        np.testing.assert_allclose(wide[name], np.hypot(plain[name], 3.0))
        assert (plain[name] >= FLOORS[name] * friction_level(UR5E)).all()


@pytest.mark.parametrize("side", ["motor", "link"])
@pytest.mark.parametrize("coarse", [False, True])
def test_without_velocities_friction_at_rest_is_less_sure_behind_a_motor(log, side, coarse):
    """Rotors of elastic gears turn under a push unseen: 82 % in contact at rest were within two deviations."""
    reported = np.round(log.qd / 0.024) * 0.024 if coarse else None
    arm, blind = UR5E.with_updates({"drives.torque_side": side}), with_signals(log, qd=reported)
    piece = recording(blind, "bag").pieces[0]
    assert not coarse or (np.abs(piece.qd - reported).max() < 0.0121 and np.allclose(piece.qd_steps, 0.024))
    rest = [deviations(arm, [recording(one, "bag")], 0.0, lambda *_: np.zeros(6))["rest"] for one in (log, blind)]
    shares = FLOORS["rest"], UNSEEN if side == "motor" else FLOORS["rest"]
    np.testing.assert_allclose(rest, np.outer(shares, friction_level(UR5E)), rtol=1e-6)


@pytest.mark.parametrize("side", ["motor", "link"])
@pytest.mark.parametrize("step", [0.0, 2e-4])
def test_friction_within_a_step_of_the_positions_is_unsure_behind_the_gear(log, side, step):
    """After pushes a Panda whose positions came in steps of 0.2 mrad showed contact in 17 % of the free time."""
    arm = REMEMBERING.with_updates({"drives.torque_side": side})
    fine, coarse = log, with_signals(log, q=np.round(log.q / step) * step if step else log.q)
    rest = [deviations(arm, [recording(x, "bag")], 0.0, lambda *_: np.zeros(6))["rest"] for x in (fine, coarse)]
    felt = friction_within(arm, np.full(6, step)) / np.sqrt(12.0) * (side == "link")
    assert (felt > 0).all() == (step > 0 and side == "link")
    np.testing.assert_allclose(rest[1], np.hypot(rest[0], felt), rtol=1e-6)


@pytest.mark.parametrize("side", ["motor", "link"])
def test_a_torque_sensor_that_carries_nothing_is_as_wrong_as_the_others(log, side):
    """Hysteresis of 0.5 % of the limit, which no free motion shows on the last joint (1 mNm): after pushes 59 % of the
    free time were contact.
    """
    torque = 0.003 * UR5E.array("limits.torque") * (np.arange(6) < 5)
    arm = UR5E.with_updates({"drives.torque_side": side, "friction": None, "hysteresis": None})
    found = deviations(arm, [recording(log, "bag")], 0.0, lambda *_: torque)["moving"]
    np.testing.assert_allclose(found[:5] / WIDER[0], torque[:5], rtol=1e-6)
    shown = np.sqrt(5 / 6) * UNLOADED * 0.003 * WIDER[0] * UR5E.array("limits.torque")[5]
    assert found[5] == pytest.approx(shown if side == "link" else 1e-3)


def test_the_largest_speed_leaves_out_single_samples(log):
    speed = np.abs(log.qd)
    found = residuals(UR5E, [recording(log, "bag")])["speed"]
    assert (found > 0.9 * np.quantile(speed, 0.99, axis=0)).all() and (found <= 1.02 * speed.max(axis=0)).all()


@pytest.mark.parametrize(("period", "noise", "error"), [(2.0, 0.0, UNSEEN), (100.0, 0.0, 0.0), (100.0, 0.01, 0.0)])
def test_friction_at_small_speeds_is_unknown_where_sliding_is_steady_at_large_ones_only(period, noise, error):
    """Sines of 0.5 rad/s: within a factor of two for 0.2 s above 0.15 and above 0.02 rad/s; noise [rad/s] of qd."""
    t = np.arange(50_000) / 500.0
    q = 0.5 * period / (2 * np.pi) * np.sin(2 * np.pi * t / period)[:, None] * np.ones(6)
    qd = np.gradient(q, 1 / 500.0, axis=0) + noise * np.random.default_rng(0).normal(size=q.shape)
    signals = {"q": q, "qd": qd, "effort": np.zeros_like(q)}
    rec = recording(log_at(t, signals, UR5E.joint_names), "bag")
    np.testing.assert_allclose(slow_error(rec.pieces), error, atol=1e-9)


def test_seconds_of_slow_sliding_are_counted_at_the_rate_of_each_piece():
    """Half a second at 500 Hz beside 10 s at 50 Hz is not 3 s; it was where the slower rate came first."""
    pieces = []
    for rate, seconds, speed in ((500.0, 0.5, 0.05), (50.0, 10.0, 0.2)):
        t = np.arange(round(seconds * rate)) / rate
        q = speed * t[:, None]
        pieces.append(Piece(t, q, np.full_like(q, speed), np.zeros_like(q)))
    for some in (pieces, pieces[::-1]):
        np.testing.assert_allclose(slow_error(some), UNSEEN)


@pytest.mark.parametrize(("burst", "onset"), [(10.0, ONSETS[0]), (29.0, ONSETS[1])])
def test_bursts_of_a_free_robot_are_no_onset_of_a_contact(log, burst, onset):
    """[Nm], for 40 ms every second, to and fro: 29 Nm would keep a contact of the fast observer."""
    sign = np.where(log.time % 0.04 < 0.02, 1.0, -1.0) * (log.time % 1.0 < 0.04)
    log.effort = log.effort + burst * sign[:, None] * [1.0, 1.0, 1.0, 0.2, 0.2, 0.2]
    found = residuals(UR5E, [recording(log, "bag")])
    assert found["onset"] == onset and found["significance"] < CONTACT_ENDS * CONTACT


def test_a_stand_before_the_first_motion_says_nothing_about_presliding():
    """Friction holds 5 Nm from before the recording: the elements that have not slipped contain it, live. Behind motors
    its deviation is that of unknown friction, because the joints never moved.
    """
    assert largest_spans(REMEMBERING).tolist() == [0.02] * 6 and largest_spans(UR5E).tolist() == [0.0] * 6
    behind = [robot.with_updates({"drives.torque_side": "link"}) for robot in (REMEMBERING, UR5E)]
    unseen, seen = residuals_at(np.zeros(round(500 * 4.0 * SETTLING)), *((robot, 5.0) for robot in behind))
    least = UNSEEN * friction_level(REMEMBERING)  # of the wrists; that of larger limits follows UNLOADED
    np.testing.assert_allclose(unseen["rest"][3:], least[3:])
    assert (unseen["rest"] < 1.0).all()
    assert (seen["rest"] > 5.0).all()


def test_the_first_50_ms_of_a_slide_of_a_dry_joint_say_nothing_about_rest():
    """50 Nm for 10 ms after every stand: live, the deviation there contains what the joint may have kept."""
    t = np.arange(12_000) / 500.0
    speed = np.where(t % 2.0 < 1.0, 0.0, np.where(t % 4.0 < 2.0, 5e-3, -5e-3))
    begins = 50.0 * ((t % 2.0 >= 1.0) & (t % 2.0 < 1.01))[:, None]
    level = np.sign(speed)[:, None]
    free, begun = residuals_at(speed, (DRY, level), (DRY, level + begins))
    assert (begun["rest"] < free["rest"] + 0.7).all()  # 0.84 and more if they counted


@pytest.mark.parametrize("deviation", [0.1, 0.3])
def test_gravity_elsewhere_follows_the_covariance_of_the_parameters(deviation):
    rigid = RigidModel(UR5E)
    size = rigid.base.size + 7  # friction behind the base parameters is no gravity
    model = SimpleNamespace(rigid=rigid, covariance=deviation**2 * np.eye(size))
    found = gravity_deviation(UR5E, model)
    assert found[0] == pytest.approx(0.0, abs=1e-9)  # the first axis is vertical
    unit = SimpleNamespace(rigid=rigid, covariance=np.eye(size))
    np.testing.assert_allclose(found / deviation, gravity_deviation(UR5E, unit), rtol=1e-9)
    assert (found[1:4] > deviation).all()  # m r in kg m acts with 9.8 m/s2
