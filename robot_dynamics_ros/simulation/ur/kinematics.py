"""Forward kinematics as the controller reports it: poses are x, y, z and a rotation vector."""

from __future__ import annotations

from typing import Protocol

import numpy as np

Vector = np.ndarray


class RigidBody(Protocol):
    """The core's rigid-body functions used here: poses of the joints and the TCP, and the Jacobian."""

    def fk(self, q: Vector) -> np.ndarray: ...
    def jacobian(self, q: Vector) -> np.ndarray: ...


def cross(a: Vector, b: Vector) -> Vector:
    """Cross product of two 3-vectors."""
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def rotation_matrix(vector: Vector) -> np.ndarray:
    """Rotation by |vector| rad about its direction (Rodrigues)."""
    angle = float(np.linalg.norm(vector))
    x, y, z = np.asarray(vector, float) / angle if angle > 0 else np.zeros(3)
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * skew + (1 - np.cos(angle)) * (skew @ skew)


def rotation_vector(R: np.ndarray) -> Vector:
    """Inverse of rotation_matrix, with an angle in 0..pi; by way of a quaternion, so it is safe at both ends."""
    w2 = 1 + float(R[0, 0] + R[1, 1] + R[2, 2])
    if w2 > 0.1:
        w = 0.5 * np.sqrt(w2)
        v = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4 * w)
    else:
        i = int(np.argmax(np.diag(R)))
        j, k = (i + 1) % 3, (i + 2) % 3
        root = np.sqrt(1 + R[i, i] - R[j, j] - R[k, k])
        v = np.empty(3)
        v[i], v[j], v[k] = 0.5 * root, (R[j, i] + R[i, j]) / (2 * root), (R[k, i] + R[i, k]) / (2 * root)
        w = (R[k, j] - R[j, k]) / (2 * root)
        if w < 0:
            v, w = -v, -w
    sine = float(np.sqrt(v @ v))
    return v * (2 * np.arctan2(sine, w) / sine) if sine > 1e-12 else 2 * v


def pose_to_matrix(pose: Vector) -> np.ndarray:
    """4x4 placement of x, y, z, rx, ry, rz."""
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = rotation_matrix(np.asarray(pose[3:6], float)), pose[:3]
    return T


def matrix_to_pose(T: np.ndarray) -> Vector:
    """x, y, z, rx, ry, rz of a 4x4 placement."""
    return np.concatenate([T[:3, 3], rotation_vector(T[:3, :3])])


class Kinematics:
    """Flange kinematics of the model plus the TCP offset set by the user."""

    def __init__(self, model: RigidBody) -> None:
        self._model = model
        self.set_tcp(np.zeros(6))

    def set_tcp(self, pose: Vector) -> None:
        """Place the TCP relative to the flange."""
        self.tcp_offset = np.array(pose, float)
        self._offset = pose_to_matrix(self.tcp_offset)
        self._moved = bool(np.any(self.tcp_offset[:3]))

    def flange(self, q: Vector) -> np.ndarray:
        """4x4 placement of the flange in the base frame."""
        return self._model.fk(q)[-1]

    def tcp(self, q: Vector) -> np.ndarray:
        """4x4 placement of the TCP in the base frame."""
        return self._model.fk(q)[-1] @ self._offset

    def jacobian(self, q: Vector) -> np.ndarray:
        """Geometric Jacobian of the TCP (6, n): linear rows first, base frame orientation."""
        J = self._model.jacobian(q)
        if self._moved:
            arm = self._model.fk(q)[-1][:3, :3] @ self.tcp_offset[:3]
            J[:3] += np.cross(J[3:].T, arm).T
        return J
