"""An arm whose joints do not show every direction is judged by those that they show."""

import numpy as np
from command_line import robot_dynamics
from table_files import numbers

from robot_dynamics_ros.estimators.replay import replay
from robot_dynamics_ros.estimators.replay_verdict import judged
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.models.urdf_import import robot_from_urdf
from robot_dynamics_ros.robot_file import save_robot
from robot_dynamics_ros.signals import Log

LINK = """<link name="l{0}"><inertial><mass value="2"/><origin xyz="0.15 0 0"/>
 <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.02" iyz="0" izz="0.02"/></inertial></link>"""
JOINT = """<joint name="j{1}" type="revolute"><parent link="l{0}"/><child link="l{1}"/><origin xyz="{2} 0 0.1"/>
 <axis xyz="0 0 1"/><limit lower="-3" upper="3" effort="{3}" velocity="3"/></joint>"""
LINKS = "".join(LINK.format(k) for k in range(1, 5))
JOINTS = "".join(JOINT.format(k, k + 1, 0.3 * (k > 0), 100 / (k + 1)) for k in range(4))
ARM = f'<robot name="scara"><link name="l0"/>{LINKS}{JOINTS}</robot>'


def test_a_contact_of_a_scara_is_sure_in_the_plane_that_its_joints_show(tmp_path, no_pictures):
    (tmp_path / "scara.urdf").write_text(ARM)
    robot = robot_from_urdf(tmp_path / "scara.urdf", torque_side="link", effort_unit="Nm")
    model, n = RobotModel(robot.chain(), robot.joint_names), 2000
    q = np.array([0.3, 0.8, -0.5, 0.2]) + np.sin(np.linspace(0.0, 6.0, n))[:, None] * 0.3
    qd = np.gradient(q, 0.002, axis=0)
    push = np.outer((np.arange(n) > 1000) & (np.arange(n) < 1500), [60.0, -50.0, 0.0, 0.0, 0.0, 0.0])
    effort = model.rnea(q, qd, np.gradient(qd, 0.002, axis=0)) - np.einsum("kij,ki->kj", model.jacobian(q), push)
    log = Log(robot.joint_names, 10**18 + np.arange(n) * 2_000_000, {"q": q, "qd": qd, "effort": effort})
    save_robot(robot, tmp_path / "scara.yaml")
    bag = numbers(log, tmp_path / "bag")
    done = robot_dynamics("replay", bag, "--robot", tmp_path / "scara.yaml", "--out", tmp_path / "out")
    assert "standard deviation 5." in done.output and " N along x and y of the base, " in done.output
    assert "largest contact: 78 +- " in done.output and "uncertain" not in done.output, done.output
    assert "above the ISO/TS 15066 force limit of face;" in done.output


def test_a_joint_whose_axis_holds_the_tcp_shows_no_force_and_states_what_is_expected(tmp_path, no_pictures):
    text = '<robot name="turntable"><link name="l0"/>' + LINK.format(1) + JOINT.format(0, 1, 0, 50) + "</robot>"
    (tmp_path / "arm.urdf").write_text(text)
    robot = robot_from_urdf(tmp_path / "arm.urdf", torque_side="link", effort_unit="Nm")
    q = np.sin(np.linspace(0.0, 6.0, 2000))[:, None]
    signals = {"q": q, "qd": np.gradient(q, 0.002, axis=0), "effort": 0.01 * np.cos(9 * q)}
    log = Log(robot.joint_names, 10**18 + np.arange(2000) * 2_000_000, signals)
    result = replay([numbers(log, tmp_path / "bag")], robot)
    said = judged(result, result.summary(), None, "arm.urdf")["verdict"][0]
    assert result.shown == [0, 1, 2] and "of the base" not in said and "standard deviation 0" not in said
