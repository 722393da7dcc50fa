"""Weighted least squares over joints against the stacked problem in numpy [Madsen2020 ch5 19-20] [Liu2020 23]."""

import numpy as np
import pytest

from robot_dynamics_ros.identification.arm.solvers.least_squares import JointRows, solve


def three_joints(seed=0, size=6, noise=(0.01, 0.5, 2.0)):
    """Rows of joints that share parameters, each with noise of its own size; returns rows and the true parameters."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=size)
    rows = []
    for first, sigma in enumerate(noise):
        index = np.arange(first, first + 4)
        A = rng.normal(size=(400, 4)) * 10.0**first
        rows.append(JointRows(A, index, A @ x[index] + sigma * rng.standard_normal(400)))
    return rows, x


def stacked(rows, size, weights):
    """The same by one big weighted least squares."""
    A = np.zeros((sum(len(r.y) for r in rows), size))
    y, start = np.concatenate([r.y / w for r, w in zip(rows, weights, strict=True)]), 0
    for r, w in zip(rows, weights, strict=True):
        A[start : start + len(r.y), r.index] = r.A / w
        start += len(r.y)
    return np.linalg.lstsq(A, y, rcond=None)[0]


def deviations(rows, x):
    return [np.linalg.norm(r.y - r.A @ x[r.index]) / np.sqrt(len(r.y) - len(r.index)) for r in rows]


def by_hand(rows, size, method):
    if method == "torque":
        return stacked(rows, size, [np.linalg.norm(r.y) / np.sqrt(len(r.y)) for r in rows])
    x = stacked(rows, size, np.ones(len(rows)))
    for _ in range(0 if method == "ols" else 2):
        x = stacked(rows, size, deviations(rows, x))
    return x


@pytest.mark.parametrize("method", ["ols", "torque", "wls"])
def test_solution_is_that_of_the_stacked_problem(method):
    rows, x = three_joints()
    found = solve(rows, len(x), method)
    np.testing.assert_allclose(found.x, by_hand(rows, len(x), method), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.sigma, deviations(rows, found.x), rtol=1e-9)


def test_relative_deviation_is_percent_of_the_value():
    rows, x = three_joints()
    found = solve(rows, len(x), "wls")
    np.testing.assert_allclose(found.relative_std, 100 * found.std / abs(found.x))  # [Madsen2020 ch5, Table 4]
