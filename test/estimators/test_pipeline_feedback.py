"""Contact fed back to temperature and friction: run() equals step() bit for bit, whatever contact and stream do."""

import numpy as np
import pytest
from force_bench import UR5E, measured, moving
from hypothesis import given, settings
from hypothesis import strategies as st
from stepwise import assert_run_is_step, faults, spoil

import robot_dynamics_ros.estimators.pipeline as module
from robot_dynamics_ros._core import Status, run_in_turn
from robot_dynamics_ros.estimators.pipeline import STAGES, Pipeline
from robot_dynamics_ros.estimators.stage import Stage
from robot_dynamics_ros.signals import SIGNALS

FACTORS = {"alpha": -0.01, "beta": 1.0, "gamma": -0.01, "delta": 1.0}
ONE_NODE = FACTORS | {"heat_capacity": 500.0, "heat_transfer": 1.0}
TWO_NODES = ONE_NODE | {"housing_capacity": 2000.0, "housing_transfer": 2.0}
FUSED = {"side": "fused", "skew": 0.0}
OPTIONS = {"temperature": {"convergence_time": 0.2, "rate_limit": 50.0}}


def warm(parameters=ONE_NODE, **updates):
    """A UR5e whose friction depends on a temperature that contact holds back."""
    model = "two_node" if "housing_capacity" in parameters else "simoni"
    block = {"model": model, "parameters": parameters, "source": "estimate_t"}
    changes = {"thermal": block, "friction.reference_temperature": 25.0} | updates
    return UR5E.with_updates(changes, {"estimate_t": "numbers of this test"})


def pushed(pushes, seconds=1.2, noise=0.1):
    """Motion with pushes (begin, length, force) of so many samples and N."""
    wrench = np.zeros((round(seconds * 500), 6))
    for begin, length, force in pushes:
        wrench[begin : begin + length, 2] += force
    return measured(moving(seconds), wrench, noise=noise)


def with_encoders(log):
    """Of both sides of a gear of 20 kNm/rad, with gaps."""
    log.theta = log.q + log.effort / 2e4
    log.omega, log.motor_torque = np.gradient(log.theta, 0.002, axis=0), 1.01 * log.effort
    log.omega[500, 1] = log.theta[800:803] = log.motor_torque[1300:1320] = np.nan
    return log


@settings(max_examples=15)
@given(
    what=faults,
    pushes=st.lists(st.tuples(st.integers(200, 550), st.integers(1, 120), st.floats(20, 400)), max_size=4),
    absent=st.lists(st.integers(0, 599), max_size=5),
)
def test_run_is_step_whatever_contact_and_stream_do(what, pushes, absent):
    log = pushed(pushes)
    log.temperature = np.full(log.shape("temperature"), 27.0)
    log.temperature[absent] = np.nan
    spoil(log, what)
    assert_run_is_step(warm(TWO_NODES), log, OPTIONS)


@pytest.fixture(scope="module")
def chattering():
    """Contact that comes and goes eight times, twice after a gap."""
    log = pushed([(begin, 40, 150.0) for begin in range(300, 1900, 200)], seconds=4.0)
    log.stamp_ns[900:] += 10**9
    log.q[700, 2] = np.nan
    log.q[1200:1203] = np.nan
    return log


def test_contact_changes_reach_the_temperature_of_the_next_record(chattering):
    replayed, _ = assert_run_is_step(warm(), chattering, OPTIONS)
    contact = replayed.contact[:, -1]
    assert np.sum(np.abs(np.diff(contact[np.isfinite(contact)]))) >= 8
    blind = chattering[:]
    Pipeline(warm(), OPTIONS | {"force": {"contact_on_ratio": 100.0}}).run(blind)
    assert np.nanmax(np.abs(blind.temperature_estimate - replayed.temperature_estimate)) > 0.01


def test_blocks_of_any_length_give_the_same(chattering, monkeypatch):
    for block in (1, 7, 333):
        monkeypatch.setattr(module, "BLOCK", block)
        assert_run_is_step(warm(), chattering[:1000], OPTIONS)


