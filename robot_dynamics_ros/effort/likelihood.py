"""How likely an effort's slopes are under a meaning: all columns of the regression together, all joints pooled.

On one path, as between two poses, gravity, acceleration and friction are nearly one column: what each explains is
unknown, what they explain together is not. Slopes on the rigid body are expected at the gain of the effort; friction,
rotor inertia and offset are those of drives of the joint's size, and are judged only where they are larger.
"""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.effort.evidence import BETWEEN_JOINTS, Evidence

VOTE_AT_REST = 0.5  # deviation of a slope at rest, as a share, below which it is judged
GRID = 40  # gains of an effort without torque constants
MODEL_ERROR = 0.25  # standard deviation of a joint's slope for errors of the model, as a share of it
NO_GRAVITY_ERROR = 0.05  # the same of the slope on gravity where gravity has been removed, as a share of the gain
FREEDOM = 5.0  # degrees of freedom of Student's t, for joints of which the model is far off
USUAL = (6.0, 6.0, 2.0, 2.0)  # Coulomb, viscous friction, rotor, offset, in Nm, s and rad, over stuck friction


def of_gains(e: Evidence, gravity: bool, gain: np.ndarray, load: np.ndarray | float) -> float:
    """Log density of the slopes. gravity: whether it is in the effort; gain (n,): effort per Nm; load (n,): standard
    deviation of what the arm carries beyond the robot file, as a share of a joint's torque.
    """
    return float(_densities(e, gravity, gain[None], load).sum())


def of_any_gain(e: Evidence, gravity: bool, limits: tuple[float, float], load: np.ndarray | float) -> float:
    """The same for an unknown gain between two limits, about the same in all joints. load (n,): see of_gains."""
    grid = np.geomspace(*limits, GRID)
    each = _densities(e, gravity, np.repeat(grid[:, None], len(e.gravity), axis=1), load)
    near = -0.5 * (np.subtract.outer(np.log(grid), np.log(grid)) / BETWEEN_JOINTS) ** 2
    near -= np.logaddexp.reduce(near, axis=1, keepdims=True)
    joints = np.logaddexp.reduce(near[:, :, None] + each, axis=1)  # (GRID, n), the gain of a joint integrated
    return float(np.logaddexp.reduce(joints.sum(axis=1)) - np.log(GRID))


def _densities(e: Evidence, gravity: bool, gain: np.ndarray, load: np.ndarray | float) -> np.ndarray:
    """Log densities (G, n) of each joint's slopes for gains (G, n)."""
    value, covariance, surplus = _rigid(e, gain)
    sign = np.sign(np.where(np.isfinite(e.gravity), e.gravity, e.inertial))
    expected = gain[..., None] * np.array([float(gravity), 1.0])
    error = np.array([MODEL_ERROR if gravity else NO_GRAVITY_ERROR, MODEL_ERROR])
    spread = gain[..., None] ** 2 * (error**2 + np.broadcast_to(load, sign.shape)[:, None] ** 2)
    shown = np.isfinite(covariance[..., (0, 1), (0, 1)])
    d = np.where(shown, sign[:, None] * value - expected, 0.0)
    a, b = np.moveaxis(np.where(shown, covariance[..., (0, 1), (0, 1)] + spread, 1.0), -1, 0)
    c = np.where(shown.all(axis=-1), covariance[..., 0, 1], 0.0)
    determinant = a * b - c**2
    distance = (b * d[..., 0] ** 2 - 2 * c * d[..., 0] * d[..., 1] + a * d[..., 1] ** 2) / determinant
    t = -0.5 * (FREEDOM + 1) * np.log1p((distance + surplus) / FREEDOM)
    return np.where(shown.any(axis=-1), t - 0.5 * np.log(determinant), 0.0)


def _rigid(e: Evidence, gain: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Slopes on gravity and inertial torque for gains (G, n), beside usual friction: values (G, n, 2), covariance (G,
    n, 2, 2), inf where nothing shows, and by how much the others are larger than usual (G, n).
    """
    slopes = e.slopes
    rests = (e.stuck > 0) & (e.stuck < VOTE_AT_REST)
    at_rest = np.where(rests, 1 / (gain * np.where(rests, e.stuck, 1.0)) ** 2, 0.0)
    held = np.where(rests, e.gravity, 0.0)
    b = np.broadcast_to(np.einsum("nij,nj->ni", slopes.information, slopes.values), (*gain.shape, 6)).copy()
    squares = (b * slopes.values).sum(axis=-1) + at_rest * held**2
    b[..., 0] += at_rest * held
    information = np.broadcast_to(slopes.information, (*gain.shape, 6, 6)).copy()
    information[..., 0, 0] += at_rest
    shown = np.einsum("...ii->...i", information)[..., :2] > 0
    i = np.arange(6)
    information[..., i[2:], i[2:]] += 1 / (gain[..., None] * np.outer(slopes.usual, USUAL)) ** 2
    information[..., i[:2], i[:2]] += ~shown
    inverse = np.linalg.inv(information)
    x = np.einsum("...ij,...j->...i", inverse, b)
    covariance = inverse[..., :2, :2].copy()
    covariance[..., i[:2], i[:2]] = np.where(shown, covariance[..., i[:2], i[:2]], np.inf)
    return x[..., :2], covariance, np.maximum(squares - (x * b).sum(axis=-1), 0.0)
