"""Parts of long recordings from which choices are made, with the context that filters need."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from robot_dynamics_ros.identification.dataset.motion import LOWER_RATE, Motion, step_of
from robot_dynamics_ros.identification.dataset.recording import Recording
from robot_dynamics_ros.signals.runs import pieces_of, runs
from robot_dynamics_ros.signals.speeds import SLOW

STRETCHES = 12  # of a long recording
LONG_STAND = 5.0  # s that a stand of any length counts as at most: friction has one value in it


def sampled(recordings: Sequence[Recording], rows: int, context: float) -> list[Recording]:
    """Recordings cut to evenly spaced stretches, together `rows` samples at the rate of the solution, with `context`
    [s] beside each; as they are where that would not be much shorter.
    """
    total = sum(len(p.t) / step_of(r.rate, LOWER_RATE) for r in recordings for p in r.pieces)
    if total <= rows + 2 * STRETCHES * context * LOWER_RATE:
        return list(recordings)
    return [_cut(r, rows / total, round(context * r.rate)) for r in recordings]


def _cut(rec: Recording, share: float, beside: int) -> Recording:
    pieces = []
    for p in rec.pieces:
        count = max(1, round(STRETCHES * len(p.t) / rec.samples))
        length = int(len(p.t) * share / count)
        for first in np.linspace(0, len(p.t) - length, count).astype(int).tolist():
            pieces.append(p.take(slice(max(first - beside, 0), first + length + beside)))
    return replace(rec, pieces=pieces)


def lasting(mask: np.ndarray, motion: Motion, seconds: float) -> list[tuple[int, int]]:
    """(first, end) of the runs of mask (N,) within a piece of a motion that last longer than some seconds."""
    found = [(a + i, a + k) for a, b in pieces_of(motion.start) for i, k in runs(mask[a:b])]
    return [(first, end) for first, end in found if end - first > seconds * motion.rate]


def with_short_stands(motion: Motion) -> Motion:
    """The motion; a stand of the whole arm longer than LONG_STAND weighs as much as one that long."""
    stands = lasting((np.abs(motion.qd) < SLOW).all(axis=1), motion, LONG_STAND)
    if not stands:
        return motion
    weight = motion.weights.copy()
    for first, end in stands:
        weight[first:end] *= LONG_STAND * motion.rate / (end - first)
    return replace(motion, weight=weight)


def thinned(motion: Motion, rows: int) -> Motion:
    """At most `rows` samples, in stretches."""
    return motion if len(motion) <= rows else motion.take(thinned_rows(len(motion), rows))


def thinned_rows(samples: int, rows: int) -> np.ndarray:
    """Indices of all samples, or of at most `rows` in STRETCHES."""
    return np.arange(samples) if samples <= rows else stretches(samples, rows, STRETCHES)


def stretches(samples: int, rows: int, count: int) -> np.ndarray:
    """Indices of `count` stretches taken evenly over the motion: filters and hysteresis keep working inside each."""
    length = rows // count
    starts = np.linspace(0, samples - length, count).astype(int)
    return np.unique(np.concatenate([np.arange(s, s + length) for s in starts]))
