"""Payload from a loaded and an unloaded run: mass, centre of mass, inertia where observable, with uncertainty.

What the model of the unloaded arm leaves of the loaded run's effort is linear in the ten parameters of one more body
on the last link:
  effort - model = Y_n(q, qd, qdd) pi + W delta + (friction of this run, per joint: Coulomb, viscous, offset)
where delta is the error of the unloaded base parameters, as uncertain as the unloaded run left it (its triangle is a
prior). The model's friction is that under the load of arm and payload, so that the body is found twice. Where a joint
stands its friction holds any torque up to breakaway: a long rest counts as one sample with that deviation.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.estimators.force_arguments import TORQUE_SCALE
from robot_dynamics_ros.identification.arm.friction_columns import simple_friction
from robot_dynamics_ros.identification.arm.model import passed
from robot_dynamics_ros.identification.arm.solvers.consistency import eliminate
from robot_dynamics_ros.identification.arm.solvers.least_squares import JointRows, Solution, solve
from robot_dynamics_ros.identification.arm.solvers.rest_weights import slow_stretches, slow_weights
from robot_dynamics_ros.identification.arm.solvers.uncertainty import left_out
from robot_dynamics_ros.identification.arm.state import Identification
from robot_dynamics_ros.identification.dataset.motion import Motion, at_lower_rate, stack
from robot_dynamics_ros.identification.dataset.recording import Recording
from robot_dynamics_ros.identification.metrics import mean_r2, metrics
from robot_dynamics_ros.models.inertia import about_com, body_slopes, is_consistent
from robot_dynamics_ros.robot_file.blocks import Payload

MAX_RELATIVE_STD = 0.5  # relative standard deviation above which a number is called not observable
LIGHT = 3.0  # masses below this many standard deviations are no payload
ROUNDS = 3  # of payload, its load on the friction and the weights of rests


@dataclass(frozen=True)
class IdentifiedPayload:
    """mass [kg], com (3,) [m] and inertia about it (6,) [kg m2], their deviations; `observable` names what the
    data hold.
    """

    mass: float
    mass_std: float
    com: np.ndarray
    com_std: np.ndarray
    inertia: np.ndarray
    inertia_std: np.ndarray
    observable: tuple[str, ...]
    r2_before: float
    r2_after: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in vars(self).items()}

    def block(self) -> Payload:
        """The payload as a robot file holds it; an inertia that is not observable or impossible is left at zero."""
        six = self.inertia if "inertia" in self.observable else np.zeros(6)
        body = np.concatenate([six, np.zeros(3), [1.0]])
        six = six if is_consistent(body) else np.zeros(6)
        return Payload(mass=self.mass, com=tuple(self.com.tolist()), inertia=tuple(six.tolist()))


def identify_payload(found: Identification, loaded: Sequence[Recording]) -> IdentifiedPayload:
    """Payload of loaded recordings (effort as recorded) against an identified unloaded arm.

    Raises DataError when the loaded run shows no mass, or a negative one (the runs are exchanged).
    """
    motion = loaded_motion(found, loaded)
    columns, carried, size = body_columns(found, motion), 0.0, 10 + found.rigid.base.size + 3 * motion.n
    prior, stretches, left = _prior(found, size), slow_stretches(motion), np.ones_like(motion.q)
    for _ in range(ROUNDS):
        rest = motion.effort - found.consistent.predict(motion, carried)
        rows = _rows(found, motion, columns, rest)
        solution = solve(rows, size, prior=prior, row_weights=list(slow_weights(left, motion, stretches).T))
        carried = np.einsum("jtk,k->tj", columns, solution.x[:10])
        left = np.column_stack([r.y - r.A @ solution.x[r.index] for r in rows])
    loaded_run = left_out(solution, [(rows, slice(0, len(motion)))], motion)[:10, :10]
    scatter = _of_unloaded(found, solution, prior[0]) + loaded_run
    pi, covariance = solution.x[:10], scatter + _scale_covariance(rows, solution, torque_scale(found))
    mass, std = float(pi[9]), float(np.sqrt(covariance[9, 9]))
    if not mass > LIGHT * std:
        lighter = mass < -LIGHT * std
        what = "the loaded run is lighter: runs exchanged, or signs?" if lighter else "there is no payload to see"
        raise DataError(f"payload mass is {mass:.3g} kg with standard deviation {std:.2g} kg: {what}")
    body = about_com(pi)
    jacobian = np.linalg.inv(body_slopes(body))[1:]
    deviation = np.sqrt(np.maximum(np.diag(jacobian @ covariance @ jacobian.T), 0.0))
    shown = {
        "mass": std < MAX_RELATIVE_STD * mass,
        "com": (deviation[:3] < 0.02).all(),
        "inertia": (deviation[3:] < MAX_RELATIVE_STD * max(np.abs(body.inertia).max(), 1e-6)).all(),
    }
    names = tuple(name for name, ok in shown.items() if ok)
    y = motion.effort
    before_r2, after_r2 = (mean_r2(metrics(y, y - r)["r2"]) for r in (rest, left))
    return IdentifiedPayload(
        mass, std, body.com, deviation[:3], body.inertia, deviation[3:], names, before_r2, after_r2
    )


def loaded_motion(found: Identification, loaded: Sequence[Recording]) -> Motion:
    """Motion of loaded recordings (effort as recorded), effort in the unit that was identified."""
    return stack([at_lower_rate(found.filtered(found.as_identified(r))) for r in loaded])


def body_columns(found: Identification, m: Motion) -> np.ndarray:
    """Columns (n, N, 10) of a body on the last link."""
    return found.rigid.regressor(m.q, m.qd, m.qdd, np.arange(10 * m.n - 10, 10 * m.n))


def _rows(found: Identification, m: Motion, Y: np.ndarray, rest: np.ndarray) -> list[JointRows]:
    W = found.consistent.rigid.base_regressor(m.q, m.qd, m.qdd)
    b, rows = W.shape[2], []
    for j in range(m.n):
        A = np.column_stack([Y[j], W[j], simple_friction(m.qd[:, j])])  # warmer grease, another load
        A = passed(found.structure.filters[j], A, m)
        own = range(10 + b + 3 * j, 13 + b + 3 * j)
        rows.append(JointRows(A, np.array([*range(10 + b), *own]), rest[:, j]))
    return rows


def _prior(found: Identification, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows on delta: the triangle of the unloaded run with its friction eliminated."""
    base = found.rigid.base
    rest, R, z = eliminate(found.solution, np.arange(base.size))
    R, z = R[len(rest) :, len(rest) :], z[len(rest) :]
    rows = np.zeros((len(R), size))
    rows[:, 10 : 10 + base.size] = R
    return rows, z - R @ base.from_standard(found.consistent.phi)


