"""The other methods of [Madsen2020, ch4 4.4.3-4.4.4] beside the one that the package fits: result[method][M]."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np
from scipy.optimize import differential_evolution, minimize

from robot_dynamics_ros.identification.joint.hysteresis import (
    HysteresisData,
    HysteresisFit,
    fit_hysteresis,
    linear,
    ready,
    sliding_level,
    travel_sign,
)
from robot_dynamics_ros.identification.metrics import nrmse
from robot_dynamics_ros.models.hysteresis import spacing


def spaced(theta: np.ndarray, y: np.ndarray, backlash: np.ndarray, M: int) -> tuple[np.ndarray, np.ndarray]:
    """Spacing laws for spans and stiffnesses, no fit."""
    d, k = spacing(M)
    return d, sliding_level(theta, y) * k


def evenly(theta: np.ndarray, y: np.ndarray, backlash: np.ndarray, M: int) -> tuple[np.ndarray, np.ndarray]:
    """Spans evenly (r_D = 1), stiffnesses by linear least squares."""
    d = spacing(M, 1.0)[0]
    return d, linear(theta, y, d, backlash)[0]


def nonlinear(theta: np.ndarray, y: np.ndarray, backlash: np.ndarray, M: int) -> tuple[np.ndarray, np.ndarray]:
    """Spans by differential evolution over log increments, then Nelder-Mead; k inside by linear least squares."""

    def spans(x: np.ndarray) -> np.ndarray:
        return np.cumsum(np.exp(x))

    def cost(x: np.ndarray) -> float:
        return linear(theta, y, spans(x), backlash)[1]

    guess = np.log(np.diff(spacing(M)[0], prepend=0.0))
    box = [(np.log(1e-4), np.log(2.0))] * M
    start = np.clip(guess, *box[0])
    rough = differential_evolution(cost, box, maxiter=25, popsize=5, seed=0, x0=start, polish=False)
    best = min((rough.x, start), key=cost)
    fine = minimize(cost, best, method="Nelder-Mead", options={"maxfev": 120 * M, "xatol": 1e-3, "fatol": 1e-6})
    d = spans(fine.x)
    return d, linear(theta, y, d, backlash)[0]


SCALES = np.geomspace(0.2, 5.0, 41)
METHODS = {"gms": spaced, "lr_linear": evenly, "lr_polynomial": None, "nlr": nonlinear}


def static(data: HysteresisData, fit: HysteresisFit, validation: slice) -> HysteresisFit:
    """Coulomb friction without memory beside a fit: its NRMSE over the same rows."""
    theta, y = data.theta[validation], data.torque[validation]
    start = ready(theta, fit.backlash, fit.d[-1])
    return replace(fit, nrmse_validation=nrmse(y[start:], (fit.fc0 * travel_sign(theta))[start:]))


def compare_hysteresis(
    data: HysteresisData, elements: Iterable[int], estimation: slice, validation: slice
) -> dict[str, dict[int, HysteresisFit]]:
    """All methods for all element counts on the same rows. [Madsen2020, ch4 Fig. 16]

    Of GMS, which fits neither spans nor stiffnesses, the scale of the backlash is fitted.
    """
    parts = {"estimation": estimation, "validation": validation}
    counts = list(elements)
    scaled = [replace(data, backlash=s * np.asarray(data.backlash)) for s in SCALES]
    own = max(scaled, key=lambda x: fit_hysteresis(4, x, **parts, solve=spaced).nrmse_estimation)
    found = {
        m: {M: fit_hysteresis(M, own if m == "gms" else data, **parts, solve=solve) for M in counts}
        for m, solve in METHODS.items()
    }
    return {"static": {M: static(data, found["gms"][M], validation) for M in counts}} | found
