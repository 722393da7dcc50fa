"""A UR5e that rests at one pose, and the estimates of a node made of its samples."""

from types import SimpleNamespace

import numpy as np
from stepped import NodeDouble
from synthetic import MODEL, UR5E

from robot_dynamics_ros.nodes.robot.estimates import Estimates
from robot_dynamics_ros.nodes.robot.stages import select
from robot_dynamics_ros.signals import Sample

POSE = np.array([0.3, -0.4, 0.3, -0.5, 0.2, 0.0])
GRAVITY = MODEL.gravity(POSE)


def resting(effort, k):
    sample = Sample(UR5E.joint_names)
    sample.stamp_ns, sample.q[:], sample.qd[:], sample.effort[:] = 10**18 + k * 2_000_000, POSE, 0.0, effort
    return sample


def estimates_of(robot=UR5E, stages="force"):
    """The estimates of a node whose driver is proven."""
    return Estimates(NodeDouble(), robot, select(stages), SimpleNamespace(proven=True))
