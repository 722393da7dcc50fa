"""The semidefinite problem behind physically consistent parameters, against the conditions of optimality."""

import numpy as np
import pytest
from synthetic import UR5E

from robot_dynamics_ros.identification.arm.solvers.consistency import (
    MARGIN,
    _constrained_least_squares,
    initial_links,
    link_scales,
    pseudo_map,
)

LINKS, ROTORS = 6, 6
SCALE = link_scales(initial_links(UR5E))
MAPS = [pseudo_map(SCALE[10 * i : 10 * i + 10]) for i in range(LINKS)]


def feasible(random):
    """A random point (66,) of the constraints: pseudo-inertias of rank one to four, rotor inertias >= 0."""
    roots = [random.normal(size=(4, random.integers(1, 5))) for _ in MAPS]
    bodies = [(G @ G.T + MARGIN * np.eye(4)).ravel() for G in roots]
    blocks = [np.linalg.solve(L.T @ L, L.T @ body) for L, body in zip(MAPS, bodies, strict=True)]
    return np.concatenate([*blocks, random.exponential(size=ROTORS)])


def problem(random, wrong):
    """A (120, 66) with columns over two decades, y (120,) of a point `wrong` off the constraints."""
    A = random.normal(size=(120, 10 * LINKS + ROTORS)) * 10 ** random.uniform(-1, 1, 10 * LINKS + ROTORS)
    truth = feasible(random) + wrong * random.normal(size=A.shape[1])
    return A, A @ truth


@pytest.mark.parametrize("seed", range(3))
def test_no_feasible_direction_descends(seed):
    random = np.random.default_rng(seed)
    A, y = problem(random, 3.0)
    u = _constrained_least_squares(A, y, MAPS, ROTORS)
    smallest = [np.linalg.eigvalsh((L @ u[10 * i : 10 * i + 10]).reshape(4, 4))[0] for i, L in enumerate(MAPS)]
    assert min(smallest) > 0 and np.min(smallest) == pytest.approx(MARGIN, rel=0.01)  # a constraint is active
    assert u[10 * LINKS :].min() > -1e-9
    gradient = A.T @ (A @ u - y)
    for _ in range(200):  # convex problem: g . (v - u) >= 0 for every feasible v holds at the minimum only
        step = feasible(random) - u
        assert gradient @ step > -1e-6 * np.linalg.norm(gradient) * np.linalg.norm(step)


def test_inside_the_constraints_it_is_least_squares():
    random = np.random.default_rng(5)
    A, y = problem(random, 0.0)
    inside = np.concatenate([np.linalg.lstsq(L, np.eye(4).ravel(), rcond=None)[0] for L in MAPS] + [np.ones(ROTORS)])
    y = A @ inside + random.normal(size=len(y)) * 1e-3
    expected = np.linalg.lstsq(A, y, rcond=None)[0]
    np.testing.assert_allclose(_constrained_least_squares(A, y, MAPS, ROTORS), expected, atol=1e-5)


def test_the_sign_of_rotors_may_be_free():
    A = np.eye(10 * LINKS + ROTORS)
    y = np.concatenate([feasible(np.random.default_rng(1))[: 10 * LINKS], -np.ones(ROTORS)])
    free = _constrained_least_squares(A, y, MAPS, 0)
    np.testing.assert_allclose(free[10 * LINKS :], -1.0, atol=1e-6)
    np.testing.assert_allclose(_constrained_least_squares(A, y, MAPS, ROTORS)[10 * LINKS :], 0.0, atol=1e-6)
