"""Physics decides about the sign of an effort: friction dissipates, gravity and inertia have their sign, or nothing is
flipped; gains from gravity carry a standard deviation.
"""

import re

import numpy as np
import pytest
from force_bench import POSE, measured, moving, through
from scipy.ndimage import gaussian_filter1d
from synthetic import excitation, log_at, synthetic_log, torque, truth_of
from table_files import write_csv

from robot_dynamics_ros.effort.decision import decide
from robot_dynamics_ros.effort.evidence import EffortEvidence, Evidence
from robot_dynamics_ros.effort.recording import contradictions
from robot_dynamics_ros.errors import ConfigError, DataError
from robot_dynamics_ros.estimators.friction import FrictionStage
from robot_dynamics_ros.estimators.replay import effort_decision, replay
from robot_dynamics_ros.identification.arm.effort_meaning import recognise
from robot_dynamics_ros.identification.arm.identify import Options, _begun, read, recognise_effort, slow_motion
from robot_dynamics_ros.identification.arm.state import Identification
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.models.friction import created_energy
from robot_dynamics_ros.models.robot_report import report
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import Log

ROBOT = load_robot("ur5e")
TRUTH = truth_of(ROBOT)
MODEL = RobotModel(ROBOT.chain(), ROBOT.joint_names)
LOG = synthetic_log(ROBOT, TRUTH, 1, duration=20.0)
GRAVITY = MODEL.gravity(LOG.q)
WRIST = 4


def with_effort(effort):
    return Log(LOG.joint_names, LOG.stamp_ns, {**LOG.signals, "effort": effort}, LOG.receive_ns)


def semantics(effort, robot=ROBOT, given="auto"):
    return recognise(robot, slow_motion([recording(with_effort(effort), "log")]), given)


def column(values, j):
    return np.eye(values.shape[1])[j] * values


@pytest.mark.parametrize("slope", [-0.139, -0.4])
def test_a_gravity_slope_of_one_wrist_alone_flips_nothing(slope):
    effort = LOG.effort + (slope - 1.0) * column(GRAVITY, WRIST)
    found = semantics(effort)
    assert found.slope[WRIST] == pytest.approx(slope, abs=0.1) and (found.scale == 1).all()
    decision = effort_decision(with_effort(effort), ROBOT)  # the same verdict in replay
    assert (decision.signs == 1).all() and not decision.refused


@pytest.mark.parametrize("asked", ["auto", "current"])
def test_torque_constants_that_the_masses_give_are_a_warning_with_what_finds_them(asked):
    constants = np.array([13.0, 13.0, 13.0, 9.0, 9.0, 9.0])
    unknown = ROBOT.with_updates({"drives.effort.unit": "A", "drives.torque_constant": None})
    given = unknown.with_updates({"drives.torque_constant": constants})
    text = r"their deviation, and that of forces, is \d+ to \d+ %.*mass=KG"
    assert any(re.search(text, warning) for warning in semantics(LOG.effort / constants, unknown, asked).warnings)
    assert not any("masses" in warning for warning in semantics(LOG.effort / constants, given, asked).warnings)


@pytest.mark.parametrize("joint", range(6))
def test_a_reversed_motor_is_found_from_its_friction(joint):
    """Also where gravity does not show (shoulder pan, wrist 3): inertia decides there."""
    effort = LOG.effort - 2.0 * column(LOG.effort, joint)
    expected = np.where(np.arange(6) == joint, -1.0, 1.0)
    found = semantics(effort)
    assert np.array_equal(found.scale, expected)
    assert any(ROBOT.joint_names[joint] in text for text in found.warnings)


def test_identify_and_replay_judge_the_whole_recording():
    """A reversed wrist whose gravity shows only in the last third, which identify holds out."""
    t, q, qd, qdd = excitation(6, 10.0, 125.0, 1)
    slow, wrist = 0.6 * np.arange(0.0, 25.0, 0.008), np.eye(6)[WRIST]
    upright = [0.0, -np.pi / 2, np.pi / 2, 0.0, 0.0, 0.0]  # so is the axis of the wrist
    first = [np.outer(x, wrist) for x in (np.sin(slow), 0.6 * np.cos(slow), -0.36 * np.sin(slow))]
    q, qd, qdd = np.vstack([first[0] + upright, q]), np.vstack([first[1], qd]), np.vstack([first[2], qdd])
    effort = torque(ROBOT, TRUTH, q, qd, qdd) * (1.0 - 2.0 * wrist)
    effort += 0.1 * np.random.default_rng(0).standard_normal(q.shape)
    log = log_at(np.append(slow / 0.6, 26.0 + t), {"q": q, "qd": qd, "effort": effort}, ROBOT.joint_names)
    state = _begun(ROBOT, [recording(log, "log")], [], Options(contact="ignore"))
    recognise_effort(state)
    assert np.array_equal(state.effort.scale, effort_decision(log, ROBOT).signs)
    assert np.flatnonzero(state.effort.scale < 0).tolist() == [WRIST]


