"""Offline stiffness: encoder skew, elastic torque over deflection."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.arm.friction_columns import SPANS
from robot_dynamics_ros.identification.metrics import column_sizes, nrmse
from robot_dynamics_ros.signals.interpolation import interpolated


def estimate_skew(
    t: np.ndarray, theta: np.ndarray, q: np.ndarray, torque: np.ndarray | None = None, joint: str = "joint"
) -> float:
    """How much later theta is sampled than q [s]: theta - q = skew v + c (+ elastic terms), linear least squares.

    t (N,) [s], theta and q (N,) [rad] reflected; torque (N,) [Nm] lets real deflection (torque, inertia, friction with
    memory, a scale error of theta) be separated from skew. Raises DataError when the joint hardly moves.
    """
    v = np.gradient(theta, t)
    if not float(np.ptp(v)) >= 1e-2:
        raise DataError(
            f"{joint}: velocity spans {np.ptp(v):.2g} rad/s: record motion at several speeds to see the skew"
        )
    columns = [v, np.ones_like(v)]
    if torque is not None:
        lag = _core.presliding_elements(np.ascontiguousarray(theta), np.array(SPANS), np.arange(len(t)) == 0)
        columns += [torque, np.gradient(v, t), q - np.mean(q), *lag.T]
    A = np.column_stack(columns)
    size = column_sizes(A)
    return float((np.linalg.lstsq(A / size, theta - q, rcond=1e-10)[0] / size)[0])


def remove_skew(t: np.ndarray, theta: np.ndarray, skew: float) -> np.ndarray:
    """theta (N, ...) as it was `skew` [s] earlier, when q was sampled (linear interpolation)."""
    return interpolated(t - skew, t, theta.reshape(len(t), -1)).reshape(theta.shape)


@dataclass(frozen=True)
class StiffnessFit:
    """tau_E(phi) = sum_p a_p phi^(2p-1): coefficients [Nm/rad^(2p-1)], standard deviations, NRMSE in %."""

    a: np.ndarray
    std: np.ndarray
    nrmse: float
    deflection: float  # largest |phi| of the data [rad]

    def torque(self, phi: np.ndarray) -> np.ndarray:
        """Elastic torque (N,) [Nm] of deflections phi (N,) [rad]."""
        return _powers(np.asarray(phi, float), len(self.a)) @ self.a

    def stiffness(self, phi: np.ndarray) -> np.ndarray:
        """k(phi) = d tau_E / d phi (N,) [Nm/rad] of phi (N,) [rad]. [Madsen2020, ch3 eq. 9-10]"""
        odd = 2 * np.arange(len(self.a)) + 1
        return np.power.outer(np.asarray(phi, float), odd - 1) @ (odd * self.a)


def zero_deflection(phi: np.ndarray, torque: np.ndarray) -> float:
    """phi [rad] of the unloaded spring, which the zeros of two encoders shift: least squares of phi_0, a_1 and a_3 in
    torque = a_1 (phi - phi_0) + a_3 (phi - phi_0)^3; the mean where torque does not grow with phi.

    phi (N,) [rad], torque (N,) [Nm].
    """
    middle, scale = float(np.mean(phi)), max(float(np.std(phi)), 1e-12)
    x = (phi - middle) / scale
    slope = float(x @ torque)
    if not slope > 0:
        return middle
    first = -float(np.mean(torque)) * len(x) / slope

    def left(zero: float) -> float:
        A = _powers(x - zero, 2)
        error = torque - A @ np.linalg.lstsq(A, torque, rcond=None)[0]
        return float(error @ error)

    return middle + scale * float(minimize_scalar(left, bounds=(first - 1, first + 1), method="bounded").x)


def fit_stiffness(phi: np.ndarray, torque: np.ndarray, joint: str = "joint") -> StiffnessFit:
    """Least squares of elastic torque over deflection, from a force gauge or from current; stack both to use both.

    phi (N,) [rad], torque (N,) [Nm]. Raises DataError without deflections of several sizes in both directions, or where
    the data says that stiffness is not positive (no real deflection was measured). [Madsen2020, ch4 eq. 12-22]
    """
    phi, torque = np.asarray(phi, dtype=float), np.asarray(torque, dtype=float)
    if phi.shape != torque.shape:
        raise DataError(f"{joint}: phi {phi.shape} and torque {torque.shape} must have one shape")
    keep = np.isfinite(phi) & np.isfinite(torque)
    phi, torque = phi[keep], torque[keep]
    if len(phi) < 6:
        raise DataError(f"{joint}: {len(phi)} samples, the fit needs 6: apply more loads")
    low, high = float(phi.min()), float(phi.max())
    if not min(-low, high) >= 0.2 * max(-low, high) > 0:
        raise DataError(
            f"{joint}: deflection {low:.2g}..{high:.2g} rad is one-sided: load the joint in both directions"
        )
    scale = max(-low, high)
    A = _powers(phi / scale, 2)
    if np.linalg.matrix_rank(A) < 2:
        raise DataError(f"{joint}: one size of deflection, {scale:.2g} rad: apply several loads")
    a, *_ = np.linalg.lstsq(A, torque, rcond=None)
    left = torque - A @ a
    spread = float(left @ left) / max(len(phi) - 2, 1)
    std = np.sqrt(np.diag(np.linalg.inv(A.T @ A)) * spread)
    unit = scale ** np.array([1.0, 3.0])
    fit = StiffnessFit(a / unit, std / unit, nrmse(torque, A @ a), scale)
    k = fit.stiffness(np.linspace(0, scale, 11))
    mean_std = float(np.sqrt(spread / max(float(np.sum((phi / scale) ** 2)), 1e-300)))
    if not (k.min() > 0 and a.sum() > 4 * mean_std):
        raise DataError(
            f"{joint}: the data gives a stiffness of {k.min():.3g} Nm/rad, so no real deflection was measured: "
            "remove encoder skew (estimate_skew), or use a robot that reports both sides of the transmission"
        )
    return fit


def _powers(phi: np.ndarray, powers: int) -> np.ndarray:
    return np.power.outer(phi, 2 * np.arange(powers) + 1)
