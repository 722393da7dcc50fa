"""The URDF we write means the same to Pinocchio as our file means to us."""

from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest
from chains import configuration

from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.models.inertia import inertia_matrix
from robot_dynamics_ros.models.urdf_writer import urdf_text, write_urdf
from robot_dynamics_ros.robot_file import load_robot, shipped_robots
from robot_dynamics_ros.robot_file.geometry import joint_placement, placement, rotation, rpy_of

KNOWN = [name for name in shipped_robots() if name != "comau_ns16"]


def pinocchio_model(robot):
    """Model straight from the file's numbers, without our URDF or our chain."""
    model = pin.Model()
    model.gravity.linear = np.array(robot.kinematics.gravity)
    for i, (joint, link) in enumerate(zip(robot.kinematics.joints, robot.links.values, strict=True)):
        T = pin.SE3(joint_placement(joint, robot.is_dh))
        index = model.addJoint(i, pin.JointModelRZ(), T, joint.name)
        body = pin.Inertia(link.mass, np.array(link.com), inertia_matrix(link.inertia))
        model.appendBodyToJoint(index, body, pin.SE3.Identity())
    return model


@pytest.mark.parametrize("name", KNOWN)
def test_urdf_round_trip_through_pinocchio(name, tmp_path):
    robot = load_robot(name)
    write_urdf(robot, tmp_path / "robot.urdf")
    model = pin.buildModelFromUrdf(str(tmp_path / "robot.urdf"))
    model.gravity.linear = robot.gravity
    expected = pinocchio_model(robot)
    rng = np.random.default_rng(1)
    for _ in range(10):
        q, v, a = rng.uniform(-3, 3, (3, robot.n_joints))
        ours = pin.rnea(model, model.createData(), configuration(model, q), v, a)
        np.testing.assert_allclose(ours, pin.rnea(expected, expected.createData(), q, v, a), atol=1e-9)


def test_urdf_keeps_limits_tip_and_friction(tmp_path):
    robot = load_robot("ur5e")
    write_urdf(robot, tmp_path / "robot.urdf")
    model = pin.buildModelFromUrdf(str(tmp_path / "robot.urdf"))
    assert list(model.names)[1:] == robot.joint_names and model.existFrame("tool0")
    np.testing.assert_allclose(model.effortLimit, robot.array("limits.torque"))
    np.testing.assert_allclose(model.velocityLimit, robot.array("limits.velocity"))
    assert 'damping="' in (tmp_path / "robot.urdf").read_text()


def test_unknown_links_are_refused_and_nothing_is_written(tmp_path):
    with pytest.raises(CapabilityError, match="links is unknown"):
        write_urdf(load_robot("comau_ns16"), tmp_path / "robot.urdf")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("pitch", [0.3, -1.2, np.pi / 2, -np.pi / 2])
def test_roll_pitch_yaw_of_a_rotation(pitch):
    R = rotation([0.4, pitch, -2.0])
    np.testing.assert_allclose(rotation(rpy_of(R)), R, atol=1e-12)
    np.testing.assert_allclose(placement([1, 2, 3], [0.4, pitch, -2.0])[:3, 3], [1, 2, 3])


@pytest.mark.parametrize("name", shipped_robots())
def test_drawn_links_reach_from_joint_to_joint_under_prefixed_names(name):
    root = ElementTree.fromstring(urdf_text(load_robot(name), "left_", drawn=True))
    assert all(link.get("name").startswith("left_") for link in root.iterfind("link"))
    revolute = {joint.get("name") for joint in root.iterfind("joint[@type='revolute']")}
    assert root.find("link/inertial") is None and revolute <= set(load_robot(name).joint_names)
    links, drawn = {link.get("name"): link for link in root.iterfind("link")}, 0
    for joint in root.iterfind("joint"):
        end = np.array(joint.find("origin").get("xyz").split(), dtype=float)
        visual = links[joint.find("parent").get("link")].find("visual")
        if visual is None:
            assert np.linalg.norm(end) < 1e-3
            continue
        origin, drawn = visual.find("origin"), drawn + 1
        half = 0.5 * float(visual.find("geometry/cylinder").get("length"))
        middle, rpy = (np.array(origin.get(key).split(), dtype=float) for key in ("xyz", "rpy"))
        along = rotation(rpy) @ np.array([0.0, 0.0, half])
        np.testing.assert_allclose(middle - along, 0.0, atol=1e-12)
        np.testing.assert_allclose(middle + along, end, atol=1e-12)
    assert drawn >= 3
