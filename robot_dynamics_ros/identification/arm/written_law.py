"""The friction law of a joint as a robot file holds it: the one place where it is chosen and judged.

`choose_law` takes the friction that the identified bodies leave of one joint's effort (`FrictionSamples`) and returns
the law that nodes will evaluate (`WrittenLaw`): a static law [Luo2024 8], and presliding (hysteretic) friction
[Madsen2020 ch4 35-37] where that predicts held-out motion no worse. Another kind of law is added as a candidate there.
Motors that turn with two joints (coupled wrists) are written beside the joints' own laws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_dynamics_ros.identification.arm.friction_columns import JointFriction, Memory
from robot_dynamics_ros.identification.arm.model import IdentifiedModel
from robot_dynamics_ros.identification.arm.presliding import (
    PreslidingFit,
    PreslidingProblem,
    fit_presliding,
    hysteresis_block,
)
from robot_dynamics_ros.identification.arm.static_law import LAW, fit_static, friction_table
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.models.friction import FrictionModel

MARGIN = (
    0.01  # relative held-out error that presliding may cost: a static law is far worse at rest, which few rows show
)


@dataclass(frozen=True)
class WrittenLaw:
    """Parameters of one joint's static law by name, and its presliding part; None: the static law alone."""

    static: dict[str, float]
    presliding: PreslidingFit | None = None

    @property
    def rotor(self) -> bool:
        """Whether the integrated velocity drives the presliding part."""
        return self.presliding is not None and self.presliding.parameters["rotor_time"] != 0.0

    def columns(self, chosen: JointFriction) -> JointFriction:
        """The law as columns of a linear fit: of the presliding part, its shape held; the chosen law where it has none.

        Motors that turn with two joints and the rotor's inertia keep their columns.
        """
        if self.presliding is None:
            return chosen
        p = self.presliding.parameters
        parts = {"ml": sum(p["level"]), "mt": sum(p["load"]), "ms": p["fs"], "mv": p["fv0"]}
        parts |= {"fv1": p["fv1"], "fv2": p["fv2"]}
        terms = [t for t in chosen.terms if t in ("fo", "ia") or t[0] == "c"] + [t for t, x in parts.items() if x > 0]
        level, load = (tuple(x / (sum(p[k]) or 1.0) for x in p[k]) for k in ("level", "load"))
        speeds = (p["sliding_ratio"], p["stribeck_velocity"], p["eps"], p["v0"])
        memory = Memory(tuple(p["span"]), level, load, p["load_power"], p["load_limit"], *speeds, p["rotor_time"] > 0)
        return JointFriction(chosen.eps, tuple(terms), memory)


def choose_law(problem: PreslidingProblem, terms: tuple[str, ...], known: WrittenLaw | None = None) -> WrittenLaw:
    """The law of one joint: static, and presliding unless the static law predicts held-out motion better.

    terms: friction columns that cross-validation chose for the joint (`selection`); the static law has their
    counterparts only. known: the law of nearly the same samples, whose static part and shape are not chosen again.
    Raises ValueError where no term of the static law can be fitted.
    """
    samples = problem.data
    static = fit_static(samples, terms).parameters if known is None else known.static
    law = FrictionModel(LAW, {name: [value] for name, value in static.items()}, 1)
    shape = None if known is None or known.presliding is None else known.presliding.shape
    presliding = fit_presliding(problem, law.torque(samples.v[:, None], samples.load[:, None])[:, 0], shape)
    if presliding is None or presliding.errors.sum() > (1 + MARGIN) * presliding.static_errors.sum():
        return WrittenLaw(static)
    return WrittenLaw(static, presliding)


def written_blocks(laws: Sequence[WrittenLaw]) -> tuple[dict[str, list[float]], dict[str, list[Any]] | None]:
    """Parameters of the robot file's friction block and of its hysteresis block (None: no joint is presliding)."""
    return friction_table([law.static for law in laws]), hysteresis_block([law.presliding for law in laws])


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


def coupled_blocks(motors: np.ndarray, names: Sequence[str]) -> list[dict[str, object]]:
    """Entries of `friction.coupled` in a robot file, from the rows of motors (m, 6): joint, turns_with, sign,
    eps [rad/s], coulomb [Nm], viscous [Nm s/rad].
    """
    fields = ("sign", "eps", "coulomb", "viscous")
    return [
        {"joint": names[int(row[0])], "turns_with": names[int(row[1])]}
        | {f: int(x) if f == "sign" else float(x) for f, x in zip(fields, row[2:], strict=True)}
        for row in motors
    ]
