"""Unit of an effort: what columns or robot file state, what gravity and inertia say; constants from gravity."""

import re

import numpy as np
import pytest
from effort_bench import GRAVITY, LOG, UR5E, WRIST, column, evidence_of, semantics, with_effort
from force_bench import POSE, measured, through
from synthetic import synthetic_log, truth_of
from table_files import write_csv

from robot_dynamics_ros.effort.decision import decide
from robot_dynamics_ros.effort.unit import unit_error
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.estimators.recorded_effort import effort_decision, with_recorded_effort
from robot_dynamics_ros.estimators.replay import replay
from robot_dynamics_ros.identification.arm.effort_meaning import recognise
from robot_dynamics_ros.identification.arm.identify import recognise_effort
from robot_dynamics_ros.identification.arm.read import read
from robot_dynamics_ros.identification.arm.state import Identification, Options
from robot_dynamics_ros.identification.dataset.motion import slow_motion
from robot_dynamics_ros.identification.dataset.recording import recording
from robot_dynamics_ros.robot_file import load_robot


@pytest.mark.parametrize("asked", ["auto", "current"])
def test_torque_constants_that_the_masses_give_are_a_warning_with_what_finds_them(asked):
    constants = np.array([13.0, 13.0, 13.0, 9.0, 9.0, 9.0])
    unknown = UR5E.with_updates({"drives.effort.unit": "A", "drives.torque_constant": None})
    given = unknown.with_updates({"drives.torque_constant": constants})
    text = r"their deviation, and that of forces, is \d+ to \d+ %.*mass=KG"
    assert any(re.search(text, warning) for warning in semantics(LOG.effort / constants, unknown, asked).warnings)
    assert not any("masses" in warning for warning in semantics(LOG.effort / constants, given, asked).warnings)


@pytest.mark.parametrize("gravity", [True, False])
def test_gravity_that_is_in_the_effort_of_one_file_only_is_a_warning(gravity):
    effort = LOG.effort if gravity else LOG.effort - GRAVITY
    for declared in (True, False):
        found = semantics(effort, UR5E.with_updates({"drives.effort.includes_gravity": declared}))
        assert found.meaning.includes_gravity == gravity and len(found.warnings) == (declared != gravity)


@pytest.mark.parametrize("seed", range(5))
def test_gains_from_gravity_are_within_their_deviation(seed):
    """Current in A, torque constants unknown and up to 40 % from joint to joint."""
    constant = np.array([10.6, 10.6, 10.6, 7.7, 7.7, 7.7]) * np.random.default_rng(seed).uniform(0.6, 1.4, 6)
    found = semantics(LOG.effort / constant, UR5E.with_updates({"drives.torque_constant": None}))
    assert found.meaning.word == "current" and np.isfinite(found.scale_std).all()
    assert (np.abs(found.scale - constant) < 3 * found.scale_std).all()
    assert found.scale[1:4] == pytest.approx(constant[1:4], rel=0.1)
    assert found.scale_std[5] > 2 * found.scale_std[3]  # gravity does not show at wrist 3


def test_a_weak_slope_is_neither_taken_at_face_value_nor_given_to_the_neighbour():
    constant = np.array([10.6, 10.6, 10.6, 7.7, 7.7, 7.7])
    effort = LOG.effort + column(np.random.default_rng(1).normal(0, 30.0, LOG.effort.shape), WRIST)
    found = semantics(effort / constant, UR5E.with_updates({"drives.torque_constant": None}))
    assert (np.abs(found.scale - constant)[WRIST:] < 2.5 * found.scale_std[WRIST:]).all()
    assert found.scale[WRIST:] == pytest.approx(constant[WRIST:], rel=0.4)


FLOATING = UR5E.with_updates({"kinematics.gravity": [0.0, 0.0, 0.0]})


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
    assert recognise(declares, slow_motion(rec)).scale == pytest.approx(constant)
    unknown = {"drives.torque_constant": None}
    for robot, given, stated in ((FLOATING, "auto", "A"), (FLOATING, "current", ""), (declares, "auto", "")):
        with pytest.raises(DataError, match=r"fill in drives\.torque_constant of ur5e, or pass --effort torque"):
            recognise(robot.with_updates(unknown), slow_motion(rec), given, stated)


@pytest.mark.parametrize(
    ("column", "declares", "stated"), [("current", {"drives.torque_constant": None}, "A"), ("torque_percent", {}, "%")]
)
def test_a_unit_that_columns_state_is_one_declaration_for_replay_and_identify(tmp_path, column, declares, stated):
    """A servo's current looks like Nm, and a file in Nm has no constants of a percentage: those of the masses do."""
    robot, unit = UR5E.with_updates(declares), np.array([0.7, 0.7, 0.7, 3.5, 3.5, 3.5])  # per Nm
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
        warned = [text for text in (*found.notes, *state.effort.warnings) if "come from the masses" in text]
        assert warned and all("a tool that it lacks" in text for text in warned)
    identified = found.robot.with_updates({"drives.torque_constant": 1.1 * constant})  # the file of such a table
    assert replay([table], identified).robot.array("drives.torque_constant") == pytest.approx(1.1 * constant)


