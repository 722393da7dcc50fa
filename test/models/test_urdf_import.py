"""A robot file made from a URDF has the dynamics of the URDF, and says what the URDF does not."""

import numpy as np
import pytest
from command_line import printed, robot_dynamics

from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.estimators.external_force import wrench_frame
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.models.robot_report import report
from robot_dynamics_ros.models.urdf_import import HELD, PLACEHOLDER, REPAIRED, TURNED, robot_from_urdf
from robot_dynamics_ros.robot_file import load_robot

pin = pytest.importorskip("pinocchio")
TILTED = """<robot name="Tilted Arm 3"><link name="world"/>
<link name="a">{inertial}</link><link name="b">{inertial}</link>
<link name="finger"/><link name="hand"/>
<joint name="J_1" type="revolute"><parent link="world"/><child link="a"/><origin xyz="0 0 0.3" rpy="0.2 -0.4 0.1"/>
 <axis xyz="0 1 0"/><limit lower="-1" upper="2" velocity="0" effort="9"/></joint>
<joint name="J_2" type="continuous"><parent link="a"/><child link="b"/><origin xyz="0.4 0 0"/>
 <axis xyz="-1 0 1"/></joint>
<joint name="grip" type="revolute"><parent link="b"/><child link="finger"/><axis xyz="0 0 1"/>
 <limit lower="0" upper="1" velocity="1" effort="1"/></joint>
<joint name="fix" type="fixed"><parent link="b"/><child link="hand"/><origin xyz="0 0 0.1"/></joint></robot>"""
INERTIAL = """<inertial><mass value="2"/><origin xyz="0.1 0.02 0.03" rpy="0.1 0 0"/>
 <inertia ixx="0.02" ixy="0.001" ixz="0" iyy="0.03" iyz="0" izz="0.025"/></inertial>"""
SINGLE = f"""<robot name="one"><link name="base"/><link name="a">{INERTIAL}</link>
<joint name="J" type="revolute"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/>
 <limit lower="-1" upper="2" velocity="1" effort="9"/></joint></robot>"""


def urdf(folder, inertial=INERTIAL):
    file = folder / "arm.urdf"
    file.write_text(TILTED.format(inertial=inertial))
    return file


def edited(folder, old, new):
    file = urdf(folder)
    file.write_text(file.read_text().replace(old, new))
    return file


def single(folder, old="", new=""):
    file = folder / "arm.urdf"
    file.write_text(SINGLE.replace(old, new))
    return file


def imported(file, **keywords):
    return robot_from_urdf(file, torque_side="motor", effort_unit="Nm", **keywords)


def test_axes_of_any_direction_keep_their_dynamics(tmp_path):
    file = urdf(tmp_path)
    robot = imported(file, tip="hand")
    assert robot.name == "tiltedarm3" and robot.joint_names == ["J_1", "J_2"]
    model = RobotModel(robot.chain())
    expected = RobotModel.from_urdf(file, tip="hand").with_gravity([0, 0, -9.80665])
    q, v, a = np.random.default_rng(1).uniform(-2, 2, (3, 20, 2))
    np.testing.assert_allclose(model.rnea(q, v, a), expected.rnea(q, v, a), atol=1e-12)
    np.testing.assert_allclose(model.fk(q)[:, -1], expected.fk(q)[:, -1], atol=1e-12)


def test_link_frames_that_are_turned_are_named_and_no_frame_of_a_wrench(tmp_path):
    """Another node's TF has the URDF's: a force in the other axes under that name would point elsewhere."""
    out = tmp_path / "arm.yaml"
    printed = robot_dynamics("new", urdf(tmp_path), "--tip", "hand", "--effort-from", "current", "--out", out).output
    assert "Link frames of J_1, J_2 are not those of the URDF" in printed
    with pytest.raises(ConfigError, match=r"frame_id: 'J_1_link': Link frames of J_1, J_2 .* take tool or base"):
        wrench_frame(load_robot(out), "J_1_link")
    assert wrench_frame(load_robot(out), "") == (2, "hand")
    assert TURNED not in imported(single(tmp_path, 'xyz="0 1 0"', 'xyz="0 0 1"')).sources


FOOT = """<link name="{0}"/><joint name="f{0}" type="fixed"><parent link="shin"/><child link="{0}"/>
 <origin xyz="{1} 0 0"/></joint>"""


