"""Friction with memory for the written robot file: which joints, what span, what level, by held-out error.

  f = (Fc0 + Fc1 tau_J^2) H(theta) + F_v(v),  H by the spacing laws r_D = 4, r_k = 2, M = 4, span B
  [Madsen2020 ch6 3-5, 17-20]
H is driven by measured positions, as the live nodes drive it; F_v is the static law without its Coulomb level. Linear
parameters are solved inside a grid over B and the Stribeck velocity, from Gram matrices per fold.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import lsq_linear

from robot_dynamics_ros import _core
from robot_dynamics_ros.identification.arm.friction_columns import GAP
from robot_dynamics_ros.identification.arm.model import EffortFilter
from robot_dynamics_ros.identification.arm.static_law import NONNEGATIVE, RISE, STRIBECK, opposes_motion, unit_column
from robot_dynamics_ros.identification.dataset.motion import pieces_of
from robot_dynamics_ros.models.hysteresis import DEFAULT_ELEMENTS, DEFAULT_R_D, DEFAULT_R_K, spacing

BACKLASH = (3e-4, 6e-4, 1.2e-3, 2.5e-3, 5e-3, 1e-2, 2e-2)  # rad, candidates of B; 1e-3 on UR5e joint 1 [ch6 5.2]
GAIN = 0.04  # relative gain in held-out error that memory must bring
SMALLEST_EPS = 0.005  # rad/s; below it the law's rise and its smoothing overlap
UNUSED = 1e-3  # rad, B of a joint without memory: a robot file has one for every joint


@dataclass(frozen=True)
class JointData:
    """Friction y (N,) [Nm] of one joint, velocity, load, measured position, weights, marks of pieces, folds, filter."""

    y: np.ndarray
    v: np.ndarray
    load: np.ndarray
    position: np.ndarray
    weight: np.ndarray
    start: np.ndarray
    folds: Sequence[np.ndarray]
    effort_filter: EffortFilter | None
    rate: float
    limit: float = 0.0  # rad/s, speed up to which friction must dissipate

    def seen(self, x: np.ndarray) -> np.ndarray:
        """Columns (N, k) as the recorded effort shows them."""
        return x if self.effort_filter is None else self.effort_filter.apply(x, self.rate, self.start)


@dataclass(frozen=True)
class JointMemory:
    """b [rad], fc0 [Nm], fc1 [1/Nm], and the static law's parameters that go with them; gain in held-out error."""

    b: float
    fc0: float
    fc1: float
    law: dict[str, float]
    gain: float


def clock(start: np.ndarray, rate: float) -> np.ndarray:
    """Stamps [ns] (N,) with a hole before every piece, so that a model with memory starts anew there."""
    return (np.arange(len(start)) * (1e9 / rate) + np.cumsum(start) * 4e9 * GAP).astype(np.int64)


def hysteresis(position: np.ndarray, b: float, start: np.ndarray) -> np.ndarray:
    """H (N,) of positions (N,) [rad] for span b [rad], 0 at the start of every piece. [Madsen2020 ch6 14-18]"""
    D, k = spacing(DEFAULT_ELEMENTS, DEFAULT_R_D, DEFAULT_R_K)
    core = _core.Gms(D[None].copy(), k[None].copy(), np.array([[b]]), GAP)
    return core.run(clock(start, 1e3), np.ascontiguousarray(position)[:, None])[0][:, 0]


def fit_memory(data: JointData, static: dict[str, float]) -> JointMemory | None:
    """Memory of one joint over its `static` law (parameters by name), None where the law alone predicts as well."""
    law = dict(static) | {"eps": max(static["eps"], SMALLEST_EPS)}
    table = _Table(data, law)
    plain = table.errors(table.static)
    trials = [(table.errors(names), names) for names in table.with_memory()]
    errors, names = min(trials, key=lambda pair: pair[0].sum())
    if not (errors.sum() < (1 - GAIN) * plain.sum() and (errors <= plain).mean() >= 0.5):
        return None
    x = dict(zip(names, table.solve(names, table.total).tolist(), strict=True))
    level = next(n for n in names if n.startswith("H@"))
    vs = next((float(n[3:]) for n in names if n.startswith("fs@")), law["fs1"])
    terms = {n[:2] if n.startswith("fs@") else n: c for n, c in x.items() if not n.startswith("H")}
    gain = 1 - float(errors.sum() / plain.sum())
    found = {**law, **dict.fromkeys(("fv1", "fv2", "fv3", "fs", "fb"), 0.0), **terms, "fs1": vs, "fc1": RISE}
    found |= table.dry(x)
    if not (x[level] > 0 and opposes_motion({**found, "fc": x[level]}, data.v, data.limit)):
        return None
    return JointMemory(float(level[2:]), x[level], x.get("HH" + level[1:], 0.0), found, gain)


