"""Fused least squares against numpy's on the stacked regressor, which the core itself never stores."""

import numpy as np
import pytest
import scipy.linalg
from chains import random_chain, random_motion, random_rotation

from robot_dynamics_ros import _core

RELATIVE = 1e-10
pytestmark = pytest.mark.usefixtures("isa")


def base_columns(model):
    """Independent columns of the regressor, by pivoted QR on random samples."""
    W = model.stacked_regressor(*random_motion(model.n_joints, 300, 0))
    _, R, pivots = scipy.linalg.qr(W, mode="economic", pivoting=True)
    rank = int((np.abs(np.diag(R)) > 1e-9 * abs(R[0, 0])).sum())
    return sorted(int(k) for k in pivots[:rank])


def stacked(model, motion, columns, extra):
    """Dense [W, extra] of all joints, joint 1's rows first."""
    W = model.stacked_regressor(*motion, columns)
    N, n, k = extra.shape
    user = np.zeros((n * N, n * k))
    for j in range(n):
        user[j * N : (j + 1) * N, j * k : (j + 1) * k] = extra[:, j]
    return np.hstack([W, user])


def friction_columns(qd):
    return np.stack([qd, np.sign(qd), np.ones_like(qd)], axis=2)


def solution(R):
    return scipy.linalg.solve_triangular(R[:-1, :-1], R[:-1, -1])


def problem(n, count, seed):
    """Model, motion, columns, extra, noisy torques, and the dense system."""
    model = random_chain(n, seed).model()
    motion = random_motion(n, count, seed + 1)
    columns = np.random.default_rng(1).permutation(base_columns(model)).tolist()  # any order that is asked for
    extra = friction_columns(motion[1])
    rng = np.random.default_rng(seed + 2)
    tau = model.rnea(*motion) + extra @ [2.0, 3.0, -0.5] + rng.normal(size=(count, n)) * np.arange(1, n + 1)
    return model, motion, columns, extra, tau, stacked(model, motion, columns, extra)


@pytest.mark.parametrize(("n", "count"), [(1, 70), (2, 64), (6, 517), (7, 401), (9, 333), (16, 800)])
def test_solution_is_that_of_lstsq(n, count):
    model, motion, columns, extra, tau, A = problem(n, count, seed=n)
    qr = _core.FusedQR(model.chain, columns, 3)
    qr.update(*motion, tau, extra)
    expected = np.linalg.lstsq(A, tau.T.ravel(), rcond=None)[0]
    x = solution(qr.fold())
    assert len(x) == A.shape[1]
    assert np.abs(x - expected).max() <= RELATIVE * np.abs(expected).max()
    assert qr.fold()[-1, -1] ** 2 == pytest.approx(((A @ x - tau.T.ravel()) ** 2).sum(), rel=1e-9)


def test_joint_triangles_are_those_of_the_joints_rows():
    model, motion, columns, extra, tau, A = problem(6, 200, seed=3)
    qr = _core.FusedQR(model.chain, columns, 3)
    qr.update(*motion, tau, extra)
    for j in range(6):
        rows = slice(200 * j, 200 * (j + 1))
        part = np.column_stack([A[rows][:, qr.parameters_of(j)], tau[:, j]])
        R = qr.triangle(j)
        assert np.array_equal(R, np.triu(R))
        np.testing.assert_allclose(R.T @ R, part.T @ part, rtol=1e-9, atol=1e-9 * np.abs(part.T @ part).max())
        others = np.setdiff1d(np.arange(A.shape[1]), qr.parameters_of(j))
        assert not A[rows][:, others].any()


def test_weighting_joints_needs_no_second_pass():
    model, motion, columns, extra, tau, A = problem(6, 300, seed=4)
    qr = _core.FusedQR(model.chain, columns, 3)
    qr.update(*motion, tau, extra)
    weights = 1 / np.arange(1.0, 7.0)
    rows = np.repeat(weights, 300)
    expected = np.linalg.lstsq(A * rows[:, None], tau.T.ravel() * rows, rcond=None)[0]
    x = solution(qr.fold(weights))
    assert np.abs(x - expected).max() <= RELATIVE * np.abs(expected).max()
    assert np.abs(x - solution(qr.fold())).max() > 1e-6


def test_ill_conditioned_problem_keeps_the_digits_that_normal_equations_lose():
    """A weakly excited arm, condition about 1e7: error of the order of cond * eps, as an orthogonal solve has."""
    model = random_chain(6, 11).model()
    columns = base_columns(model)
    q, qd, qdd = random_motion(6, 600, 12)
    motion = (3e-4 * q + 0.3, 2e-2 * qd, 2e-2 * qdd)
    W = model.stacked_regressor(*motion, columns)
    cond = np.linalg.cond(W)
    assert 1e7 < cond < 1e9
    true = np.random.default_rng(13).normal(size=len(columns))
    tau = np.ascontiguousarray((W @ true).reshape(6, -1).T)
    qr = _core.FusedQR(model.chain, columns)
    qr.update(*motion, tau)
    error = np.abs(solution(qr.fold()) - true).max()
    normal = np.abs(scipy.linalg.solve(W.T @ W, W.T @ (W @ true), assume_a="sym") - true).max()
    assert error <= 20 * cond * np.finfo(float).eps
    assert error * 100 < normal


