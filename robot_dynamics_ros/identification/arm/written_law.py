"""The friction law of a joint as a robot file holds it: the one place where it is chosen and judged.

`choose_law` takes the friction that the identified bodies leave of one joint's effort (`FrictionSamples`) and returns
the law that nodes will evaluate (`WrittenLaw`): a static law [Luo2024 8], and presliding (hysteretic) friction
[Madsen2020 ch4 35-37] where that predicts held-out motion no worse. Another kind of law is added as a candidate there.

Motors that turn with two joints (coupled wrists) are written beside the joints' own laws. Their static law loads one
joint, f_j += fc tanh((v_j + s v_k)/eps) + fv v_k; cross-validation chooses it. Presliding friction of the
motor's angle, with the elements of a joint's own law but no load, loads both by the transpose of the coupling:
  f_j += f(q_m, v_m)   f_k += s f(q_m, v_m)   q_m = q_j + s q_k
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from robot_dynamics_ros.identification.arm.cross_validation import clearly_better
from robot_dynamics_ros.identification.arm.friction_columns import JointFriction
from robot_dynamics_ros.identification.arm.model import IdentifiedModel
from robot_dynamics_ros.identification.arm.presliding import (
    PreslidingFit,
    PreslidingProblem,
    clock,
    fit_presliding,
    hysteresis_block,
)
from robot_dynamics_ros.identification.arm.static_law import LAW, FrictionSamples, friction_table
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.models.hysteresis import presliding_core
from robot_dynamics_ros.signals.speeds import STEP

# relative held-out error that presliding may cost: a static law is far worse at rest, which few rows show
MARGIN = 0.01
MOTOR_GAIN = 0.01  # relative held-out error that a motor's presliding must save: else the law of the joints stays
ROUNDS = 3  # of the motor's friction beside the joints' own and these beside it
NOTHING = {"fc": 0.0, "fv1": 0.0}


@dataclass(frozen=True)
class WrittenLaw:
    """Parameters of one joint's static law by name, and its presliding part; None: the static law alone. errors (F,):
    held-out squared error of every fold.
    """

    static: dict[str, float]
    presliding: PreslidingFit | None = None
    errors: np.ndarray = field(default_factory=lambda: np.zeros(0))

    @property
    def rotor(self) -> bool:
        """Whether the integrated velocity drives the presliding part."""
        return self.presliding is not None and self.presliding.parameters["rotor_time"] != 0.0

    def columns(self, chosen: JointFriction) -> JointFriction:
        """The law as columns of a linear fit: terms that the presliding part has, its shape held; the chosen law where
        it has none. Motors that turn with two joints and the rotor's inertia keep their columns.
        """
        if self.presliding is None:
            return chosen
        p = self.presliding.parameters
        parts = {f"{name}@{k}": x for name, key in (("h", "level"), ("hl", "load")) for k, x in enumerate(p[key])}
        parts |= {t: p[t] for t in ("fs", "fv0", "fv1", "fv2")}
        kept = tuple(t for t in chosen.terms if t in ("fo", "ia") or t[0] == "c")
        return JointFriction((*kept, *(t for t, x in parts.items() if x > 0)), self.presliding.shape)


def choose_law(problem: PreslidingProblem, known: WrittenLaw | None = None) -> WrittenLaw:
    """The law of one joint: static, and presliding unless this predicts held-out motion worse than the static law
    fits it.

    known: the law of nearly the same samples, whose kind and shape are not chosen again.
    """
    if known is not None and known.presliding is not None:
        fit = fit_presliding(problem, known.presliding.shape)
        return replace(known, presliding=fit, errors=known.errors if fit is None else fit.errors)
    static, errors = problem.static()
    presliding = None if known is not None else fit_presliding(problem)
    if presliding is None or presliding.errors.sum() > (1 + MARGIN) * errors.sum():
        return WrittenLaw(static, None, errors)
    return WrittenLaw(static, presliding, presliding.errors)


def written_blocks(laws: Sequence[WrittenLaw]) -> tuple[dict[str, list[float]], dict[str, list[Any]] | None]:
    """Parameters of the robot file's friction block and of its hysteresis block (None: no joint is presliding)."""
    return friction_table([law.static for law in laws]), hysteresis_block([law.presliding for law in laws])


@dataclass(frozen=True)
class MotorLaw:
    """Presliding friction of the motor that turns with q_joint + sign q_other."""

    joint: int
    other: int
    sign: int
    presliding: PreslidingFit

    def block(self, names: Sequence[str]) -> dict[str, Any]:
        """Entry of `hysteresis.motors` in a robot file."""
        places = {"joint": names[self.joint], "turns_with": names[self.other], "sign": self.sign}
        return places | {"parameters": self.presliding.parameters}


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
                rows.append((j, k, sign, STEP, model.coefficient(j, term), viscous))
    return np.array(rows, dtype=float).reshape(-1, 6)


def coupled_torque(model: IdentifiedModel, motors: np.ndarray, motion: Motion) -> np.ndarray:
    """Torque (N, n) [Nm] of these motors by the static law, and what their inertia adds.

    A robot file holds the friction; the inertia I a_k is left out of it.
    """
    out = np.zeros_like(motion.q)
    for row in motors:
        j, k = int(row[0]), int(row[1])
        out[:, j] += _static(row, motion.qd[:, j], motion.qd[:, k])
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