CHAINS = [("static", ONE_NODE, "motor"), ("hysteresis", TWO_NODES, "motor")]
CHAINS += [("observer", TWO_NODES, "motor"), ("observer", ONE_NODE, "link")]


@pytest.mark.parametrize(("friction", "housing", "side"), CHAINS)
def test_every_stage_runs_as_it_steps(chattering, friction, housing, side):
    """Friction that the observer over both encoders finds is beside the feedback, that of a law is part of it."""
    changes = {f"sensing.{name}": True for name in ("rotor_encoder", "motor_torque")}
    changes |= {"drives.torque_side": side, "sensing.joint_torque_sensor": side == "link"}
    stiffness = {"model": "odd_polynomial", "parameters": {"a": [[2e4]] * 6}, "source": "estimate_t"}
    robot = warm(housing, stiffness=stiffness, **changes)
    parameters = OPTIONS | {"friction": {"model": friction}, "stiffness": FUSED}
    log = with_encoders(chattering[:])
    log.temperature = np.full_like(log.q, 27.0)
    log.temperature[600:700] = np.nan
    replayed, _ = assert_run_is_step(robot, log, parameters)
    stages = Pipeline(robot, parameters).stages
    assert [stage.name for stage in stages] == [name for name in STAGES if side == "motor" or name != "power"]
    for name in (name for stage in stages for name in stage.writes):
        assert np.isfinite(getattr(replayed, name)).any(), name


def test_a_stage_without_rows_runs_sample_by_sample(chattering):
    class Wrapped(Stage):
        def __init__(self, stage):
            self.inner = stage
            for name in ("name", "reads", "optional", "writes", "parameters", "step"):
                setattr(self, name, getattr(stage, name))

    log, plain = chattering[:800], chattering[:800]
    pipeline = Pipeline(warm(), OPTIONS)
    pipeline.stages = [Wrapped(s) if s.name == "friction" else s for s in pipeline.stages]
    status = pipeline.run(log)
    np.testing.assert_array_equal(Pipeline(warm(), OPTIONS).run(plain), status)
    for name in SIGNALS:
        np.testing.assert_array_equal(getattr(log, name), getattr(plain, name), err_msg=name)


def test_a_stage_in_python_may_assign_what_it_writes_as_in_a_sample():
    class Twice(Stage):
        writes = ("friction_torque",)

        def step(self, sample):
            sample.friction_torque = 2.0 * sample.qd if len(sample.joint_names) == sample.n_joints else np.nan
            return Status.ok

    log = pushed([])
    Twice().run(log)
    np.testing.assert_array_equal(log.friction_torque, 2.0 * log.qd)


def test_arrays_of_another_length_or_type_are_refused():
    log = pushed([])
    pipeline = Pipeline(warm(), OPTIONS)
    pipeline.run(log)
    step = pipeline.stage("force").rows(log)
    with pytest.raises(ValueError, match="another number of records"):
        run_in_turn(log.stamp_ns[1:], [step], [])
    with pytest.raises(ValueError, match="fed back signal"):
        run_in_turn(log.stamp_ns, [step], [(log.contact_load[1:], np.zeros(6))])
    names = ("q", "theta", "v", "load", "contact_load", "temperature", "temperature_variance", "rotor")
    core, out = pipeline.stage("friction").core, (log.friction_torque, log.friction_std)
    for place, name in enumerate(names):
        given = [None] * len(names)
        given[place] = log.q[1:]
        with pytest.raises(ValueError, match=f"^{name} has shape"):
            core.rows(len(log), *given, *out)
        given[place] = log.q.astype(np.float32)
        with pytest.raises(TypeError, match=f"^{name} must be"):
            core.rows(len(log), *given, *out)
    with pytest.raises(ValueError, match="friction has shape"):
        core.rows(len(log) - 1, *[None] * len(names), *out)
