"""Meshes of a URDF stand where Pinocchio places them, in every pose; without files the links are capsules."""

from pathlib import Path

import numpy as np
import pinocchio
import pytest

from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.models.urdf_import import robot_from_urdf
from robot_dynamics_ros.viewer.meshes import meshes_of

URDF = Path(__file__).parents[1] / "docs" / "own_arm.urdf"
CORNER = "facet normal 0 0 1 outer loop vertex 0 0 0 vertex 1 0 0 vertex 0 1 0 endloop endfacet"
PLACE = '<origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/>'


@pytest.fixture
def drawn(tmp_path):
    """The arm with the same mesh on base and links 3 and 6, in a package beside the URDF."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "a.stl").write_text(f"solid a {CORNER} endsolid a")
    visual = f'<visual>{PLACE}<geometry><mesh filename="package://parts/a.stl" scale="2 2 2"/></geometry></visual>'
    text = URDF.read_text().replace('<link name="base_link"/>', f'<link name="base_link">{visual}</link>')
    for link in ("l3", "l6"):
        text = text.replace(f'<link name="{link}">', f'<link name="{link}">{visual}')
    (tmp_path / "arm.urdf").write_text(text)
    return robot_from_urdf(tmp_path / "arm.urdf", torque_side="motor", effort_unit="Nm", tip="tool0")


def test_meshes_follow_their_links(drawn):
    model, urdf = RobotModel(drawn.kinematic_chain(), drawn.joint_names), drawn.kinematics.urdf
    meshes = {mesh.link: mesh for mesh in meshes_of(urdf, model)}
    assert set(meshes) == {0, 3, 6} and all(mesh.file.name == "a.stl" for mesh in meshes.values())
    q = np.random.default_rng(0).uniform(-1, 1, 7)
    tree = pinocchio.buildModelFromUrdf(urdf)
    data = tree.createData()
    pinocchio.forwardKinematics(tree, data, q)
    local = np.eye(4)
    local[:3, :3], local[:3, 3] = pinocchio.rpy.rpyToMatrix(0.4, 0.5, 0.6), (0.1, 0.2, 0.3)
    for link, mesh in meshes.items():
        here = np.eye(4) if link == 0 else model.fk(q)[link - 1]
        expected = data.oMi[link].homogeneous @ local @ np.diag([2.0, 2.0, 2.0, 1.0])
        np.testing.assert_allclose(here @ mesh.placement, expected, atol=1e-9)


def test_without_files_there_are_none(drawn, tmp_path):
    model = RobotModel(drawn.kinematic_chain(), drawn.joint_names)
    (tmp_path / "parts" / "a.stl").unlink()
    assert meshes_of(drawn.kinematics.urdf, model) == []
    assert meshes_of(None, model) == [] and meshes_of(str(tmp_path / "gone.urdf"), model) == []