class _Table:
    """Gram matrices per fold of all candidate columns and y."""

    def __init__(self, data: JointData, law: dict[str, float]) -> None:
        self.viscous = [n for n in ("fv1", "fv2", "fv3", "fb") if law.get(n, 0.0) != 0.0 or n in ("fv1", "fb")]
        self.dry_names = ["fc"] + ["ft"] * (law.get("ft", 0.0) != 0.0)
        own = [f"fs@{law['fs1']}"] if law.get("fs", 0.0) != 0.0 else []
        self.static = [*self.dry_names, *self.viscous, *own]
        self.widths = list(dict.fromkeys([*own, *(f"fs@{w}" for w in STRIBECK)]))
        scale = max(float(np.sqrt(np.mean(data.load**2))), 1e-6)
        self.loaded = bool(np.quantile(np.abs(data.load), 0.95) > law.get("fc", 0.0))
        self.scale = {"H": 1.0, "HH": scale**2}
        columns = {
            n: unit_column(n, law["eps"], law["fs1"], data.v, data.load) for n in (*self.dry_names, *self.viscous)
        }
        for name in self.widths:
            columns[name] = unit_column("fs", law["eps"], float(name[3:]), data.v, data.load)
        for b in BACKLASH:
            h = hysteresis(data.position, b, data.start)
            columns[f"H@{b}"], columns[f"HH@{b}"] = h, h * data.load**2 / scale**2
        self.names = list(columns)
        A = np.column_stack([data.seen(np.column_stack(list(columns.values()))), data.y])
        A *= np.sqrt(data.weight * _travelled(data, 2 * BACKLASH[-1]))[:, None]
        self.grams = [A[p == k].T @ A[p == k] for p in data.folds for k in range(int(p.max()) + 1)]
        self.total = sum(self.grams) / len(data.folds)
        self.most = 2 * float(np.abs(data.y).max())

    def with_memory(self) -> Iterator[list[str]]:
        """Names of the columns of every candidate: span, load dependence where loads are seen, Stribeck velocity."""
        for b in BACKLASH:
            for level in ([f"H@{b}"], [f"H@{b}", f"HH@{b}"])[: 1 + self.loaded]:
                for stribeck in ([], *([w] for w in self.widths)):
                    yield [*level, *self.viscous, *stribeck]

    def errors(self, names: list[str]) -> np.ndarray:
        """Held-out squared error of every fold."""
        index = self._index(names)
        found = []
        for G in self.grams:
            x = np.append(self._scaled(self.solve(names, self.total - G), names, back=True), -1.0)
            found.append(float(x @ G[np.ix_(index, index)] @ x))
        return np.array(found)

    def solve(self, names: list[str], G: np.ndarray) -> np.ndarray:
        """Bounded least squares from a Gram matrix: levels are not negative."""
        index = self._index(names)
        g = G[np.ix_(index, index)]
        d = np.sqrt(np.maximum(np.diag(g), 1e-300))
        R = np.linalg.cholesky(g / d / d[:, None] + 1e-9 * np.eye(len(g))).T * d
        lower = np.array([0.0 if n[:2] in NONNEGATIVE or n[0] == "H" else -np.inf for n in names])
        upper = np.array([self.most if n[:2] in ("fc", "fs") or n[:2] == "H@" else np.inf for n in names])
        free = np.linalg.solve(R[:-1, :-1], R[:-1, -1])
        if not ((free >= lower) & (free <= upper)).all():
            free = lsq_linear(R[:-1, :-1], R[:-1, -1], bounds=(lower, upper)).x
        return self._scaled(free, names)

    def dry(self, x: dict[str, float]) -> dict[str, float]:
        """Coulomb and load level of the law beside the fitted rest: what holds until the memory is known."""
        rest = [n for n in x if not n.startswith("H")]
        index, own = self._index(rest)[:-1], self._index(self.dry_names)[:-1]
        target = self.total[own, -1] - self.total[np.ix_(own, index)] @ np.array([x[n] for n in rest])
        level = np.linalg.lstsq(self.total[np.ix_(own, own)], target, rcond=1e-9)[0]
        return {n: max(float(c), 0.0) if n == "fc" else float(c) for n, c in zip(self.dry_names, level, strict=True)}

    def _index(self, names: list[str]) -> list[int]:
        return [*(self.names.index(n) for n in names), len(self.names)]

    def _scaled(self, x: np.ndarray, names: list[str], back: bool = False) -> np.ndarray:
        """Coefficients in units of the columns as used, or back: the load's square is scaled to order one."""
        s = np.array([self.scale["HH"] if n.startswith("HH") else 1.0 for n in names])
        return x * s if back else x / s


def _travelled(data: JointData, distance: float) -> np.ndarray:
    """(N,) bool: the range covered since the start of the piece exceeds `distance`: the past no longer matters."""
    known = np.zeros(len(data.y), bool)
    for a, b in pieces_of(data.start):
        q = data.position[a:b]
        known[a:b] = np.maximum.accumulate(q) - np.minimum.accumulate(q) > distance
    return known if known.mean() > 0.3 else np.ones(len(data.y), bool)


def as_block(found: Sequence[JointMemory | None]) -> dict[str, object] | None:
    """Parameters of a robot file's hysteresis block; fc0 = 0 marks a joint that keeps its law. None: no joint."""
    if not any(found):
        return None
    return {
        "m": float(DEFAULT_ELEMENTS),
        "r_d": DEFAULT_R_D,
        "r_k": DEFAULT_R_K,
        "b": [UNUSED if m is None else m.b for m in found],
        "fc0": [0.0 if m is None else m.fc0 for m in found],
        "fc1": [0.0 if m is None else m.fc1 for m in found],
    }
