"""Meshes of a robot's URDF, placed in the link frames of its robot file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np

from robot_dynamics_ros.models import RobotModel

READ = (".glb", ".gltf", ".obj", ".stl", ".dae")  # formats that rerun draws


class Mesh(NamedTuple):
    """A file; link: 0 the base, i the link behind joint i; placement (4, 4) of the scaled points in the link."""

    file: Path
    link: int
    placement: np.ndarray


def meshes_of(urdf: str | None, model: RobotModel) -> list[Mesh]:
    """Meshes of a URDF whose files are there; none without a URDF, or where Pinocchio cannot read it.

    What hangs on a joint beyond the chain (a gripper) moves with the last joint of the chain before it.
    """
    if not urdf or not Path(urdf).is_file():
        return []
    import pinocchio

    folders = [str(folder) for folder in Path(urdf).resolve().parents]
    folders += [f"{prefix}/share" for prefix in os.environ.get("AMENT_PREFIX_PATH", "").split(":") if prefix]
    try:
        tree = pinocchio.buildModelFromUrdf(urdf)
        shapes = pinocchio.buildGeomFromUrdf(
            tree, urdf, pinocchio.GeometryType.VISUAL, package_dirs=folders
        ).geometryObjects
    except (ValueError, RuntimeError):
        return []
    data = tree.createData()
    pinocchio.forwardKinematics(tree, data, pinocchio.neutral(tree))
    frames = np.concatenate([np.eye(4)[None], model.fk(np.zeros(model.n_joints))])
    found, number = [], {name: i + 1 for i, name in enumerate(model.joint_names)}
    for shape in shapes:
        link = max((number.get(tree.names[i], 0) for i in tree.supports[shape.parentJoint]), default=0)
        file = Path(shape.meshPath)
        if file.suffix.lower() in READ and file.is_file():
            world = (data.oMi[shape.parentJoint] * shape.placement).homogeneous @ np.diag([*shape.meshScale, 1.0])
            found.append(Mesh(file, link, np.linalg.inv(frames[link]) @ world))
    return found
