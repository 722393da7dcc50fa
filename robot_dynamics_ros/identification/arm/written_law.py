"""The friction law of a joint as a robot file holds it: the one place where it is chosen and judged.

`choose_law` takes the friction that the identified bodies leave of one joint's effort (`FrictionSamples`) and returns
the law that nodes will evaluate (`WrittenLaw`): a static law, and presliding (hysteretic) friction
[Madsen2020 ch4 35-37] where that predicts held-out motion no worse. Another kind of law is added as a candidate there.

A motor that turns with two joints (coupled wrists) has the same law at its own angle, without load, beside the joints'
own; it loads both by the transpose of the coupling:
  f_j += f(q_m, v_m)   f_k += s f(q_m, v_m)   q_m = q_j + s q_k
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from robot_dynamics_ros.identification.arm.cross_validation import clearly_better
from robot_dynamics_ros.identification.arm.friction_columns import LAW, JointFriction, Shape, static_table
from robot_dynamics_ros.identification.arm.friction_samples import FrictionSamples, clock
from robot_dynamics_ros.identification.arm.model import IdentifiedModel
from robot_dynamics_ros.identification.arm.presliding import PreslidingProblem
from robot_dynamics_ros.identification.arm.presliding_shape import PreslidingFit, fit_presliding, hysteresis_block
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.models.hysteresis import presliding_core
from robot_dynamics_ros.signals.speeds import STEP

# relative held-out error that presliding may cost: a static law is far worse at rest, which few rows show
MARGIN = 0.01
MOTOR_GAIN = 0.01  # relative held-out error that a motor's friction must save: else the joints have theirs alone
UNSEEN = 0.5  # a real base shows none to all of what its shoulder and elbow gain under a load: at most half is wrong
ROUNDS = 3  # of the motor's friction beside the joints' own and these beside it
NOTHING = {"fc": 0.0, "fv": 0.0}
Place = tuple[int, int, int]  # of a motor: joint, other joint, sign


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
        parts = {f"h@{k}": x for k, x in enumerate(p["level"])} | {t: p[t] for t in ("fs", "fv0", "fv1")}
        parts["hb"] = p["bearing"]
        kept = tuple(t for t in chosen.terms if t in ("fo", "ia") or t[0] == "c")
        return JointFriction((*kept, *(t for t, x in parts.items() if x > 0)), self.presliding.shape)


def choose_law(problem: PreslidingProblem, known: WrittenLaw | None = None) -> WrittenLaw:
    """The law of one joint: static, and presliding unless this predicts held-out motion, and what no fit has seen,
    worse than the static law does. A dry joint that stands, which a static law cannot tell, is not judged.

    known: the law of nearly the same samples, whose kind and shape are not chosen again.
    """
    if known is not None and known.presliding is not None:
        fit = fit_presliding(problem, known.presliding.shape)
        return replace(known, presliding=fit, errors=known.errors if fit is None else fit.errors)
    static, errors = problem.static()
    presliding = None if known is not None else fit_presliding(problem)
    simple = WrittenLaw(static, None, errors)
    law = simple if presliding is None else WrittenLaw(static, presliding, presliding.errors)
    worse = not problem.data.kind.dry and _judged(law, problem) > (1 + MARGIN) * _judged(simple, problem)
    return simple if worse else law


def load_of_others(
    problems: Sequence[PreslidingProblem], laws: Sequence[WrittenLaw], limit: np.ndarray
) -> list[WrittenLaw]:
    """The laws, those of joints whose recordings show no load with UNSEEN of what a load adds to the others' friction.

    sum_k l_k = c limit^(1 - p), c from the others by their loads over the torque limits (n,) [Nm].
    """
    shown = [(j, law.presliding) for j, law in enumerate(laws) if law.presliding is not None and problems[j].loaded]
    if not shown:
        return list(laws)
    shares = [sum(fit.parameters["load"]) * limit[j] ** (fit.shape.power - 1) for j, fit in shown]
    share = UNSEEN * float(np.average(shares, weights=[problems[j].scale / limit[j] for j, _ in shown]))
    most = max(fit.shape.load_limit / limit[j] for j, fit in shown)

    def complete(j: int, law: WrittenLaw) -> WrittenLaw:
        fit, size = law.presliding, float(limit[j])
        if fit is None or problems[j].loaded:
            return law
        return replace(law, presliding=fit.under(share * size ** (1 - fit.shape.power), float(most * size)))

    return [complete(j, law) for j, law in enumerate(laws)]


def _judged(law: WrittenLaw, problem: PreslidingProblem) -> float:
    """Squared error in all folds, and as often in the samples whose past is unknown, which the fit leaves out."""
    data = problem.data
    rest = data.y - data.as_recorded(_friction(law, data)[:, None])[:, 0]
    left_out = (data.weight * rest**2)[problem.unknown].sum()
    return float(law.errors.sum() + problem.folds.partitions * left_out)


def written_blocks(
    laws: Sequence[WrittenLaw], motors: Sequence[MotorLaw]
) -> tuple[dict[str, list[float]], dict[str, list[Any]] | None]:
    """Parameters of the robot file's friction block and of its hysteresis block (None: nothing is presliding)."""
    found = [law.presliding for law in laws]
    kept = next((fit for fit in (*found, *(motor.presliding for motor in motors)) if fit is not None), None)
    return static_table([law.static for law in laws]), hysteresis_block(found, kept)