@pytest.mark.parametrize(("feet", "tip"), [({"foot": 0.2}, "foot"), ({"heel": -0.1, "toe": 0.3}, "shin")])
def test_what_is_fixed_behind_the_last_joint_is_the_tcp_unless_there_are_several(tmp_path, feet, tip):
    file, out = urdf(tmp_path), tmp_path / "leg.yaml"
    text = file.read_text().split('<joint name="grip"')[0].replace('<link name="finger"/><link name="hand"/>', "")
    text += '<joint name="ankle" type="fixed"><parent link="b"/><child link="shin"/><origin xyz="0.3 0 0"/></joint>'
    text += '<link name="shin"/>' + "".join(FOOT.format(*foot) for foot in feet.items())
    file.write_text(text + "</robot>")
    printed = robot_dynamics("new", file, "--effort-from", "current", "--out", out).output
    robot = load_robot(out)
    assert robot.kinematics.tip_frame == tip
    reach = np.linalg.norm(np.array(robot.chain().tool)[:3, 3])
    assert reach == pytest.approx(0.3 + (feet["foot"] if tip == "foot" else 0.0))
    assert ("heel and toe are fixed" in printed and "--tip" in printed) == (len(feet) > 1)


def test_a_position_limit_that_is_not_given_is_zero(tmp_path):
    file = single(tmp_path, 'lower="-1" ')
    assert pin.buildModelFromUrdf(str(file)).lowerPositionLimit == [0.0]
    assert imported(file).limits.position_lower == (0.0,)


@pytest.mark.parametrize("limits", ['velocity="0" effort="0"', 'velocity="1000" effort="1e6"'])
def test_a_velocity_and_a_torque_that_no_joint_has_are_unknown(tmp_path, limits):
    robot = imported(single(tmp_path, 'velocity="1" effort="9"', limits))
    assert robot.limits.velocity == (None,) and robot.limits.torque == (None,)
    assert robot.limits.position_upper == (2.0,)


def test_positions_that_let_no_joint_turn_are_unknown(tmp_path):
    """As exporters write the limits of a joint for which none were entered."""
    robot = imported(single(tmp_path, 'lower="-1" upper="2"', 'lower="0" upper="0"'))
    assert robot.limits.position_lower == (None,) and robot.limits.position_upper == (None,)


REFUSED = {  # in millimetres; as no robot file can name it
    r"joint J_2: lies 400 m from the joint before it, at most 20 .*: mm\?": ('xyz="0.4 0 0"', 'xyz="400 0 0"'),
    "joint arm-J 1: its name needs letters, digits and _, .*: rename": ("J_1", "arm-J 1"),
}


@pytest.mark.parametrize(("why", "edit"), REFUSED.items())
def test_a_joint_that_no_robot_has_is_refused_with_what_to_do(tmp_path, why, edit):
    with pytest.raises(ConfigError, match=why):
        imported(edited(tmp_path, *edit), tip="hand")


def test_a_single_joint_which_reaches_nowhere_is_not_too_heavy(tmp_path):
    assert not any("masses" in found.text for found in report(imported(single(tmp_path))).findings)


def test_the_reach_of_an_arm_whose_axes_are_parallel_is_that_from_the_first(tmp_path):
    file, axis = tmp_path / "scara.urdf", '<axis xyz="0 0 1"/>'
    text = SINGLE.replace('<axis xyz="0 1 0"/>', axis).replace("</robot>", f'<link name="b">{INERTIAL}</link>')
    text += f"""<joint name="K" type="continuous"><parent link="a"/><child link="b"/><origin xyz="0.4 0 0.2"/>{axis}
    </joint><link name="tool"/><joint name="t" type="fixed"><parent link="b"/><child link="tool"/>
    <origin xyz="0.3 0 -0.5"/></joint></robot>"""
    file.write_text(text)
    robot = imported(file)
    assert report(robot).numbers["shoulder to TCP, longest [m]"] == pytest.approx(0.7, abs=0.01)
    said = "no joint shows a force along z of the base: there it reads 0, whatever presses"
    assert any(said in note for note in Pipeline(robot).notes)


def test_a_tcp_on_the_last_axis_of_three_has_a_direction_that_no_joint_shows(tmp_path):
    robot = imported(urdf(tmp_path), tip="finger")
    assert robot.n_joints == 3 and "along a direction that turns with the arm" in " ".join(Pipeline(robot).notes)
    assert not any("no joint shows" in note for note in Pipeline(load_robot("ur5e")).notes)


def test_joints_beside_the_arm_are_said_to_be_held(tmp_path):
    assert (
        imported(urdf(tmp_path), tip="hand").sources[HELD].endswith("held at zero, what they carry is part of it: grip")
    )
    assert HELD not in imported(urdf(tmp_path), tip="finger").sources


def test_what_a_urdf_does_not_say_is_unknown(tmp_path):
    robot = imported(urdf(tmp_path, inertial=""), tip="hand")
    assert robot.links is None and not robot.has("limits.velocity") and not robot.has("drives.rotor_inertia")
    assert robot.limits.position_upper == (2.0, np.inf) and robot.limits.torque == (9.0, None)