def choose_motors(
    motors: np.ndarray, problems: Sequence[PreslidingProblem], laws: Sequence[WrittenLaw]
) -> tuple[list[MotorLaw], list[WrittenLaw]]:
    """Presliding friction of the motors (K, 6) where it predicts held-out motion of both joints clearly better than
    their static laws, and the laws of all joints beside it.

    problems, laws: of every joint beside the motors' static laws (see `choose_law`).
    """
    found: list[MotorLaw] = []
    problems, laws = list(problems), list(laws)
    for j, k, sign in dict.fromkeys((*sorted(row[:2].astype(int).tolist()), int(row[2])) for row in motors):
        if problems[j].data.effort_filter != problems[k].data.effort_filter:
            continue
        bare = {i: _without_static(motors, [p.data for p in problems], (j, k, sign), i) for i in (j, k)}
        fit, beside, own = _beside(bare, sign, laws)
        after = [own.get(i, law) for i, law in enumerate(laws)]
        if fit is None or all(law.presliding is None for law in after):
            continue
        new, old = (sum(found[i].errors for i in own) for found in (own, laws))
        if clearly_better(np.asarray(new), np.asarray(old), MOTOR_GAIN):
            found.append(MotorLaw(j, k, sign, fit))
            laws, problems = after, [beside.get(i, problem) for i, problem in enumerate(problems)]
    return found, laws


def _beside(
    bare: dict[int, FrictionSamples], sign: int, laws: Sequence[WrittenLaw]
) -> tuple[PreslidingFit | None, dict[int, PreslidingProblem], dict[int, WrittenLaw]]:
    """A motor's presliding friction beside its joints' own laws, these beside it, and so on; None without any level.

    bare: samples of both joints with all friction of the motor in them. Shapes of the joints' own laws are held.
    """
    own = {i: laws[i] for i in bare}
    beside: dict[int, PreslidingProblem] = {}
    fit: PreslidingFit | None = None
    for _ in range(ROUNDS):
        data = _of_motor(bare, sign, own)
        fit = fit_presliding(PreslidingProblem(data), None if fit is None else fit.shape)
        if fit is None:
            break
        torque = data.as_recorded(_friction(WrittenLaw(NOTHING, fit), data)[:, None])[: len(data.y) // 2, 0]
        for i, factor in zip(bare, (1, sign), strict=True):
            beside[i] = PreslidingProblem(replace(bare[i], y=bare[i].y - factor * torque))
            own[i] = choose_law(beside[i], laws[i])
    return fit, beside, own


def _of_motor(bare: dict[int, FrictionSamples], sign: int, own: dict[int, WrittenLaw]) -> FrictionSamples:
    """What the joints' own laws leave of both joints' friction, as samples of the motor: of one, then of the other."""
    (j, a), (k, b) = bare.items()
    left = [d.y - d.as_recorded(_friction(own[i], d)[:, None])[:, 0] for i, d in ((j, a), (k, b))]
    rotor = None if a.rotor is None or b.rotor is None else np.tile(a.rotor + sign * b.rotor, 2)
    return replace(
        a,
        y=np.concatenate([left[0], sign * left[1]]),
        v=np.tile(a.v + sign * b.v, 2),
        load=np.zeros(2 * len(a.y)),
        position=np.tile(a.position + sign * b.position, 2),
        weight=np.concatenate([a.weight, b.weight]),
        start=np.tile(a.start, 2),
        folds=[np.tile(fold, 2) for fold in a.folds],
        t=np.tile(a.t, 2),
        rotor=rotor,
    )


def _friction(law: WrittenLaw, data: FrictionSamples) -> np.ndarray:
    """Friction (N,) [Nm] of one joint's law, or of a motor's, as the live stage evaluates it."""
    static = FrictionModel(LAW, {name: [value] for name, value in law.static.items()}, 1)
    v, load = (np.ascontiguousarray(x[:, None]) for x in (data.v, data.load))
    if law.presliding is None:
        return static.torque(v, load)[:, 0]
    block = {name: [value] for name, value in law.presliding.parameters.items()} | {"rotor_time": [0.0]}
    driver = data.position if data.rotor is None else data.rotor
    core = presliding_core(block, static)
    return np.asarray(core.run(clock(data.start, data.rate), np.ascontiguousarray(driver[:, None]), v, load)[0][:, 0])


def _without_static(
    motors: np.ndarray, joints: Sequence[FrictionSamples], motor: tuple[int, int, int], i: int
) -> FrictionSamples:
    """Samples of joint i with the friction in them that the motor's static law took off."""
    data = joints[i]
    for row in motors:
        j, k = int(row[0]), int(row[1])
        if j == i and (*sorted((j, k)), int(row[2])) == motor:
            data = replace(data, y=data.y + data.as_recorded(_static(row, data.v, joints[k].v)[:, None])[:, 0])
    return data


def _static(row: np.ndarray, v: np.ndarray, w: np.ndarray) -> np.ndarray:
    """fc tanh((v + s w)/eps) + fv w (N,) of a row (6,) of motors."""
    sign, eps, coulomb, viscous = row[2:]
    return np.asarray(coulomb * np.tanh((v + sign * w) / eps) + viscous * w)
