"""URDFs with any axes, fixed joints and branches, compared with Pinocchio; wrong ones are one clear line."""

import re

import numpy as np
import pinocchio as pin
import pytest
from chains import configuration, pinocchio_columns, random_inertia, random_motion

from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.models import RobotModel


def link(name, rng=None):
    if rng is None:
        return f'<link name="{name}"/>'
    I, c = random_inertia(rng), 0.2 * rng.normal(size=3)  # noqa: E741
    return f"""<link name="{name}"><inertial><origin xyz="{c[0]} {c[1]} {c[2]}" rpy="0.3 -0.2 1"/>
      <mass value="{rng.uniform(0.5, 5)}"/><inertia ixx="{I[0, 0]}" ixy="{I[0, 1]}" ixz="{I[0, 2]}"
      iyy="{I[1, 1]}" iyz="{I[1, 2]}" izz="{I[2, 2]}"/></inertial></link>"""


def joint(name, kind, parent, child, axis=(0, 0, 1), xyz=(0.1, 0.2, 0.3), rpy=(0.4, 0.5, 0.6), extra=""):
    axis, xyz, rpy = (" ".join(str(float(x)) for x in v) for v in (axis, xyz, rpy))
    return f"""<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>{extra}
      <axis xyz="{axis}"/><origin xyz="{xyz}" rpy="{rpy}"/>
      <limit lower="-3" upper="3" effort="9" velocity="9"/></joint>"""


def arm(n, seed, axes=None):
    """Revolute and continuous joints alternating, a fixed link with mass after every joint."""
    rng = np.random.default_rng(seed)
    parts = [link("base")]
    before = "base"
    for i in range(n):
        axis = rng.normal(size=3) if axes is None else axes[i % len(axes)]
        kind = "continuous" if i % 2 else "revolute"
        xyz, rpy = rng.normal(size=(2, 3))
        parts += [link(f"l{i}", rng), joint(f"j{i}", kind, before, f"l{i}", axis, xyz, rpy)]
        parts += [link(f"cover{i}", rng), joint(f"f{i}", "fixed", f"l{i}", f"cover{i}", (1, 0, 0))]
        before = f"cover{i}" if i % 3 == 0 else f"l{i}"
    return "\n".join(parts)


def written(tmp_path, body):
    path = tmp_path / "arm.urdf"
    path.write_text(f'<robot name="arm">{body}</robot>', encoding="utf-8")
    return path


Z, X, Y = (0, 0, 1), (1, 0, 0), (0, 1, 0)
AXES = [None, [Z], [(0, 0, -1), X, Y, (0, -1, 0)], [(1e-5, 0, -1), (0.6, 0, 0.8)]]