@pytest.mark.parametrize(("wrists", "torque", "unit"), [(1.0, 0.3, None), (0.1, 0.3, "A"), (1.0, 8.0, None)])
def test_a_load_that_the_file_lacks_does_not_make_a_torque_of_a_current(wrists, torque, unit):
    """Wrists that carry 0.3 Nm show the gravity torque of a tool several times as large. Wrists of 8 Nm do not, but the
    joints before them contradict a torque.
    """
    robot = UR5E.with_updates({"drives.effort.unit": "A"})
    slope = 1.2 / robot.array("drives.torque_constant")
    slope[3:] = wrists
    small, none, size = np.full(6, 0.01), np.full(6, np.nan), np.array([5.0, 40.0, 20.0, torque, torque, torque])
    unknown, zero = (none, np.full(6, np.inf)), np.zeros(6)
    evidence = evidence_of(slope, small, *unknown, *unknown, *unknown, zero, size, size, np.full(6, 1000))
    meaning = decide(evidence, robot).meaning
    assert (meaning and meaning.unit) == unit


@pytest.mark.parametrize(("shoulder", "unit"), [(1.2, "Nm"), (3.0, None)])
def test_light_wrists_that_carry_a_tool_do_not_make_a_torque_ambiguous_and_three_times_all_of_it_does(shoulder, unit):
    small, none, size = np.full(6, 0.01), np.full(6, np.nan), np.array([5.0, 40.0, 20.0, 0.4, 0.4, 0.4])
    slope, unknown = np.array([np.nan, shoulder, shoulder, 4.5, 4.8, 5.0]), (none, np.full(6, np.inf))
    evidence = evidence_of(slope, small, *unknown, *unknown, *unknown, np.zeros(6), size, size, np.full(6, 1000))
    meaning = decide(evidence, UR5E).meaning
    assert (meaning and meaning.unit) == unit


@pytest.mark.parametrize(("other", "said"), [(1.44, False), (1440.0, True)])
def test_a_wrist_alone_does_not_make_the_unit_off_by_a_thousand(other, said):
    """In the first second of a recording its friction changes as its little gravity does."""
    slope, small, none = np.array([other, 861.0]), np.array([0.2, 94.0]), (np.full(2, np.nan), np.full(2, np.inf))
    evidence = evidence_of(slope, small, *none, *none, *none, np.zeros(2), np.ones(2), np.ones(2), np.full(2, 1000))
    assert bool(unit_error(evidence, np.ones(2, bool), UR5E)) == said


@pytest.mark.parametrize(("seed", "mass"), [(0, 2.0), (2, 3.0), (3, 3.0), (4, 3.0)])
def test_a_load_shows_in_the_inertia_too_and_makes_no_torque_of_a_current_there(seed, mass):
    """A point of 2 or 3 kg, 8 cm before the flange of an arm for 3 kg: inertia of wrists is several times as large."""
    robot = load_robot("ur3e").with_updates({"drives.effort.unit": "A"})
    point = mass * np.array([0.01, 0.0, 0.0, 0.01, 0.0, 0.01, 0.0, 0.0, 0.08, 1.0])
    log = synthetic_log(robot, truth_of(robot), seed, payload=point)
    log.effort = log.effort / robot.array("drives.torque_constant")
    meaning = effort_decision(log, robot).meaning
    assert meaning is None or meaning.unit == "A"


@pytest.mark.parametrize("word", ["torque", "gravity-free"])
@pytest.mark.parametrize("stated", ["%", "A"])
def test_columns_in_another_unit_are_no_torque_because_it_is_said(word, stated):
    """Its identification was graded good."""
    for taken in (
        lambda: recognise(UR5E, slow_motion(recording(LOG, "log")), word, stated),
        lambda: with_recorded_effort(LOG, UR5E, word, stated),
    ):
        with pytest.raises(DataError, match=f"{word} is in Nm, the columns say {stated}: .* --unit Nm"):
            taken()


@pytest.mark.parametrize("unit", [1 / 300, 0.5, 1.0, 40.0])
def test_a_current_that_is_declared_has_any_constants_where_the_file_has_none(unit):
    """Small servos have 1 to 2.5 Nm/A, which looks like a torque; a percentage of the rated current is one, too."""
    declares = UR5E.with_updates({"drives.effort.unit": "A", "drives.torque_constant": None})
    spread = np.array([1.0, 0.7, 1.0, 1.6, 1.6, 1.6])
    found = semantics(LOG.effort * unit * spread, declares)
    torque = declares.with_updates({"drives.effort.unit": "Nm"})
    motion = slow_motion(recording(with_effort(LOG.effort * unit * spread), "log"))
    assert recognise(torque, motion, stated="A").scale == pytest.approx(found.scale)  # as the columns of a table say
    assert found.meaning.unit == "A" and found.scale == pytest.approx(1 / (unit * spread), rel=0.35)
    assert semantics(LOG.effort).meaning.unit == "Nm"  # a torque that is declared stays one
    none = (np.full(6, np.nan), np.full(6, np.inf))  # rotors of high gear ratio hide the inertia
    evidence = evidence_of(unit * spread, unit * spread / 50, *none, *none, *none, *np.full((3, 6), 0.0), np.ones(6))
    assert decide(evidence, declares).meaning.word == "current"
