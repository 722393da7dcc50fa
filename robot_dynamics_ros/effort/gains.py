"""Gains of currents, effort per Nm, from gravity and inertia, with standard deviations."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.effort.evidence import Evidence

RANGE = (1 / 400, 0.4)  # A/Nm: K_tau between 2.5 and 400 Nm/A, the range of geared arms
GRAVITY_ERROR = 0.1  # deviation of a gain for the masses of the initial model, as a share of it
INERTIAL_ERROR = 0.3  # the same for its inertias
SAME_SIZE = 0.25  # deviation of a gain between joints of one size, as a share of it
STRONG = 0.15  # deviation of a joint's own gain, as a share, below which nothing is pooled
BETWEEN_JOINTS = 0.5  # the same between joints of different size
AGREE = 3.0  # deviations within which joints of one size have one gain


def pooled_gains(e: Evidence, limit: np.ndarray, gravity: bool) -> tuple[np.ndarray, np.ndarray]:
    """Effort per Nm (n,), positive, and its standard deviation, from the slopes on gravity and inertial torque.

    A strong slope decides alone; what a weak one leaves open comes from joints of the same torque limit (n,) [Nm] where
    these agree, else from all joints with the deviation that gains have between joints. NaN, inf where nothing shows.
    """
    return pooled(*_own(e, gravity), limit)


def pooled(own: np.ndarray, std: np.ndarray, limit: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gains (n,) of single joints with their deviations, the weak ones completed by the strong ones as described above.

    NaN, inf: the joint's own data show nothing. limit (n,) [Nm]: equal where drives have one size.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        strong = np.isfinite(own) & (std / own < STRONG)
    if not strong.any():
        return own, std
    gain, error = own.copy(), std.copy()
    for j in np.flatnonzero(~strong).tolist():
        mean, spread = _prior(j, own, std, strong, limit)
        weight, prior = (1 / std[j] ** 2 if np.isfinite(own[j]) else 0.0), 1 / spread**2
        gain[j] = (weight * np.nan_to_num(own[j]) + prior * mean) / (weight + prior)
        error[j] = 1 / np.sqrt(weight + prior)
    return gain, error


def _own(e: Evidence, gravity: bool) -> tuple[np.ndarray, np.ndarray]:
    """Gain of each joint by itself and its deviation (n,); NaN, inf where nothing shows."""
    weight, total = np.zeros(len(e.gravity)), np.zeros(len(e.gravity))
    pairs = [(e.inertial, e.inertial_std, INERTIAL_ERROR)]
    if gravity:
        pairs.append((e.gravity, e.gravity_std, np.hypot(GRAVITY_ERROR, e.stuck)))
    for slope, noise, error in pairs:
        size = np.abs(np.nan_to_num(slope))
        std = np.hypot(noise, error * size)
        use = np.isfinite(slope) & (std > 0)
        weight += np.where(use, 1 / np.where(use, std, 1.0) ** 2, 0.0)
        total += np.where(use, size / np.where(use, std, 1.0) ** 2, 0.0)
    seen = weight > 0
    safe = np.where(seen, weight, 1.0)
    return np.where(seen, total / safe, np.nan), np.where(seen, 1 / np.sqrt(safe), np.inf)


def _prior(j: int, own: np.ndarray, std: np.ndarray, strong: np.ndarray, limit: np.ndarray) -> tuple[float, float]:
    """Mean and deviation of the gain that joints with strong slopes give joint j."""
    same = strong & (limit == limit[j])
    sized = bool(same.any()) and _agree(own[same], std[same])
    rows, between = (same, SAME_SIZE) if sized else (strong, BETWEEN_JOINTS)
    mean = float(np.exp(np.log(own[rows]).mean()))
    return mean, mean * float(np.hypot(between, (std[rows] / own[rows]).mean() / np.sqrt(rows.sum())))


def _agree(value: np.ndarray, std: np.ndarray) -> bool:
    mean = (value / std**2).sum() / (1 / std**2).sum()
    return bool((np.abs(value - mean) <= AGREE * std).all())
