"""Right angles that a URDF or robot file rounds: 1.5708 or 3.1416 are meant as pi/2 and pi.

Rounded, parallel axes are parallel no more and a vertical axis carries gravity: base parameters appear that no motion
can show, and the condition number of an identification grows by thousands.
"""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree

import numpy as np

from robot_dynamics_ros.robot_file import RobotFile

SNAP = 1e-4  # rad
EXACT = 1e-12  # rad; closer angles are what double precision makes of a multiple of pi/2


def snapped(angle: float) -> float:
    """The multiple of pi/2 within SNAP of an angle [rad], else the angle."""
    exact = float(np.round(angle / (np.pi / 2)) * (np.pi / 2))
    return exact if EXACT < abs(angle - exact) <= SNAP else angle


def snap_urdf(robot: ElementTree.Element) -> list[str]:
    """Snap the angles of all joint origins of a URDF in place; names of the joints that changed."""
    changed = []
    for joint in robot.findall("joint"):
        origin = joint.find("origin")
        text = None if origin is None else origin.get("rpy")
        if origin is None or text is None:
            continue
        angles = [float(word) for word in text.split()]
        exact = [snapped(a) for a in angles]
        if exact != angles:
            origin.set("rpy", " ".join(repr(a) for a in exact))
            changed.append(joint.get("name", "?"))
    return changed


def snap_robot(robot: RobotFile) -> tuple[RobotFile, list[str]]:
    """The robot file with its joints' angles snapped, and names of the joints that changed."""
    joints, changed = robot.raw()["kinematics"]["joints"], []
    for joint in joints:
        before = {k: joint.get(k) for k in ("alpha", "theta", "rpy")}
        for name in ("alpha", "theta"):
            if joint.get(name) is not None:
                joint[name] = snapped(joint[name])
        if joint.get("rpy") is not None:
            joint["rpy"] = [snapped(a) for a in joint["rpy"]]
        if before != {k: joint.get(k) for k in before}:
            changed.append(joint["name"])
    return (robot.with_updates({"kinematics.joints": joints}), changed) if changed else (robot, [])


def rounded_sentence(joints: list[str]) -> str:
    """What was snapped, for people; empty for nothing."""
    if not joints:
        return ""
    return f"angles of {', '.join(joints)} are rounded right angles: taken as exact multiples of pi/2"
