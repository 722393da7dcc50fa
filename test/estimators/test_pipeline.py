"""Live equals replay bit for bit; faults of the sample stream 1-8 and 12 never reach a state."""

import numpy as np
import pytest
from force_bench import UR5E, measured, model, moving
from hypothesis import given, settings
from stepwise import PERIOD, assert_run_is_step, faults, spoil

from robot_dynamics_ros._core import Status
from robot_dynamics_ros.errors import CapabilityError, ConfigError
from robot_dynamics_ros.estimators.core_file import core_text
from robot_dynamics_ros.estimators.pipeline import STAGES, Pipeline
from robot_dynamics_ros.estimators.stage import Stage
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import SIGNALS


@settings(max_examples=30)
@given(what=faults)
def test_live_equals_replay_bit_for_bit_whatever_the_stream(what):
    log = measured(moving(seconds=0.6), noise=0.1)
    spoil(log, what)
    replayed, status = assert_run_is_step(UR5E, log)
    good = np.isin(status, [0, 1, 3, 4])
    assert np.isfinite(replayed.external_wrench[good]).all()


def test_running_twice_over_the_same_log_gives_the_same():
    log = measured(moving(seconds=0.5))
    log.qd = None
    Pipeline(UR5E).run(log)
    once = log.external_wrench.copy()
    Pipeline(UR5E).run(log)
    np.testing.assert_array_equal(log.external_wrench, once)


def spoiled(change):
    """The estimate with and without a change of the log, and the statuses with it."""
    clean, log = measured(moving(2.0)), measured(moving(2.0))
    log = change(log) or log
    status = Pipeline(UR5E).run(log)
    Pipeline(UR5E).run(clean)
    return log, clean, status


@pytest.mark.parametrize(("row", "lost"), [(500, 3), (850, 7)])
def test_fault_1_missing_samples_use_the_real_dt_without_a_step(row, lost):
    """After more than five periods, where dt is clamped, the observer starts at the new sample."""
    keep = np.ones(1000, dtype=bool)
    keep[row : row + lost] = False
    log, clean, status = spoiled(lambda log: log[keep])
    assert (np.delete(status, row)[100:] == 0).all()
    np.testing.assert_allclose(log.external_joint_torque, clean.external_joint_torque[keep], atol=0.1)


def test_samples_whose_stamps_jitter_are_not_missing():
    log = measured(moving(seconds=2.0))
    log.stamp_ns[::2] += 1_400_000
    log = log[np.delete(np.arange(len(log)), [500, 501])]
    pipeline = Pipeline(UR5E, stages=["motion"])
    pipeline.run(log[:400])  # the period is learned
    before = pipeline.stage("motion").core.missed
    pipeline.run(log[400:])
    assert pipeline.stage("motion").core.missed - before == pytest.approx(2, abs=1)


@pytest.mark.parametrize(("gap", "most"), [(0.025, 5.5), (1.5, 1.0)])
def test_fault_2_after_a_gap_the_observer_starts_at_the_new_sample(gap, most):
    """With the torque of before, which it forgets as fast as that of a push that ends; after seconds with none."""

    def remove(log):
        log.stamp_ns[500:] += round(1e9 * gap)
        log.effort[450:500] += 5.0  # ends in the gap

    log, _, status = spoiled(remove)
    assert status[500] == int(Status.reset) and status[501] in (int(Status.ok), int(Status.warming_up))
    assert np.abs(log.external_joint_torque[499]).max() > 3.0
    assert np.abs(log.external_joint_torque[500:]).max() < most
    assert np.abs(log.external_joint_torque[600:]).max() < 1.0


def test_fault_4_frozen_positions_at_speed_are_degraded():
    def freeze(log):
        log.q[500:550], log.qd[500:550], log.effort[500:550] = log.q[500], log.qd[500], log.effort[500]

    log, _, _ = spoiled(freeze)
    status = Pipeline(UR5E, stages=["motion"]).run(log)
    assert (status[511:550] == int(Status.degraded)).all() and (status[550:] == 0).all()


def test_fault_5_duplicates_are_dropped_and_change_nothing():
    rows = np.sort(np.concatenate([np.arange(1000), np.arange(300, 360)]))
    log, clean, status = spoiled(lambda log: log[rows])
    dropped = status == int(Status.dropped)
    assert dropped.sum() == 60 and np.isnan(log.external_wrench[dropped]).all()
    np.testing.assert_array_equal(log.external_wrench[~dropped], clean.external_wrench)


def test_fault_6_a_clock_that_goes_back_restarts_as_new():
    log, clean, status = spoiled(lambda log: log[np.concatenate([np.arange(1000), np.arange(1000)])])
    assert status[1000] == int(Status.reset)
    # but for the learned period, the second pass is the first
    np.testing.assert_array_equal(log.external_wrench[1000:], clean.external_wrench)


def test_fault_7_a_jump_of_dt_is_clamped_and_flagged():
    def late(log):
        log.stamp_ns[500:] += 6 * PERIOD

    log, clean, status = spoiled(late)
    assert status[500] == int(Status.degraded) and status[501] == 0
    assert np.abs(log.external_joint_torque - clean.external_joint_torque).max() < 6


