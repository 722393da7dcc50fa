"""Rounded right angles of a URDF or robot file change no base parameter, and groups do not count as bad condition."""

import re

import numpy as np
import pytest
from prepared import UR5E, run, steps

from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.identification.dataset.initial_model import any_robot, rounded_angles
from robot_dynamics_ros.models.right_angles import snap_robot, snapped
from robot_dynamics_ros.models.urdf_writer import write_urdf
from robot_dynamics_ros.robot_file import load_robot, save_robot


def rounded(robot, digits):
    """The robot file with every angle of its kinematics rounded."""
    joints = robot.raw()["kinematics"]["joints"]
    for joint in joints:
        joint |= {k: round(joint[k], digits) for k in ("alpha", "theta") if joint.get(k) is not None}
        if joint.get("rpy") is not None:
            joint["rpy"] = [round(a, digits) for a in joint["rpy"]]
    return robot.with_updates({"kinematics.joints": joints})


@pytest.mark.parametrize(("name", "digits"), [("comau_ns16", 4), ("comau_ns16", 5), ("ur10e", 3), ("fr3", 3)])
def test_rounding_adds_no_base_parameter(name, digits):
    """The tolerance of the rank holds without snapping; 3 digits are beyond what is snapped."""
    robot = load_robot(name)
    assert RigidModel(rounded(robot, digits)).base.size == RigidModel(robot).base.size


def test_angles_near_right_angles_only_are_snapped():
    assert snapped(1.5708) == np.pi / 2 and snapped(-3.1416) == -np.pi and snapped(0.00005) == 0.0
    assert snapped(1.5710) == 1.5710 and snapped(0.785398) == 0.785398 and snapped(np.pi / 2) == np.pi / 2


def test_robot_files_are_snapped_and_say_so(tmp_path):
    robot = load_robot("ur10e")
    again, changed = snap_robot(rounded(robot, 4))
    np.testing.assert_allclose(again.kinematic_chain().placements, robot.kinematic_chain().placements, atol=1e-12)
    assert changed and not snap_robot(robot)[1]
    save_robot(rounded(robot, 4), tmp_path / "arm.yaml")
    assert all(name in rounded_angles(str(tmp_path / "arm.yaml")) for name in changed)
    assert snap_robot(any_robot(str(tmp_path / "arm.yaml")))[1] == []


def test_urdfs_are_snapped_and_say_so(tmp_path):
    robot = load_robot("ur10e")
    write_urdf(robot, tmp_path / "exact.urdf")
    text = (tmp_path / "exact.urdf").read_text()

    def four(found):
        return 'rpy="' + " ".join(f"{float(word):.4f}" for word in found.group(1).split()) + '"'

    (tmp_path / "rounded.urdf").write_text(re.sub(r'rpy="([^"]*)"', four, text))
    chains = [any_robot(str(tmp_path / f"{k}.urdf")).kinematic_chain() for k in ("exact", "rounded")]
    np.testing.assert_allclose(*(chain.placements for chain in chains), rtol=0, atol=1e-12)
    assert rounded_angles(str(tmp_path / "exact.urdf")) == ""
    assert robot.joint_names[1] in rounded_angles(str(tmp_path / "rounded.urdf"))


def test_condition_without_masses_counts_groups_once():
    """Rotor and ZZ of the first link are one number, although rounded angles tell them apart by a millionth."""
    bare = rounded(UR5E, 4).with_updates({"links": None})
    found = steps([run(1)], robot=bare, until="fit_parameters")
    assert found.solution.condition < 200 and not found.solution.separable.all()
