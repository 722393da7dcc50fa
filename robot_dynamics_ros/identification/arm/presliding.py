"""Columns of one joint's friction as the live nodes evaluate it, and non-negative least squares on them.

The law is that of friction_columns.py [Madsen2020 ch4 35-37; Dahl1968]. H_k is driven by measured positions or by the
integrated velocity, as the live nodes drive it: friction acts on the rotor, which the deflection of the gear turns
against a link whose position is reported. All coefficients but fo are non-negative, so the law dissipates at every
speed; they are solved from Gram matrices.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import nnls

from robot_dynamics_ros import _core
from robot_dynamics_ros.identification.arm.cross_validation import Folds, squares
from robot_dynamics_ros.identification.arm.friction_columns import (
    BEARING_SPAN,
    SPANS,
    STRIBECK_RISE,
    THINNING_SPEED,
    Shape,
    coulomb_step,
    stribeck_fall,
    stribeck_step,
    thinning,
)
from robot_dynamics_ros.identification.arm.friction_samples import FrictionSamples, bearing_element, covered, still
from robot_dynamics_ros.identification.arm.solvers.least_squares import SHRINKAGE
from robot_dynamics_ros.identification.dataset.motion import ROTOR_TIME
from robot_dynamics_ros.signals.speeds import MOVING

POWERS = (1.0, 2.0)  # p of the load
SHARES = (0.0, 0.03, 0.06, 0.1, 0.15, 0.22, 0.3, 0.45, 0.7, 1.0, 2.0)  # what its root mean square adds to a level
ORDINARY = 0.85, 0.1  # ratio and velocity of a level that falls with speed as levels usually do
PLAY = 3.0  # deviations of the position's noise that do not move elements which give way gradually
CHANGE = 0.1  # s over which changes of friction tell elements that slip from those: errors of the bodies are slower
LEAST = 100  # changes that say something
ROWS = 20_000  # samples of the fit, spread evenly over the motion
LOAD_MARGIN = 1.5  # times the largest load seen: beyond it the load of a gear no longer raises friction
EPS_GRID = (0.002, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16)  # rad/s, of the law without memory
STEPS = 8.0  # deviations of the position's noise that the smallest span exceeds


class PreslidingProblem:
    """Columns of one joint: a level per span, viscous, thinning, +offset, -offset, fs; then y beside its bearing."""

    def __init__(self, data: FrictionSamples) -> None:
        if data.kind.dry:  # friction of a joint that stands is whatever balances
            data = replace(data, weight=np.where(still(data.driver, data.start, data.rate), 0.0, data.weight))
        self.data = data
        self.driver = driver = data.driver
        known = _travelled(data, 2 * SPANS[-1])
        self.every = every = max(len(data.y) // ROWS, 1)
        rows, self.unknown = np.flatnonzero(known)[::every], np.flatnonzero(~known)[::every]
        self.folds = Folds(data.folds, rows)
        self.rows = rows[self.folds.order]
        self.read = self.rows if data.effort_filter is None else slice(None)  # a filter needs all samples
        self.root = np.sqrt(data.weight[self.rows])
        self.noise = _noise(data.t, driver, data.start)
        self.shown = np.arange(len(SPANS)) == 0 if data.kind.dry else np.array(SPANS) >= STEPS * self.noise
        self.H = self._elements((0.0, 0.0))
        self.bearing = bearing_element(data.position, BEARING_SPAN, data.start)[self.read]
        self.scale = max(float(np.sqrt(np.mean(data.load**2))), 1e-6)
        self.typical = float(np.median(np.abs(data.y)))
        self.loaded = bool(np.quantile(np.abs(data.load), 0.95) > self.typical)
        v = data.v[self.read]
        one = np.ones_like(v)
        fixed = np.column_stack([v, thinning(v), one, -one])
        self.fixed = fixed if data.effort_filter is None else data.as_recorded(fixed)[self.rows]
        self._cache: dict[tuple[float, tuple[float, float]], np.ndarray] = {}

    def of_kind(self, **changes: Any) -> PreslidingProblem:
        """The same of another kind of arm: slips, power, widens, bearing."""
        other = copy.copy(self)
        other.data = replace(self.data, kind=replace(self.data.kind, **changes))
        if not {"slips", "power"}.isdisjoint(changes):
            other._cache, other.H = {}, other._elements((0.0, 0.0))
        return other

    @property
    def powers(self) -> tuple[float, ...]:
        """p of the load that are tried."""
        return (self.data.kind.power,) if self.data.kind.power else POWERS

    @property
    def step(self) -> float:
        """Half width [rad] of the play that moves elements which give way gradually; 0: they slip."""
        return 0.0 if self.data.kind.slips else max(PLAY * self.noise, 1e-9)

    def shape(self, ratio: float, velocity: float) -> Shape:
        """Shape of the arm's kind, without a load and a widening."""
        kind, shape = self.data.kind, Shape(self.powers[0], ratio, velocity, step=self.step)
        return replace(shape, dry=kind.dry, bearing=kind.bearing)

    def loads(self, shape: Shape) -> list[Shape]:
        """The shape with every share of the load that is tried."""
        shares = SHARES if self.loaded else SHARES[:1]
        return [replace(shape, share=share / self.scale**shape.power) for share in shares]

    @property
    def shows_bearing(self) -> bool:
        """Whether the rotor drives elements that are not dry, and positions show the span of a bearing."""
        d = self.data
        return d.rotor is not None and not d.kind.dry and STEPS * _noise(d.t, d.position, d.start) <= BEARING_SPAN

    def _elements(self, widening: tuple[float, float]) -> np.ndarray:
        """H (rows that are read, spans); 0 of spans below the noise."""
        H = _core.presliding_elements(self.driver, np.array(SPANS), self.data.start, widening, self.step)
        return np.asarray(H[self.read] * self.shown)

    def columns(self, velocity: float, widening: tuple[float, float]) -> np.ndarray:
        """(rows, blocks of spans + 2 + 4 + 1 + 1) weighted, without a ratio and a load: elements, elements times g(v),
        both for every power of the load; bearing; fixed columns; speed; y.
        """
        d, v, load = self.data, self.data.v[self.read], self.data.load[self.read]
        H = self._elements(widening) if any(widening) else self.H
        fall, relative = stribeck_fall(v, velocity), np.abs(load) / self.scale
        loads = [np.ones_like(v), *(relative**power for power in self.powers)]
        factors = np.stack([x for w in loads for x in (w, w * fall)], axis=1)
        A = np.zeros((len(v), factors.shape[1] * len(SPANS) + 7))
        np.multiply(H[:, None], factors[:, :, None], out=A[:, :-7].reshape(len(v), -1, len(SPANS)))
        A[:, -7] = self.bearing
        A[:, -2] = 0.0 if d.kind.dry else stribeck_step(v, velocity)  # whose rise is that of no element
        if d.effort_filter is not None:
            A = d.as_recorded(A)[self.rows]
        A[:, -6:-2], A[:, -1] = self.fixed, d.y[self.rows]
        A *= self.root[:, None]
        return A

    def grams(self, shape: Shape, columns: np.ndarray | None = None) -> np.ndarray:
        """Gram matrices (F, k, k) of every part of every set of folds: T' G T of the columns that all ratios and powers
        share, which may be given.
        """
        key = shape.velocity, shape.widening
        if key not in self._cache:
            self._cache[key] = self.folds.grams(self.columns(*key) if columns is None else columns)
        grams = self._cache[key]
        T = self.mixed(shape, grams.shape[1])
        return T.T @ grams @ T

    def mixed(self, shape: Shape, size: int) -> np.ndarray:
        """T (size, spans + 6): columns of a shape from the shared ones, s(v) = r + (1 - r) g(v)."""
        m = len(SPANS)
        T = np.zeros((size, m + 6))
        one = np.eye(m)
        factor = np.vstack([shape.ratio * one, (1 - shape.ratio) * one])
        T[: 2 * m, :m] = factor
        if shape.share > 0:
            first = 2 * m * (1 + self.powers.index(shape.power))
            T[first : first + 2 * m, :m] = shape.share * self.scale**shape.power * factor
        T[-6:, -6:] = np.eye(6)
        T[-7, -1] = -shape.bearing * self.typical
        return T

    def gram(self, shape: Shape) -> np.ndarray:
        """Gram matrix of all samples."""
        return self.folds.whole(self.grams(shape))

    def changes(self) -> tuple[float, float]:
        """Squared changes over CHANGE of what a fit with an ordinary fall of the level leaves: all, and those between
        samples slower than MOVING (all where these are fewer than LEAST).
        """
        ordinary = self.best_load(*ORDINARY)
        A = self.columns(ordinary.velocity, ordinary.widening)
        (x,) = self.solve(self.folds.whole(self.grams(ordinary, A))[None])
        order = np.argsort(self.rows)
        rest = (A @ (self.mixed(ordinary, A.shape[1]) @ np.append(x, -1.0)))[order]
        slow = (np.abs(self.data.v[self.rows]) < MOVING)[order]
        k = max(round(CHANGE * self.data.rate / self.every), 1)
        both, square = slow[k:] & slow[:-k], (rest[k:] - rest[:-k]) ** 2
        return float(square.sum()), float(square[both if both.sum() >= LEAST else slice(None)].sum())

    def best_load(self, ratio: float, velocity: float, power: float = 0.0) -> Shape:
        """Shape of the arm's kind, or of another power, with the share of the load of the smallest held-out error."""
        shape = replace(self.shape(ratio, velocity), power=power or self.powers[0])
        return min(self.loads(shape), key=lambda x: float(self.held_out(x).sum()))

    def held_out(self, shape: Shape) -> np.ndarray:
        """Squared error of every fold under what the others identify."""
        grams = self.grams(shape)
        return squares(grams, self.solve(self.folds.whole(grams) - grams))

    def static(self) -> tuple[dict[str, float], np.ndarray]:
        """Parameters of the law without memory, fv v + fc step(v / eps) + fo, with the smallest error, and its squared
        error in every fold. Steps wider than the fastest motion do not show a level.
        """
        d, v = self.data, self.data.v[self.read]
        widths = [eps for eps in EPS_GRID if eps <= np.abs(v).max()] or [EPS_GRID[0]]
        own = np.column_stack([coulomb_step(v, eps) for eps in widths])
        if d.effort_filter is not None:
            own = d.as_recorded(own)[self.rows]
        A = np.column_stack([own, self.fixed[:, [0, 2, 3]], d.y[self.rows]]) * self.root[:, None]
        grams, m = self.folds.grams(A), len(widths)
        tried = [grams[:, c[:, None], c] for c in (np.r_[k, m : m + 4] for k in range(m))]
        found = [self.solve(gram.sum(0, keepdims=True))[0] for gram in tried]
        errors = [squares(gram, x[None]) for gram, x in zip(tried, found, strict=True)]
        k = min(range(m), key=lambda k: errors[k].sum())
        fc, fv, positive, negative = found[k].tolist()
        return {"fc": fc, "fv": fv, "fo": positive - negative, "eps": widths[k]}, errors[k]

    def solve(self, grams: np.ndarray) -> np.ndarray:
        """Non-negative coefficients (F, spans + 5) from Gram matrices (F, k, k) of columns and y."""
        d = np.sqrt(np.diagonal(grams, axis1=1, axis2=2))
        d = np.where(d > 1e-9 * d.max(axis=1, keepdims=True), d, np.inf)
        g = grams / d[:, None] / d[:, :, None]
        ridge = np.full(g.shape[1], SHRINKAGE + 1e-12)
        ridge[-1] = 1e-12
        L = np.linalg.cholesky(g + np.diag(ridge))
        found = np.array([nnls(one[:-1, :-1].T, one[-1, :-1])[0] for one in L])
        size = np.where(np.isfinite(d[:, -1:]), d[:, -1:], 0.0)  # nothing is left: a joint that never moves
        return np.asarray(found * size / d[:, :-1])

    def parameters(self, shape: Shape, x: np.ndarray) -> dict[str, Any]:
        """Parameters of a robot file's block by name, from coefficients x (k,) of `solve`."""
        m = len(SPANS)
        return {
            "span": list(SPANS),
            "level": x[:m].tolist(),
            "load": (shape.share * x[:m]).tolist(),
            "load_limit": LOAD_MARGIN * float(np.abs(self.data.load).max()),
            "load_power": shape.power,
            "sliding_ratio": shape.ratio,
            "stribeck_velocity": shape.velocity,
            "fv1": float(x[m]),
            "fv2": 0.0,
            "fv0": float(x[m + 1]),
            "v0": THINNING_SPEED,
            "fo": float(x[m + 2] - x[m + 3]),
            "fs": float(x[m + 4]),
            "eps": STRIBECK_RISE,
            "widening": list(shape.widening),
            "dahl_step": shape.step,
            "bearing": shape.bearing * self.typical,
            "bearing_span": BEARING_SPAN,
            "rotor_time": 0.0 if self.data.rotor is None else ROTOR_TIME,
        }


def _noise(t: np.ndarray, driver: np.ndarray, start: np.ndarray) -> float:
    """Standard deviation of the positions (N,) [rad] at stamps t (N,) [s] about a smooth motion: of their third divided
    differences over the norm of their weights.

    Encoder steps would move elements of smaller spans to and fro.
    """
    inside = np.flatnonzero(~(start[1:-2] | start[2:-1] | start[3:]))
    inside = inside[:: max(len(inside) // ROWS, 1), None] + np.arange(4)
    steps = t[inside][:, :, None] - t[inside][:, None, :]
    weight = 1 / np.prod(steps + np.eye(4), axis=2)
    third = (weight * driver[inside]).sum(axis=1)
    return float(np.sqrt(np.mean(third**2 / (weight**2).sum(axis=1)))) if len(inside) else 0.0


def _travelled(data: FrictionSamples, distance: float) -> np.ndarray:
    """(N,) bool: the range covered since the start of the piece exceeds `distance`: the past no longer matters."""
    known = covered(data.position, data.start) > distance
    return known if known.mean() > 0.3 else np.ones(len(data.y), bool)
