"""Filters, timing, acceleration and the friction band."""

import numpy as np
import pytest
from force_bench import POSE, UR5E, measured, model, moving, still
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.estimators.alignment import Alignment
from robot_dynamics_ros.estimators.friction import FrictionStage
from robot_dynamics_ros.estimators.motion import MotionStage
from robot_dynamics_ros.estimators.pipeline import Pipeline

STAGES = ("motion", "temperature", "friction")


def run_motion(log, robot=UR5E, **parameters):
    stage = MotionStage.of(robot, parameters)
    return stage, stage.run(log)


def test_acceleration_is_the_velocity_differentiated_through_the_low_pass():
    motion = moving(seconds=3)
    log = measured(motion)
    run_motion(log)
    # a first-order lag of 1/150 s behind the true acceleration
    lag = np.array([np.interp(log.time - 1 / 150, log.time, motion[2][:, j]) for j in range(6)]).T
    assert np.abs(log.qdd[100:] - lag[100:]).max() < 0.02


@settings(max_examples=30)
@given(rates=st.lists(st.sampled_from([1, 2, 3, 4]), min_size=20, max_size=60), cutoff=st.floats(5, 500))
def test_low_pass_depends_on_time_not_on_sampling(rates, cutoff):
    """Exact for a held input: after a ramp in velocity that ends, qdd decays as exp(-wc t) whatever the steps were."""
    stamp = np.cumsum([0, *rates]) * 1_000_000
    qd = np.zeros((len(stamp), 6))
    qd[1:] = 0.2  # one step of velocity: an impulse of acceleration
    log = measured(still(seconds=0.2))[: len(stamp)]
    log.stamp_ns, log.qd = stamp, qd
    run_motion(log, acceleration_cutoff=cutoff)
    t = stamp * 1e-9
    start = 0.2 * (1 - np.exp(-cutoff * t[1])) / t[1]
    np.testing.assert_allclose(log.qdd[1:, 0], start * np.exp(-cutoff * (t[1:] - t[1])), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("step", [0.005, 0.024])
@pytest.mark.parametrize("rounded", [np.round, np.trunc, np.floor])
def test_velocities_in_coarse_steps_are_put_right_by_the_positions(step, rounded):
    """As far as a step allows, so that creep is no longer zero: over a recording, and live once the step is known."""
    log = measured(moving())
    slow = log.time > 3.0
    qd = np.where(slow[:, None], 1e-3, log.qd)
    log.q = log.q[0] + np.cumsum(qd, axis=0) * 0.002
    log.qd = rounded(qd / step) * step
    reported, (_, found, _, steps) = log.qd.copy(), _core.within_steps(log.time, log.q, log.qd)
    np.testing.assert_allclose(steps, step, rtol=1e-6)
    assert np.abs(found - reported).max() <= 0.5 * step + 1e-9
    assert not reported[slow].any() and np.abs(found[slow][100:] - 1e-3).max() < 1e-6
    log.stamp_ns[np.flatnonzero(slow)[0] + 200 :] += 10**9  # a gap in the creep, in which the arm stands
    aligned = Alignment(UR5E).aligned(log)
    np.testing.assert_allclose(aligned.qd[slow][100:200], found[slow][100:200], atol=1e-9)
    np.testing.assert_allclose(aligned.qd[slow][300:], found[slow][300:], atol=1e-9)


@pytest.mark.parametrize("step", [2.4e-5, 2e-4])
@pytest.mark.parametrize("rounded", [np.round, np.floor])
def test_positions_in_coarse_steps_are_put_right_by_the_velocities(step, rounded):
    """Over a recording, and live once the step is known; digits of a table are no finer step."""
    log = measured(moving())
    true, log.q = log.q, np.round(rounded(log.q / step) * step, 7)
    reading, aligned = log.q.copy(), Alignment(UR5E).aligned(log).q
    found, _, steps, _ = _core.within_steps(log.time, log.q, log.qd)
    np.testing.assert_allclose(steps, step, rtol=1e-2)
    assert np.abs(found - reading).max() <= 0.5 * step + 1e-9
    late = log.time > 3.0
    for x in (found, aligned) if step > 1e-4 else (found,):  # a finer one shows in slower motion only
        wrong, before = (np.diff((y - true)[late], axis=0).std() for y in (x, reading))
        assert wrong < 0.2 * before


def test_no_bit_of_fine_signals_changes():
    """Also not of those of single steps of an encoder behind a low-pass, nor at a steady acceleration without noise."""
    log = measured(moving(), noise=0.01)
    k = np.arange(len(log))
    ticks = np.outer(np.where(k > 100, 0.01 * np.exp(-0.4 * (k % 50)), 0.0), np.ones(6))
    steady = np.clip(np.abs((log.time[:, None] % 2.0) - 1.0) * 3.0, 0.4, 2.0) * np.linspace(0.3, 1.0, 6)
    for qd in (log.qd.copy(), ticks, steady):
        q, found, *steps = _core.within_steps(log.time, log.q, np.ascontiguousarray(qd))
        assert (found == qd).all() and (q == log.q).all() and not np.any(steps)
        log.qd = qd
        assert (Alignment(UR5E).aligned(log).qd == qd).all()


def test_model_torque_contains_rotor_inertia_exactly_on_the_motor_side():
    log = measured(moving())
    run_motion(log)
    rigid = model().rnea(log.q, log.qd, log.qdd)
    inertia = UR5E.array("drives.rotor_inertia")
    np.testing.assert_allclose(log.model_torque, rigid + inertia * log.qdd, atol=1e-9)
    run_motion(log, UR5E.with_updates({"drives.torque_side": "link"}))
    np.testing.assert_allclose(log.model_torque, rigid, atol=1e-9)


def test_learned_period_counts_missing_samples_at_any_rate():
    for rate in (94, 125, 500, 1000):
        log = measured(moving(seconds=2, rate=rate), rate=rate)
        keep = np.ones(len(log), dtype=bool)
        keep[[*range(20, 26), 40, 60, 61]] = False
        stage, status = run_motion(log[keep])
        assert stage.core.missed == 9 and stage.core.period == pytest.approx(1 / rate, rel=0.03)
        assert np.flatnonzero(status).tolist() == [0, 20] and status[20] == int(_core.Status.degraded)  # six in a row


def test_jitter_of_real_logs_is_no_gap():
    log = measured(moving(seconds=2, rate=1000), rate=1000)
    rng = np.random.default_rng(4)
    log.stamp_ns = log.stamp_ns[0] + np.cumsum(rng.choice([700_000, 1_000_000, 4_900_000, 8_800_000], len(log)))
    _, status = run_motion(log)
    assert not np.isin(status, [2, 3]).any()


def test_frozen_needs_speed():
    log = measured(still(seconds=1), noise=0.1)
    _, status = run_motion(log)
    assert (status[1:] == 0).all()  # standing still with equal positions is not frozen


def test_arguments_are_named():
    with pytest.raises(TypeError, match="nonsense"):
        _core.MotionState(UR5E.chain(), nonsense=1)
    with pytest.raises(ValueError, match="cutoff = nan"):
        _core.MotionState(UR5E.chain(), acceleration_cutoff=float("nan"))
    with pytest.raises(CapabilityError, match="torque_constant"):
        MotionStage().configure(UR5E.with_updates({"drives.torque_constant": None}), {"torque_source": "current"})


# ---- friction band


def friction_of(qd, parameters=None):
    stage = FrictionStage.of(UR5E, parameters)
    log = measured(still(seconds=len(qd) / 500))
    log.qd, log.effort = qd, None
    return stage, stage.run(log), log


def test_band_is_uniform_stiction_at_rest_and_relative_when_sliding():
    qd = np.linspace(0, 1, 60)[:, None] * np.ones(6)
    _, _, log = friction_of(qd, parameters={"relative_error": 0.1})
    fc = UR5E.array("friction.parameters.fc")
    np.testing.assert_allclose(log.friction_std[0], fc / np.sqrt(3), rtol=1e-9)
    np.testing.assert_allclose(log.friction_std[-1], 0.1 * log.friction_torque[-1], rtol=1e-3)


def test_fault_17_missing_or_impossible_temperature_widens_the_band():
    numbers = {"alpha": -0.01, "t_min": 10.0, "t_max": 60.0}
    thermal = {f"friction.parameters.{name}": np.full(6, value) for name, value in numbers.items()}
    robot = UR5E.with_updates(thermal | {"friction.reference_temperature": 25.0})
    stage = FrictionStage.of(robot)
    bands = {}
    for name, value in {"good": 30.0, "missing": np.nan, "broken": -273.0, "hot": 200.0}.items():
        log = measured(still(seconds=0.1))
        log.qd = np.full_like(log.q, 0.5)
        log.temperature_estimate, log.temperature_variance = np.full_like(log.q, value), np.ones_like(log.q)
        status = stage.run(log)
        assert np.isfinite(log.friction_torque).all()
        bands[name] = (status[0], log.friction_std[0, 0])
    assert bands["good"][0] == 0 and bands["missing"][1] > 1.1 * bands["good"][1]
    assert bands["broken"][0] == bands["hot"][0] == int(_core.Status.degraded)


@pytest.mark.parametrize(("reported", "used"), [([308.0] * 6, []), ([np.nan, *[45.0] * 5], [1, 2, 3, 4, 5])])
def test_impossible_temperatures_are_those_of_no_joint_and_good_ones_of_their_own(reported, used):
    """308 K as deg C turned friction round (10.8 to -18.8 Nm); without that of joint 0 the others had no deviation."""
    slope = {"alpha": np.full(6, -0.01), "beta": np.ones(6)}
    changes = {f"friction.parameters.{name}": value for name, value in slope.items()}
    pipeline = Pipeline(UR5E.with_updates(changes | {"friction.reference_temperature": 35.0}), None, STAGES)
    log, unknown = measured(still(seconds=0.1)), measured(still(seconds=0.1))
    log.temperature = np.tile(reported, (len(log), 1))
    for one in (log, unknown):
        one.qd = np.full_like(one.q, 0.5)
        pipeline.reset()
        pipeline.run(one)
    expected = np.where(np.isin(range(6), used), 0.9, 1.0) * unknown.friction_torque[-1]
    np.testing.assert_allclose(log.friction_torque[-1], expected, rtol=1e-9)
    spread = np.where(np.isin(range(6), used), 10.0, 15.0) * 0.01 * unknown.friction_torque[-1]  # sigma_T |df/dT|
    share = 0.3 * expected
    np.testing.assert_allclose(log.friction_std[-1], np.hypot(share, spread), rtol=1e-6)


def test_estimated_friction_is_less_certain_and_unknown_friction_is_reported():
    stage, _, _ = friction_of(np.zeros((5, 6)))
    assert "estimate" in stage.notes[0]
    stage.configure(UR5E.with_updates({"friction": None}))
    assert "unknown" in stage.notes[0]
    log = measured(still(POSE, seconds=0.1))
    assert (stage.run(log) == int(_core.Status.unavailable)).all() and np.isnan(log.friction_torque).all()


# ---- friction with memory


def test_hysteresis_model_is_chosen_where_it_is_identified_and_can_be_forced():
    identified = UR5E.with_updates({"friction.source": "fit", "hysteresis.source": "fit"}, {"fit": "same numbers"})
    stage, given = FrictionStage(), ((UR5E, "auto", False), (UR5E, "hysteresis", True), (identified, "auto", True))
    for robot, choice, used in (*given, (identified, "static", False)):
        stage.configure(robot, {"model": choice})
        assert (stage.hysteresis is not None) == used
    with pytest.raises(CapabilityError, match="hysteresis"):
        stage.configure(UR5E.with_updates({"hysteresis": None}), {"model": "hysteresis"})
