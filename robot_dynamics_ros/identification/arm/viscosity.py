"""Recordings of several temperatures: by how much viscous friction differs between them, and its slope.

What the model of the robot file leaves of the effort is regressed, joint by joint, on a common error of its friction
and, for every recording r but the first, on friction of its own:
  rest = a0 S(v) + a1 sgn v + a2 + [r > 0] (d_r S(v) + e_r sgn v)      S: viscous friction of the model
The share d_r / (1 + a0) of all joints is their mean by inverse variances: a lubricant's temperature changes them alike.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from robot_dynamics_ros.identification.arm.friction_columns import thinning
from robot_dynamics_ros.identification.arm.live_model import LiveModel
from robot_dynamics_ros.identification.arm.parameters import fit_together, widen
from robot_dynamics_ros.identification.arm.state import Identification
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.identification.dataset.recording import Piece, Recording, temperature_of
from robot_dynamics_ros.models.sliding_friction import viscosity_text
from robot_dynamics_ros.signals.speeds import SLIDING
from robot_dynamics_ros.verdict import short_names

BLOCKS = 6  # of every recording, one of each left out at a time: the spread is the deviation
JOINT = 0.03  # deviation of a joint whose law is wrong
LEAST = 0.05  # of viscous friction, the least difference that is said
MIN_ROWS = 200  # in motion, of a joint in every recording
SIGNIFICANCE = 3.0  # standard deviations of a difference that is said
APART = 3.0  # K between recordings, from which on they show a slope
STEEPEST = 0.05  # 1/K
LEARNED = "the file holds their mean, and the live nodes learn the difference in some seconds of free motion"


def compare_viscosity(state: Identification) -> None:
    """Fill `viscosity` where the recordings differ in it, and the law's slope where they hold temperatures."""
    if len(state.training) < 2 or state.robot.drives.torque_side != "motor":
        return
    motions = [state.motion.block(a, b) for a, b in itertools.pairwise(state.edges)]
    share, std = viscosity_shares(state.live, motions)
    names = short_names([rec.name for rec in state.training])
    said, why, slope = what_they_show(share, std, names, [temperature_of(rec) for rec in state.training])
    if not said:
        return
    if np.isfinite(share).all():
        _fit_at_mean(state, share)
    held = LEARNED
    if np.isfinite(slope) and state.live.hysteresis is not None:
        held, slopes = "the file holds that", {"viscous_slope": [slope] * state.robot.n_joints}
        state.live = replace(state.live, hysteresis=state.live.hysteresis | slopes)
    state.viscosity = [*said, f"{why}: {held}."]


def _fit_at_mean(state: Identification, share: np.ndarray) -> None:
    """Bodies and friction again, beside the viscous friction that the recordings have in the mean. The scatter between
    recordings stays in the deviations.
    """
    recorded = state.motion
    off = np.repeat(_off(state, share), np.diff(state.edges))[:, None]
    state.motion = replace(recorded, effort=recorded.effort - off * viscous_torque(state.live, recorded.qd))
    fit_together(state)
    state.motion = recorded
    widen(state)


def _off(state: Identification, share: np.ndarray) -> np.ndarray:
    """Shares (R,) by which recordings differ from their mean."""
    return share - np.average(share, weights=np.diff(state.edges))


def at_one_viscosity(state: Identification, recordings: Sequence[Recording]) -> list[Recording]:
    """Recordings in Nm with the viscous friction that the training has in the mean, where it clearly differs between
    recordings: else the contact of a warm one would be its temperature. Those of other names stay as they are.
    """
    if len(state.training) < 2 or state.robot.drives.torque_side != "motor":
        return list(recordings)
    motions = [state.motion.block(a, b) for a, b in itertools.pairwise(state.edges)]
    share, std = viscosity_shares(state.live, motions)
    if not _clear(share, std).any() or not np.isfinite(share).all():
        return list(recordings)
    own = dict(zip([rec.name for rec in state.training], _off(state, share).tolist(), strict=True))
    return [_at_mean(state.live, rec, own[rec.name]) if rec.name in own else rec for rec in recordings]


def _at_mean(live: LiveModel, rec: Recording, off: float) -> Recording:
    """A recording whose viscous friction is off by a share."""

    def mean(p: Piece) -> Piece:
        v = np.gradient(p.q, p.period, axis=0) if p.qd is None else p.qd
        return replace(p, effort=p.effort - off * viscous_torque(live, v))

    return replace(rec, pieces=[mean(p) for p in rec.pieces])


def _clear(share: np.ndarray, std: np.ndarray) -> np.ndarray:
    """Which recordings (R,) differ from the first."""
    return np.asarray(np.abs(share) > np.maximum(SIGNIFICANCE * std, LEAST))


