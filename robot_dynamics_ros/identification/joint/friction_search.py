"""Search for the parameters of a friction law: a global start over the nonlinear ones, then all polished together.

Torque is linear in most parameters: those are solved exactly inside the search over the rest (variable projection).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from scipy.optimize import differential_evolution

from robot_dynamics_ros.identification.joint.friction_problem import FrictionProblem

GLOBAL_SAMPLES = 600


def global_start(problem: FrictionProblem, seed: int) -> list[np.ndarray]:
    """Candidate parameters: a grid over one or two nonlinear ones, differential evolution over more; log-scaled."""
    rng = np.random.default_rng(seed)
    rows = np.arange(len(problem.data))
    if len(rows) > GLOBAL_SAMPLES:  # slow samples decide about Stribeck parameters: take half of them there
        order = np.argsort(np.abs(problem.data.v))
        half = GLOBAL_SAMPLES // 2
        rows = np.concatenate([rng.choice(order[: len(order) // 4], half), rng.choice(order, half)])
    data = problem.data.rows(rows)
    if not problem.search:
        return [problem.solve_linear(problem.start, data)[0]]
    box = [np.log(problem.box(k)) for k in problem.search]

    def candidate(x: Sequence[float]) -> tuple[np.ndarray, float]:
        p = problem.start.copy()
        p[problem.search] = np.exp(x)
        return problem.solve_linear(p, data)

    if len(box) <= 2:
        axes = [np.linspace(lo, hi, 25 if len(box) == 1 else 9) for lo, hi in box]
        found = sorted((candidate(x) for x in itertools.product(*axes)), key=lambda c: c[1])
        return [p for p, _ in found[:2]]
    best = differential_evolution(
        lambda x: candidate(x)[1], box, maxiter=15, popsize=6, seed=seed, polish=False, tol=1e-4
    )
    return [candidate(best.x)[0]]


def polish(problem: FrictionProblem, starts: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Bounded robust least squares over all free parameters from each start; best p and its covariance."""
    lower, upper = problem.bounds()
    found = [_descend(problem, start, lower, upper) for start in starts]
    p = min(found, key=lambda f: f[1])[0]
    r = problem.predict(p) - problem.data.torque
    J = _jacobian(problem, p)
    size = np.linalg.norm(J, axis=0)
    size[size == 0] = 1.0
    dof = max(len(r) - len(problem.free), 1)
    return p, np.linalg.pinv((J / size).T @ (J / size)) / np.outer(size, size) * float(r @ r) / dof


def _descend(
    problem: FrictionProblem, start: np.ndarray, lower: np.ndarray, upper: np.ndarray
) -> tuple[np.ndarray, float]:
    """Levenberg-Marquardt on sum 2 s^2 (sqrt(1 + (r/s)^2) - 1) inside a box, s twice the spread of the residuals."""
    p = start.copy()
    p[problem.free] = np.clip(p[problem.free], lower, upper)
    r = problem.predict(p) - problem.data.torque
    s = 2 * 1.4826 * float(np.median(np.abs(r))) + 1e-6

    def cost(r: np.ndarray) -> float:
        return float(np.sum(2 * s**2 * (np.sqrt(1 + (r / s) ** 2) - 1)))

    now, damping = cost(r), 1e-3
    for _ in range(60):
        x = p[problem.free]
        J = _jacobian(problem, p)
        size = np.linalg.norm(J, axis=0)
        size[size == 0] = 1.0
        weight = 1 / np.sqrt(1 + (r / s) ** 2)
        A, g = (J / size).T @ (weight[:, None] * (J / size)), (J / size).T @ (weight * r)
        go = np.flatnonzero(~((x <= lower) & (g > 0) | (x >= upper) & (g < 0)))
        before = now
        for _ in range(10):
            step = np.zeros(len(x))
            damped = A[np.ix_(go, go)] + damping * np.diag(np.diag(A)[go] + 1e-12)
            step[go] = -np.linalg.solve(damped, g[go])
            trial = p.copy()
            trial[problem.free] = np.clip(x + step / size, lower, upper)
            left = problem.predict(trial) - problem.data.torque
            if cost(left) < now:
                p, r, now, damping = trial, left, cost(left), max(damping / 5, 1e-9)
                break
            damping *= 5
        if not now < before * (1 - 1e-8):
            break
    return p, now


def _jacobian(problem: FrictionProblem, p: np.ndarray) -> np.ndarray:
    lower, upper = problem.bounds()
    J = np.empty((len(problem.data), len(problem.free)))
    for column, k in enumerate(problem.free):
        h = 1e-5 * max(abs(p[k]), 1e-3)
        ends = [p.copy(), p.copy()]
        ends[0][k] = max(p[k] - h, lower[column])
        ends[1][k] = min(p[k] + h, upper[column])
        J[:, column] = (problem.predict(ends[1]) - problem.predict(ends[0])) / (ends[1][k] - ends[0][k])
    return J
