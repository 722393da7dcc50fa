"""The slow part of an excitation motion: its path once more, with small reversals at several places.

Fast motion crosses the speeds of Stribeck friction in hundredths of a second, and its few reversals say little about
presliding friction, which decides the force on an arm that stands.
"""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.trajectories.motions import minimum_jerk, minimum_jerk_rates

PARTS = 5  # length of the whole motion over that of the fast part; a whole of 75 s instead of 100 was 0.2 N worse
PLACES = 8  # on the way from one still end of the path to the other; 5 and 12 are as good
REVERSALS = (0.0013, 0.009)  # of the way to a place, to both sides of it: 1 and 10 mrad of joints with 0.5 rad/s
SHARES = (0.72, 0.03, 0.045, 0.03, 0.05, 0.075, 0.05)  # of a place's time: the way, then reversals out, over, back


def slow_part(t: np.ndarray, duration: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Place s on the path [s] at times t (N,) [s], ds/dt and d2s/dt2: s = t in the fast part, up to `duration`; then
    the path from its start again to the last of PLACES, every stretch from rest to rest with least jerk.
    """
    way, time = duration / (PLACES + 1), (PARTS - 1) * duration / PLACES
    ends = way * (1 + np.concatenate([[0.0], *([d, -d, 0.0] for d in REVERSALS)]))
    places = np.concatenate([[0.0], *(k * way + ends for k in range(PLACES))])
    lengths = np.tile(SHARES, PLACES) * time
    starts = duration + np.concatenate([[0.0], np.cumsum(lengths)[:-1]])
    k = np.clip(np.searchsorted(starts, t, side="right") - 1, 0, len(starts) - 1)
    x, step = np.clip((t - starts[k]) / lengths[k], 0.0, 1.0), places[k + 1] - places[k]
    (speed, change), fast = minimum_jerk_rates(x), t <= duration
    s = np.where(fast, t, places[k] + step * minimum_jerk(x))
    return s, np.where(fast, 1.0, step * speed / lengths[k]), np.where(fast, 0.0, step * change / lengths[k] ** 2)