def test_command_writes_a_file_that_check_accepts(tmp_path):
    file, out = urdf(tmp_path), tmp_path / "mine.yaml"
    flags = ["--effort-from", "current", "--tip", "hand", "--out", str(out)]
    assert "2 joints; unknown: " in printed("new", file, *flags)
    robot = load_robot(out)
    assert robot.name == "mine" and robot.provenance[0].inputs[0].name == "arm.urdf"
    assert robot_dynamics("check", out, catch_exceptions=False).exit_code == 0
    with pytest.raises(ConfigError, match="exists already"):
        robot_dynamics("new", file, *flags, catch_exceptions=False)


def test_torque_limits_that_cannot_hold_the_arm_are_unknown(tmp_path):
    """2 kg at half a metre from J_1 need about 16 Nm."""
    file = urdf(tmp_path)
    (tmp_path / "unknown").mkdir()
    for effort, known in ((9, False), (99, True)):
        text = TILTED.format(inertial=INERTIAL).replace('effort="9"', f'effort="{effort}"')
        file.write_text(text.replace('<axis xyz="-1 0 1"/>', '<axis xyz="-1 0 1"/><limit effort="50" velocity="1"/>'))
        robot = imported(file, tip="hand")
        assert robot.has("limits.torque") == known != (PLACEHOLDER in robot.sources)
    assert PLACEHOLDER in imported(urdf(tmp_path / "unknown"), tip="hand").sources  # that of J_2 is unknown
    arguments = "--tip hand --effort-from link-torque --out".split()
    file.write_text(file.read_text().replace('effort="99"', 'effort="9"'))
    printed = robot_dynamics("new", file, *arguments, tmp_path / "arm.yaml").output
    assert "Torque limits are left unknown" in printed and "J_1: 9 Nm" in printed


def test_inertias_of_no_body_become_those_of_the_nearest(tmp_path):
    """The mass and its centre, and so gravity, stay."""
    good = imported(urdf(tmp_path), tip="hand")
    bad = imported(urdf(tmp_path, INERTIAL.replace('ixx="0.02"', 'ixx="0.2"')), tip="hand")
    assert good.links.source == {"*": "urdf"} and REPAIRED not in good.sources
    assert bad.links.source == {"*": REPAIRED} and "behind J_1, J_2 are those of no body" in bad.sources[REPAIRED]
    assert report(bad).ok
    np.testing.assert_allclose(bad.link_parameters[:, 6:], good.link_parameters[:, 6:], atol=1e-12)


XACRO = 'xmlns:xacro="http://www.ros.org/wiki/xacro"'
XACROS = {"macro": f'<robot {XACRO} name="a"><xacro:macro name="m"/></robot>'}
XACROS["namespace-missing"] = '<robot name="a"><xacro:include filename="b.xacro"/></robot>'
XACROS["argument"] = '<robot name="a"><link name="$(arg prefix)base"/></robot>'
XACROS["expression"] = '<robot name="a"><link name="${prefix}base"/></robot>'


@pytest.mark.parametrize("text", XACROS.values(), ids=list(XACROS))
def test_a_xacro_is_recognised(tmp_path, text):
    (tmp_path / "arm.urdf.xacro").write_text(text)
    with pytest.raises(ConfigError, match=r"is a xacro file.*xacro FILE > arm\.urdf"):
        imported(tmp_path / "arm.urdf.xacro")


def test_a_converted_xacro_that_keeps_the_namespace_is_read(tmp_path):
    assert imported(edited(tmp_path, "<robot ", f"<robot {XACRO} "), tip="hand").joint_names == ["J_1", "J_2"]


@pytest.mark.parametrize("tip", [(), ("--tip", "nosuch")])
def test_new_names_the_flag_that_is_missing_or_wrong(tmp_path, tip):
    other = '<joint name="J_3" type="continuous"><parent link="a"/><child link="c"/></joint><link name="c"/></robot>'
    line = ["new", edited(tmp_path, "</robot>", other), "--effort-from", "motor-torque", "--out", tmp_path / "a.yaml"]
    done = robot_dynamics(*line, *tip)
    assert isinstance(done.exception, ConfigError) and "--tip" in str(done.exception)
    assert not (tmp_path / "a.yaml").exists()


def test_the_ends_of_arms_on_one_base_are_named(tmp_path):
    other = '<joint name="K" type="continuous"><parent link="world"/><child link="other"/></joint><link name="other"/>'
    with pytest.raises(ConfigError, match=r"branches after the root into .*: finger, other$"):
        imported(edited(tmp_path, "</robot>", other + "</robot>"))
