"""Whether held-out motion repeats the identified one: then it does not show how a model predicts other motions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial import cKDTree

from robot_dynamics_ros.identification.dataset.recording import Recording
from robot_dynamics_ros.signals.speeds import SLOW

LATER = 0.2  # s between the two positions of a state, which show its velocity
EVERY = 0.01, 0.05  # s between states of the identified, and of the held-out motion
LEAST = 0.02  # rad, deviation of a joint that moves
ALIKE = 0.05  # rms difference of two states over the motion's deviations; tracking repeats to 1e-3 of them or better
REPEATED = 0.8  # share of the moving states of a recording from which on it is a repeat


def judged_on_a_repeat(training: Sequence[Recording], judged: Sequence[Recording]) -> str:
    """A sentence naming `judged` recordings most of whose moving states `training` has as well; empty: there are none.

    State: positions of all joints, and those LATER.
    """
    known = np.vstack([_states(rec, EVERY[0]) for rec in training])
    scale = np.maximum(known.std(axis=0), LEAST) * np.sqrt(known.shape[1])
    tree, names = cKDTree(known / scale), []
    for rec in judged:
        states = _states(rec, EVERY[1])
        moving = np.abs(states[:, rec.n :] - states[:, : rec.n]).max(axis=1) > SLOW * LATER
        far, _ = tree.query(states[moving] / scale, distance_upper_bound=ALIKE)
        if moving.any() and np.isfinite(far).mean() > REPEATED:
            names.append(rec.name)
    if not names:
        return ""
    return (
        f"{', '.join(names)}: the last part repeats the first, so the figures do not show how the model predicts "
        "other motions: record a second motion (robot-dynamics excite --seed 2) for --validate"
    )


def _states(rec: Recording, every: float) -> np.ndarray:
    """Positions of all joints and those LATER (N, 2 n) [rad]."""
    found = [np.zeros((0, 2 * rec.n))]
    for piece in rec.pieces:
        t = np.arange(piece.t[0], piece.t[-1] - LATER, every)
        found.append(np.column_stack([np.interp(at, piece.t, q) for at in (t, t + LATER) for q in piece.q.T]))
    return np.vstack(found)