@pytest.mark.parametrize("n", [1, 3, 6, 7, 12])
@pytest.mark.parametrize("axes", AXES)
def test_everything_is_in_the_joint_frames_of_the_urdf(tmp_path, n, axes):
    path = written(tmp_path, arm(n, n, axes))
    ours = RobotModel.from_urdf(path)
    model = pin.buildModelFromUrdf(str(path))
    data = model.createData()
    assert ours.joint_names == tuple(model.names)[1:]
    theirs = np.concatenate([inertia.toDynamicParameters() for inertia in list(model.inertias)[1:]])
    np.testing.assert_allclose(ours.inertial_parameters, pinocchio_columns(theirs[None])[0], atol=1e-12)
    q, qd, qdd = random_motion(n, 9, seed=n)
    tau, columns, poses = ours.rnea(q, qd, qdd), ours.regressor(q, qd, qdd), ours.fk(q)
    for k in range(len(q)):
        at = configuration(model, q[k])
        np.testing.assert_allclose(tau[k], pin.rnea(model, data, at, qd[k], qdd[k]), rtol=1e-10, atol=1e-9)
        expected = pinocchio_columns(pin.computeJointTorqueRegressor(model, data, at, qd[k], qdd[k]).copy())
        np.testing.assert_allclose(columns[k], expected, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(ours.regressor(q[k], qd[k], qdd[k]), expected, rtol=1e-9, atol=1e-9)
        pin.forwardKinematics(model, data, at)
        for i in range(n):
            np.testing.assert_allclose(poses[k, i], data.oMi[i + 1].homogeneous, atol=1e-11)
        J = pin.computeFrameJacobian(model, data, at, model.getFrameId(f"j{n - 1}"), pin.LOCAL_WORLD_ALIGNED)
        np.testing.assert_allclose(ours.jacobian(q[k]), J.reshape(6, n), atol=1e-11)
    np.testing.assert_allclose(columns @ ours.inertial_parameters, tau, rtol=1e-10, atol=1e-9)


def test_payload_on_a_turned_frame_is_pinocchios(tmp_path):
    path = written(tmp_path, arm(4, 2))
    model = pin.buildModelFromUrdf(str(path))
    rng = np.random.default_rng(5)
    com, inertia = rng.normal(size=3), random_inertia(rng)
    model.inertias[4] = model.inertias[4] + pin.Inertia(1.5, com, inertia)
    loaded = RobotModel.from_urdf(path).with_payload(1.5, com, inertia[np.triu_indices(3)])
    q, qd, qdd = random_motion(4, 1, seed=1)[:, 0]
    expected = pin.rnea(model, model.createData(), configuration(model, q), qd, qdd)
    np.testing.assert_allclose(loaded.rnea(q, qd, qdd), expected, rtol=1e-9)
    moved = loaded.with_gravity([1, 2, 3])
    np.testing.assert_allclose(moved.regressor(q, qd, qdd) @ moved.inertial_parameters, moved.rnea(q, qd, qdd))


def gripper(rng):
    parts = [link("hand", rng), joint("mount", "fixed", "l2", "hand")]
    for side in "ab":
        parts += [link(f"finger_{side}", rng), joint(f"slide_{side}", "prismatic", "hand", f"finger_{side}")]
    return "\n".join(parts)


def test_tip_picks_the_arm_out_of_a_tree(tmp_path):
    path = written(tmp_path, arm(3, 1) + gripper(np.random.default_rng(4)))
    with pytest.raises(ConfigError, match=r"into slide_a and slide_b; .*tip=.*; joint j2 moves l2, .*hand$"):
        RobotModel.from_urdf(path)
    ours = RobotModel.from_urdf(path, tip="hand")
    assert ours.joint_names == ("j0", "j1", "j2")
    full = pin.buildModelFromUrdf(str(path))
    q, qd, qdd = random_motion(3, 1, seed=1)[:, 0]
    moving = np.concatenate([qd, [0, 0]]), np.concatenate([qdd, [0, 0]])
    at = configuration(full, [*q, 0, 0])
    data = full.createData()
    np.testing.assert_allclose(ours.rnea(q, qd, qdd), pin.rnea(full, data, at, *moving)[:3], rtol=1e-9)
    pin.framesForwardKinematics(full, data, at)
    np.testing.assert_allclose(ours.fk(q)[-1], data.oMf[full.getFrameId("hand")].homogeneous, atol=1e-11)


def test_load_takes_a_urdf(tmp_path):
    path = written(tmp_path, arm(3, 1))
    assert RobotModel.load(path).with_gravity([0, 0, 1]).chain.gravity == [0, 0, 1]


GOOD = arm(2, 1)
MASSLESS = '<link name="a"><inertial><mass value="two"/></inertial></link>'
SLIDE = link("s") + joint("slide", "prismatic", "l1", "s")
RAIL = link("floor") + joint("rail", "prismatic", "floor", "base") + GOOD
MIMIC = link("s") + joint("m", "revolute", "l1", "s", extra='<mimic joint="j0"/>')


def robot(body):
    return f'<robot name="x">{body}</robot>'


WRONG = {
    "not XML": ("<robot", r"arm\.urdf: is not XML"),
    "another document": ("<sdf/>", r"root element is <sdf>, expected <robot>"),
    "empty": (robot(""), "has no links"),
    "unknown type": (robot(GOOD.replace("continuous", "springy")), "joint j1: type 'springy'"),
    "missing link": (robot(GOOD + joint("k", "fixed", "l1", "ghost")), "joint k: child link 'ghost'"),
    "loop": (robot(GOOD + joint("k", "fixed", "cover1", "l0")), "joint k: closes a loop"),
    "name of two links": (robot(GOOD.replace('link name="l1"', 'link name="l0"')), "link l0: this name is given to 2"),
    "name of two joints": (robot(GOOD.replace('"j1"', '"j0"')), "joint j0: this name is given to 2 joints"),
    "rootless": (robot(GOOD + joint("k", "fixed", "cover1", "base")), "closes a loop: no link"),
    "bad mass": (robot(MASSLESS), "link a: mass value = 'two'"),
    "negative mass": (robot(MASSLESS.replace("two", "-2")), "link a: mass -2 kg is negative"),
    "no limit": (robot(re.sub("<limit.*?/>", "", GOOD)), "joint j0: needs a <limit>"),
    "limit": (robot(GOOD.replace('effort="9"', 'effort="x"')), "joint j0: needs a <limit>"),
    "open limit": (robot(GOOD.replace('lower="-3"', 'lower="-inf"')), "joint j0: needs a <limit>.*finite"),
    "limit below zero": (robot(GOOD.replace('velocity="9"', 'velocity="-9"')), "joint j0: needs a <limit>.*at least 0"),
    "two of three": (robot(GOOD.replace("0.4 0.5 0.6", "0.4 0.5")), "joint f0: origin rpy = '0.4 0.5' is not 3 finite"),
    "two masses": (robot(MASSLESS.replace("two", "1 2")), "link a: mass value = '1 2' is not a finite number"),
    "nameless link": (robot(GOOD + "<link/>"), "a link has no name"),
    "nameless joint": (robot(GOOD + joint("", "fixed", "l1", "l0")), "a joint has no name"),
    "no mass": (robot(re.sub("<mass.*?/>", "", GOOD)), "link l0: its <inertial> needs a <mass> and an <inertia>"),
    "no inertia": (robot(re.sub("(?s)<inertia ixx.*?/>", "", GOOD)), "link l0: its <inertial> needs a <mass> and an"),
    "degrees": (robot(GOOD.replace("0.4 0.5 0.6", "0 -90 0")), "joint f0: origin rpy = .* is more than a turn: deg"),
    "two roots": (robot(GOOD + link("table")), "no joint holds base, table: one of them is the root"),
    "bad origin": (robot(GOOD.replace("0.4 0.5 0.6", "0 nan 0")), "joint f0: origin rpy"),
    "prismatic": (robot(GOOD + SLIDE), 'joint slide: is prismatic.*type="fixed".*--tip LINK'),
    "rail": (robot(RAIL), r'joint rail: is prismatic.*type="fixed" .*\(SCARA\)$'),
    "no joints": (robot(link("a")), "has 0 moving joints"),
    "too long": (robot(arm(17, 1)), "has 17 moving joints"),
    "mimic": (robot(GOOD + MIMIC), "joint m: mimics.*--tip LINK"),
}


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_urdf_is_one_clear_line(tmp_path, case, capfd):
    text, message = WRONG[case]
    path = tmp_path / "arm.urdf"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=message) as error:
        RobotModel.from_urdf(path)
    assert "\n" not in str(error.value)
    assert "arm.urdf" in str(error.value)
    assert capfd.readouterr() == ("", "")  # the parser writes lines of its own


def test_a_missing_file_and_an_unknown_tip_are_named(tmp_path):
    with pytest.raises(ConfigError, match=r"nowhere\.urdf: no such file"):
        RobotModel.from_urdf(tmp_path / "nowhere.urdf")
    with pytest.raises(ConfigError, match="--tip hand: this link does not exist; the links are base, l0"):
        RobotModel.from_urdf(written(tmp_path, GOOD), tip="hand")
