"""Smooth joint trajectories between waypoints: four continuous derivatives, every limit held by construction.

The flexible-joint feedforward needs jerk and snap [Madsen2020 ch2 2.64-2.69], so a trajectory carries them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import BSpline, make_interp_spline

from robot_dynamics_ros.errors import DataError

Array = NDArray[np.float64]
LONGEST = 3600.0  # s of a trajectory: 0.4 GB of samples


@dataclass(frozen=True)
class Trajectory:
    """A sampled joint trajectory: time (N,) s; q, qd, qdd, jerk, snap (N, n) in rad and seconds."""

    time: Array
    q: Array
    qd: Array
    qdd: Array
    jerk: Array
    snap: Array

    @property
    def duration(self) -> float:
        """Length in seconds."""
        return float(self.time[-1])


def rows_of(waypoints: Array) -> Array:
    """Waypoints (M, n). Raises DataError for fewer than two finite rows."""
    points = np.asarray(waypoints, dtype=float)
    if points.ndim != 2 or len(points) < 2 or not np.isfinite(points).all():
        raise DataError(f"waypoints has shape {points.shape}: expected at least two finite rows (M, n)")
    return points


def limits_of(value: Array | float, n: int, name: str) -> Array:
    """A limit per joint (n,). Raises DataError unless finite and > 0."""
    limit = np.broadcast_to(np.asarray(value, dtype=float), (n,))
    if not (np.isfinite(limit).all() and (limit > 0).all()):
        raise DataError(f"{name} = {limit.tolist()} must be finite and > 0")
    return limit


def through(
    waypoints: Array, *, velocity: Array | float, acceleration: Array | float, rate: float = 500.0
) -> Trajectory:
    """Through every waypoint without stopping: quintic spline (C4), at rest at both ends, stretched to the limits.

    waypoints (M, n) rad; velocity rad/s and acceleration rad/s2 per joint or one for all; rate Hz. Raises DataError
    naming the argument, and for a trajectory beyond LONGEST.
    """
    points = rows_of(waypoints)
    v, a = limits_of(velocity, points.shape[1], "velocity"), limits_of(acceleration, points.shape[1], "acceleration")
    chord = np.maximum(np.max(np.abs(np.diff(points, axis=0)) / v, axis=1), 1e-3)
    knots = np.concatenate([[0.0], np.cumsum(chord)])
    ends = [(1, np.zeros(points.shape[1])), (2, np.zeros(points.shape[1]))]
    spline = make_interp_spline(knots, points, k=5, bc_type=(ends, ends))
    fine = np.linspace(knots[:-1], knots[1:], 200).ravel()  # of every piece, however short
    stretch = max(float(np.max(np.abs(spline(fine, 1)) / v)), float(np.sqrt(np.max(np.abs(spline(fine, 2)) / a))), 1e-9)
    duration = float(knots[-1]) * stretch
    if duration > LONGEST:
        raise DataError(f"waypoints: {len(points)} take {duration:.0f} s within the limits, above {LONGEST:.0f} s")
    spline = BSpline(spline.t * stretch, spline.c, 5)
    time = np.linspace(0, duration, max(1, int(np.ceil(duration * rate))) + 1)
    return Trajectory(time, *(spline(time, k) for k in range(5)))
