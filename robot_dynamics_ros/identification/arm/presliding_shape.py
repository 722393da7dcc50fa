"""The shape of presliding friction, by held-out error: load power, sliding ratio, Stribeck velocity, widening; what
drives its elements, and whether they slip.

Without Stribeck friction of speed alone (fs), elements of the smallest spans imitate it and are wrong at rest.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from robot_dynamics_ros.identification.arm.friction_columns import SPANS, Shape
from robot_dynamics_ros.identification.arm.friction_samples import FrictionSamples, Kind
from robot_dynamics_ros.identification.arm.presliding import ORDINARY, POWERS, PreslidingProblem
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.models.hysteresis import presliding_core

SLIDING_RATIOS = (1.0, 0.85, 0.7, 0.55)  # r = f_C / f_S
STRIBECK_VELOCITIES = (0.01, 0.03, 0.1, 0.3)  # rad/s
WIDER, RING = 0.3, 8  # amplitude and number of the widenings that are tried
# Relative squared error that positions of the links must save to drive the elements: laws that are not those of the
# gears save up to 10 % with the wrong angle, and with a velocity that is wrong by 3e-5 rad/s they save 70 %.
VELOCITY_WRONG = 0.2
# Level of a bearing's friction over the median friction of its joint. Free motion hardly shows it: with one chosen by
# held-out errors, robots with about 0, 0.09 and 0.18 of it err by 2 % less, 5 and 2 % more in contact.
BEARING = 0.08
GAIN = 0.03  # relative squared error that a widening must save, elements that slip, or no bearing
DRY = 0.14  # share of large changes of friction that standing joints show: simulated arms up to 0.11, dry from 0.17
TURN = 2.0  # rad that a joint has covered at least: a shorter way does not tell how a turn goes on


@dataclass(frozen=True)
class PreslidingFit:
    """Parameters of one joint's block `hysteresis` by name (numbers, or one per span), held-out squared error of every
    fold, the shape that was chosen.
    """

    parameters: dict[str, Any]
    errors: np.ndarray
    shape: Shape

    @property
    def kind(self) -> Kind:
        """What it has in common with the laws of the arm's other joints."""
        s = self.shape
        return Kind(s.step == 0.0, s.dry, s.power, any(s.widening), s.bearing)

    def under(self, load: float, limit: float) -> PreslidingFit:
        """The same whose levels together gain `load` [Nm/Nm^p] up to a load of `limit` [Nm]."""
        level = self.parameters["level"]
        shape = replace(self.shape, share=load / sum(level), load_limit=limit)
        parameters = {"load": [shape.share * x for x in level], "load_limit": limit}
        return replace(self, parameters=self.parameters | parameters, shape=shape)


def fit_presliding(problem: PreslidingProblem, known: Shape | None = None) -> PreslidingFit | None:
    """Presliding friction of one joint; None without any level, or where the live stage would refuse it: samples that
    hardly move fit elements as springs, whose level has no end.

    The rotor's positions drive it where the problem has them. known: a shape that is not chosen again.
    """
    best, errors = _best_shape(problem) if known is None else (known, problem.held_out(known))
    (x,) = problem.solve(problem.gram(best)[None])
    if not x[: len(SPANS)].any():
        return None
    parameters = problem.parameters(best, x)
    try:
        presliding_core({name: [value] for name, value in parameters.items()}, FrictionModel.none(1))
    except ValueError:
        return None
    shape = replace(best, load_limit=parameters["load_limit"], rotor=parameters["rotor_time"] > 0)
    return PreslidingFit(parameters, errors, shape)


def _best_shape(problem: PreslidingProblem) -> tuple[Shape, np.ndarray]:
    """The shape with the smallest held-out error, and its error in every fold; the widening after the rest."""
    shapes = [problem.shape(*row) for row in itertools.product(SLIDING_RATIOS, STRIBECK_VELOCITIES)]
    best = min((loaded for shape in shapes for loaded in problem.loads(shape)), key=partial(_held_out, problem))
    best = _widened(problem, best) if problem.data.kind.widens and _turns(problem) else best
    return best, problem.held_out(best)


def _widened(problem: PreslidingProblem, shape: Shape) -> Shape:
    """The shape with that of RING widenings that has the smallest held-out error."""
    turns = np.arange(RING) * 2 * np.pi / RING
    ring = [replace(shape, widening=(float(WIDER * np.cos(x)), float(WIDER * np.sin(x)))) for x in turns]
    return min(ring, key=partial(_held_out, problem))