def what_they_show(
    share: np.ndarray, std: np.ndarray, names: Sequence[str], temperatures: Sequence[Any]
) -> tuple[list[str], str, float]:
    """Sentences about recordings whose viscosity differs from that of the first; what explains it; its slope [1/K], NaN
    where the recorded temperatures, (n,) [deg C] or None, do not show it.
    """
    clear = np.flatnonzero(_clear(share, std)).tolist()
    said = [f"{names[r]}: {viscosity_text(share[r], std[r])} than in {names[0]}." for r in clear]
    if any(T is None for T in temperatures):
        return said, "Temperatures were not recorded", np.nan
    slope, slope_std = _slope(share, std, temperatures)
    if SIGNIFICANCE * slope_std < -slope < STEEPEST:
        return said, f"It changes by {100 * slope:.2g} +- {100 * slope_std:.1g} % per recorded kelvin", slope
    return said, "Temperatures do not explain that", np.nan


def _slope(share: np.ndarray, std: np.ndarray, temperatures: Sequence[Any]) -> tuple[float, float]:
    """Viscous friction over temperature [1/K] and its deviation; NaN without temperatures that are APART."""
    T = np.mean(temperatures, axis=1)
    warmer, weight = T - T[0], 1 / std**2
    if np.ptp(T) < APART:
        return np.nan, np.nan
    total = float(weight @ warmer**2)
    return float(weight @ (warmer * share)) / total, total**-0.5


def viscous_torque(live: LiveModel, v: np.ndarray) -> np.ndarray:
    """Viscous friction (N, n) [Nm] of a model at velocities v (N, n) [rad/s]."""
    block, static = live.hysteresis, np.asarray(live.friction["fv"]) * v
    if block is None:
        return static
    own = np.asarray(block["fv1"]) * v + np.asarray(block["fv0"]) * thinning(v)
    return np.where(np.sum(block["level"], axis=1) > 0, own, static)


def viscosity_shares(live: LiveModel, motions: Sequence[Motion]) -> tuple[np.ndarray, np.ndarray]:
    """Viscous friction of every recording over that of the first, less 1, (R,), and deviations; NaN where no joint
    shows it in all of them.
    """
    rest = [m.effort - live.predict(m) for m in motions]
    viscous = [viscous_torque(live, m.qd) for m in motions]
    found = [
        _of_joint([r[:, j] for r in rest], [S[:, j] for S in viscous], [m.qd[:, j] for m in motions])
        for j in range(live.rigid.n)
    ]
    return pooled(*(np.array([pair[k] for pair in found]) for k in (0, 1)))


def pooled(value: np.ndarray, std: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Shares (R,) that all joints have in common, and deviations, from those of each (n, R); NaN where none does."""
    weight = np.where(np.isfinite(std), 1 / (std**2 + JOINT**2), 0.0)
    total, seen = weight.sum(axis=0), np.maximum((weight > 0).sum(axis=0) - 1, 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = (weight * value).sum(axis=0) / total
        spread = (weight * (value - mean) ** 2).sum(axis=0) / total / seen
        return mean, np.sqrt(np.maximum(spread, 1 / total))


def _of_joint(
    rest: Sequence[np.ndarray], viscous: Sequence[np.ndarray], v: Sequence[np.ndarray]
) -> tuple[np.ndarray, np.ndarray]:
    R, parts = len(rest), []
    for r, (y, S, speed) in enumerate(zip(rest, viscous, v, strict=True)):
        rows = np.abs(speed) > SLIDING
        step, own = np.sign(speed), np.zeros((len(y), 2 * R - 2))
        if r:
            own[:, 2 * r - 2], own[:, 2 * r - 1] = S, step
        A = np.column_stack([S, step, np.ones_like(y), own, y])[rows]
        if len(A) < MIN_ROWS or not S.any():
            return np.zeros(R), np.full(R, np.inf)
        parts.append([B.T @ B for B in np.array_split(A, BLOCKS)])
    grams = np.array(parts).sum(axis=0)  # (BLOCKS, k, k)
    left = np.array([_solved(grams.sum(axis=0) - gram) for gram in grams])
    return _solved(grams.sum(axis=0)), np.sqrt((BLOCKS - 1) * left.var(axis=0))


def _solved(gram: np.ndarray) -> np.ndarray:
    """Shares (R,) of a joint from the Gram matrix of columns and y."""
    x = np.linalg.lstsq(gram[:-1, :-1], gram[:-1, -1], rcond=1e-10)[0]
    return np.append(0.0, x[3::2] / max(1 + x[0], 0.5))