def test_friction_that_creates_energy_is_refused_with_the_option_that_overrules():
    """Friction of one wrist reversed, all else right: gravity and dissipation contradict each other."""
    v = LOG.qd
    friction = TRUTH.fc * np.tanh(v / 0.02) + TRUTH.fv * v
    effort = LOG.effort - 2.0 * column(friction, 3)
    with pytest.raises(DataError, match="wrist_1_joint would create energy.*--effort"):
        semantics(effort)
    assert (semantics(effort, given="torque").scale == 1).all()
    decision = effort_decision(with_effort(effort), ROBOT)
    assert decision.creates_energy == ("wrist_1_joint",) and not decision.refused and decision.warning
    several = LOG.effort - 2.0 * (column(friction, 3) + column(friction, 1))
    assert "--effort" in effort_decision(with_effort(several), ROBOT).refused


def test_a_contact_at_one_of_several_rests_does_not_make_signs_doubtful():
    """Something leans on two joints of a robot that stands: from all poses together the signs look reversed, although
    the torque is far from gravity's at every single one.
    """
    log = measured(through([POSE, POSE + 0.6, POSE - 0.4, POSE, POSE + 0.6]), noise=0.2)
    gravity, effort = MODEL.gravity(log.q), log.effort
    leaning = (log.time > log.time[-1] - 4.0)[:, None] * np.isin(np.arange(6), (1, 2))
    log.effort = effort - 15.0 * leaning * gravity
    assert not effort_decision(log, ROBOT).refused
    log.effort = effort - 15.0 * gravity * np.isin(np.arange(6), (1, 2))
    assert not effort_decision(log, ROBOT).refused
    log.effort = effort - 2.0 * gravity * np.isin(np.arange(6), (1, 2))
    assert "--effort" in effort_decision(log, ROBOT).refused  # as large as gravity at every rest


def behind_the_gear(gravity):
    """Decision about seven torque sensors behind the gear: gravity shows on joints 2 to 6, an inertia of -0.02 on 7."""
    known = np.array([0, 1, 1, 1, 1, 1, 0], bool)
    nothing, never = np.full(7, np.nan), np.full(7, np.inf)
    slope, deviation = np.where(known, gravity, np.nan), np.where(known, 0.05, np.inf)
    b, b_std = np.where(known, 0.0, -0.02), np.where(known, 1.0, 0.001)
    size = np.full(7, 5.0)
    pair = (nothing, never)
    evidence = Evidence(slope, deviation, *pair, *pair, b, b_std, np.zeros(7), size, size, np.full(7, 1000))
    return decide(evidence, load_robot("fr3"))


def test_one_inertia_is_not_two_witnesses_where_torque_is_sensed_behind_the_gear():
    """A contact gave the last axis of an FR3, where gravity does not show, an inertia of -0.02 +- 0.001: that turned
    the signs of all joints against their gravity.
    """
    touched = behind_the_gear(1.0)
    assert (touched.signs == 1).all() and not touched.doubtful
    assert "--effort" in behind_the_gear(-1.0).refused  # gravity of five joints says the opposite: refused


def test_noise_flips_nothing():
    """Efforts that hold neither gravity nor friction: no evidence, the signs of the robot file."""
    noise = np.random.default_rng(0).normal(0.0, 20.0, LOG.effort.shape)
    decision = effort_decision(with_effort(noise), ROBOT)
    assert (decision.signs == 1).all() and not decision.doubtful


@pytest.mark.parametrize("seed", range(5))
def test_gains_from_gravity_are_within_their_deviation(seed):
    """Current in A, torque constants unknown and up to 40 % from joint to joint."""
    constant = np.array([10.6, 10.6, 10.6, 7.7, 7.7, 7.7]) * np.random.default_rng(seed).uniform(0.6, 1.4, 6)
    found = semantics(LOG.effort / constant, ROBOT.with_updates({"drives.torque_constant": None}))
    assert found.meaning.word == "current" and np.isfinite(found.scale_std).all()
    assert (np.abs(found.scale - constant) < 3 * found.scale_std).all()
    assert found.scale[1:4] == pytest.approx(constant[1:4], rel=0.1)
    assert found.scale_std[5] > 2 * found.scale_std[3]  # gravity does not show at wrist 3


