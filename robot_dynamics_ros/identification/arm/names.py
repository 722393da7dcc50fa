"""Readable names of base parameters: which standard parameters are grouped, with what factor."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.identification.arm.rigid import BaseParameters

LETTERS = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "mX", "mY", "mZ", "m")


def standard_names(n: int) -> list[str]:
    """Names of the 10 n standard parameters: XX1 .. m1, XX2 .."""
    return [f"{letter}{i + 1}" for i in range(n) for letter in LETTERS]


def base_names(base: BaseParameters) -> list[str]:
    """One name per base parameter, e.g. "XX3 - YY3", "mX2 - 0.425 m3"; coefficients below 1e-6 are left out."""
    n = (base.size + len(base.dependent)) // 10
    standard = standard_names(n)
    return [
        standard[k] + "".join(_term(c, standard[d]) for c, d in zip(base.K[row], base.dependent, strict=True))
        for row, k in enumerate(base.independent)
    ]


def _term(c: float, name: str) -> str:
    if abs(c) < 1e-6:
        return ""
    size = abs(float(np.round(c, 6)))
    return f" {'+' if c > 0 else '-'} {'' if size == 1 else f'{size:.4g} '}{name}"
