"""Motors that turn with two joints (coupled wrists): from the identified terms to what a robot file holds."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.identification.arm.model import IdentifiedModel
from robot_dynamics_ros.identification.dataset.motion import Motion


def coupled_motors(model: IdentifiedModel) -> np.ndarray:
    """Rows (K, 6) of RobotFile.coupled_friction: joint, other joint, sign, eps, Coulomb, viscous.

    A motor whose Coulomb level came out below zero is none: the joint's own law takes what it explained.
    """
    rows = []
    for j, law in enumerate(model.structure.laws):
        for term in law.terms:
            if term.startswith("cc@") and model.coefficient(j, term) > 0:
                k, sign = int(term[3:-1]), 1.0 if term.endswith("+") else -1.0
                viscous = model.coefficient(j, f"cv@{k}")
                rows.append((j, k, sign, law.eps, model.coefficient(j, term), viscous))
    return np.array(rows, dtype=float).reshape(-1, 6)


def coupled_torque(model: IdentifiedModel, motors: np.ndarray, motion: Motion) -> np.ndarray:
    """Torque (N, n) [Nm] of these motors: f_j = fc tanh((v_j + s v_k)/eps) + fv v_k, and what their inertia adds.

    A robot file holds the friction; the inertia I a_k is left out of it.
    """
    out = np.zeros_like(motion.q)
    for row in motors:
        j, k, (sign, eps, coulomb, viscous) = int(row[0]), int(row[1]), row[2:]
        out[:, j] += coulomb * np.tanh((motion.qd[:, j] + sign * motion.qd[:, k]) / eps) + viscous * motion.qd[:, k]
        out[:, j] += model.coefficient(j, f"ca@{k}") * motion.qdd[:, k]
    return out


def as_blocks(motors: np.ndarray, names: tuple[str, ...]) -> list[dict[str, object]]:
    """Entries of `friction.coupled` in a robot file."""
    fields = ("sign", "eps", "coulomb", "viscous")
    return [
        {"joint": names[int(row[0])], "turns_with": names[int(row[1])]}
        | {f: int(x) if f == "sign" else float(x) for f, x in zip(fields, row[2:], strict=True)}
        for row in motors
    ]
