"""Series of a true and an estimated wrench with known errors."""

import numpy as np

from robot_dynamics_ros.estimators import wrench_metrics as metrics

RATE = 500.0


def series(seconds=20.0, pushes=(), error=0.0, std=1.0, moving=None):
    """Pushes (start, end, N) along x, an estimate that is off by a normal error, flags as the reference."""
    t = np.arange(round(seconds * RATE)) / RATE
    reference = np.zeros((len(t), 6))
    for start, end, force in pushes:
        reference[(t >= start) & (t < end), 0] = force
    contact = (reference != 0).any(axis=1)
    estimate = reference + error * np.random.default_rng(0).normal(size=reference.shape)
    moving = np.ones(len(t), bool) if moving is None else moving(t)
    return metrics.Series(t, estimate, np.full_like(reference, std), reference, moving, contact, contact.copy())
