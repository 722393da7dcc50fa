"""Recordings whose friction differs: what is said of them, and what is identified beside the difference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from robot_dynamics_ros.effort.decision import SIGNIFICANCE
from robot_dynamics_ros.identification.arm.friction_shares import clearly, friction_of_shares, friction_shares
from robot_dynamics_ros.identification.arm.live_model import LiveModel
from robot_dynamics_ros.identification.arm.parameters import fit_together, widen
from robot_dynamics_ros.identification.arm.state import Identification
from robot_dynamics_ros.identification.dataset.motion import RIGID_BAND, Motion, low_pass, rotor_position
from robot_dynamics_ros.identification.dataset.recording import Piece, Recording, temperature_of
from robot_dynamics_ros.models.sliding_friction import share_text, viscosity_text
from robot_dynamics_ros.verdict import short_names

APART = 3.0  # K between recordings, from which on they show a slope
STEEPEST = 0.05  # 1/K
LEARNED = "the file holds their mean, and the live nodes learn the difference in some seconds of free motion"


def compare_friction(state: Identification) -> None:
    """Fill `friction_differences` where the recordings differ, and the law's slope where they hold temperatures."""
    if len(state.training) < 2 or state.robot.drives.torque_side != "motor":
        return
    share, std = friction_shares(state.live, state.motions)
    names = short_names([rec.name for rec in state.training])
    warm = [temperature_of(rec) for rec in state.training]
    samples = np.diff(state.edges)
    said, why, slope = what_they_show(share[0], std[0], names, warm, samples)
    coulomb = coulomb_text(share[1], std[1], names)
    if not said and not coulomb:
        return
    if np.isfinite(share).all():
        _fit_at_mean(state, share)
    held = LEARNED
    if np.isfinite(slope) and state.live.hysteresis is not None:
        T = np.average(np.array(warm, dtype=float), axis=0, weights=samples)
        own = 1.0 + slope * (T - T.mean())  # the file has one reference temperature, the mean of the joints'
        law = state.live.hysteresis
        viscous = {name: (np.array(law[name]) / own).tolist() for name in ("fv1", "fv2", "fv0") if name in law}
        held, slopes = "the file holds that", {"viscous_slope": [slope] * state.robot.n_joints}
        state.live = replace(state.live, hysteresis=law | viscous | slopes)
    state.friction_differences = [*said, *([f"{why}: {held}."] if said else []), *coulomb]


def coulomb_text(share: np.ndarray, std: np.ndarray, names: Sequence[str]) -> list[str]:
    """Sentences about recordings whose Coulomb friction differs by shares (R,) from that of the first."""
    said = [
        f"{names[r]}: {share_text('Coulomb friction', share[r], std[r])} than in {names[0]}."
        for r in np.flatnonzero(share).tolist()
    ]
    return [*said, f"Wear, running-in or load may explain that: {LEARNED}."] if said else []


def _fit_at_mean(state: Identification, share: np.ndarray) -> None:
    """Bodies and friction again, beside the friction that the recordings have in the mean. The scatter between
    recordings stays in the deviations.
    """
    recorded, off = state.motion, _off(state, share)
    more = [friction_of_shares(state.live, m, own) for m, own in zip(state.motions, off.T, strict=True)]
    state.motion = replace(recorded, effort=recorded.effort - np.concatenate(more))
    fit_together(state)
    state.motion = recorded
    widen(state)


def _off(state: Identification, share: np.ndarray) -> np.ndarray:
    """Shares (2, R) by which recordings differ from their mean."""
    return share - np.average(share, axis=1, weights=np.diff(state.edges), keepdims=True)


def at_one_friction(state: Identification, recordings: Sequence[Recording]) -> list[Recording]:
    """Recordings in Nm with the friction that the training has in the mean, where it clearly differs between
    recordings: else the contact of a warm one would be its temperature. Those of other names stay as they are.
    """
    if len(state.training) < 2 or state.robot.drives.torque_side != "motor":
        return list(recordings)
    share, std = friction_shares(state.live, state.motions)
    if not clearly(share, std).any() or not np.isfinite(share).all():
        return list(recordings)
    own = dict(zip([rec.name for rec in state.training], _off(state, share).T, strict=True))
    return [_at_mean(state.live, rec, own[rec.name]) if rec.name in own else rec for rec in recordings]


def _at_mean(live: LiveModel, rec: Recording, off: np.ndarray) -> Recording:
    """A recording whose viscous and Coulomb friction are off by shares (2,)."""
    pieces = [replace(p, effort=p.effort - friction_of_shares(live, _motion(p), off)) for p in rec.pieces]
    return replace(rec, pieces=pieces)


def _motion(p: Piece) -> Motion:
    """A piece as it was recorded, its acceleration left out."""
    v, first = low_pass(p.velocity, RIGID_BAND, p.period), np.arange(len(p.t)) == 0
    return Motion(p.t, p.q, v, np.zeros_like(v), p.effort, first, 1 / p.period, p.position, rotor=rotor_position(p))


def what_they_show(
    share: np.ndarray, std: np.ndarray, names: Sequence[str], temperatures: Sequence[Any], samples: np.ndarray
) -> tuple[list[str], str, float]:
    """Sentences about recordings whose viscosity differs from that of the first; what explains it; its slope [1/K] over
    the viscosity in the mean of all `samples` (R,), NaN where the recorded temperatures, (n,) [deg C] or None, do not
    show it.
    """
    clear = np.flatnonzero(clearly(share, std)).tolist()
    said = [f"{names[r]}: {viscosity_text(share[r], std[r])} than in {names[0]}." for r in clear]
    if any(T is None for T in temperatures):
        return said, "Temperatures were not recorded", np.nan
    mean = 1 + float(np.average(share, weights=samples))  # over the first: the file holds the mean of all
    slope, slope_std = (x / mean for x in _slope(share, std, temperatures))
    if SIGNIFICANCE * slope_std < -slope < STEEPEST:
        return said, f"It changes by {100 * slope:.2g} +- {100 * slope_std:.1g} % per recorded kelvin", slope
    return said, "Temperatures do not explain that", np.nan


def _slope(share: np.ndarray, std: np.ndarray, temperatures: Sequence[Any]) -> tuple[float, float]:
    """Slope of viscous friction over that of the first [1/K], its deviation; NaN where temperatures are not APART."""
    T = np.mean(temperatures, axis=1)
    warmer, weight = T - T[0], 1 / std**2
    if np.ptp(T) < APART:
        return np.nan, np.nan
    total = float(weight @ warmer**2)
    return float(weight @ (warmer * share)) / total, total**-0.5
