"""Recordings for identification and for validation: the same ones cut in time, and whether others repeat them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.spatial import cKDTree

from robot_dynamics_ros.identification.dataset.recording import MIN_PIECE, Recording
from robot_dynamics_ros.signals.interpolation import interpolated
from robot_dynamics_ros.signals.speeds import SLOW

SPLIT = 0.7  # share of every recording used for identification when there is none for validation
LATER = 0.2  # s between the two positions of a state, which show its velocity
EVERY = 0.01, 0.05  # s between states of the identified, and of the held-out motion
LEAST = 0.02  # rad, deviation of a joint that moves
ALIKE = 0.05  # rms difference of two states over the motion's deviations; tracking repeats to 1e-3 of them or better
REPEATED = 0.8  # share of the moving states of a recording from which on it is a repeat


def set_apart(training: list[Recording], validation: list[Recording]) -> tuple[list[Recording], list[Recording], str]:
    """Recordings to identify and to validate on (other bags, or the last part of each), and a sentence on that."""
    if validation:
        return training, validation, "validated on other bags"
    split = f"no validation bag: identified on the first {SPLIT:.0%} of every bag, validated on the rest"
    return *cut_in_time(training, SPLIT), split


def cut_in_time(recordings: list[Recording], share: float) -> tuple[list[Recording], list[Recording]]:
    """Every recording cut at a share of its samples."""
    first, last = [], []
    for rec in recordings:
        cut = int(share * rec.samples)
        a, b, seen = [], [], 0
        for p in rec.pieces:
            k = min(max(cut - seen, 0), len(p.t))
            seen += len(p.t)
            a += [p.take(slice(0, k))] if k >= MIN_PIECE else []
            b += [p.take(slice(k, None))] if len(p.t) - k >= MIN_PIECE else []
        first.append(replace(rec, pieces=a))
        last.append(replace(rec, pieces=b, notes=[]))
    return first, last


def repeats(training: Sequence[Recording], judged: Sequence[Recording]) -> list[bool]:
    """Of every `judged` recording, whether `training` has most of its moving states as well.

    State: positions of all joints, and those LATER.
    """
    known = np.vstack([_states(rec, EVERY[0]) for rec in training])
    scale = np.maximum(known.std(axis=0), LEAST) * np.sqrt(known.shape[1])
    tree, found = cKDTree(known / scale), []
    for rec in judged:
        states = _states(rec, EVERY[1])
        moving = np.abs(states[:, rec.n :] - states[:, : rec.n]).max(axis=1) > SLOW * LATER
        far, _ = tree.query(states[moving] / scale, distance_upper_bound=ALIKE)
        found.append(bool(moving.any() and np.isfinite(far).mean() > REPEATED))
    return found


def _states(rec: Recording, every: float) -> np.ndarray:
    """Positions of all joints and those LATER (N, 2 n) [rad]."""
    found = [np.zeros((0, 2 * rec.n))]
    for piece in rec.pieces:
        t = np.arange(piece.t[0], piece.t[-1] - LATER, every)
        found.append(np.hstack([interpolated(at, piece.t, piece.q) for at in (t, t + LATER)]))
    return np.vstack(found)
