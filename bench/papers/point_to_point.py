"""Smooth moves that rest at every waypoint, as the protocols of the papers have them."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.trajectories.smooth import Array, Trajectory, limits_of, rows_of

# Rest-to-rest polynomial of lowest degree whose first four derivatives vanish at both ends.
_REST_TO_REST = np.polynomial.Polynomial([0, 0, 0, 0, 0, 126, -420, 540, -315, 70])


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
    points = rows_of(waypoints)
    v, a = limits_of(velocity, points.shape[1], "velocity"), limits_of(acceleration, points.shape[1], "acceleration")
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
