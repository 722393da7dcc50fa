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

# Rest-to-rest polynomial of lowest degree whose first four derivatives vanish at both ends.
_REST_TO_REST = np.polynomial.Polynomial([0, 0, 0, 0, 0, 126, -420, 540, -315, 70])


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


def _waypoints(waypoints: Array) -> Array:
    points = np.asarray(waypoints, dtype=float)
    if points.ndim != 2 or len(points) < 2 or not np.isfinite(points).all():
        raise DataError(f"waypoints has shape {points.shape}: expected at least two finite rows (M, n)")
    return points


def _limits(value: Array | float, n: int, name: str) -> Array:
    limit = np.broadcast_to(np.asarray(value, dtype=float), (n,))
    if not (np.isfinite(limit).all() and (limit > 0).all()):
        raise DataError(f"{name} = {limit.tolist()} must be finite and > 0")
    return limit


def _segment_time(step: Array, velocity: Array, acceleration: Array) -> float:
    """Shortest duration for which the rest-to-rest polynomial holds both limits on every joint."""
    s = np.linspace(0, 1, 4001)
    peak_v = np.abs(_REST_TO_REST.deriv(1)(s)).max()
    peak_a = np.abs(_REST_TO_REST.deriv(2)(s)).max()
    return float(max((peak_v * step / velocity).max(), np.sqrt(peak_a * step / acceleration).max()))


def point_to_point(
    waypoints: Array, *, velocity: Array | float, acceleration: Array | float, rate: float = 500.0, dwell: float = 0.0
) -> Trajectory:
    """Rest at every waypoint: q = a + (b - a) s(t/T), s of degree 9 with four vanishing derivatives at both ends.

    waypoints (M, n) rad; velocity rad/s and acceleration rad/s2 per joint or one for all; rate Hz; dwell s at each
    waypoint. Raises DataError naming the argument.
    """
    points = _waypoints(waypoints)
    v, a = _limits(velocity, points.shape[1], "velocity"), _limits(acceleration, points.shape[1], "acceleration")
    pieces: list[list[Array]] = []
    for start, end in zip(points[:-1], points[1:], strict=True):
        duration = max(_segment_time(np.abs(end - start), v, a), 1 / rate)
        s = np.arange(1, max(1, round(duration * rate)) + 1) / max(1, round(duration * rate))
        scale = rate / len(s)
        pieces.append([(start + np.outer(_REST_TO_REST(s), end - start))])
        pieces[-1] += [np.outer(_REST_TO_REST.deriv(k)(s) * scale**k, end - start) for k in (1, 2, 3, 4)]
        rest = round(dwell * rate)
        pieces.append([np.tile(end, (rest, 1)), *(np.zeros((rest, len(end))) for _ in range(4))])
    zero = np.zeros((1, points.shape[1]))
    first = [points[:1], zero, zero, zero, zero]
    stacked = [np.vstack([first[k], *(piece[k] for piece in pieces)]) for k in range(5)]
    return Trajectory(np.arange(len(stacked[0])) / rate, *stacked)


def through(
    waypoints: Array, *, velocity: Array | float, acceleration: Array | float, rate: float = 500.0
) -> Trajectory:
    """Through every waypoint without stopping: quintic spline (C4), at rest at both ends, stretched to the limits.

    Arguments and errors as point_to_point.
    """
    points = _waypoints(waypoints)
    v, a = _limits(velocity, points.shape[1], "velocity"), _limits(acceleration, points.shape[1], "acceleration")
    chord = np.maximum(np.max(np.abs(np.diff(points, axis=0)) / v, axis=1), 1e-3)
    knots = np.concatenate([[0.0], np.cumsum(chord)])
    ends = [(1, np.zeros(points.shape[1])), (2, np.zeros(points.shape[1]))]
    spline = make_interp_spline(knots, points, k=5, bc_type=(ends, ends))
    fine = np.linspace(0, knots[-1], 200 * len(points))
    stretch = max(float(np.max(np.abs(spline(fine, 1)) / v)), float(np.sqrt(np.max(np.abs(spline(fine, 2)) / a))), 1e-9)
    spline = BSpline(spline.t * stretch, spline.c, 5)
    steps = max(1, int(np.ceil(knots[-1] * stretch * rate)))
    time = np.linspace(0, knots[-1] * stretch, steps + 1)
    return Trajectory(time, *(spline(time, k) for k in range(5)))
