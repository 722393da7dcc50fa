"""What the sections share: robots, seeded motions, the peers that this machine can run."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.models import RobotModel

# Pinocchio's order m mx my mz Ixx Ixy Iyy Ixz Iyz Izz out of XX XY XZ YY YZ ZZ mX mY mZ m
PINOCCHIO_ORDER = [9, 6, 7, 8, 0, 1, 3, 2, 4, 5]


@dataclass
class Setup:
    """Options of one run."""

    quick: bool = False
    cpp_peers: bool = False


class Arm:
    """A shipped robot, seeded motions, and the same placements and parameters as Pinocchio model."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.model = RobotModel.load(name)
        self.n = self.model.n_joints

    def motion(self, samples: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q, qd, qdd (N, n), normally distributed."""
        q, qd, qdd = np.random.default_rng(seed).normal(size=(3, samples, self.n))
        return q, qd, qdd

    @cached_property
    def pinocchio(self) -> tuple[Any, Any]:
        """Pinocchio model and data."""
        model = pinocchio_model(self.model.chain)
        return model, model.createData()


def pinocchio_model(chain: _core.Chain) -> Any:
    """The chain rebuilt in Pinocchio from placements, inertias and gravity."""
    import pinocchio as pin

    model = pin.Model()
    for i, (T, phi) in enumerate(zip(chain.placements, chain.inertia, strict=True)):
        joint = model.addJoint(i, pin.JointModelRZ(), pin.SE3(T[:3, :3], T[:3, 3]), f"j{i}")
        body = pin.Inertia.FromDynamicParameters(phi[PINOCCHIO_ORDER])
        model.appendBodyToJoint(joint, body, pin.SE3.Identity())
    model.gravity.linear = np.array(chain.gravity)
    return model


def figaroh(arm: Arm) -> Any:
    """figaroh's regressor builder over the same Pinocchio model, or None where figaroh is not installed."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its dependencies register converters twice
            from figaroh.tools.regressor import RegressorBuilder, RegressorConfig
    except ImportError:
        return None
    model, data = arm.pinocchio
    config = RegressorConfig(
        has_friction=False, has_actuator_inertia=False, has_joint_offset=False, is_joint_torques=True
    )
    return RegressorBuilder(SimpleNamespace(model=model, data=data), config)