@dataclass(frozen=True)
class MotorLaw:
    """Presliding friction of the motor that turns with q_joint + sign q_other, inertia [kg m2] of its rotor, 0 where it
    is not sure; place: joint, other, sign.
    """

    place: Place
    presliding: PreslidingFit
    inertia: float = 0.0

    def block(self, names: Sequence[str]) -> dict[str, Any]:
        """Entry of `hysteresis.motors` in a robot file."""
        j, k, sign = self.place
        motor = {"joint": names[j], "turns_with": names[k], "sign": sign, "rotor_inertia": self.inertia}
        return motor | {"parameters": self.presliding.parameters}


def motor_friction(model: IdentifiedModel, motion: Motion) -> dict[Place, np.ndarray]:
    """Friction (N, n) [Nm] on both joints of every motor by its columns in a model."""
    found: dict[Place, np.ndarray] = {}
    for j, law in enumerate(model.structure.laws):
        for term in law.terms:
            if term.startswith("cc@"):
                k, sign = int(term[3:-1]), 1 if term.endswith("+") else -1
                out = found.setdefault((min(j, k), max(j, k), sign), np.zeros_like(motion.q))
                v, w = motion.qd[:, j], motion.qd[:, k]
                level, viscous = model.coefficient(j, term), model.coefficient(j, f"cv@{k}")
                out[:, j] += level * np.tanh((v + sign * w) / STEP) + viscous * w
    return found


def choose_motors(
    motors: dict[Place, np.ndarray],
    problems: Sequence[PreslidingProblem],
    laws: Sequence[WrittenLaw],
    known: Sequence[MotorLaw],
) -> tuple[list[MotorLaw], list[WrittenLaw]]:
    """Friction of motors at their angle where it predicts held-out motion of both joints clearly better than laws of
    the joints alone, and the laws of all joints beside it.

    problems, laws: of every joint beside the friction (N, n) [Nm] of all `motors`. known: of nearly the same samples.
    """
    found: list[MotorLaw] = []
    problems, laws = list(problems), list(laws)
    before = {motor.place: motor for motor in known}
    for place, friction in motors.items():
        j, k, sign = place
        bare = {i: _with_torque(problems[i].data, friction[:, i]) for i in (j, k)}
        alone = {i: PreslidingProblem(data) for i, data in bare.items()}
        own = {i: choose_law(problem) for i, problem in alone.items()}
        if bare[j].effort_filter == bare[k].effort_filter:
            same = before.get(place)
            fit, beside, tried = _beside(bare, sign, laws, None if same is None else same.presliding.shape)
            new, old = (np.asarray(sum(law.errors for law in laws.values())) for laws in (tried, own))
            if fit is not None and (same is not None or clearly_better(new, old, MOTOR_GAIN)):
                found.append(MotorLaw(place, fit, 0.0 if same is None else same.inertia))
                alone, own = beside, tried
        problems = [alone.get(i, problem) for i, problem in enumerate(problems)]
        laws = [own.get(i, law) for i, law in enumerate(laws)]
    return found, laws


def _with_torque(data: FrictionSamples, torque: np.ndarray) -> FrictionSamples:
    """Samples of a joint with more friction (N,) [Nm] in them."""
    return replace(data, y=data.y + data.as_recorded(torque[:, None])[:, 0])


def _beside(
    bare: dict[int, FrictionSamples], sign: int, laws: Sequence[WrittenLaw], shape: Shape | None
) -> tuple[PreslidingFit | None, dict[int, PreslidingProblem], dict[int, WrittenLaw]]:
    """A motor's presliding friction beside its joints' own laws, these beside it, and so on; None without any level.

    bare: samples of both joints with all friction of the motor in them. Shapes of the joints' own laws are held, and
    the motor's where it is given.
    """
    own = {i: laws[i] for i in bare}
    beside: dict[int, PreslidingProblem] = {}
    fit: PreslidingFit | None = None
    for _ in range(ROUNDS):
        data = _of_motor(bare, sign, own)
        fit = fit_presliding(PreslidingProblem(data), shape if fit is None else fit.shape)
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
        kind=replace(a.kind, bearing=0.0),
    )


def _friction(law: WrittenLaw, data: FrictionSamples) -> np.ndarray:
    """Friction (N,) [Nm] of one joint's law, or of a motor's, as the live stage evaluates it."""
    static = FrictionModel(LAW, {name: [value] for name, value in law.static.items()}, 1)
    v, load = (np.ascontiguousarray(x[:, None]) for x in (data.v, data.load))
    if law.presliding is None:
        return static.torque(v, load)[:, 0]
    p = law.presliding.parameters
    core = presliding_core({name: [value] for name, value in p.items()}, static)
    rotor = None if data.rotor is None else data.rotor[:, None]
    return np.asarray(core.run(clock(data.start, data.rate), data.position[:, None], v, load, rotor=rotor)[0][:, 0])
