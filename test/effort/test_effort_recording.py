"""What effort means is read from the data; what contradicts the robot file is said (faults 13-15)."""

import os
from pathlib import Path

import numpy as np
import pytest
from force_bench import POSE, UR5E, measured, model, moving, still, through

from robot_dynamics_ros.bags import load_bag
from robot_dynamics_ros.effort.recording import effort_semantics
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.robot_file import load_robot

MOTIONS = {
    "still": still(),
    "moving": moving(),
    "through": through([POSE, POSE + 0.6]),
}
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
    found = effort_semantics(altered(MOTIONS[motion], "as it is"), UR5E)
    assert found.problems(UR5E) == [] and not found.ambiguous and found.unit == "Nm" and found.sign == 1


@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.parametrize(
    ("how", "text"),
    [
        ("ampere", "looks like A"),
        ("negative", "sign -1"),
        ("flipped", "elbow_joint: effort has the opposite sign"),
        ("negative ampere", "looks like A"),
    ],
)
def test_contradictions_are_named(motion, how, text):
    found = effort_semantics(altered(MOTIONS[motion], how), UR5E)
    assert any(text in problem for problem in found.problems(UR5E))


@pytest.mark.parametrize("motion", ["still", "through"])
@pytest.mark.parametrize("how", ["compensated", "compensated ampere"])
def test_missing_gravity_is_noticed(motion, how):
    found = effort_semantics(altered(MOTIONS[motion], how), UR5E)
    assert found.includes_gravity is False
    assert any("without gravity" in problem for problem in found.problems(UR5E))


def test_apply_declares_what_was_found_and_refuses_a_flipped_joint():
    found = effort_semantics(altered(MOTIONS["through"], "compensated negative ampere"), UR5E)
    effort = found.apply(UR5E).drives.effort
    assert (effort.unit, effort.sign, effort.includes_gravity) == ("A", -1, False)
    assert found.problems(found.apply(UR5E)) == []
    with pytest.raises(DataError, match="elbow_joint"):
        effort_semantics(altered(MOTIONS["through"], "flipped"), UR5E).apply(UR5E)


def test_nothing_is_invented_where_nothing_loads_the_joints():
    log = measured(still(), friction=False)
    log.effort = np.random.default_rng(0).normal(size=log.q.shape)
    upright = UR5E.with_updates({"kinematics.gravity": [0.0, 0.0, 0.0]})
    found = effort_semantics(log, upright)
    assert found.ambiguous and found.unit is None and found.problems(upright) == []


def test_a_log_without_velocity_is_understood_and_left_as_it_is():
    log = altered(MOTIONS["through"], "ampere")
    log.qd = None
    assert effort_semantics(log, UR5E).unit == "A"
    assert not log.has("qd")


def test_unusable_logs_say_why():
    log = measured(still())
    log.effort[:] = np.nan
    with pytest.raises(DataError, match="0 usable samples"):
        effort_semantics(log, UR5E)
    log.effort = None
    with pytest.raises(DataError, match="absent"):
        effort_semantics(log, UR5E)


DATA = Path(os.environ.get("ROBOT_DYNAMICS_DATA", Path(__file__).parents[3] / "shared" / "data"))


@pytest.mark.skipif(not DATA.is_dir(), reason=f"no public recordings in {DATA} (ROBOT_DYNAMICS_DATA)")
@pytest.mark.parametrize(
    ("file", "robot", "sign"),
    [("ur3/id1.bag", "ur3", -1), ("ur3/id2.bag", "ur3", -1), ("ur10/ur10_exciting_trajectory.db3", "ur10", 1)],
)
def test_real_recordings_are_understood(file, robot, sign):
    robot = load_robot(robot)
    found = effort_semantics(load_bag(DATA / file, robot)[0], robot)
    assert (found.unit, found.sign, found.includes_gravity, found.flipped) == ("Nm", sign, True, [])
