"""Robot files written for MuJoCo and URDF mean the same when they are read back."""

import json

import numpy as np
import pytest
from chains import random_chain
from command_line import printed, robot_dynamics
from hypothesis import given, settings
from hypothesis import strategies as st
from presliding_joint import elements
from robot_text import TWO_JOINTS

from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.models.export_notes import notes
from robot_dynamics_ros.models.mjcf_writer import mjcf_text
from robot_dynamics_ros.models.right_angles import snap_robot
from robot_dynamics_ros.models.sliding_friction import sliding_friction
from robot_dynamics_ros.models.urdf import read_urdf
from robot_dynamics_ros.models.urdf_writer import urdf_text
from robot_dynamics_ros.robot_file import RobotFile, load_robot
from robot_dynamics_ros.robot_file.geometry import rpy_of
from robot_dynamics_ros.robot_file.problems import validated

mujoco = pytest.importorskip("mujoco")
UR5E = load_robot("ur5e")
ODD = ("joint", "Joint", "JOINT", "link", "world", "base", "a", "a_joint", "a_link", "tool0", "x" * 80)
NAMES = st.sampled_from(ODD) | st.from_regex(r"[A-Za-z][A-Za-z0-9_]{0,8}", fullmatch=True)


def frame(T):
    return {"xyz": T[:3, 3].tolist(), "rpy": rpy_of(T[:3, :3]).tolist()}


@st.composite
def robots(draw):
    """Valid robot files: any placements and bodies, odd names, joints without end or without limits or friction."""
    n, seed = draw(st.integers(1, 7)), draw(st.integers(0, 2**16))
    chain, random = random_chain(n, seed), np.random.default_rng(seed)
    names = draw(st.lists(NAMES, min_size=n, max_size=n, unique=True))
    raw = json.loads(json.dumps(TWO_JOINTS))
    joints = [{"name": name, **frame(T)} for name, T in zip(names, chain.placements, strict=True)]
    tool, gravity = frame(chain.tool), chain.gravity.tolist()
    raw["kinematics"]["base_frame"] = draw(st.sampled_from(["base", "world", "a_link"]))
    raw["kinematics"] |= {"convention": "placements", "joints": joints, "tool": tool, "gravity": gravity}
    raw["links"] = {"source": "here", "parameters": chain.inertia.tolist()}
    raw["drives"] |= {"torque_constant": None, "rotor_inertia": random.uniform(0, 2, n).tolist()}
    ends = draw(st.sampled_from([3.0, float("inf"), None]))
    lower = None if ends is None else [-ends] * n
    raw["limits"] |= {"position_lower": lower, "position_upper": None if ends is None else [ends] * n}
    raw["limits"] |= {"velocity": [2.0] * n, "torque": draw(st.sampled_from([None, [50.0] * n]))}
    law = {"fc": random.uniform(0, 5, n).tolist(), "fv": random.uniform(0, 5, n).tolist(), "fo": 0.3}
    raw["friction"] = draw(st.sampled_from([None, {"source": "here", "model": "viscous_coulomb", "parameters": law}]))
    return validated(RobotFile, raw, "drawn")


def expected_torque(robot, q, qd, qdd):
    """Inverse dynamics with rotors, without friction, by our own recursion."""
    bodies = RobotModel(robot.chain_with_links(robot.link_parameters))
    return bodies.rnea(q, qd, qdd) + robot.array("drives.rotor_inertia") * qdd


def mujoco_torque(text, q, qd, qdd):
    """qfrc_inverse of MuJoCo for each row."""
    model = mujoco.MjModel.from_xml_string(text)
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    data, out = mujoco.MjData(model), np.empty_like(q)
    for row in range(len(q)):
        data.qpos[:], data.qvel[:], data.qacc[:] = q[row], qd[row], qdd[row]
        mujoco.mj_inverse(model, data)
        out[row] = data.qfrc_inverse
    return out


@settings(max_examples=8)
@given(robot=robots())
def test_mjcf_has_the_dynamics_of_the_robot_file(robot):
    motion = np.random.default_rng(3).uniform(-2, 2, (3, 5, robot.n_joints))
    found, expected = mujoco_torque(mjcf_text(robot, "none"), *motion), expected_torque(robot, *motion)
    np.testing.assert_allclose(found, expected, atol=1e-7 * max(1.0, np.abs(expected).max()))
    model = mujoco.MjModel.from_xml_string(mjcf_text(robot))
    for i, name in enumerate(robot.joint_names):
        joint = model.joint(name)
        assert joint.id == i and model.actuator(name).id == i
        limited = robot.has("limits.position_lower") and np.isfinite(robot.array("limits.position_lower")[i])
        assert bool(model.jnt_limited[i]) == limited
        assert bool(model.actuator_ctrllimited[i]) == robot.has("limits.torque")


def mujoco_friction(robot, v):
    """Friction torque (n,) [Nm] of the MuJoCo model at velocity v of every joint."""
    model = mujoco.MjModel.from_xml_string(mjcf_text(robot))
    data = mujoco.MjData(model)
    data.qvel[:] = v
    mujoco.mj_forward(model, data)
    return -(data.qfrc_passive + data.qfrc_actuator) + model.dof_frictionloss * np.sign(v)


