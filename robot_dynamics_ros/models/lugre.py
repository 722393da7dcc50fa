"""Friction of a robot file as the LuGre law that other simulators hold."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.robot_file import RobotFile

MICRO_DAMPING = 0.2  # of the critical damping of rotor and bristle


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


def micro_damping(stiffness: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """Damping (n,) [Nm s/rad] of the bristle that lets a rotor on it ring no longer than a few periods."""
    return 2.0 * MICRO_DAMPING * np.sqrt(stiffness * inertia)


def bristle_stiffness(robot: RobotFile) -> np.ndarray | None:
    """Stiffness (n,) per level [1/rad] of the bristle that breaks away with the work of the file's presliding.

    Elements of level s_i, span_i: int (S - F) dx = sum s_i span_i/2; a bristle: S^2/stiffness. None without any.
    """
    block = robot.presliding
    if block is None:
        return None
    span, level = (np.array(block.parameters[name], dtype=float) for name in ("span", "level"))
    work = 0.5 * (level * span).sum(axis=1)
    total = level.sum(axis=1)
    return np.divide(total, work, out=np.zeros_like(work), where=work > 0)
