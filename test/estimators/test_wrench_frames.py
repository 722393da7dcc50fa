"""external_wrench in the frame of its header: axes, origin of the moments, deviations; unknown frames are refused."""

import numpy as np
import pytest
from force_bench import POSE, UR5E, estimated, measured, moving, still

from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.estimators.external_force import wrench_frame
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.models.urdf_writer import urdf_text

TOOL = {"kinematics.tool.xyz": [0.05, -0.02, 0.18], "kinematics.tool.rpy": [0.4, -0.7, 1.1]}
TILTED = UR5E.with_updates(TOOL | {"kinematics.tip_frame": "gripper"})
RIGID = RobotModel(TILTED.chain(), TILTED.joint_names)
FRAMES = {"": 6, "tool": 6, "gripper": 6, "base": None, "elbow_link": 2, "wrist_3_link": 5}
PUSH = np.array([12.0, -25.0, -60.0, 0.3, -0.4, 0.2])


def placement(poses, index):
    return np.eye(4) if index is None else poses[index]


def moved(to, tcp, wrench):
    """A wrench at the TCP in base axes, in the axes and about the origin of a frame."""
    force, moment = wrench[:3], wrench[3:]
    R = to[:3, :3]
    return np.concatenate([R.T @ force, R.T @ (moment + np.cross(tcp - to[:3, 3], force))])


def run(frame, motion=None):
    log = measured(motion or moving(1.0, pose=POSE), PUSH, noise=0.1)
    pipeline, _ = estimated(log, TILTED, frame_id=frame)
    return log, pipeline.stage("force")


@pytest.mark.parametrize(("frame", "index"), FRAMES.items())
def test_axes_and_origin_are_those_of_the_named_frame(frame, index):
    log, stage = run(frame)
    assert stage.frame_id == {"": "gripper", "tool": "gripper"}.get(frame, frame)
    for k in range(0, len(log), 50):
        poses = RIGID.fk(log.q[k])
        expected = moved(placement(poses, index), poses[-1][:3, 3], log.external_wrench[k])
        np.testing.assert_allclose(log.framed_wrench[k], expected, atol=1e-9 * (1 + np.abs(expected).max()))


@pytest.mark.parametrize(("frame", "index"), FRAMES.items())
def test_deviations_are_those_of_the_covariance_moved_to_the_frame(frame, index):
    """Rotated deviations would be up to the square root of three off."""
    log, _ = run(frame, still(seconds=0.5))
    q = log.q[-1]
    given = {"expected_moment": 1.5, "small_contact": 0.25}
    torque, std = log.external_joint_torque[-1], log.external_joint_torque_std[-1]
    _, C, _ = _core.invert_wrench(TILTED.chain(), q, torque, std, **given)
    np.testing.assert_allclose(log.external_wrench_std[-1], np.sqrt(np.diag(C)), rtol=1e-9)
    poses = RIGID.fk(q)
    to, tcp = placement(poses, index), poses[-1][:3, 3]
    A = np.column_stack([moved(to, tcp, axis) for axis in np.eye(6)])
    np.testing.assert_allclose(log.framed_wrench_std[-1], np.sqrt(np.diag(A @ C @ A.T)), rtol=1e-9)


@pytest.mark.parametrize("name", ["camera", "tool0", "base_link", "world"])
def test_a_frame_without_a_known_transform_is_refused_in_one_line(name):
    with pytest.raises(ConfigError, match=f"'{name}' has no known transform") as refused:
        Pipeline(TILTED, {"force": {"frame_id": name}})
    assert "\n" not in str(refused.value) and "gripper" in str(refused.value) and "base" in str(refused.value)


def test_the_frames_are_those_of_the_published_description():
    text = urdf_text(TILTED)
    for frame in FRAMES:
        assert f'<link name="{wrench_frame(TILTED, frame)[1]}"' in text
    same = TILTED.with_updates({"kinematics.tip_frame": "wrist_3_link"})
    assert wrench_frame(same, "") == (6, "wrist_3_link_tcp") and '<link name="wrist_3_link_tcp"' in urdf_text(same)
    assert wrench_frame(same, "wrist_3_link") == (5, "wrist_3_link")
    bare = UR5E.with_updates({"kinematics.tip_frame": "wrist_3_link"})  # the TCP is that link's frame
    assert wrench_frame(bare, "")[1] == wrench_frame(bare, "wrist_3_link")[1] == "wrist_3_link"


@pytest.mark.parametrize("frame", [-2, 7])
def test_the_core_refuses_an_index_outside_the_chain(frame):
    with pytest.raises(ValueError, match="frame"):
        _core.ExternalForce(TILTED.chain(), frame=frame)
