"""Physics decides about the sign of an effort: friction dissipates, gravity and inertia have their sign, or nothing is
flipped.
"""

import numpy as np
import pytest
from effort_bench import GRAVITY, LOG, MODEL, TRUTH, UR5E, WRIST, column, evidence_of, semantics, with_effort
from force_bench import POSE, measured, moving, through
from scipy.ndimage import gaussian_filter1d
from synthetic import excitation, log_at, torque
from table_files import numbers

from robot_dynamics_ros.effort.decision import decide
from robot_dynamics_ros.effort.evidence import EffortEvidence
from robot_dynamics_ros.effort.recording import contradictions
from robot_dynamics_ros.errors import ConfigError, DataError
from robot_dynamics_ros.estimators.friction import FrictionStage
from robot_dynamics_ros.estimators.recorded_effort import effort_decision
from robot_dynamics_ros.estimators.replay import replay
from robot_dynamics_ros.identification.arm.identify import _begun, recognise_effort
from robot_dynamics_ros.identification.arm.state import Options
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.models.friction import created_energy
from robot_dynamics_ros.models.robot_report import report
from robot_dynamics_ros.robot_file import load_robot


@pytest.mark.parametrize("slope", [-0.139, -0.4])
def test_a_gravity_slope_of_one_wrist_alone_flips_nothing(slope):
    effort = LOG.effort + (slope - 1.0) * column(GRAVITY, WRIST)
    found = semantics(effort)
    assert found.slope[WRIST] == pytest.approx(slope, abs=0.1) and (found.scale == 1).all()
    decision = effort_decision(with_effort(effort), UR5E)  # the same verdict in replay
    assert (decision.signs == 1).all() and not decision.refused


@pytest.mark.parametrize("joint", range(6))
def test_a_reversed_motor_is_found_from_its_friction(joint):
    """Also where gravity does not show (shoulder pan, wrist 3): inertia decides there."""
    effort = LOG.effort - 2.0 * column(LOG.effort, joint)
    expected = np.where(np.arange(6) == joint, -1.0, 1.0)
    found = semantics(effort)
    assert np.array_equal(found.scale, expected)
    assert any(UR5E.joint_names[joint] in text for text in found.warnings)


def test_identify_and_replay_judge_the_whole_recording():
    """A reversed wrist whose gravity shows only in the last third, which identify holds out."""
    t, q, qd, qdd = excitation(6, 10.0, 125.0, 1)
    slow, wrist = 0.6 * np.arange(0.0, 25.0, 0.008), np.eye(6)[WRIST]
    upright = [0.0, -np.pi / 2, np.pi / 2, 0.0, 0.0, 0.0]  # so is the axis of the wrist
    first = [np.outer(x, wrist) for x in (np.sin(slow), 0.6 * np.cos(slow), -0.36 * np.sin(slow))]
    q, qd, qdd = np.vstack([first[0] + upright, q]), np.vstack([first[1], qd]), np.vstack([first[2], qdd])
    effort = torque(UR5E, TRUTH, q, qd, qdd) * (1.0 - 2.0 * wrist)
    effort += 0.1 * np.random.default_rng(0).standard_normal(q.shape)
    log = log_at(np.append(slow / 0.6, 26.0 + t), {"q": q, "qd": qd, "effort": effort}, UR5E.joint_names)
    state = _begun(UR5E, [recording(log, "log")], [], Options(contact="ignore"))
    recognise_effort(state)
    assert np.array_equal(state.effort.scale, effort_decision(log, UR5E).signs)
    assert np.flatnonzero(state.effort.scale < 0).tolist() == [WRIST]


def test_friction_that_creates_energy_is_refused_with_the_option_that_overrules():
    """Friction of one wrist reversed, all else right: gravity and dissipation contradict each other."""
    v = LOG.qd
    friction = TRUTH.fc * np.tanh(v / 0.02) + TRUTH.fv * v
    effort = LOG.effort - 2.0 * column(friction, 3)
    with pytest.raises(DataError, match="wrist_1_joint would create energy.*--effort"):
        semantics(effort)
    assert (semantics(effort, given="torque").scale == 1).all()
    decision = effort_decision(with_effort(effort), UR5E)
    assert decision.creates_energy == ("wrist_1_joint",) and not decision.refused and decision.warning
    several = LOG.effort - 2.0 * (column(friction, 3) + column(friction, 1))
    assert "--effort" in effort_decision(with_effort(several), UR5E).refused


def test_a_contact_at_one_of_several_rests_does_not_make_signs_doubtful():
    """Something leans on two joints of a robot that stands: from all poses together the signs look reversed, although
    the torque is far from gravity's at every single one.
    """
    log = measured(through([POSE, POSE + 0.6, POSE - 0.4, POSE, POSE + 0.6]), noise=0.2)
    gravity, effort = MODEL.gravity(log.q), log.effort
    leaning = (log.time > log.time[-1] - 4.0)[:, None] * np.isin(np.arange(6), (1, 2))
    log.effort = effort - 15.0 * leaning * gravity
    assert not effort_decision(log, UR5E).refused
    log.effort = effort - 15.0 * gravity * np.isin(np.arange(6), (1, 2))
    assert not effort_decision(log, UR5E).refused
    log.effort = effort - 2.0 * gravity * np.isin(np.arange(6), (1, 2))
    assert "--effort" in effort_decision(log, UR5E).refused  # as large as gravity at every rest


