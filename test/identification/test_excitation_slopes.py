"""Slopes of criteria, limits and motions against differences, on random robots too; extremes that are repeated."""

import numpy as np
import pytest
from synthetic import UR5E

from bench.papers.labs.race import ByDifferences
from robot_dynamics_ros.identification.excitation import Box, Criteria, FourierSearch, Limits
from robot_dynamics_ros.identification.excitation.criteria import CRITERIA, condition, sharp_condition, soft_max
from robot_dynamics_ros.identification.excitation.search import Phase, State
from robot_dynamics_ros.robot_file import load_robot

pytestmark = pytest.mark.usefixtures("calm")

JOINT = ("position 0", "velocity 3", "acceleration 5")
OBSTACLES = (Box((0.3, -1.0, 0.0), (0.6, 1.0, 0.4)), Box((-1.0, -1.0, 0.9), (1.0, 1.0, np.inf)))
CELL = Box((-0.7, -0.7, -np.inf), (0.7, 0.7, 0.8))
LIMITS = Limits.of(UR5E, floor=0.05, clearance=0.1, inside=CELL, outside=OBSTACLES)


def agree(slopes, f, x, tolerance):
    """Slopes against central differences of fourth order, along directions that change every number of x."""
    step, found, wanted = 1e-5, [], []
    for e in np.random.default_rng(9).choice([-1.0, 1.0], (4, *x.shape)):
        h = step * e
        found.append((slopes * e).sum())
        wanted.append((8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * step))
    return close(np.array(found), np.array(wanted), tolerance)


def close(found, wanted, tolerance):
    return np.abs(found - wanted).max() <= tolerance * np.abs(wanted).max()


@pytest.fixture(scope="module")
def search():
    return FourierSearch(Criteria(UR5E, LIMITS), 5, 0.1 * np.pi, 20.0)


def free(search, seed, size):
    """Free numbers of a motion of a share of what the joints' limits allow."""
    return search.motions.random(np.random.default_rng(seed), size)


@pytest.mark.parametrize("seed,size", [(0, 0.5), pytest.param(1, 3.0, marks=pytest.mark.long)])
@pytest.mark.parametrize("name", ["condition", "blunt_condition", "sharp_condition", "logdet", "hadamard"])
def test_criteria_by_the_free_numbers(search, name, seed, size):
    x = free(search, seed, size)
    assert agree(search.problem.slopes(x, {name: 1.0}, {}), lambda y: search.problem.values(y, name)[0], x, 1e-5)


@pytest.mark.parametrize("name", ["torque", "tcp_speed", "room", "obstacles", "collision", *JOINT])
def test_limits_by_the_free_numbers(search, name):
    x = free(search, 2, 1.5)
    slopes = search.problem.slopes(x, {}, {name: 1.0})
    assert np.abs(slopes).max() > 1e-3
    assert agree(slopes, lambda y: search.problem.excess(y)[name], x, 1e-5)


def test_sums_are_found_in_one_pass(search):
    x = free(search, 3, 1.0)
    parts = [search.problem.slopes(x, {"logdet": 2.0}, {}), search.problem.slopes(x, {"condition": 1.0}, {})]
    parts += [search.problem.slopes(x, {}, {"torque": 3.0}), search.problem.slopes(x, {}, {"collision": 1.0})]
    whole = search.problem.slopes(x, {"logdet": 2.0, "condition": 1.0}, {"torque": 3.0, "collision": 1.0, "room": 0.0})
    assert close(whole, sum(parts), 1e-12)


def test_the_lagrangian_agrees_with_its_differences():
    criteria = Criteria(UR5E, LIMITS)
    x = free(FourierSearch(criteria, 5, 0.1 * np.pi, 20.0), 4, 2.0)
    state = State(x, {"torque": 0.3, "room": 0.2}, bound=-3.0)
    phase = Phase("condition", 1, True)
    searches = [kind(criteria, 5, 0.1 * np.pi, 20.0) for kind in (FourierSearch, ByDifferences)]
    (a, by_slopes), (b, by_steps) = (search.lagrangian(x, phase, state) for search in searches)
    assert a == pytest.approx(b, rel=1e-12) and close(by_slopes, by_steps, 1e-3)


@pytest.mark.parametrize("name", ["panda", "comau_ns16"])
def test_other_robots(name):
    robot = load_robot(name)
    search = FourierSearch(Criteria(robot, Limits.of(robot, floor=0.1, clearance=0.1)), 5, 0.1 * np.pi, 20.0)
    x = free(search, 5, 1.0)
    slopes = search.problem.slopes(x, {"logdet": 1.0}, {})
    assert agree(slopes, lambda y: search.problem.values(y, "logdet")[0], x, 1e-6)


def test_repeated_extremes_have_slopes():
    Q = np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))[0]
    G = Q @ np.diag([1.0, 1.0, 2.0, 3.0, 5.0, 5.0]) @ Q.T
    rng = np.random.default_rng(1)
    for _ in range(3):
        D = rng.normal(size=(6, 6))
        D = D + D.T
        value, S = condition(G)
        assert np.isfinite(S).all()
        slope = (condition(G + 1e-6 * D)[0] - condition(G - 1e-6 * D)[0]) / 2e-6
        assert np.trace(S @ D) == pytest.approx(slope, abs=1e-7)
        # the condition number itself has different slopes to the two sides there
        left, right = (sharp_condition(G + s * D)[0] - sharp_condition(G)[0] for s in (-1e-6, 1e-6))
        assert abs(left + right) > 1e-7
    assert 0 <= value - sharp_condition(G)[0] <= np.log(6) / 20
    assert np.allclose(condition(np.eye(4))[1], 0)


def test_criteria_survive_a_missing_rank():
    w = np.random.default_rng(2).normal(size=(50, 3))
    W = np.hstack([w, w[:, :1]])
    for name, criterion in CRITERIA.items():
        value, S = criterion(W.T @ W / 50)
        assert np.isfinite(value) and np.isfinite(S).all(), name


def test_the_soft_maximum_is_a_bound_with_slopes():
    e = np.random.default_rng(4).normal(size=(30, 2))
    value, slopes = soft_max(e, 50.0)
    assert e.max() <= value <= e.max() + np.log(60) / 50 and slopes.sum() == pytest.approx(1.0)
    assert agree(slopes, lambda z: soft_max(z, 50.0)[0], e, 1e-7)
