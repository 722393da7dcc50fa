"""Finite Fourier series with zero boundary conditions: the basis of excitation motions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import null_space


@dataclass(frozen=True)
class FourierBasis:
    """q = centre + B_q z per joint: `harmonics` of `base` [rad/s], at rest and without acceleration at both ends.

    q(t) = c + sum_k a_k/(w k) sin(w k t) - b_k/(w k) cos(w k t) [Liu2020 24]; sum a_k = 0 and sum k b_k = 0 give
    qd(0) = qdd(0) = 0 and, over whole periods, at the end [Liu2020 27-29]. z has 2 harmonics - 2 entries per joint.
    """

    t: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray

    @classmethod
    def build(cls, harmonics: int, base: float, t: np.ndarray) -> FourierBasis:
        """Basis at times t (N,) [s]."""
        k = np.arange(1, harmonics + 1)
        w = base * k
        s, c = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
        still = np.zeros((2, 2 * harmonics))
        still[0, :harmonics], still[1, harmonics:] = 1.0, k
        Z = null_space(still)
        q = np.hstack([s / w, -c / w]) @ Z
        first = np.concatenate([np.zeros(harmonics), -1 / w]) @ Z
        return cls(t, q - first, np.hstack([c, s]) @ Z, np.hstack([-s * w, c * w]) @ Z)

    @property
    def size(self) -> int:
        """Free numbers per joint."""
        return self.q.shape[1]