@pytest.mark.parametrize("signal", ["q", "qd", "effort"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 1e300])
def test_fault_8_bad_numbers_are_dropped_and_leave_no_trace(signal, value):
    def spoil_one(log):
        getattr(log, signal)[500, 2] = value

    log, clean, status = spoiled(spoil_one)
    assert status[500] == int(Status.dropped) and np.isnan(log.external_wrench[500]).all()
    after = np.arange(1000) != 500
    np.testing.assert_allclose(log.external_joint_torque[after], clean.external_joint_torque[after], atol=0.1)


def test_fault_12_empty_effort_gives_no_estimate_rather_than_zero():
    def empty(log):
        log.effort = None

    log, _, status = spoiled(empty)
    assert (status == int(Status.unavailable)).all()
    assert np.isnan(log.external_wrench).all() and np.isfinite(log.model_torque).all()


def test_velocity_is_derived_where_it_is_not_reported():
    def without(log):
        log.qd = None

    log, clean, _ = spoiled(without)
    assert np.abs(log.qd[300:] - clean.qd[300:]).max() < 0.05
    assert np.abs(log.external_joint_torque[300:]).max() < 4


CURRENT = {"effort": None}, {}, {"motion": {"torque_source": "current"}}
FREE = {}, {"drives.effort.includes_gravity": False, "drives.effort.sign": -1}, {}


@pytest.mark.parametrize(("absent", "declared", "parameters"), [CURRENT, FREE], ids=["current", "no gravity, flipped"])
def test_torque_is_understood_as_it_is_declared(absent, declared, parameters):
    log, clean = measured(moving(1.0)), measured(moving(1.0))
    Pipeline(UR5E).run(clean)
    log.current = log.effort / UR5E.array("drives.torque_constant")
    log.effort = absent.get("effort", -(log.effort - model().gravity(log.q)))
    Pipeline(UR5E.with_updates(declared), parameters).run(log)
    np.testing.assert_allclose(log.external_wrench, clean.external_wrench, atol=1e-8)


def test_stages_follow_the_protocol_and_read_only_what_came_before():
    known = {"q", "qd", "effort", "current", "temperature", "theta", "omega", "motor_torque"}
    for name, make in STAGES.items():
        stage = make()
        assert isinstance(stage, Stage) and stage.name == name
        assert set(stage.reads) <= known and set(stage.writes) <= set(SIGNALS)
        known |= set(stage.writes)


def test_an_unknown_stage_and_unknown_masses_are_errors_that_say_so():
    with pytest.raises(ConfigError, match="froce"):
        Pipeline(UR5E, {"froce": {}})
    with pytest.raises(CapabilityError, match="links"):
        Pipeline(UR5E.with_updates({"links": None}))


def test_a_stage_the_robot_cannot_support_is_left_out_and_reported_unless_asked_for():
    for parameters in (None, {"stiffness": {}}):
        pipeline = Pipeline(UR5E, parameters)
        assert "stiffness" not in [stage.name for stage in pipeline.stages]
        assert any("stiffness" in note for note in pipeline.notes)
    with pytest.raises(CapabilityError, match="rotor"):
        Pipeline(UR5E, stages=["motion", "stiffness"])


def test_optional_stages_do_not_change_the_verdict():
    log = measured(moving(0.5), noise=0.1)
    log.theta, log.omega, log.motor_torque = log.q + 1e-4 * np.sin(log.q * 30), log.qd, log.effort
    status = Pipeline(UR5E.with_updates({"sensing.rotor_encoder": True})).run(log[:])
    np.testing.assert_array_equal(Pipeline(UR5E).run(log[:]), status)


def test_contact_is_fed_back_to_the_temperature_of_the_next_sample():
    assert list(Pipeline(UR5E).fed_back) == ["contact_load"]  # without a thermal model nobody asks for contact
    thermal = {"model": "simoni", "parameters": {"heat_capacity": 500.0, "heat_transfer": 1.0}, "source": "estimate_t"}
    pipeline = Pipeline(UR5E.with_updates({"thermal": thermal}, {"estimate_t": "numbers of this test"}))
    assert set(pipeline.fed_back) == {"contact", "contact_load"}
    log = measured(moving(0.3))
    pipeline.run(log)
    np.testing.assert_array_equal(pipeline.fed_back["contact"], log.contact[-1])
    pipeline.reset()
    assert np.isnan(pipeline.fed_back["contact"]).all()


def test_counts_of_every_status_per_stage():
    log = measured(moving(0.2))
    log.q[50, 0] = np.nan
    pipeline = Pipeline(UR5E)
    pipeline.run(log)
    assert pipeline.counts["motion"][Status.dropped] == 1 and sum(pipeline.counts["force"].values()) == len(log) - 1


def test_what_the_core_cannot_compute_is_not_written_to_its_file():
    sensing = {"sensing.rotor_encoder": True, "sensing.motor_torque": True}
    with pytest.raises(ConfigError, match="'observer' is not available"):
        core_text(load_robot("fr3").with_updates(sensing), {"friction": {"model": "observer"}})
    with pytest.raises(ConfigError, match="bandwidth"):
        core_text(UR5E, {"force": {"bandwidth": -1.0}})