def behind_the_gear(gravity):
    """Decision about seven torque sensors behind the gear: gravity shows on joints 2 to 6, an inertia of -0.02 on 7."""
    known = np.array([0, 1, 1, 1, 1, 1, 0], bool)
    nothing, never = np.full(7, np.nan), np.full(7, np.inf)
    slope, deviation = np.where(known, gravity, np.nan), np.where(known, 0.05, np.inf)
    b, b_std = np.where(known, 0.0, -0.02), np.where(known, 1.0, 0.001)
    size = np.full(7, 5.0)
    pair = (nothing, never)
    evidence = evidence_of(slope, deviation, *pair, *pair, b, b_std, np.zeros(7), size, size, np.full(7, 1000))
    return decide(evidence, load_robot("fr3"))


def test_one_inertia_is_not_two_witnesses_where_torque_is_sensed_behind_the_gear():
    """A contact gave the last axis of an FR3, where gravity does not show, an inertia of -0.02 +- 0.001: that turned
    the signs of all joints against their gravity.
    """
    touched = behind_the_gear(1.0)
    assert (touched.signs == 1).all() and not touched.doubtful
    assert "--effort" in behind_the_gear(-1.0).refused  # gravity of five joints says the opposite: refused


@pytest.mark.parametrize(("friction", "sign"), [(0.18, 1.0), (0.0, -1.0)])
def test_friction_of_a_bearing_keeps_a_sign_that_a_wrong_centre_of_mass_turns(friction, sign):
    """Seven torque sensors; the centre of the last link, of 0.5 kg, is 1 cm to the other side than in the file: so its
    gravity and inertia have the other sign, but the friction of its bearing takes energy out.
    """
    last = np.arange(7) == 6
    slope, std, nothing = np.where(last, -1.0, 1.0), np.full(7, 0.1), (np.full(7, np.nan), np.full(7, np.inf))
    felt = np.where(last, friction, 0.0), np.full(7, 0.004)
    inertia = np.where(last, -0.005, 0.5), np.full(7, 0.001)
    size = np.full(7, 5.0)
    evidence = evidence_of(slope, std, *nothing, *felt, *inertia, np.zeros(7), size, size, np.full(7, 1000))
    decision = decide(evidence, load_robot("fr3"))
    assert np.array_equal(decision.signs, np.where(last, sign, 1.0)) and not decision.refused


def test_noise_flips_nothing():
    """Efforts that hold neither gravity nor friction: no evidence, the signs of the robot file."""
    noise = np.random.default_rng(0).normal(0.0, 20.0, LOG.effort.shape)
    decision = effort_decision(with_effort(noise), UR5E)
    assert (decision.signs == 1).all() and not decision.doubtful


@pytest.mark.parametrize("motion", [moving(8.0, amplitude=1.0), through([POSE, POSE + 0.6, POSE - 0.4])])
def test_torque_without_gravity_that_is_zero_at_rest_is_recognised(motion):
    """The newer actual_current_as_torque of UR controllers."""
    log = measured(motion, noise=0.2)
    log.effort = np.where(np.abs(log.qd) > 1e-3, log.effort - MODEL.gravity(log.q), 0.0)
    found = effort_decision(log, UR5E)
    assert str(found.meaning) == "Nm, gravity already removed" and not found.refused
    assert any("without gravity" in text for text in contradictions(found, UR5E))


def test_replay_corrects_a_reversed_motor(tmp_path):
    log = measured(through([POSE, POSE + 0.6, POSE - 0.4]), noise=0.2)
    log.effort = log.effort - 2.0 * column(log.effort, 2)
    result = replay([numbers(log, tmp_path / "bag")], UR5E)
    assert any("elbow_joint: effort has the opposite sign" in note for note in result.notes)
    assert result.summary()["joint_torque_rms"]["elbow_joint"] < 5.0


def test_a_robot_file_whose_friction_creates_energy_is_refused_by_check_and_by_the_nodes_stage():
    block = {"source": "ur_max_torque", "model": "luo"}
    good = {"fc": [5.0] * 6, "fv1": [4.0] * 6, "fv2": [0.0] * 6}
    bad = {**good, "fv2": [0.0, 0.0, 0.0, -3.0, 0.0, 0.0]}  # below 0 from 2.1 rad/s
    robots = [UR5E.with_updates({"friction": {**block, "parameters": p}}) for p in (good, bad)]
    assert created_energy(robots[0]) == {} and list(created_energy(robots[1])) == ["wrist_1_joint"]
    assert report(robots[0]).ok and not report(robots[1]).ok
    FrictionStage().configure(robots[0])
    with pytest.raises(ConfigError, match="wrist_1_joint.*creates energy"):
        FrictionStage().configure(robots[1])


def test_an_offset_creates_no_energy():
    block = {"source": "ur_max_torque", "model": "luo"}
    parameters = {"fc": [1.0] * 6, "fv1": [1.0] * 6, "fb": [5.0] * 6}
    assert created_energy(UR5E.with_updates({"friction": {**block, "parameters": parameters}})) == {}


def test_the_deviation_of_a_slope_holds_under_contacts_beneath_noise():
    """Contacts of a second under noise that is larger: from one sample to the next the residual looks independent."""
    rng, errors = np.random.default_rng(0), []
    for _ in range(20):
        slow = 20 * gaussian_filter1d(rng.normal(size=(20_000, 4)), 150, axis=0)
        contact = np.repeat(rng.normal(size=(40, 1)) * (rng.random((40, 1)) < 0.4), 500, axis=0)
        gravity, inertial, qd, qdd = (x[:, None] for x in slow.T)
        evidence = EffortEvidence(np.ones(1))
        evidence.add_motion(gravity, inertial, qd, qdd, gravity + inertial + contact + rng.normal(size=(20_000, 1)))
        found = evidence.evidence()
        errors += [(found.gravity - 1) / found.gravity_std, (found.inertial - 1) / found.inertial_std]
    assert 0.6 < np.sqrt(np.mean(np.square(errors))) < 1.6
