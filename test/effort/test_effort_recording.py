"""What effort means is read from the data; what contradicts the robot file is reported (faults 13-15)."""

from dataclasses import replace

import numpy as np
import pytest
from force_bench import POSE, UR5E, measured, model, moving, still, through
from prepared import moves
from public_data import DATA, needs_data
from table_files import write_csv

from robot_dynamics_ros.bags import load_bag, write_bag
from robot_dynamics_ros.effort.recording import adopted, contradictions
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.estimators.recorded_effort import effort_decision, with_recorded_effort
from robot_dynamics_ros.estimators.replay import replay
from robot_dynamics_ros.estimators.replay_verdict import judged
from robot_dynamics_ros.robot_file import load_robot

MOTIONS = {"still": still(), "moving": moving(), "through": through([POSE, POSE + 0.6])}
CONSTANT = UR5E.array("drives.torque_constant")


def altered(motion, how):
    log = measured(motion, noise=0.2)
    effort = log.effort.copy()
    if "compensated" in how:
        effort = effort - model().gravity(log.q)
    if "ampere" in how:
        effort = effort / CONSTANT
    if "negative" in how:
        effort = -effort
    if "flipped" in how:
        effort[:, 2] *= -1
    log.effort = effort
    return log


@pytest.mark.parametrize("motion", MOTIONS)
def test_declared_meaning_is_confirmed(motion):
    found = effort_decision(altered(MOTIONS[motion], "as it is"), UR5E)
    assert contradictions(found, UR5E) == [] and str(found.meaning) == "Nm, gravity included" and found.sign == 1


CONTRADICTIONS = {"ampere": "looks like A", "negative ampere": "looks like A", "negative": "sign -1"}
CONTRADICTIONS |= {"flipped": "elbow_joint: effort has the opposite sign"}


@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.parametrize(("how", "text"), CONTRADICTIONS.items())
def test_contradictions_are_named(motion, how, text):
    found = effort_decision(altered(MOTIONS[motion], how), UR5E)
    if motion == "still":  # no dissipation: nothing is flipped, the doubt is named
        text = {"negative": "is doubtful", "flipped": "elbow_joint: effort may have the opposite sign"}.get(how, text)
        assert (found.signs == 1).all()
    assert any(text in problem for problem in contradictions(found, UR5E))


@pytest.mark.parametrize("turned", [False, True])
def test_a_reversed_effort_that_friction_alone_shows_is_said_in_the_verdict(turned):
    """The last joint carries nothing: it was only hinted at among the notes."""
    log, last = moves(1, 8), UR5E.joint_names[-1]
    log.effort = log.effort * np.append(np.ones(5), -1.0 if turned else 1.0)
    _, notes, doubts = with_recorded_effort(log, UR5E, "auto", "")
    assert doubts == notes[:turned] and all(f"{last}: effort has the opposite sign" in text for text in doubts)


@pytest.mark.parametrize("motion", ["still", "through"])
@pytest.mark.parametrize("how", ["compensated", "compensated ampere"])
def test_missing_gravity_is_noticed(motion, how):
    found = effort_decision(altered(MOTIONS[motion], how), UR5E)
    assert found.meaning is not None and not found.meaning.includes_gravity
    assert any("without gravity" in problem for problem in contradictions(found, UR5E))


def test_what_was_found_is_declared_and_a_reversed_joint_gets_a_factor():
    found = effort_decision(altered(MOTIONS["through"], "compensated negative ampere"), UR5E)
    robot, factors = adopted(found, UR5E)
    effort = robot.drives.effort
    assert (effort.unit, effort.sign, effort.includes_gravity) == ("A", -1, False)
    assert contradictions(found, robot) == [] and (factors == 1).all()
    robot, factors = adopted(effort_decision(altered(MOTIONS["through"], "flipped"), UR5E), UR5E)
    assert robot.drives.effort.sign == 1 and factors.tolist() == [1, 1, -1, 1, 1, 1]


def test_several_doubtful_signs_are_refused_with_the_option_that_overrules():
    with pytest.raises(DataError, match="--effort torque"):
        adopted(effort_decision(altered(MOTIONS["still"], "negative"), UR5E), UR5E)


def test_the_refusal_names_reversed_joints_apart_from_doubtful_ones():
    found = effort_decision(altered(MOTIONS["through"], "flipped"), UR5E)
    found = replace(found, doubtful=("wrist_1_joint", "wrist_2_joint"))
    assert "the sign of the effort of elbow_joint is reversed, that of wrist_1_joint, wrist_2_joint" in found.refused


def test_nothing_is_invented_where_nothing_loads_the_joints():
    log = measured(still(), friction=False)
    log.effort = np.random.default_rng(0).normal(size=log.q.shape)
    upright = UR5E.with_updates({"kinematics.gravity": [0.0, 0.0, 0.0]})
    found = effort_decision(log, upright)
    assert found.meaning is None and contradictions(found, upright) == []


def test_a_log_without_velocity_is_understood_and_left_as_it_is():
    log = altered(MOTIONS["through"], "ampere")
    log.qd = None
    assert effort_decision(log, UR5E).meaning.unit == "A"
    assert not log.has("qd")


def test_unusable_logs_say_why():
    log = measured(still())
    log.effort[:] = np.nan
    with pytest.raises(DataError, match="0 usable samples"):
        effort_decision(log, UR5E)
    log.effort = None
    with pytest.raises(DataError, match="absent"):
        effort_decision(log, UR5E)


@needs_data
@pytest.mark.parametrize(
    ("file", "robot", "sign"),
    [("ur3/id1.bag", "ur3", -1), ("ur3/id2.bag", "ur3", -1), ("ur10/ur10_exciting_trajectory.db3", "ur10", 1)],
)
def test_real_recordings_are_understood(file, robot, sign):
    robot = load_robot(robot)
    found = effort_decision(load_bag(DATA / file, robot)[0], robot)
    assert (str(found.meaning), found.sign, found.flipped) == ("Nm, gravity included", sign, ())
    assert not found.doubtful


def test_an_effort_that_fits_no_meaning_is_taken_as_the_columns_say_or_the_robot_file(tmp_path):
    """A third of the torque is neither Nm nor A; a table may say which it is, a bag does not."""
    log = measured(through([POSE, POSE + 0.6]))
    log.effort = 0.3 * log.effort
    floating = UR5E.with_updates({"drives.torque_constant": None, "kinematics.gravity": [0.0, 0.0, 0.0]})
    columns = {"time": log.time, "q_{}": log.q, "qd_{}": log.qd, "current_{}": log.effort}
    table = write_csv(tmp_path / "t.csv", columns)
    stated = replay([table], UR5E)
    assert stated.robot.drives.effort.unit == "A" and "taken as A, as its columns say" in " ".join(stated.notes)
    with pytest.raises(DataError, match=r"fill in drives\.torque_constant"):
        replay([table], floating)
    write_csv(table, columns | {"current_{}": log.effort / 0.3})
    assert "effort looks like Nm, its columns say A: taken as the data say" in replay([table], UR5E).notes  # clear data
    found = replay([write_bag(log, tmp_path / "bag", topics=["joint_states"])], UR5E)
    assert "taken as Nm, as the robot file declares" in " ".join(found.notes) and found.doubts
    assert judged(found, found.summary(), None, "ur5e")["level"] == "fair"