def test_a_weak_slope_is_neither_taken_at_face_value_nor_given_to_the_neighbour():
    constant = np.array([10.6, 10.6, 10.6, 7.7, 7.7, 7.7])
    effort = LOG.effort + column(np.random.default_rng(1).normal(0, 30.0, LOG.effort.shape), WRIST)
    found = semantics(effort / constant, ROBOT.with_updates({"drives.torque_constant": None}))
    assert (np.abs(found.scale - constant)[WRIST:] < 2.5 * found.scale_std[WRIST:]).all()
    assert found.scale[WRIST:] == pytest.approx(constant[WRIST:], rel=0.4)


@pytest.mark.parametrize("motion", [moving(8.0, amplitude=1.0), through([POSE, POSE + 0.6, POSE - 0.4])])
def test_torque_without_gravity_that_is_zero_at_rest_is_recognised(motion):
    """The newer actual_current_as_torque of UR controllers."""
    log = measured(motion, noise=0.2)
    log.effort = np.where(np.abs(log.qd) > 1e-3, log.effort - MODEL.gravity(log.q), 0.0)
    found = effort_decision(log, ROBOT)
    assert str(found.meaning) == "Nm, gravity already removed" and not found.refused
    assert any("without gravity" in text for text in contradictions(found, ROBOT))


def test_replay_corrects_a_reversed_motor(tmp_path):
    from robot_dynamics_ros.bags import write_bag

    log = measured(through([POSE, POSE + 0.6, POSE - 0.4]), noise=0.2)
    log.effort = log.effort - 2.0 * column(log.effort, 2)
    result = replay([write_bag(log, tmp_path / "bag", topics=["joint_states"])], ROBOT)
    assert any("elbow_joint: effort has the opposite sign" in note for note in result.notes)
    assert result.summary()["joint_torque_rms"]["elbow_joint"] < 5.0


def test_a_robot_file_whose_friction_creates_energy_is_refused_by_check_and_by_the_nodes_stage():
    block = {"source": "ur_max_torque", "model": "luo"}
    good = {"fc": [5.0] * 6, "fv1": [4.0] * 6, "fv2": [0.0] * 6}
    bad = {**good, "fv2": [0.0, 0.0, 0.0, -3.0, 0.0, 0.0]}  # below 0 from 2.1 rad/s
    robots = [ROBOT.with_updates({"friction": {**block, "parameters": p}}) for p in (good, bad)]
    assert created_energy(robots[0]) == {} and list(created_energy(robots[1])) == ["wrist_1_joint"]
    assert report(robots[0]).ok and not report(robots[1]).ok
    FrictionStage().configure(robots[0])
    with pytest.raises(ConfigError, match="wrist_1_joint.*creates energy"):
        FrictionStage().configure(robots[1])


def test_an_offset_creates_no_energy():
    block = {"source": "ur_max_torque", "model": "luo"}
    parameters = {"fc": [1.0] * 6, "fv1": [1.0] * 6, "fb": [5.0] * 6}
    assert created_energy(ROBOT.with_updates({"friction": {**block, "parameters": parameters}})) == {}


FLOATING = ROBOT.with_updates({"kinematics.gravity": [0.0, 0.0, 0.0]})


def test_a_current_in_which_no_gravity_shows_is_scaled_by_the_torque_constants_or_refused(tmp_path):
    """As the columns of a table state it, or as the robot file declares it: never taken as so many Nm."""
    constant = FLOATING.array("drives.torque_constant")
    columns = {"time": LOG.time, "q_{}": LOG.q, "qd_{}": LOG.qd, "current_{}": (LOG.effort - GRAVITY) / constant}
    table = write_csv(tmp_path / "run.csv", columns)
    rec = read(FLOATING, table, Options())
    found = Identification(FLOATING, Options(), [rec], [], "")
    recognise_effort(found)
    assert found.effort.meaning.unit == "A" and found.effort.scale == pytest.approx(constant)
    assert any("its unit is taken from its columns" in text for text in found.warnings)
    declares = FLOATING.with_updates({"drives.effort.unit": "A"})
    assert recognise(declares, slow_motion([rec])).scale == pytest.approx(constant)
    unknown = {"drives.torque_constant": None}
    for robot, given, stated in ((FLOATING, "auto", "A"), (FLOATING, "current", ""), (declares, "auto", "")):
        with pytest.raises(DataError, match=r"fill in drives\.torque_constant of ur5e, or pass --effort torque"):
            recognise(robot.with_updates(unknown), slow_motion([rec]), given, stated)


