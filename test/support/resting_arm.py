"""A UR5e that rests at one pose, and the estimates of a node made of its samples."""

from types import SimpleNamespace

import numpy as np
from stepped import NodeDouble

from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.nodes.robot.estimates import Estimates
from robot_dynamics_ros.nodes.robot.stages import select
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import Sample

ROBOT = load_robot("ur5e")
POSE = np.array([0.3, -0.4, 0.3, -0.5, 0.2, 0.0])
MODEL = RobotModel(ROBOT.chain(), ROBOT.joint_names)
GRAVITY = MODEL.gravity(POSE)


def resting(effort, k):
    sample = Sample(ROBOT.joint_names)
    sample.stamp_ns, sample.q[:], sample.qd[:], sample.effort[:] = 10**18 + k * 2_000_000, POSE, 0.0, effort
    return sample


def estimates_of(robot=ROBOT, stages="force"):
    """The estimates of a node whose driver is proven."""
    return Estimates(NodeDouble(), robot, select(stages), SimpleNamespace(proven=True))
