"""Physically consistent parameters: the least-squares problem under linear matrix inequalities on the pseudo-inertias.

min |R (P phi, B) - z|^2 + pull |(phi - phi0) / s|^2   s.t.  pseudo_inertia(phi_i) >= eps,  B >= 0
R, z: triangle of the identification (never W), friction eliminated; P maps standard to base parameters; phi0: the
initial model, or unit-density guesses where a robot has none; it only chooses among standard parameters with the same
torques.
Every pseudo-inertia positive definite means M(q) > 0 for all q.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from robot_dynamics_ros.errors import CapabilityError, DataError
from robot_dynamics_ros.identification.arm.model import IdentifiedModel
from robot_dynamics_ros.identification.arm.solvers.least_squares import Solution
from robot_dynamics_ros.models.inertia import pseudo_inertia
from robot_dynamics_ros.robot_file import RobotFile

MARGIN = 1e-5  # smallest eigenvalue of a pseudo-inertia relative to its size: keeps M(q) away from singular
TOLERANCE = 1e-11  # of Clarabel: duality gap and feasibility, in the scaled problem
PULL = 1.0  # a deviation of 100 % from phi0 costs as much as one standard deviation of the data
# The same for known rotor inertias that the effort holds. Residuals are no white noise, so standard deviations of the
# data are some ten times too small: limits of the links' inertia would otherwise move a rotor to any value.
ROTOR_PULL = 30.0
LEAST_ROTOR = 0.1  # kg m2, from which an unknown rotor inertia starts where the least squares say less


def eliminate(solution: Solution, keep: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(rest (m,), triangle T (m + k, m + k), z (m + k,)) with the columns `keep` (k,) behind the rest, which is all
    others but those of zeros: the block of `keep` does not depend on the rest.
    """
    rest = np.setdiff1d(np.flatnonzero(solution.R.any(axis=0)), keep)
    order = np.concatenate([rest, keep])
    T: Any = np.linalg.qr(np.column_stack([solution.R[:, order], solution.rhs]), mode="r")[: len(order)]
    return rest, T[:, :-1], T[:, -1]


