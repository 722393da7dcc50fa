"""By how much friction differs between recordings: viscous friction by temperature, Coulomb friction by wear or load.

What the model of the robot file leaves of the effort is regressed, joint by joint, on a common error of its friction
and, for every recording r but the first, on friction of its own:
  rest = a0 S + a1 C + a2 + [r > 0] (d_r S + e_r C)      S, C: viscous and other friction of the model
The shares d_r / (1 + a0) and e_r / (1 + a1) of all joints are their means by inverse variances: a lubricant's
temperature changes them alike. Contact may look like Coulomb friction, in some joints.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from robot_dynamics_ros.effort.decision import SIGNIFICANCE, sure_sign
from robot_dynamics_ros.identification.arm.friction_columns import thinning
from robot_dynamics_ros.identification.arm.live_model import LiveModel
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.identification.metrics import jackknife_std
from robot_dynamics_ros.signals.speeds import SLIDING

BLOCKS = 6  # of every recording, one of each left out at a time: the spread is the deviation
JOINT = 0.03  # deviation of a joint whose law is wrong
LEAST = 0.05  # of friction, the least difference that is said
MOST = 0.6  # of the joints surely show Coulomb friction that is higher, less those of lower: in contact fewer do
MIN_ROWS = 200  # in motion, of a joint in every recording


def friction_shares(live: LiveModel, motions: Sequence[Motion]) -> tuple[np.ndarray, np.ndarray]:
    """Viscous and Coulomb friction of every recording over that of the first, less 1, as of `common`."""
    rest = [m.effort - live.predict(m) for m in motions]
    viscous, coulomb = [viscous_torque(live, m.qd) for m in motions], [coulomb_torque(live, m) for m in motions]
    signals = rest, viscous, coulomb, [m.qd for m in motions]
    found = [_of_joint(*([x[:, j] for x in parts] for parts in signals)) for j in range(live.rigid.n)]
    return common(found)


def common(found: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray]:
    """Shares (2, R) of viscous and Coulomb friction that all joints have in common, and deviations, from those of each.
    Viscous NaN where no joint shows it in all recordings; Coulomb 0 where most joints do not surely show the same
    direction.
    """
    value, std = (np.array([pair[k] for pair in found]) for k in (0, 1))  # (n, 2, R)
    weight = np.where(np.isfinite(std), 1 / (std**2 + JOINT**2), 0.0)
    total, seen = weight.sum(axis=0), np.maximum((weight > 0).sum(axis=0) - 1, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (weight * value).sum(axis=0) / total
        spread = (weight * (value - share) ** 2).sum(axis=0) / total / seen
        deviation = np.sqrt(np.maximum(spread, 1 / total))
    sure = np.abs(sure_sign(value, std)[:, 1].sum(axis=0))
    same = clearly(share[1], deviation[1]) & (sure > MOST * len(value))
    share[1] = np.where(same, share[1], 0.0)
    return share, deviation


def clearly(share: np.ndarray, std: np.ndarray) -> np.ndarray:
    """Which of the shares (R,) or (2, R), with deviations, differ from the first recording."""
    return np.asarray(np.abs(share) > np.maximum(SIGNIFICANCE * std, LEAST))


def friction_of_shares(live: LiveModel, motion: Motion, share: np.ndarray) -> np.ndarray:
    """Shares (2,) of the viscous and the Coulomb friction (N, n) [Nm] of a model."""
    viscous = share[0] * viscous_torque(live, motion.qd)
    return viscous + share[1] * coulomb_torque(live, motion) if share[1] else viscous


def viscous_torque(live: LiveModel, v: np.ndarray) -> np.ndarray:
    """Viscous friction (N, n) [Nm] of a model at velocities v (N, n) [rad/s]."""
    block, static = live.hysteresis, np.asarray(live.friction["fv"]) * v
    if block is None:
        return static
    own = np.asarray(block["fv1"]) * v + np.asarray(block["fv0"]) * thinning(v)
    return np.where(_presliding(block), own, static)


def coulomb_torque(live: LiveModel, motion: Motion) -> np.ndarray:
    """Friction (N, n) [Nm] of a model that is neither viscous nor an offset; it lasts while a joint stands."""
    block, offset = live.hysteresis, np.asarray(live.friction["fo"])
    if block is not None:
        offset = np.where(_presliding(block), block["fo"], offset)
    friction = live.friction_torque(motion, live.rigid.torque(live.phi, motion.q, motion.qd, motion.qdd))
    return friction - viscous_torque(live, motion.qd) - offset


def _presliding(block: Mapping[str, Any]) -> np.ndarray:
    """Joints (n,) whose friction is that of the hysteresis block."""
    return np.asarray(np.sum(block["level"], axis=1) > 0)


def _of_joint(
    rest: Sequence[np.ndarray], viscous: Sequence[np.ndarray], coulomb: Sequence[np.ndarray], v: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    """Shares (2, R) of a joint and deviations."""
    R, parts = len(rest), []
    for r, (y, S, C, speed) in enumerate(zip(rest, viscous, coulomb, v, strict=True)):
        rows = np.abs(speed) > SLIDING
        A = np.column_stack([share_columns(S, C, np.ones_like(y), r, R), y])[rows]
        if len(A) < MIN_ROWS or not S.any():
            return np.zeros((2, R)), np.full((2, R), np.inf)
        parts.append([B.T @ B for B in np.array_split(A, BLOCKS)])
    grams = np.array(parts).sum(axis=0)  # (BLOCKS, k, k)
    left = np.array([_solved(grams.sum(axis=0) - gram) for gram in grams])
    return _solved(grams.sum(axis=0)), jackknife_std(left)


def share_columns(S: np.ndarray, C: np.ndarray, offset: np.ndarray, r: int, R: int) -> np.ndarray:
    """Columns (N, 2 R + 1) of a0 S + a1 C + a2 offset + [r > 0] (d_r S + e_r C) on a0, a1, a2, d_1, e_1, d_2, .. of
    recording r of R; S, C, offset (N,): viscous and Coulomb friction of a model.
    """
    own = np.zeros((len(S), 2 * R - 2))
    if r:
        own[:, 2 * r - 2], own[:, 2 * r - 1] = S, C
    return np.column_stack([S, C, offset, own])


def _solved(gram: np.ndarray) -> np.ndarray:
    """Shares (2, R) of a joint from the Gram matrix of columns and y."""
    x = np.linalg.lstsq(gram[:-1, :-1], gram[:-1, -1], rcond=1e-10)[0]
    return over_first(x, x)


def over_first(own: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Shares (2, R) of a joint, less 1, or deviations, from the numbers x of `share_columns`; own: x, or deviations."""
    return np.column_stack([np.zeros(2), own[3:].reshape(-1, 2).T / np.fmax(1 + x[:2, None], 0.5)])
