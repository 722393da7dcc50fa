"""A mesh-free MuJoCo model of an arm, written from its robot file: bodies, inertias, joints, ranges; no geometry."""

import numpy as np
from scipy.spatial.transform import Rotation

from robot_dynamics_ros import _core


def mjcf_text(robot, family="fr3v2_"):
    """MJCF whose joints are called <family>joint1..n and whose last body carries the site `attachment_site`."""
    chain = robot.chain()
    body = _core.RigidBody(chain)
    frames = [np.eye(4), *body.fk(np.zeros(robot.n_joints))]
    lower, upper = robot.array("limits.position_lower"), robot.array("limits.position_upper")
    torque, links = robot.array("limits.torque"), robot.links.values
    rotor = robot.array("drives.rotor_inertia")
    head, tail, motors = [], [], []
    for i in range(robot.n_joints):
        step = np.linalg.inv(frames[i]) @ frames[i + 1]
        link, name = links[i], f"{family}joint{i + 1}"
        xx, xy, xz, yy, yz, zz = link.inertia
        head.append(
            f'<body name="{family}link{i + 1}" pos="{_text(step[:3, 3])}" quat="{_quaternion(step[:3, :3])}">'
            f'<inertial pos="{_text(link.com)}" mass="{link.mass}" fullinertia="{_text((xx, yy, zz, xy, xz, yz))}"/>'
            f'<joint name="{name}" axis="0 0 1" range="{lower[i]} {upper[i]}" armature="{rotor[i]}" damping="1"/>'
        )
        motors.append(
            f'<motor name="motor{i + 1}" joint="{name}" forcerange="{-torque[i]} {torque[i]}" ctrllimited="false"/>'
        )
        tail.append("</body>")
    tool = np.linalg.inv(frames[robot.n_joints]) @ frames[-1]
    site = f'<site name="attachment_site" pos="{_text(tool[:3, 3])}"/>'
    return (
        f'<mujoco model="{robot.name}"><compiler angle="radian" autolimits="true"/>'
        f'<option timestep="0.001" gravity="{_text(robot.gravity)}" integrator="implicitfast"/>'
        f"<worldbody>{''.join(head)}{site}{''.join(tail)}</worldbody><actuator>{''.join(motors)}</actuator></mujoco>"
    )


def _text(values):
    return " ".join(repr(float(x)) for x in values)


def _quaternion(rotation):
    x, y, z, w = Rotation.from_matrix(rotation).as_quat()
    return _text((w, x, y, z))
