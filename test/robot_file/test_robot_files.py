"""Shipped robot files load, say where every number comes from, and match what others publish."""

import numpy as np
import pytest

from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.models.inertia import consistency_margin
from robot_dynamics_ros.robot_file import blocks, load_robot, shipped_robots
from robot_dynamics_ros.robot_file.geometry import modified_dh

ROBOTS = list(shipped_robots())
UR = [name for name in ROBOTS if name.startswith("ur")]
ALPHA = [np.pi / 2, 0.0, 0.0, np.pi / 2, -np.pi / 2, 0.0]
# standard DH of the e-Series as printed in [Madsen2020 Table 2.1]: a_2, a_3, d_1, d_4, d_5, d_6
E_SERIES = {
    "ur3e": (-0.24355, -0.2132, 0.15185, 0.13105, 0.08535, 0.0921),
    "ur5e": (-0.425, -0.3922, 0.1625, 0.1333, 0.0997, 0.0996),
    "ur10e": (-0.6127, -0.57155, 0.1807, 0.17415, 0.11985, 0.11655),
    "ur16e": (-0.4784, -0.36, 0.1807, 0.17415, 0.11985, 0.11655),
}


def standard_dh(a, alpha, d, theta):
    """T = Rz(theta) Tz(d) Tx(a) Rx(alpha), the form in which UR prints its table."""
    ct, st, ca, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    return np.array([[ct, -st * ca, st * sa, a * ct], [st, ct * ca, -ct * sa, a * st], [0, sa, ca, d], [0, 0, 0, 1.0]])


def flange(robot, q):
    """Base to flange from the file's modified-DH rows."""
    T = np.eye(4)
    for joint, angle in zip(robot.kinematics.joints, q, strict=True):
        T = T @ modified_dh(joint.a, joint.alpha, joint.d, joint.theta + angle)
    return T


def test_the_promised_robots_ship():
    promised = {"ur3", "ur5", "ur10", "ur3e", "ur5e", "ur10e", "ur16e", "fr3", "panda", "comau_ns16"}
    assert promised <= set(ROBOTS) and "template" not in ROBOTS


@pytest.mark.parametrize("name", ROBOTS)
def test_a_file_has_the_name_of_its_robot_every_block_a_declared_source_and_no_source_is_idle(name):
    robot = load_robot(name)
    assert robot.name == name
    found = (getattr(robot, field) for field in type(robot).model_fields)
    used = {key for block in found if isinstance(block, blocks.SourcedBlock) for key in block.source.values()}
    cited = {key for key in robot.sources if any(key in text for text in robot.sources.values())}
    assert used <= set(robot.sources)
    assert set(robot.sources) <= used | cited
    assert all(len(text) > 20 for text in robot.sources.values())


@pytest.mark.parametrize("name", [n for n in ROBOTS if n != "comau_ns16"])
def test_links_are_possible_bodies(name):
    robot = load_robot(name)
    assert all(consistency_margin(ten) > 0 for ten in robot.link_parameters)
    assert isinstance(robot.chain(), _core.Chain) and robot.inertial_parameters.shape == (10 * robot.n_joints,)


@pytest.mark.parametrize("name", E_SERIES)
def test_e_series_flange_is_that_of_the_printed_standard_table(name):
    a2, a3, d1, d4, d5, d6 = E_SERIES[name]
    rows = list(zip([0, a2, a3, 0, 0, 0], ALPHA, [d1, 0, 0, d4, d5, d6], strict=True))
    for q in np.random.default_rng(2).uniform(-3, 3, (20, 6)):
        T = np.eye(4)
        for (a, alpha, d), angle in zip(rows, q, strict=True):
            T = T @ standard_dh(a, alpha, d, angle)
        np.testing.assert_allclose(flange(load_robot(name), q), T, atol=1e-12)


@pytest.mark.parametrize("name", UR)
def test_ur_speaks_the_names_of_its_description_and_of_bags(name):
    robot = load_robot(name)
    names = ("shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3")
    assert robot.joint_names == [f"{name}_joint" for name in names]
    assert robot.joint_aliases["Wrist 1"] == "wrist_1_joint" == robot.joint_aliases["wrist_1_joint"]


def test_fr3_flange_at_zero_is_that_of_its_description():
    robot = load_robot("fr3")
    T = flange(robot, np.zeros(7))
    np.testing.assert_allclose(T[:3, 3] + T[:3, 2] * 0.107, [0.088, 0.0, 0.926], atol=1e-12)


def test_comau_refuses_dynamics_until_identified():
    robot = load_robot("comau_ns16")
    assert robot.kinematic_chain().n_joints == 6
    for ask in (robot.chain, lambda: robot.inertial_parameters):
        with pytest.raises(CapabilityError, match="unknown .*identify it or fill it in"):
            ask()
    np.testing.assert_allclose(robot.array("drives.gear_ratio")[0], -181.5873)


def test_payload_and_gravity_are_arguments_of_the_chain():
    robot = load_robot("ur5e")
    wall = robot.chain(gravity=[9.81, 0.0, 0.0])
    assert list(wall.gravity) == [9.81, 0.0, 0.0]


def test_rotor_inertia_counts_only_where_effort_contains_it():
    assert np.array_equal(load_robot("ur5e").effort_inertia, load_robot("ur5e").array("drives.rotor_inertia"))
    for name in ("fr3", "ur10"):  # behind the gear; left out by the controller
        assert not load_robot(name).effort_inertia.any() and load_robot(name).array("drives.rotor_inertia").all()
