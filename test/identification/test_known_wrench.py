"""A measured wrench as a known input: its sign and its clock come from the data, contact improves the fit."""

import numpy as np
import pytest
from command_line import robot_dynamics
from force_bench import push
from prepared import steps
from synthetic import MODEL, TRUTH, UR5E, excitation, log_at, synthetic_log, torque

from robot_dynamics_ros.bags import write_bag
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.estimators.force_sensor import SensorOptions
from robot_dynamics_ros.identification.arm.identify import recognise_effort
from robot_dynamics_ros.identification.arm.known_wrench import known_wrench, use_wrench
from robot_dynamics_ros.identification.arm.read import read, read_moving
from robot_dynamics_ros.identification.arm.state import Identification, Options
from robot_dynamics_ros.identification.dataset.recording import recording

TOPIC = "/robot_dynamics/vendor_external_wrench"


def touched(seconds=30.0, level=60.0, seed=1):
    """A log in contact all the time, and the true wrench (N, 6), environment on robot in base axes at the TCP."""
    log, rng = synthetic_log(UR5E, TRUTH, seed, seconds), np.random.default_rng(4)
    knots = np.arange(0.0, seconds + 1.0, 0.5)
    w = np.column_stack([np.interp(log.time, knots, rng.normal(size=len(knots))) for _ in range(6)])
    w *= level * np.array([1, 1, 1, 0.05, 0.05, 0.05])
    push(log, w)
    return log, w


def state_of(log, **options):
    return Identification(UR5E, Options(contact="ignore", effort="torque", **options), [recording(log, "run")], [], "")


def with_sensor(sign=1.0, late=0.0, seconds=30.0, **kwargs):
    log, w = touched(seconds, **kwargs)
    shifted = np.column_stack([np.interp(log.time - late, log.time, x) for x in w.T])
    log.measured_wrench = sign * shifted + 0.2 * np.random.default_rng(6).normal(size=w.shape)
    return log


def decided(log, sign=0):
    state = state_of(log)
    recognise_effort(state)
    return known_wrench(state.rigid, MODEL, state.training, sign)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("late", [0.0, 0.06])
def test_sign_and_offset_come_from_the_data(sign, late):
    found = decided(with_sensor(sign, late))
    assert found.sign == sign and found.offset == pytest.approx(late, abs=0.006)
    assert abs(found.share - sign) < 0.15 and sum(found.negative[sign]) == 0
    assert {1: "environment on robot", -1: "robot on environment"}[sign] in found.reason()


def test_a_tie_is_refused_unless_the_user_decides():
    log = with_sensor()
    log.measured_wrench = 20.0 * np.random.default_rng(8).normal(size=log.measured_wrench.shape)  # of something else
    with pytest.raises(DataError, match=r"tie.*sign=environment"):
        decided(log)
    assert decided(log, -1).sign == -1


def test_work_alone_does_not_decide_against_physics():
    """A sensor whose sign fits the work but makes friction drive the joints is a tie."""
    log = with_sensor()
    log.effort = -log.effort  # as if effort had the opposite sign: a is -1, rotors and friction turn negative
    state = state_of(log)
    recognise_effort(state)
    with pytest.raises(DataError, match="tie"):
        known_wrench(state.rigid, MODEL, state.training)


@pytest.mark.parametrize("joint", [0, 5])
def test_a_joint_that_stands_has_no_rotor_and_no_friction_that_could_be_negative(joint):
    """Its columns of zeros are left out: others were taken for those of its rotor and its friction, and counted."""
    t, *motion = excitation(6, 20.0, 100.0, 1)
    for x, value in zip(motion, (0.3, 0.0, 0.0), strict=True):
        x[:, joint] = value
    log = log_at(t, {"q": motion[0], "qd": motion[1], "effort": torque(UR5E, TRUTH, *motion)}, UR5E.joint_names)
    log.measured_wrench = 1e-3 * np.random.default_rng(8).normal(size=(len(t), 6))
    state = state_of(log)
    recognise_effort(state)
    turned = [rec.with_effort(lambda e: -e) for rec in state.training]
    assert known_wrench(state.rigid, MODEL, turned, 1).negative[1] == (3, 5)


def test_the_known_wrench_gives_back_the_free_effort():
    free, (log, _) = synthetic_log(UR5E, TRUTH, 1, 30.0), touched()
    log.measured_wrench = touched()[1]
    state = state_of(log, wrench=SensorOptions(TOPIC))
    recognise_effort(state)
    use_wrench(state)
    np.testing.assert_allclose(state.training[0].stacked("effort"), free.effort, atol=1e-6)
    for words in ("environment on robot", "base that stands"):
        assert any(words in text for text in state.statements)


def test_contact_with_a_sensor_identifies_as_well_as_free_motion():
    """Held-out error on free motion: with the sensor like free motion, without it worse."""
    free, errors = synthetic_log(UR5E, TRUTH, 2, 15.0), {}
    known = {"sensor": (with_sensor(seconds=15.0), SensorOptions(TOPIC)), "none": (touched(15.0)[0], None)}
    for name, (log, sensor) in known.items():
        given = {"contact": "ignore", "effort": "torque", "wrench": sensor}
        found = steps([recording(log, "run")], [recording(free, "free")], until="fit_parameters", **given)
        motion = found.filtered(found.validation[0])
        errors[name] = (motion.effort - found.consistent.predict(motion)).std(axis=0) / motion.effort.std(axis=0)
    assert errors["sensor"].mean() < 0.1 and errors["none"].mean() > 2 * errors["sensor"].mean()


def test_the_command_reads_the_topic(tmp_path):
    log, w = touched(12.0)
    R = MODEL.fk(log.q)[:, -1, :3, :3]
    log.vendor_external_wrench = np.hstack([np.einsum("kji,kj->ki", R, w[:, p]) for p in (slice(0, 3), slice(3, 6))])
    bag = write_bag(log, tmp_path / "b", topics=["joint_states", "vendor_external_wrench"], frame_id="tool0")
    options = Options(wrench=SensorOptions(TOPIC))
    np.testing.assert_allclose(read(UR5E, bag, options).stacked("measured_wrench"), w, atol=1e-9)
    plain = write_bag(log, tmp_path / "p", topics=["joint_states"])
    (rec,), _ = read_moving(UR5E, [plain], options)
    assert any("free of contact" in note for note in rec.notes)
    done = robot_dynamics("identify", plain, "--robot", "ur5e", "--out", tmp_path / "o", "--wrench", "/ft,frame=tool")
    assert "no WrenchStamped messages on '/ft'" in str(done.exception)


def test_the_meaning_of_the_effort_is_judged_without_the_torque_of_the_wrench():
    """A hand that pulls along the motion makes friction seem to create energy."""
    log = synthetic_log(UR5E, TRUTH, 1, 20.0)
    w = 400.0 * np.einsum("kij,kj->ki", MODEL.jacobian(log.q), log.qd) * np.array([1, 1, 1, 0, 0, 0])
    push(log, w)
    log.measured_wrench = w
    options = Options(contact="ignore"), Options(contact="auto", wrench=SensorOptions(TOPIC))
    states = [Identification(UR5E, given, [recording(log, "run")], [], "") for given in options]
    with pytest.raises(DataError, match="create energy"):
        recognise_effort(states[0])
    recognise_effort(states[1])
    assert states[1].effort.meaning.word == "torque" and (states[1].effort.scale > 0).all()