def _of_unloaded(found: Identification, solution: Solution, prior: np.ndarray) -> np.ndarray:
    """Covariance (10, 10) of the body from C of the unloaded arm's base parameters: S C S', S = H^-1 prior' prior."""
    inverse, base = np.linalg.pinv(solution.R, rcond=1e-10), slice(0, found.rigid.base.size)
    moved = inverse[:10] @ inverse.T @ prior.T @ prior[:, 10 : 10 + base.stop]
    return np.asarray(moved @ found.fit.covariance[base, base] @ moved.T)


def torque_scale(found: Identification) -> np.ndarray:
    """Relative standard deviation (n,) of each joint's torque per unit of effort."""
    own = found.effort.scale_std / np.abs(found.effort.scale)
    return np.where(np.isfinite(own) & (own > 0), own, TORQUE_SCALE)


def _scale_covariance(rows: list[JointRows], solution: Solution, deviation: np.ndarray) -> np.ndarray:
    """Covariance (10, 10) of the body from the scale of each joint's torque: pi = sum_j pi_j, pi_j what joint j says.

    pi_j = H^-1 A_j' A_j (pi, 0), cov = sum_j s_j^2 pi_j pi_j', s (n,) relative deviation of the torque.
    """
    inverse = np.linalg.pinv(solution.R, rcond=1e-10)
    body = np.zeros(len(solution.x))
    body[:10] = solution.x[:10]
    total = np.zeros((10, 10))
    for j, row in enumerate(rows):
        A = row.A * (np.sqrt(solution.weights[:, j]) / solution.scale[j])[:, None]
        seen = np.zeros(len(body))
        seen[row.index] = A.T @ (A @ body[row.index])
        share = (inverse @ (inverse.T @ seen))[:10]
        total += deviation[j] ** 2 * np.outer(share, share)
    return total
