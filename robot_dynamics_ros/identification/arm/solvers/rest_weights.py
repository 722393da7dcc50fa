"""Weights of slow joints in the least squares of the bodies: static friction holds any torque below its Coulomb level.

A law of the velocity is wrong there by as much as that level, and by one value for as long as the joint stands. Counted
as samples with the deviation of sliding friction, long rests would turn that error into masses and centres of mass.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from robot_dynamics_ros.identification.arm.model import IdentifiedModel
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.identification.dataset.stretches import lasting
from robot_dynamics_ros.signals.speeds import SLOW

SPELL = 1.0  # s whose mean residual counts as one independent error of a recording
MAX_WEIGHT_RATIO = 4.0  # ratio of the weights of two recordings, at most
STAND = 0.1  # s that a slow stretch of any length counts as: about the correlation time of what a model leaves


def slow_stretches(motion: Motion) -> list[list[tuple[int, int]]]:
    """Per joint: (first, end) of the stretches in which it is slower than SLOW for longer than STAND."""
    return [lasting(slow, motion, STAND) for slow in (np.abs(motion.qd) < SLOW).T]


def slow_weights(rest: np.ndarray, motion: Motion, stretches: list[list[tuple[int, int]]]) -> np.ndarray:
    """Weights (N, n): those of the motion, in its slow stretches of weight d times min(1, s^2_fast/s^2_slow) d_0/d.

    s^2: mean square of what a model leaves of the joint's effort, `rest` (N, n) [Nm], in its other samples and in
    these; d: the sum of their weights; d_0: samples in STAND seconds.
    """
    weight = motion.weights.copy()
    square = rest**2
    for j, found in enumerate(stretches):
        slow = np.zeros(len(motion), bool)
        for first, end in found:
            slow[first:end] = True
        if slow.all() or not slow.any():
            continue
        ratio = min(square[~slow, j].mean() / max(square[slow, j].mean(), 1e-12), 1.0)
        for first, end in found:
            weight[first:end, j] *= ratio * STAND * motion.rate / weight[first:end, j].sum()
    return weight


def recording_weights(model: IdentifiedModel, motion: Motion, edges: Sequence[int]) -> np.ndarray:
    """Weights (N, n): those of the motion, times s^2_min/s^2 of each recording and joint, >= 1/MAX_WEIGHT_RATIO.

    s^2: mean square of the means over SPELL seconds of what the model leaves of the joint's effort, its variance times
    the samples per independent one. edges: numbers of the first sample of each recording, and of the end.
    """
    weight = motion.weights.copy()
    if len(edges) < 3:
        return weight
    rest, size = motion.effort - model.predict(motion), max(round(SPELL * motion.rate), 1)
    square = np.array([_spells(rest[a:b], size) for a, b in itertools.pairwise(edges)])
    for (a, b), own in zip(itertools.pairwise(edges), square, strict=True):
        weight[a:b] *= np.maximum(square.min(0) / np.maximum(own, 1e-12), 1 / MAX_WEIGHT_RATIO)
    return weight


def _spells(rest: np.ndarray, size: int) -> np.ndarray:
    """Mean square (n,) of the means of rest (N, n) over `size` samples."""
    count = max(len(rest) // size, 1)
    return np.asarray(np.mean([part.mean(axis=0) ** 2 for part in np.array_split(rest, count)], axis=0))