@settings(max_examples=8)
@given(robot=robots())
def test_mjcf_forces_are_the_friction_of_the_robot_file(robot):
    for speed in (0.1, 0.7, -1.9):
        found = mujoco_friction(robot, speed)
        if robot.friction is None:
            assert not found.any()
            continue
        p = robot.friction.parameters
        truth = np.array(p["fc"]) * np.sign(speed) + np.array(p["fv"]) * speed + 0.3
        np.testing.assert_allclose(found, truth, atol=1e-9)


@settings(max_examples=8)
@given(robot=robots())
def test_urdf_reads_back(robot, tmp_path_factory):
    path = tmp_path_factory.mktemp("urdf") / "robot.urdf"
    path.write_text(urdf_text(robot, notes=notes(robot, "urdf")), encoding="utf-8")
    chain, names = read_urdf(path)
    assert list(names) == robot.joint_names
    np.testing.assert_allclose(chain.inertia, robot.link_parameters, atol=1e-9)
    np.testing.assert_allclose(chain.placements, snap_robot(robot)[0].chain().placements, atol=1e-9)


SPAN, LEVEL = np.array([1e-4, 1e-2]), np.array([1.0, 3.0])
LAW = {"load": [0.0, 0.05], "load_limit": 100.0, "stribeck_velocity": 0.2, "fv0": 4.0, "fv1": 2.0, "fo": 0.2}


def presliding_robot(sliding_ratio=1.0):
    block = elements(SPAN, LEVEL, sliding_ratio=sliding_ratio, **LAW)
    return UR5E.with_updates({"hysteresis": block, "friction.source": "test"}, {"test": "this test"})


@pytest.mark.parametrize("v", [0.02, 0.05, 0.1, 0.3, 1.0, 3.0])
@pytest.mark.parametrize(("ratio", "error"), [(1.0, 0.01), (0.6, 0.04)], ids=["steady level", "falling level"])
def test_bends_of_the_law_follow_thinning_the_mean_load_and_a_level_that_falls_with_speed(v, ratio, error):
    robot, draw = presliding_robot(ratio), np.random.default_rng(0)
    gravity = np.abs(RobotModel(robot.chain()).gravity(draw.uniform(-np.pi, np.pi, (200, 6)))).mean(axis=0)
    truth = (4.0 + 0.05 * gravity) * (ratio + (1 - ratio) / (1 + (v / 0.2) ** 2)) + v * (2.0 + 4.0 / (1 + v / 0.3))
    for sign in (1, -1):
        np.testing.assert_allclose(mujoco_friction(robot, sign * v) - 0.2, sign * truth, rtol=error)
    line = sliding_friction(robot).coulomb_viscous() @ [1.0, v]
    assert ratio < 1.0 or v not in (0.02, 3.0) or (np.abs(line - truth) > 0.02 * truth).all()
    assert any(c < 0 for _, c in sliding_friction(robot).pieces(0).bends) or ratio == 1.0


def test_notes_say_what_is_lost():
    text = " ".join(notes(presliding_robot(), "urdf"))
    for part in ("closest Coulomb and viscous", "Presliding", "mean load", "Rotor inertia"):
        assert part in text
    some = UR5E.with_updates({"limits.torque": [None, *UR5E.limits.torque[1:]]})
    assert "Limits of shoulder_pan_joint are left out" in " ".join(notes(some, "urdf"))
    half = UR5E.with_updates({"limits.position_upper": [*UR5E.limits.position_upper[:5], np.inf]})
    assert "Limits of wrist_3_joint are left out" in " ".join(notes(half, "urdf"))
    assert "Limits" not in " ".join(notes(load_robot("ur3e"), "urdf"))
    text = " ".join(notes(UR5E.with_updates({"friction": None, "hysteresis": None}), "mjcf"))
    assert "Friction is unknown" in text and "Rotor inertia" not in text


@pytest.mark.parametrize("target", ["urdf", "mjcf", "core"])
def test_the_command_writes_and_does_not_overwrite(tmp_path, target):
    out = tmp_path / "robot"
    arguments = ["ur5e", "--format", target, "--out", str(out)]
    done = printed("export", *arguments)
    assert f"wrote {out}" in done
    written = out.read_text()
    if target != "core":
        text = [line.removeprefix("note: ") for line in done.splitlines() if line.startswith("note: ")]
        assert text and all(line in written for line in text)
    with pytest.raises(ConfigError, match="exists already"):
        robot_dynamics("export", *arguments, catch_exceptions=False)
    assert out.read_text() == written
    with pytest.raises(ConfigError, match="--set"):
        robot_dynamics("export", *arguments[:-1], tmp_path / "other", "--set", "nonsense", catch_exceptions=False)


def test_unphysical_and_massless_links_are_named():
    ten = UR5E.link_parameters
    ten[2, 3] = -1.0
    broken = UR5E.with_updates({"links": {"source": "Madsen2020", "parameters": ten}})
    with pytest.raises(ConfigError, match=r"links \[elbow_joint\].*is no physical body"):
        mjcf_text(broken)
    assert "elbow_joint is no physical body" in " ".join(notes(broken, "urdf"))
