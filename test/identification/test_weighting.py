"""Weighted least squares over joints against the stacked problem in numpy [Madsen2020 ch5 19-20] [Liu2020 23]."""

from types import SimpleNamespace

import numpy as np
import pytest

from robot_dynamics_ros.identification.arm.solvers.consistency import eliminate
from robot_dynamics_ros.identification.arm.solvers.least_squares import JointRows, bounded, solve


def three_joints():
    """Rows of joints that share parameters, each with noise of its own size; returns rows and the true parameters."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=6)
    rows = []
    for first, sigma in enumerate((0.01, 0.5, 2.0)):
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


@pytest.mark.parametrize("weighted", [False, True])
def test_solution_is_that_of_the_stacked_problem(weighted):
    rows, x = three_joints()
    size = [np.sqrt(np.mean(r.y**2)) if weighted else 1.0 for r in rows]
    weights = [np.full(len(r.y), 1 / s**2) for r, s in zip(rows, size, strict=True)]
    found = solve(rows, len(x), iterations=0, row_weights=weights)
    np.testing.assert_allclose(found.x, stacked(rows, len(x), size), rtol=1e-9, atol=1e-12)


def test_known_parameters_are_those_of_a_smaller_problem():
    rows, x = three_joints()
    known = {1: 0.7, len(x) - 1: -2.0}
    found = solve(rows, len(x), iterations=0, known=known)
    offset = np.array([known.get(k, 0.0) for k in range(len(x))])
    free = [JointRows(r.A * ~np.isin(r.index, list(known)), r.index, r.y - r.A @ offset[r.index]) for r in rows]
    expected = offset + stacked(free, len(x), np.ones(len(rows)))  # least norm: 0 where a column is 0
    np.testing.assert_allclose(found.x, expected, rtol=1e-3)


def test_relative_deviation_is_percent_of_the_value():
    rows, x = three_joints()
    found = solve(rows, len(x))
    np.testing.assert_allclose(found.relative_std, 100 * found.std / abs(found.x))  # [Madsen2020 ch5, Table 4]


@pytest.mark.parametrize("seed", range(5))
def test_limited_coefficients_meet_the_conditions_of_the_minimum(seed):
    """g = R'(R x - z): 0 where x is free or above 0, >= 0 where x is 0 [Karush, Kuhn, Tucker]."""
    rng = np.random.default_rng(seed)
    R, z, limited = rng.normal(size=(40, 12)), rng.normal(size=40), np.arange(12) % 3 > 0
    R[:, 3] = R[:, 0]  # free columns that only their sum determines
    x = bounded(R, z, limited)
    gradient = R.T @ (R @ x - z)
    inside = ~limited | (x > 0)
    np.testing.assert_allclose(gradient[inside], 0.0, atol=1e-9)
    assert 0 < inside[limited].sum() < limited.sum() and gradient[~inside].min() > 0


def test_a_column_of_zeros_takes_no_information_from_the_others():
    """Held rotors and coefficients at 0 have none in the triangle."""
    rng = np.random.default_rng(1)
    A, y = rng.normal(size=(50, 6)), rng.normal(size=50)
    A[:, [1, 2]] = 0.0
    R = np.linalg.qr(np.column_stack([A, y]), mode="r")
    found = SimpleNamespace(R=R[:6, :6], rhs=R[:6, 6])
    rest, T, z = eliminate(found, np.array([4, 5]))
    used = [0, 3, 4, 5]
    expected = np.linalg.lstsq(A[:, used], y, rcond=None)[0]
    assert rest.tolist() == [0, 3]
    np.testing.assert_allclose(np.linalg.solve(T[2:, 2:], z[2:]), expected[2:], rtol=1e-9)