def test_gravity_and_frames_are_those_of_the_regressor():
    chain = random_chain(4, 14).model().chain
    rng = np.random.default_rng(15)
    frames = np.array([random_rotation(rng) for _ in range(4)])
    framed = _core.Chain(chain.placements, chain.inertia, chain.tool, np.array(chain.gravity), frames)
    body, motion, g = _core.RigidBody(framed), random_motion(4, 100, 16), [1.0, 2, 3]
    W = body.stacked_regressor(*motion, gravity=g)
    qr = _core.FusedQR(framed, gravity=g)
    qr.update(*motion)
    R = qr.fold()[:-1, :-1]
    np.testing.assert_allclose(R.T @ R, W.T @ W, rtol=1e-9, atol=1e-9 * np.abs(W.T @ W).max())


WRONG = [("tau", np.zeros((9, 6))), ("tau", np.full((10, 6), np.nan)), ("extra", np.zeros((10, 6, 2)))]
WRONG += [("extra", None), ("weights", np.zeros((10, 5))), ("qd", np.zeros((10, 6), np.float32)), ("q", np.zeros(6))]


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_wrong_arguments_are_named(name, value):
    qr = _core.FusedQR(random_chain(6, 1).model().chain, None, 3)
    good = {"q": (10, 6), "qd": (10, 6), "qdd": (10, 6), "tau": (10, 6), "extra": (10, 6, 3), "weights": (10, 6)}
    with pytest.raises((ValueError, TypeError), match=rf"^{name}\b"):
        qr.update(**({key: np.zeros(shape) for key, shape in good.items()} | {name: value}))
    assert not qr.fold().any()


def test_wrong_construction_is_named():
    chain = random_chain(6, 1).model().chain
    with pytest.raises(ValueError, match="columns contains 60"):
        _core.FusedQR(chain, [60])
    with pytest.raises(ValueError, match="extra_columns = 65"):
        _core.FusedQR(chain, None, 65)
    with pytest.raises(ValueError, match="joint = 6"):
        _core.FusedQR(chain).triangle(6)
    with pytest.raises(ValueError, match="weights"):
        _core.FusedQR(chain).fold(np.ones(5))


def test_joints_may_have_different_numbers_of_extra_columns():
    model, motion, columns, extra, tau, _ = problem(6, 300, seed=21)
    counts = [3, 0, 1, 2, 3, 1]
    uneven, even = _core.FusedQR(model.chain, columns, counts), _core.FusedQR(model.chain, columns, 3)
    kept = np.concatenate([[3 * j + c for c in range(k)] for j, k in enumerate(counts)]).astype(int)
    flat = extra.reshape(300, -1)
    uneven.update(*motion, tau, np.ascontiguousarray(flat[:, kept]))
    zeroed = np.zeros_like(flat)
    zeroed[:, kept] = flat[:, kept]
    even.update(*motion, tau, zeroed.reshape(300, 6, 3))
    used = [*range(len(columns)), *(len(columns) + kept)]
    expected = even.fold()[:, [*used, -1]]
    found = uneven.fold()
    np.testing.assert_allclose(found.T @ found, expected.T @ expected, rtol=1e-9, atol=1e-6)


def test_ready_rows_of_a_joint_are_taken_in_beside_the_fused_ones():
    model, motion, columns, extra, tau, A = problem(6, 333, seed=22)
    weights = np.random.default_rng(23).uniform(0, 2, tau.shape)
    whole, mixed = (_core.FusedQR(model.chain, columns, 3) for _ in range(2))
    whole.update(*motion, tau, extra, weights)
    mixed.update(*motion, tau, extra, weights, joints=[0, 1, 3, 5])
    for j in (2, 4):
        rows = np.column_stack([A[333 * j : 333 * (j + 1)][:, mixed.parameters_of(j)], tau[:, j]])
        mixed.absorb(j, np.ascontiguousarray(rows[:100]), np.ascontiguousarray(weights[:100, j]))
        mixed.absorb(j, np.ascontiguousarray(rows[100:]), np.ascontiguousarray(weights[100:, j]))
    for j in range(6):
        R, S = mixed.triangle(j), whole.triangle(j)
        np.testing.assert_allclose(R.T @ R, S.T @ S, rtol=1e-9, atol=1e-9 * np.abs(S.T @ S).max())


def test_wrong_ready_rows_are_named():
    qr = _core.FusedQR(random_chain(6, 1).model().chain, None, 1)
    width = len(qr.parameters_of(3)) + 1
    with pytest.raises(ValueError, match="rows"):
        qr.absorb(3, np.zeros((5, width + 1)))
    with pytest.raises(ValueError, match="rows.*nan"):
        qr.absorb(3, np.full((5, width), np.nan))
    with pytest.raises(ValueError, match="weights"):
        qr.absorb(3, np.zeros((5, width)), np.ones(4))
    with pytest.raises(ValueError, match="joint = 6"):
        qr.update(*(np.zeros((5, 6)) for _ in range(4)), np.zeros((5, 6)), joints=[6])
    with pytest.raises(ValueError, match="extra_columns has 2 numbers"):
        _core.FusedQR(random_chain(6, 1).model().chain, None, [1, 2])
    assert not qr.triangle(3).any()
