"""Capabilities follow from the files."""

import numpy as np
import pytest
from robot_text import changed, write

from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.identification.excitation import Limits
from robot_dynamics_ros.robot_file import capabilities, capability_table, load_robot, require_capability, shipped_robots
from robot_dynamics_ros.robot_file.gaps import estimates, unknown_numbers


def test_unknown_numbers_have_the_stand_in_that_is_asked_for():
    known = load_robot("ur5e")
    unknown = known.with_updates({"drives.rotor_inertia": None})
    assert known.array_or("drives.rotor_inertia", 0.1).tolist() == known.array("drives.rotor_inertia").tolist()
    assert unknown.array_or("drives.rotor_inertia", 0.1).tolist() == [0.1] * 6
    some = known.with_updates(
        {"limits.position_lower": [-6, -6, -0.2, None, -6, -6], "limits.velocity": [0.5] * 5 + [None]}
    )
    assert Limits.of(some).lower.tolist() == [-np.pi, -np.pi, -0.2, *[-np.pi] * 3]
    assert Limits.of(some).velocity.tolist() == [0.5] * 5 + [1.5]


def test_every_robot_has_a_row():
    robots = [load_robot(name) for name in shipped_robots()]
    rows = capability_table(robots).splitlines()[2:]
    assert [row.split("|")[1].strip() for row in rows] == [robot.name for robot in robots]


@pytest.mark.parametrize(
    ("robot", "can", "cannot"),
    [
        ("ur5e", ["friction", "temperature", "torque mode", "contact force"], ["stiffness"]),
        ("ur10", ["friction", "temperature", "contact force"], ["torque mode", "stiffness"]),
        ("fr3", ["stiffness", "torque mode", "contact force", "friction"], ["temperature"]),
        ("comau_ns16", ["friction", "sampling"], ["contact force", "torque mode", "stiffness", "temperature"]),
    ],
)
def test_what_each_family_can_do(robot, can, cannot):
    robot = load_robot(robot)
    assert all(capabilities(robot)[name].ok for name in can)
    for name in cannot:
        with pytest.raises(CapabilityError, match=f"{robot.name} cannot do {name}: .* \\(in .*yaml\\)"):
            require_capability(robot, name)


SWITCHES = {"stiffness": ("sensing", "rotor_encoder"), "temperature": ("sensing", "temperature")}
SWITCHES |= {"torque sensing": ("sensing", "motor_torque"), "torque mode": ("drives", "torque_command")}


@pytest.mark.parametrize(("capability", "path"), SWITCHES.items())
def test_a_field_switches_its_capability(path, capability, tmp_path):
    value = {"available": True} if capability == "torque mode" else True
    assert not capabilities(load_robot(write(tmp_path, changed(("name",), "two"))))[capability].ok
    assert capabilities(load_robot(write(tmp_path, changed(path, value))))[capability].ok


def test_an_arm_of_fewer_than_six_joints_shows_a_force_without_moments(tmp_path):
    two = load_robot(write(tmp_path, changed(("name",), "two")))
    assert "without moments" in str(capabilities(two)["contact force"])
    six = load_robot("ur5e")
    finger = six.with_updates({"kinematics.tool.expected_moment": 0.0})
    assert "expected_moment is 0" in str(capabilities(finger)["contact force"])
    assert "moments" not in str(capabilities(six)["contact force"])


def test_gaps_and_estimates_are_listed(tmp_path):
    raw = changed(("drives", "torque_constant"), [10.0, None])
    raw["kinematics"]["joints"][1]["d"] = None
    raw["sources"]["estimate_fc"] = "a guess for tests, of no value"
    raw["friction"]["source"] = "estimate_fc"
    robot = load_robot(write(tmp_path, raw))
    unknown = set(unknown_numbers(robot))
    assert {"kinematics.joints d [two]", "drives.torque_constant [two]", "limits.acceleration", "thermal"} <= unknown
    assert "drives.coupling" not in unknown and "links.parameters" not in unknown
    assert estimates(robot) == ["friction"]