def presliding_problems(joints: Sequence[FrictionSamples]) -> list[PreslidingProblem]:
    """Problem of every joint with what its arm has in common: driver and kind of the elements, power of the load,
    friction of the bearings where all positions show it, and whether spans widen along a turn.

    A joint without gravity hardly shows the power: one that is wrong there doubles its friction under a contact.
    """
    problems = _of_one_kind(joints)
    loaded = [problem for problem in problems if problem.loaded]
    power = min(POWERS, key=lambda p: _total(_held_out(q, q.best_load(*ORDINARY, p)) for q in loaded))
    problems = [problem.of_kind(power=power) for problem in problems]
    shapes = [problem.best_load(*ORDINARY) for problem in problems]
    if all(problem.shows_bearing for problem in problems):
        borne = [replace(shape, bearing=BEARING) for shape in shapes]
        saved = _total(_held_out(q, a) / _held_out(q, b) for q, a, b in zip(problems, borne, shapes, strict=True))
        if saved < -np.log(1 - GAIN) * len(problems):
            problems = [problem.of_kind(bearing=BEARING) for problem in problems]
            shapes = [problem.best_load(*ORDINARY) for problem in problems]
    wider = [(q, s, _widened(q, s)) for q, s in zip(problems, shapes, strict=True) if _turns(q)]
    widens = _total(_held_out(q, s) / _held_out(q, w) for q, s, w in wider) > -np.log(1 - GAIN) * len(wider)
    return [problem.of_kind(widens=widens) for problem in problems]


def _turns(problem: PreslidingProblem) -> bool:
    return bool(np.ptp(problem.driver[problem.rows]) >= TURN)


def _held_out(problem: PreslidingProblem, shape: Shape) -> float:
    return float(problem.held_out(shape).sum())


def _of_one_kind(joints: Sequence[FrictionSamples]) -> list[PreslidingProblem]:
    """Problem of every joint: what predicts an arm's joints best by the product of the ratios of their errors, because
    one arm has gears of one kind and measures all its velocities alike.

    Friction acts on the rotor: the integrated velocities drive the elements unless held-out errors with the measured
    positions are much smaller. Elements give way gradually unless elements that slip leave clearly smaller changes of
    friction, and no larger ones in slow motion: in fast reversals the damping of bristles looks like slip. Dry joints
    do not move while their friction turns round.
    """
    constant = 1.0, STRIBECK_VELOCITIES[-1]  # a level that does not fall with speed
    problems = [PreslidingProblem(replace(data, rotor=None)) for data in joints]
    if all(data.rotor is not None for data in joints):
        rotor = [PreslidingProblem(data) for data in joints]
        link, turned = (_total(_held_out(p, p.best_load(*constant)) for p in found) for found in (problems, rotor))
        if turned - link < -np.log(1 - VELOCITY_WRONG) * len(joints):
            problems = rotor
    shares = [p.data.dry_share() for p in problems]
    if all(p.noise < SPANS[0] for p in problems) and not np.isnan(shares).all() and np.nanmean(shares) > DRY:
        return [PreslidingProblem(replace(p.data, kind=Kind(slips=True, dry=True))) for p in problems]
    slips = [p.of_kind(slips=True) for p in problems]
    left = [p.changes() for p in problems], [p.changes() for p in slips]
    saved, slow = (_total(x[k] for x in left[0]) - _total(x[k] for x in left[1]) for k in (0, 1))
    return slips if saved > -np.log(1 - GAIN) * len(joints) and slow > 0 else problems


def _total(errors: Iterable[float]) -> float:
    """Logarithm of the product of errors."""
    return float(np.log(list(errors)).sum())


def hysteresis_block(found: Sequence[PreslidingFit | None], kept: PreslidingFit | None) -> dict[str, list[Any]] | None:
    """Parameters of a robot file's hysteresis block; levels of 0 beside numbers of `kept` mark a joint that keeps its
    static law.
    """
    if kept is None:
        return None
    rows = "level", "load", "widening"
    empty = {name: [0.0] * len(value) if name in rows else value for name, value in kept.parameters.items()}
    empty |= dict.fromkeys(("fv1", "fv2", "fv0", "fo", "fs", "rotor_time", "dahl_step", "bearing"), 0.0)
    chosen = [empty if fit is None else fit.parameters for fit in found]
    return {name: [values[name] for values in chosen] for name in kept.parameters}
