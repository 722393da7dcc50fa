"""Friction of a robot file as the LuGre law that other simulators hold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class LuGre:
    """F = stiffness z + damping z' + viscous v, z' = v - stiffness |v|/g z.

    g = coulomb + (static - coulomb) exp(-(v/stribeck)^2). Arrays (n,) [Nm/rad, Nm s/rad, Nm, Nm, rad/s, Nm s/rad].
    """

    stiffness: np.ndarray
    damping: np.ndarray
    coulomb: np.ndarray
    static: np.ndarray
    stribeck: np.ndarray
    viscous: np.ndarray