@pytest.mark.parametrize(
    ("column", "declares", "stated"), [("current", {"drives.torque_constant": None}, "A"), ("torque_percent", {}, "%")]
)
def test_a_unit_that_columns_state_is_one_declaration_for_replay_and_identify(tmp_path, column, declares, stated):
    """A servo's current looks like Nm, and a file in Nm has no constants of a percentage: those of the masses do."""
    robot, unit = ROBOT.with_updates(declares), np.array([0.7, 0.7, 0.7, 3.5, 3.5, 3.5])  # per Nm
    log = measured(through([POSE, POSE + 0.6, POSE - 0.4]), noise=0.2)
    columns = {"time": log.time, "q_{}": log.q, "qd_{}": log.qd, column + "_{}": log.effort * unit}
    table = write_csv(tmp_path / "run.csv", columns)
    state = Identification(robot, Options(), [read(robot, table, Options())], [], "")
    recognise_effort(state)
    assert state.effort.to_dict()["unit"] == stated and f"current in {stated}" in state.effort.statements[0]
    assert any(f"effort: {stated}, gravity included" in note for note in replay([table], robot).notes)
    for asked in ("auto", "current"):
        found = replay([table], robot, effort=asked)
        constant = found.robot.array("drives.torque_constant")
        assert constant[1:4] * unit[1:4] == pytest.approx(1.0, rel=0.3)
        assert constant[1:4] == pytest.approx(state.effort.scale[1:4], rel=0.1)
        assert any("come from the masses" in text for text in (*found.notes, *state.effort.warnings))
    identified = found.robot.with_updates({"drives.torque_constant": 1.1 * constant})  # the file of such a table
    assert replay([table], identified).robot.array("drives.torque_constant") == pytest.approx(1.1 * constant)


@pytest.mark.parametrize(("wrists", "torque", "unit"), [(1.0, 0.3, None), (0.1, 0.3, "A"), (1.0, 8.0, "Nm")])
def test_a_load_that_the_file_lacks_does_not_make_a_torque_of_a_current(wrists, torque, unit):
    """Wrists that carry 0.3 Nm show the gravity torque of a tool several times as large; wrists of 8 Nm do not."""
    robot = ROBOT.with_updates({"drives.effort.unit": "A"})
    slope = 1.2 / robot.array("drives.torque_constant")
    slope[3:] = wrists
    small, none, size = np.full(6, 0.01), np.full(6, np.nan), np.array([5.0, 40.0, 20.0, torque, torque, torque])
    unknown, zero = (none, np.full(6, np.inf)), np.zeros(6)
    evidence = Evidence(slope, small, *unknown, *unknown, *unknown, zero, size, size, np.full(6, 1000))
    meaning = decide(evidence, robot).meaning
    assert (meaning and meaning.unit) == unit


@pytest.mark.parametrize(("seed", "mass"), [(0, 2.0), (2, 3.0), (3, 3.0), (4, 3.0)])
def test_a_load_shows_in_the_inertia_too_and_makes_no_torque_of_a_current_there(seed, mass):
    """A point of 2 or 3 kg, 8 cm before the flange of an arm for 3 kg: inertia of wrists is several times as large."""
    robot = load_robot("ur3e").with_updates({"drives.effort.unit": "A"})
    point = mass * np.array([0.01, 0.0, 0.0, 0.01, 0.0, 0.01, 0.0, 0.0, 0.08, 1.0])
    log = synthetic_log(robot, truth_of(robot), seed, payload=point)
    log.effort = log.effort / robot.array("drives.torque_constant")
    assert effort_decision(log, robot).ambiguous


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


@pytest.mark.parametrize("unit", [1 / 300, 0.5, 1.0, 40.0])
def test_a_current_that_is_declared_has_any_constants_where_the_file_has_none(unit):
    """Small servos have 1 to 2.5 Nm/A, which looks like a torque; a percentage of the rated current is one, too."""
    declares = ROBOT.with_updates({"drives.effort.unit": "A", "drives.torque_constant": None})
    spread = np.array([1.0, 0.7, 1.0, 1.6, 1.6, 1.6])
    found = semantics(LOG.effort * unit * spread, declares)
    torque = declares.with_updates({"drives.effort.unit": "Nm"})
    motion = slow_motion([recording(with_effort(LOG.effort * unit * spread), "log")])
    assert recognise(torque, motion, stated="A").scale == pytest.approx(found.scale)  # as the columns of a table say
    assert found.meaning.unit == "A" and found.scale == pytest.approx(1 / (unit * spread), rel=0.35)
    assert semantics(LOG.effort).meaning.unit == "Nm"  # a torque that is declared stays one
    none = (np.full(6, np.nan), np.full(6, np.inf))  # rotors of high gear ratio hide the inertia
    evidence = Evidence(unit * spread, unit * spread / 50, *none, *none, *none, *np.full((3, 6), 0.0), np.ones(6))
    assert decide(evidence, declares).meaning.word == "current"
