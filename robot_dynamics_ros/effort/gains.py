"""Gains of currents, effort per Nm, from gravity and inertia, with standard deviations."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.effort.evidence import Evidence

RANGE = (1 / 400, 0.4)  # A/Nm: K_tau between 2.5 and 400 Nm/A, the range of geared arms
GRAVITY_ERROR = 0.1  # deviation of a gain for the masses of the initial model, as a share of it
INERTIAL_ERROR = 0.3  # the same for its inertias
BETWEEN_JOINTS = 0.5  # deviation of log gain between joints of different size
AGREE = 3.0  # deviations within which joints of one size have one gain


def pooled_gains(e: Evidence, limit: np.ndarray, gravity: bool) -> tuple[np.ndarray, np.ndarray]:
    """Effort per Nm (n,), positive, and its standard deviation, from the slopes on gravity and inertial torque.

    A joint's own slope counts by its deviation; what it leaves open comes from joints of the same torque limit (n,)
    [Nm] where these agree, else from all joints with the deviation that gains have between joints. NaN, inf where no
    joint says anything.
    """
    own, std = _own(e, gravity)
    known = np.isfinite(own)
    if not known.any():
        return np.full(len(own), np.nan), np.full(len(own), np.inf)
    value, error = np.log(np.where(known, own, 1.0)), np.where(known, std, np.inf)
    for j in range(len(own)):
        mean, spread = _prior(j, np.log(np.where(known, own, 1.0)), np.where(known, std, np.inf), limit)
        weight, prior = 1 / error[j] ** 2, 1 / spread**2
        value[j] = (weight * value[j] + prior * mean) / (weight + prior) if weight + prior > 0 else np.nan
        error[j] = 1 / np.sqrt(weight + prior) if weight + prior > 0 else np.inf
    return np.exp(value), np.exp(value) * error


def _own(e: Evidence, gravity: bool) -> tuple[np.ndarray, np.ndarray]:
    """Gain of each joint by itself and the deviation of its logarithm, NaN where it is below one deviation."""
    weight, total = np.zeros(len(e.gravity)), np.zeros(len(e.gravity))
    pairs = [(e.inertial, e.inertial_std, INERTIAL_ERROR, 0.0 * e.stuck)]
    if gravity:
        pairs.append((e.gravity, e.gravity_std, GRAVITY_ERROR, e.stuck))
    for slope, noise, error, stuck in pairs:
        size = np.abs(slope)
        with np.errstate(invalid="ignore", divide="ignore"):
            share = np.sqrt((noise / size) ** 2 + stuck**2 + error**2)
            use = np.isfinite(size) & (share < 1.0)
        weight += np.where(use, 1 / share**2, 0.0)
        total += np.where(use, np.log(np.where(use, size, 1.0)) / share**2, 0.0)
    seen = weight > 0
    safe = np.where(seen, weight, 1.0)
    return np.where(seen, np.exp(total / safe), np.nan), np.where(seen, 1 / np.sqrt(safe), np.inf)


def _prior(j: int, value: np.ndarray, std: np.ndarray, limit: np.ndarray) -> tuple[float, float]:
    """Mean and deviation of log gain that the other joints give joint j."""
    others = np.isfinite(std) & (np.arange(len(std)) != j)
    same = others & (limit == limit[j])
    if same.any() and _agree(value[same], std[same]):
        weight = 1 / std[same] ** 2
        return float((weight * value[same]).sum() / weight.sum()), float(np.hypot(1 / np.sqrt(weight.sum()), 0.1))
    if not others.any():
        return 0.0, np.inf
    weight = 1 / (std[others] ** 2 + BETWEEN_JOINTS**2)
    return float((weight * value[others]).sum() / weight.sum()), float(
        np.hypot(1 / np.sqrt(weight.sum()), BETWEEN_JOINTS)
    )


def _agree(value: np.ndarray, std: np.ndarray) -> bool:
    mean = (value / std**2).sum() / (1 / std**2).sum()
    return bool((np.abs(value - mean) <= AGREE * std).all())
