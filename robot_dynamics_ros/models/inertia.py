"""Inertial parameters of a link: conversions and physical consistency through the pseudo-inertia matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from robot_dynamics_ros.robot_file.geometry import inertia_about_origin


@dataclass(frozen=True)
class LinkBody:
    """Mass [kg], centre of mass (3,) [m] and inertia about it (6,) XX XY XZ YY YZ ZZ [kg m2], link axes."""

    mass: float
    com: np.ndarray
    inertia: np.ndarray


def inertia_matrix(six: ArrayLike) -> np.ndarray:
    """Symmetric (3, 3) matrix of XX XY XZ YY YZ ZZ."""
    xx, xy, xz, yy, yz, zz = np.asarray(six, dtype=float)
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _six(matrix: np.ndarray) -> np.ndarray:
    return matrix[[0, 0, 0, 1, 1, 2], [0, 1, 2, 1, 2, 2]]


def _ten(parameters: np.ndarray) -> np.ndarray:
    p = np.asarray(parameters, dtype=float)
    if p.shape != (10,) or not np.all(np.isfinite(p)):
        raise ValueError(f"parameters must be 10 finite numbers, got shape {p.shape}: {p}")
    return p


def pseudo_inertia(parameters: np.ndarray) -> np.ndarray:
    """P (4, 4) = [[tr(L)/2 E - L, h], [h', m]] of ten parameters about the origin.

    L (3, 3) inertia about the origin [kg m2], h = m c [kg m], m [kg]; parameters XX XY XZ YY YZ ZZ mX mY mZ m
    [Madsen2020, eq. 2.49]. A rigid body exists if and only if P is positive semi-definite. Raises ValueError unless
    there are 10 finite numbers.
    """
    p = _ten(parameters)
    L = inertia_matrix(p[:6])
    P = np.empty((4, 4))
    P[:3, :3] = 0.5 * np.trace(L) * np.eye(3) - L
    P[:3, 3] = P[3, :3] = p[6:9]
    P[3, 3] = p[9]
    return P


def from_pseudo_inertia(P: np.ndarray) -> np.ndarray:
    """Ten parameters (10,) of a pseudo-inertia matrix (4, 4): L = tr(S) E - S with S its upper left block."""
    S = P[:3, :3]
    return np.concatenate([_six(np.trace(S) * np.eye(3) - S), P[:3, 3], [P[3, 3]]])


def about_com(parameters: np.ndarray) -> LinkBody:
    """Mass [kg], centre of mass [m] and inertia about it [kg m2] of parameters (10,).

    Raises ValueError for a mass that is not positive.
    """
    p = _ten(parameters)
    if not p[9] > 0.0:
        raise ValueError(f"mass {p[9]} must be > 0 to have a centre of mass")
    com = p[6:9] / p[9]
    return LinkBody(p[9], com, p[:6] - inertia_about_origin(p[9], com, np.zeros(6))[:6])


def body_slopes(body: LinkBody) -> np.ndarray:
    """Slopes (10, 10) of the ten parameters of a body by mass, centre of mass and inertia about it; exact."""
    x = np.concatenate([[body.mass], body.com, body.inertia])
    steps = np.diag(np.maximum(1e-3 * np.abs(x), 1e-6))
    ends = [[inertia_about_origin(y[0], y[1:4], y[4:]) for y in (x + step, x - step)] for step in steps]
    return np.column_stack([(up - down) / (2 * step.max()) for (up, down), step in zip(ends, steps, strict=True)])


def moved(parameters: np.ndarray, T: np.ndarray) -> np.ndarray:
    """Ten parameters in the parent frame of T (4, 4): P' = T P T'."""
    return from_pseudo_inertia(T @ pseudo_inertia(parameters) @ T.T)


def consistency_margin(parameters: np.ndarray) -> float:
    """Smallest eigenvalue of the scaled pseudo-inertia P of parameters (10,): >= 0 for a physically consistent body.

    Scaling: P is divided by m and its lengths by the radius of gyration, so that
    a tolerance of 1e-9 is independent of the size of the link [Traversaro2016].
    """
    P = pseudo_inertia(parameters)
    if not P[3, 3] > 0.0:
        return float(min(np.linalg.eigvalsh(P)[0], P[3, 3])) if np.any(P) else 0.0
    size = np.sqrt(max(np.trace(P[:3, :3]) / P[3, 3], 1e-12))
    scale = np.diag([1 / size] * 3 + [1.0])
    return float(np.linalg.eigvalsh(scale @ P @ scale / P[3, 3])[0])


def nearest_body(parameters: np.ndarray) -> np.ndarray:
    """Parameters (10,) with the same mass and centre, negative second moments about it set to zero: those of a body.

    Raises ValueError for a mass that is not positive.
    """
    body = about_com(parameters)
    L = inertia_matrix(body.inertia)
    w, V = np.linalg.eigh(0.5 * np.trace(L) * np.eye(3) - L)
    S = V * np.maximum(w, 0.0) @ V.T
    return inertia_about_origin(body.mass, body.com, _six(np.trace(S) * np.eye(3) - S))


def is_consistent(parameters: np.ndarray) -> bool:
    """True when parameters (10,) are those of a body of non-negative density, within rounding."""
    return consistency_margin(parameters) >= -1e-9
