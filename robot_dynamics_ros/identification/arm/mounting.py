"""Direction of gravity in the base frame: a robot on a wall, a ceiling or a tilted base whose file says upright."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robot_dynamics_ros.identification.arm.effort_meaning import dissipation_signs, has_masses
from robot_dynamics_ros.identification.arm.friction_columns import simple_friction
from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals.speeds import MOVING

STANDARD = 9.80665  # m/s2
PLAUSIBLE = (0.3, 4.0)  # estimated over standard gravity: masses may be off, units may not
TILT = np.deg2rad(0.5)  # deviation of the direction that all joints share: few joints may agree by chance
SURE = 5.0  # deviations: 0.4 % of a t distribution with the five degrees of freedom of six joints
JOINTS, SAMPLES = 3, 100  # that the direction is taken from at least; sliding samples of each
SLIGHT = np.deg2rad((2.0, 15.0))  # an upright arm whose masses are wrong by 5 % shows up to 2; nobody tilts one by 15
BETTER = 0.2  # log of the variance that a slight tilt has to take off; of upright arms its error took off 0.18

Normal = tuple[np.ndarray, np.ndarray]  # equations H (3, 3), h (3,) of one joint: H g = h


def mounted(robot: RobotFile, motion: Motion) -> tuple[RobotFile, str]:
    """The robot with the gravity that its effort shows, and a sentence; unchanged where the file's direction fits.

    The direction is the least-squares one of all joints with the masses of the robot file, its deviation the jackknife
    over the joints (Efron & Stein 1981): their masses are wrong independently. Another direction than the file's must
    be SURE deviations from it; an axis of the base frame within them is taken instead. A SLIGHT tilt beyond one of
    them is used where bodies of any masses fit BETTER with it. An effort of the other sign turns it round: dissipation
    tells where the file's sign does not fit.
    """
    declared = robot.gravity
    size = float(np.linalg.norm(declared))
    if size < 1e-6 or robot.links is None or not has_masses(robot):
        return robot, ""
    joints = _normal_equations(robot, motion)
    if len(joints) < JOINTS:
        return robot, ""
    found = _gravity(joints)
    strength = float(np.linalg.norm(found))
    if not PLAUSIBLE[0] * STANDARD < strength < PLAUSIBLE[1] * STANDARD:
        return robot, ""
    deviation = _deviation(joints)
    same = np.cos(min(SURE * np.hypot(TILT, deviation), np.pi))  # cosine between directions that may be one
    direction = robot.drives.effort.sign * found / strength
    if direction @ declared / size < same and _reversed(robot, motion):
        direction = -direction
    slight = direction @ declared / size >= same
    if slight and not _tilted(robot, motion, direction, deviation):
        return robot, ""
    axis = np.eye(3)[np.argmax(np.abs(direction))] * np.sign(direction[np.argmax(np.abs(direction))])
    direction = axis if direction @ axis >= same and not slight else direction
    gravity = np.round(STANDARD * direction, 6)
    shown = ", ".join(f"{x:.2f}" for x in gravity)
    text = f"gravity acts along [{shown}] m/s2 in the base frame, not as the robot file says: used"
    return robot.with_updates({"kinematics.gravity": gravity}), text


def _tilted(robot: RobotFile, motion: Motion, direction: np.ndarray, deviation: float) -> bool:
    """Whether a direction (3,) that is not sure is a slight tilt: bodies of any masses fit better with it."""
    declared = robot.gravity
    angle = np.arccos(direction @ declared / np.linalg.norm(declared))
    if not max(SLIGHT[0], deviation) < angle < SLIGHT[1]:
        return False
    return _unexplained(robot, motion, declared) > _unexplained(robot, motion, STANDARD * direction) + BETTER


def _reversed(robot: RobotFile, motion: Motion) -> bool:
    """Whether friction says that the effort has the other sign than the file's; behind a gear it does not show."""
    side, sign = robot.drives.torque_side, robot.drives.effort.sign
    return side == "motor" and sign * float(dissipation_signs(robot, motion).sum()) < 0


def _gravity(joints: list[Normal]) -> np.ndarray:
    """Gravity (3,) [m/s2] that the equations of some joints show."""
    H, h = (np.sum([joint[k] for joint in joints], axis=0) for k in range(2))
    return np.linalg.lstsq(H, h, rcond=1e-9)[0]


def _deviation(joints: list[Normal]) -> float:
    """Jackknife deviation [rad] of the direction, along that in which it varies most."""
    others = np.array([_gravity(joints[:k] + joints[k + 1 :]) for k in range(len(joints))])
    others /= np.linalg.norm(others, axis=1)[:, None]
    return float(np.sqrt((len(joints) - 1) * np.linalg.eigvalsh(np.cov(others.T, ddof=0))[-1]))


def _unexplained(robot: RobotFile, motion: Motion, gravity: np.ndarray) -> float:
    """Sum over the joints of the log of the variance that bodies of any masses leave in this gravity (3,) [m/s2]."""
    rigid = RigidModel(robot, gravity)
    W = rigid.base_regressor(motion.q, motion.qd, motion.qdd)
    columns = [np.column_stack([w, y]) for w, y in zip(W, motion.effort.T, strict=True)]
    grams = [(len(A), A.T @ A) for _, A in _sliding(motion, columns)]
    variance = np.ones(len(grams))
    for _ in range(4):
        H = np.sum([G / (n * v) for (n, G), v in zip(grams, variance, strict=True)], axis=0)
        scale = np.sqrt(np.maximum(np.diag(H), 1e-12))[:-1]
        beta = np.linalg.lstsq(H[:-1, :-1] / np.outer(scale, scale), H[:-1, -1] / scale, rcond=1e-10)[0] / scale
        left = np.append(beta, -1.0)
        variance = np.array([left @ G @ left / n for n, G in grams])
    return float(np.log(variance).sum())


def _normal_equations(robot: RobotFile, motion: Motion) -> list[Normal]:
    """Of every joint that slides, where it does: at rest friction may hold it with either sign. Each has weight 1."""
    model = RobotModel(robot.chain(), robot.joint_names)
    q, qd, qdd = (np.ascontiguousarray(x) for x in (motion.q, motion.qd, motion.qdd))
    gravity = [model.gravity(q, gravity=axis) for axis in np.eye(3)]
    dynamic = model.rnea(q, qd, qdd) - model.gravity(q)
    columns = [np.column_stack([*(g[:, j] for g in gravity), motion.effort[:, j]]) for j in range(motion.n)]
    found = []
    for j, A in _sliding(motion, columns, dynamic):
        y = motion.effort[np.abs(qd[:, j]) > MOVING, j]
        weight = 1 / max(float(((y - y.mean()) ** 2).sum()), 1e-12)
        found.append((weight * A[:, :3].T @ A[:, :3], weight * A[:, :3].T @ A[:, 3]))
    return found


def _sliding(
    motion: Motion, columns: list[np.ndarray], dynamic: np.ndarray | None = None
) -> Iterator[tuple[int, np.ndarray]]:
    """Joints that slide for SAMPLES, with their columns (N, k) there without what friction, rotor and the torque
    `dynamic` (N, n) explain.
    """
    for j, column in enumerate(columns):
        rows = np.abs(motion.qd[:, j]) > MOVING
        if rows.sum() < SAMPLES:
            continue
        known = [] if dynamic is None else [dynamic[rows, j]]
        own = np.column_stack([*known, motion.qdd[rows, j], simple_friction(motion.qd[rows, j])])
        Q = np.linalg.qr(own + 1e-12)[0]
        yield j, column[rows] - Q @ (Q.T @ column[rows])
