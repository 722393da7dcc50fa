"""Weight of an arm and of a mass at its flange in the effort of its joints: the direction of gravity by all of them."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals.speeds import MOVING

ROUNDS = 20  # of effort per Nm (of a current), mass at the flange and direction in turn
BODIES, LIGHT = 5, 1e-3  # the arm, mass at its flange and mass times x, y, z; ridge of these, of columns of unit length
SAMPLES = 100  # sliding samples of a joint, at least

Normal = tuple[np.ndarray, np.ndarray]  # equations H (15, 15), h (15,) of one joint: H (bodies x g) = h


def gravity_columns(robot: RobotFile, motion: Motion) -> np.ndarray:
    """Torque of each joint (n, N, 16) without gravity, and of 1 m/s2 along each axis of the base: of the arm, of 1 kg
    at its flange, and of 1 kg m along each axis of that.
    """
    model = RobotModel(robot.chain(), robot.joint_names)
    inertial = model.rnea(motion.q, motion.qd, motion.qdd) - model.gravity(motion.q)
    loaded = [model, *(model.with_payload(1.0, com) for com in (np.zeros(3), *np.eye(3)))]
    parts = np.array([[one.gravity(motion.q, gravity=axis) for axis in np.eye(3)] for one in loaded])
    parts[2:] -= parts[1]
    parts[1] -= parts[0]
    return np.moveaxis(np.concatenate([inertial[None], parts.reshape(-1, *inertial.shape)]), 0, 2).swapaxes(0, 1)


def signed(equations: dict[int, Normal], signs: np.ndarray) -> list[Normal]:
    """Those of all joints, with signs (n,) of their efforts."""
    return [(H, signs[j] * h) for j, (H, h) in equations.items()]


def normal_equations(motion: Motion, columns: np.ndarray, friction: list[np.ndarray]) -> dict[int, Normal]:
    """Of every joint that slides, by number, where it does, by its columns (n, N, 16) and those of its friction (N, k):
    at rest friction may hold it with either sign. Each has weight 1; h is that of an effort that is a torque.
    """
    found = {}
    for j, beside in enumerate(friction):
        rows = np.abs(motion.qd[:, j]) > MOVING
        if rows.sum() < SAMPLES:
            continue
        y, rigid = motion.effort[rows, j], columns[j][rows]
        weight = 1 / max(float(((y - y.mean()) ** 2).sum()), 1e-12)
        own = np.column_stack([rigid[:, 0], beside[rows]])
        Q = np.linalg.qr(own + 1e-12)[0]
        G = rigid[:, 1:] - Q @ (Q.T @ rigid[:, 1:])
        y = y - Q @ (Q.T @ y)
        found[j] = weight * G.T @ G, weight * G.T @ y
    return found


def weight_of(joints: list[Normal], free: bool) -> np.ndarray:
    """Bodies times gravity (15,) that the equations of some joints show: g (3,) [m/s2], m g, m x g, m y g, m z g of the
    mass at the flange. free: g times the effort per Nm that the joints have in the mean; that of each is positive.
    """
    H, h = (np.array([joint[k] for joint in joints]) for k in range(2))
    gravity = first = np.linalg.lstsq(H.sum(axis=0)[:3, :3], h.sum(axis=0)[:3], rcond=1e-9)[0]
    bodies, gain = np.eye(BODIES)[0], np.ones(len(joints))
    for _ in range(ROUNDS):
        if free:
            weight = np.kron(bodies, gravity)
            shown = np.einsum("i,nij,j->n", weight, H, weight)
            gain = np.maximum(h @ weight, 0.0) / np.maximum(shown, 1e-9 * shown.max())
        whole, right = np.einsum("n,nij->ij", gain**2, H), gain @ h
        bodies[1:] = _load(*_along(whole, right, np.kron(np.eye(BODIES), gravity[:, None])))
        gravity = np.linalg.lstsq(*_along(whole, right, np.kron(bodies[:, None], np.eye(3))), rcond=1e-9)[0]
        if free:
            gravity *= np.linalg.norm(first) / max(float(np.linalg.norm(gravity)), 1e-12)
    return np.kron(bodies, gravity)


def _along(H: np.ndarray, h: np.ndarray, A: np.ndarray) -> Normal:
    """Equations of x where the unknowns are A x."""
    return A.T @ H @ A, A.T @ h


def _load(H: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Mass [kg] and mass times place (4,) [kg m] at the flange, by equations of the arm, which is 1, and of these."""
    size = np.sqrt(np.maximum(np.diag(H)[1:], 1e-12))
    scaled = H[1:, 1:] / np.outer(size, size) + LIGHT * np.eye(len(size))
    return np.asarray(np.linalg.solve(scaled, (h - H[0])[1:] / size) / size)


def explained(joints: list[Normal], weight: np.ndarray) -> float:
    """Variance that bodies times gravity (15,) explain, each joint with an effort per Nm of its own: the sum of their
    shares.
    """
    return float(sum(max(h @ weight, 0.0) ** 2 / max(weight @ H @ weight, 1e-12) for H, h in joints))


def deviation(joints: list[Normal], free: bool) -> float:
    """Jackknife deviation [rad] of the direction, along that in which it varies most."""
    others = np.array([weight_of(joints[:k] + joints[k + 1 :], free)[:3] for k in range(len(joints))])
    others /= np.linalg.norm(others, axis=1)[:, None]
    return float(np.sqrt(np.linalg.eigvalsh(jackknife(others))[-1]))


def jackknife(others: np.ndarray) -> np.ndarray:
    """Covariance of an estimate from those (k, d) without one of k parts each."""
    return (len(others) - 1) * np.cov(others.T, ddof=0)
