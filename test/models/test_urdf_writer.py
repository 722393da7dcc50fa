"""What a written URDF keeps beside the dynamics, which test_export reads back."""

from xml.etree import ElementTree

import numpy as np
import pinocchio as pin
import pytest

from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.models.urdf_import import robot_from_urdf
from robot_dynamics_ros.models.urdf_writer import urdf_text, write_urdf
from robot_dynamics_ros.robot_file import load_robot, shipped_robots
from robot_dynamics_ros.robot_file.geometry import placement, rotation, rpy_of


def test_urdf_keeps_limits_tip_and_friction(tmp_path):
    robot = load_robot("ur5e")
    write_urdf(robot, tmp_path / "robot.urdf")
    model = pin.buildModelFromUrdf(str(tmp_path / "robot.urdf"))
    assert list(model.names)[1:] == robot.joint_names and model.existFrame("tool0")
    np.testing.assert_allclose(model.effortLimit, robot.array("limits.torque"))
    np.testing.assert_allclose(model.velocityLimit, robot.array("limits.velocity"))
    assert 'damping="' in (tmp_path / "robot.urdf").read_text()
    some = robot.with_updates({"limits.torque": [None, *robot.limits.torque[1:]]})
    assert urdf_text(some).count("<limit") == 5  # of the others


def test_a_joint_that_turns_without_end_keeps_its_torque_and_velocity(tmp_path):
    robot = load_robot("ur3e")
    write_urdf(robot, tmp_path / "robot.urdf")
    again = robot_from_urdf(tmp_path / "robot.urdf", torque_side="motor", effort_unit="Nm")
    for name in ("position_lower", "position_upper", "velocity", "torque"):
        np.testing.assert_array_equal(again.array(f"limits.{name}"), robot.array(f"limits.{name}"), err_msg=name)


@pytest.mark.parametrize("text", ["--", "a---b", "a-", "<!-- -->"])
def test_a_comment_may_hold_any_line(text):
    ElementTree.fromstring(urdf_text(load_robot("ur5e"), notes=[text]))


def test_unknown_links_are_refused_and_nothing_is_written(tmp_path):
    with pytest.raises(CapabilityError, match="links is unknown"):
        write_urdf(load_robot("comau_ns16"), tmp_path / "robot.urdf")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("pitch", [0.3, -1.2, np.pi / 2, -np.pi / 2, np.pi / 2 - 2e-10, -np.pi / 2 + 3e-12])
def test_roll_pitch_yaw_of_a_rotation(pitch):
    turned = rotation([0.5, -0.4, 1.1])
    R = turned.T @ (turned @ rotation([0.4, pitch, -2.0]))  # with the rounding of frames that are turned
    np.testing.assert_allclose(rotation(rpy_of(R)), R, atol=1e-11)
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
