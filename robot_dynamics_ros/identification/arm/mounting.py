"""Which way gravity acts in the base frame, found from the effort: a robot on a wall or ceiling whose file says
upright.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.identification.arm.effort_meaning import dissipation_signs, has_masses
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.models import RobotModel

STANDARD = 9.80665  # m/s2
SAME = 0.9  # cosine above which the file's direction is taken to be right
BETTER = 0.7  # the residual must fall to this share before another direction is used
PLAUSIBLE = (0.3, 4.0)  # estimated over standard gravity: masses may be off, units may not
SNAP = 0.985  # cosine above which a direction is an axis of the base frame


def mounted(robot: Any, motion: Motion) -> tuple[Any, str]:
    """The robot with the gravity that its effort shows, and a sentence; unchanged where the file's direction fits."""
    declared = robot.gravity
    size = float(np.linalg.norm(declared))
    if size < 1e-6 or robot.links is None or not has_masses(robot):
        return robot, ""
    sign = 1.0 if dissipation_signs(robot, motion).sum() >= 0 else -1.0
    found, free = _fit(robot, motion, sign, np.eye(3))
    _, held = _fit(robot, motion, sign, (declared / size)[None])
    strength = float(np.linalg.norm(found))
    if not PLAUSIBLE[0] * STANDARD < strength < PLAUSIBLE[1] * STANDARD:
        return robot, ""
    direction = found / strength
    if direction @ declared / size > SAME or not free < BETTER**2 * held:
        return robot, ""
    axis = np.eye(3)[np.argmax(np.abs(direction))] * np.sign(direction[np.argmax(np.abs(direction))])
    direction = axis if direction @ axis > SNAP else direction
    gravity = np.round(STANDARD * direction, 6)
    shown = ", ".join(f"{x:.2f}" for x in gravity)
    text = f"gravity acts along [{shown}] m/s2 in the base frame, not as the robot file says: used"
    return robot.with_updates({"kinematics.gravity": gravity}), text


def _fit(robot: Any, motion: Motion, sign: float, axes: np.ndarray) -> tuple[np.ndarray, float]:
    """Gravity (3,) within the span of axes (k, 3), and the residual's share of the effort's power."""
    model = RobotModel(robot.chain(), robot.joint_names)
    q, qd, qdd = (np.ascontiguousarray(x) for x in (motion.q, motion.qd, motion.qdd))
    columns = [model.gravity(q, gravity=a) for a in axes]
    dynamic = model.rnea(q, qd, qdd) - model.gravity(q)
    n, k = motion.n, len(axes)
    H, h, power = np.zeros((k, k)), np.zeros(k), 0.0
    for j in range(n):
        v = qd[:, j]
        own = np.column_stack([dynamic[:, j], qdd[:, j], np.tanh(v / 0.03), v, np.ones_like(v)])
        Q = np.linalg.qr(own + 1e-12)[0]
        G = np.column_stack([c[:, j] for c in columns])
        y = sign * motion.effort[:, j]
        G, y = G - Q @ (Q.T @ G), y - Q @ (Q.T @ y)
        weight = 1 / max(float(motion.effort[:, j].var()) * len(v), 1e-12)
        H, h, power = H + weight * G.T @ G, h + weight * G.T @ y, power + weight * float(y @ y)
    x = np.linalg.lstsq(H, h, rcond=1e-9)[0]
    x = np.maximum(x, 0.0) if k == 1 else x  # along a given direction, not against it
    return x @ axes, power - float(h @ x)