def consistent(
    solution: Solution, P: np.ndarray, rotor: np.ndarray, phi0: np.ndarray, rotor0: np.ndarray, rotor_positive: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Physically consistent parameters nearest to a solution in its own metric: phi (10 n,), rotor inertias (r,), and
    all of the solution x (p,).

    P (b, 10 n): base parameters are the first b of the solution; rotor: indices of reflected rotor inertias in it.
    rotor0 (r,): those of the initial model, NaN where it has none: then near the solution's, and with PULL only.
    rotor_positive=False leaves the sign of the acceleration terms free, for efforts without the rotors' torque.
    Raises DataError when the solver finds none.
    """
    b = len(P)
    keep = np.concatenate([np.arange(b), rotor]).astype(int)
    rest, R, z = eliminate(solution, keep)
    k = len(rest)
    unknown = np.isnan(rotor0)
    start = np.where(unknown, np.maximum(solution.x[rotor], LEAST_ROTOR), rotor0)
    pull = np.where(unknown | (not rotor_positive), PULL, ROTOR_PULL)
    phi, B = _solve(R[k:, k:], z[k:], P, phi0, start, pull, len(rotor) if rotor_positive else 0)
    x = np.zeros(len(solution.x))
    x[keep] = np.concatenate([P @ phi, B])
    x[rest] = np.linalg.lstsq(R[:k, :k], z[:k] - R[:k, k:] @ x[keep], rcond=1e-10)[0]
    return phi, B, x


def _solve(
    R: np.ndarray, z: np.ndarray, P: np.ndarray, phi0: np.ndarray, rotor0: np.ndarray, pull: np.ndarray, positive: int
) -> tuple[np.ndarray, np.ndarray]:
    """phi (10 n,), rotor inertias (r,) of the semidefinite problem, in parameters of order one: (phi / s, rotor).

    Triangle R (m, b + r), z (m,) on base parameters and rotor inertias; pull (r,): what a deviation of 100 % from
    rotor0 (r,) costs; the last `positive` rotor inertias are not negative.
    """
    links, b, scale = len(phi0) // 10, len(P), link_scales(phi0)
    columns = np.linalg.norm(R, axis=0).max()
    fit = np.hstack([R[:, :b] @ P * scale, R[:, b:]]) / columns
    weight = np.concatenate([np.full(10 * links, PULL), pull / np.maximum(rotor0, 1e-2)]) / columns
    start = np.concatenate([phi0 / scale, rotor0])
    A, y = np.vstack([fit, np.diag(weight)]), np.concatenate([z / columns, weight * start])
    maps = [pseudo_map(scale[10 * i : 10 * i + 10]) for i in range(links)]
    u = _constrained_least_squares(A, y, maps, positive)
    return scale * u[: 10 * links], u[10 * links :]


def _constrained_least_squares(A: np.ndarray, y: np.ndarray, maps: list[np.ndarray], positive: int) -> np.ndarray:
    """u (k,) of min |A u - y|^2 s.t. mat(L_i u_i) >= MARGIN and the last `positive` entries >= 0.

    The residual t = T u - w of the triangle of (A, y) is a variable of its own, so that A^T A is never formed:
    Clarabel's standard form is min 1/2 x^T P x + c^T x s.t. s = h - G x in K, x = (u, t).
    Raises DataError when Clarabel finds no solution.
    """
    import clarabel

    size = A.shape[1]
    T: Any = np.linalg.qr(np.column_stack([A, y]), mode="r")[:size]
    upper, identity = _scaled_triangle(), np.eye(4).ravel()
    cones: list[Any] = [clarabel.ZeroConeT(size), *(clarabel.PSDTriangleConeT(4) for _ in maps)]
    links = sparse.block_diag([sparse.coo_matrix(-upper @ L) for L in maps])
    limits = [np.tile(-MARGIN * upper @ identity, len(maps))]
    rows = [sparse.hstack([links, sparse.csc_matrix((links.shape[0], 2 * size - links.shape[1]))])]
    if positive:
        cones.append(clarabel.NonnegativeConeT(positive))
        rows.append(-sparse.eye(positive, 2 * size, k=size - positive))
        limits.append(np.zeros(positive))
    G = sparse.vstack([sparse.hstack([sparse.csc_matrix(T[:, :-1]), -sparse.eye(size)]), *rows], format="csc")
    P = sparse.diags(np.repeat([0.0, 1.0], size), format="csc")
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = TOLERANCE
    h = np.concatenate([T[:, -1], *limits])
    solution = clarabel.DefaultSolver(P, np.zeros(2 * size), G, h, cones, settings).solve()
    if solution.status not in (clarabel.SolverStatus.Solved, clarabel.SolverStatus.AlmostSolved):
        raise DataError(f"physically consistent fit failed: {solution.status}; the unconstrained result is not written")
    return np.array(solution.x)[:size]


def _scaled_triangle() -> np.ndarray:
    """(10, 16): row-major symmetric (4, 4) to Clarabel's column-wise upper triangle, off-diagonal times sqrt(2)."""
    places = [(i, j) for j in range(4) for i in range(j + 1)]
    out = np.zeros((len(places), 16))
    for k, (i, j) in enumerate(places):
        out[k, 4 * i + j] = 1.0 if i == j else np.sqrt(2.0)
    return out


def pseudo_map(scale: np.ndarray) -> np.ndarray:
    """L (16, 10): row-major pseudo-inertia of one link in units of its mass and length, from parameters / scale."""
    m, length = scale[9], scale[6] / scale[9]
    d = np.array([1 / length, 1 / length, 1 / length, 1.0])
    return np.array([(pseudo_inertia(e) * np.outer(d, d) / m).ravel() for e in np.diag(scale)]).T


def link_scales(phi0: np.ndarray) -> np.ndarray:
    """Typical size (10 n,) of every parameter: mass m, first moment m l, inertia m l^2 of each link."""
    scale = np.empty_like(phi0)
    for i in range(len(phi0) // 10):
        p = phi0[10 * i : 10 * i + 10]
        m = max(p[9], 0.1)
        reach = np.sqrt(max((p[0] + p[3] + p[5]) / (2 * m), 1e-4))
        length = max(reach, float(np.linalg.norm(p[6:9])) / m, 0.05)
        scale[10 * i : 10 * i + 10] = [m * length**2] * 6 + [m * length] * 3 + [m]
    return scale


def default_links(placements: np.ndarray) -> np.ndarray:
    """Guess (10 n,) for a robot without masses: rods of 10 kg per metre along the links, at least 1 kg and 5 cm
    radius.
    """
    n = len(placements)
    phi = np.zeros((n, 10))
    for i in range(n):
        along = placements[i + 1][:3, 3] if i + 1 < n else np.array([0.0, 0.0, 0.05])
        length = float(np.linalg.norm(along))
        m, c = max(10.0 * length, 1.0), along / 2
        own = m * (length**2 / 12 + 0.05**2)
        about_origin = (own + m * c @ c) * np.eye(3) - m * np.outer(c, c)
        phi[i] = [*about_origin[np.triu_indices(3)], *(m * c), m]
    return phi.ravel()


def initial_parameters(robot: Any) -> np.ndarray | None:
    """Standard parameters (10 n,) of the robot file, None where it has none."""
    try:
        phi = robot.inertial_parameters
    except CapabilityError:
        return None
    return phi if phi.reshape(-1, 10)[:, 9].sum() > 0 else None


def initial_links(robot: Any) -> np.ndarray:
    """Standard parameters (10 n,) of the robot file, or a guess from its kinematics where it has none."""
    phi = initial_parameters(robot)
    return default_links(robot._placements()) if phi is None else phi


def rotor_included(robot: RobotFile, model: IdentifiedModel) -> tuple[bool, str]:
    """Whether the effort contains the torque that accelerates the rotors: not when inertia comes out clearly
    negative.
    """
    declared = robot.drives.effort.includes_rotor_inertia
    b, s = model.rigid.base.size, model.solution
    places = model.structure.places("ia", b)
    negative = [j for j, k in places.items() if s.x[k] < -3 * s.std[k]]
    if declared and 2 * len(negative) > len(places):
        names = ", ".join(robot.joint_names[j] for j in negative)
        return (
            False,
            f"effort leaves out the rotors' inertia: the acceleration torque of {names} is below the rigid body's",
        )
    return declared, ""


def make_consistent(
    robot: RobotFile, model: IdentifiedModel, rotor_positive: bool
) -> tuple[IdentifiedModel, np.ndarray]:
    """The physically consistent neighbour of a model, and rotor inertias (n,) (NaN where torque is link side).

    rotor_positive: the effort holds the rotors' torque; else what is beside the links' inertia may have any sign.
    """
    structure, b = model.structure, model.rigid.base.size
    index = structure.index(b)
    places = structure.places("ia", b)
    joints, rotor = list(places), np.array(list(places.values()), dtype=int)
    phi0 = initial_links(robot)
    known = robot.array_or("drives.rotor_inertia", np.nan)
    P = model.rigid.base.matrix()
    phi, B, x = consistent(model.solution, P, rotor, phi0, known[joints], rotor_positive)
    inertia = np.full(robot.n_joints, np.nan)
    inertia[joints] = B
    return replace(model, phi=phi, friction=tuple(x[i[b:]] for i in index)), inertia
