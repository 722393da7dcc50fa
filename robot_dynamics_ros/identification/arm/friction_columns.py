"""Columns that are linear in friction: every term the law of a joint may be built from, by name.

f(v) = fv1 v + fv2 |v|v + fo + fc tanh(v/eps)                                              [Luo2024 11]
v joint velocity [rad/s]; tanh stands for sgn: no chatter at rest. `SIMPLE` is the law of the first solution.
Further columns: "ia" the acceleration (rotor inertia); "cv@k", "ca@k", "cc@k+" or "cc@k-" velocity, acceleration and
Coulomb friction of a motor that turns with this joint and joint k, forwards or backwards (coupled wrist).
A law with a `Memory` has the columns of the presliding law that is written (presliding.py), its shape held: "ml" level,
"mt" load, "ms" Stribeck friction of speed alone, "mv" viscosity that falls with speed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from robot_dynamics_ros import _core

Coupled = dict[int, tuple[int, ...]]  # joint -> joints whose motors turn with it
GAP = 0.5  # s; a longer silence restarts the Maxwell-slip operator
EPS = 0.02  # rad/s, width of the step of Coulomb friction: above the noise of velocities, below those of work
SIMPLE = ("fv1", "fo", "ia", "fc")
MEMORY = ("ml", "mt", "ms", "mv")  # columns of a law with a memory
UNITS = {  # of coefficients, by kind of column; "mt" depends on the power of the load
    **dict.fromkeys(("fo", "fc", "cc", "ml", "ms"), "Nm"),
    **dict.fromkeys(("fv1", "cv", "mv"), "Nm s/rad"),
    **dict.fromkeys(("ia", "ca"), "kg m²"),
    "fv2": "Nm s²/rad²",
}


def stribeck_fall(v: np.ndarray, velocity: float) -> np.ndarray:
    """g(v) = 1 / (1 + (v / vs)^2) (N,); v, vs [rad/s]."""
    return 1 / (1 + (v / velocity) ** 2)


def stribeck_step(v: np.ndarray, velocity: float, eps: float) -> np.ndarray:
    """g(v) v / (|v| + eps) (N,): Stribeck friction of speed alone; v, vs, eps [rad/s]."""
    return stribeck_fall(v, velocity) * v / (np.abs(v) + eps)


def thinning(v: np.ndarray, v0: float) -> np.ndarray:
    """v / (1 + |v| / v0) (N,): viscosity that falls with speed; v, v0 [rad/s]."""
    return v / (1 + np.abs(v) / v0)


@dataclass(frozen=True)
class Memory:
    """Shape of a presliding law: spans [rad] with the shares of each in the level and in the load (sum 1, or all 0),
    power p of the load and its largest value [Nm], ratio r, vs, eps and v0 [rad/s]; rotor: the rotor's positions drive
    it.
    """

    span: tuple[float, ...]
    level: tuple[float, ...]
    load: tuple[float, ...]
    power: float
    load_limit: float
    ratio: float
    velocity: float
    eps: float
    v0: float
    rotor: bool

    def sliding(self, term: str, v: np.ndarray, load: np.ndarray | float) -> np.ndarray:
        """A column (N,) where all elements slide the way of v: level, load, Stribeck or viscosity."""
        if term == "mv":
            return thinning(v, self.v0)
        if term == "ms":
            return stribeck_step(v, self.velocity, self.eps)
        return self.strength(term, v, load) * np.sign(v)

    def strength(self, term: str, v: np.ndarray, load: np.ndarray | float) -> np.ndarray:
        """s(v) of the level, s(v) |tau|^p of the load (N,): what H is multiplied with."""
        factor = self.ratio + (1 - self.ratio) * stribeck_fall(v, self.velocity)
        return factor if term == "ml" else factor * np.minimum(np.abs(load), self.load_limit) ** self.power


class SlipOperator:
    """Normalised Maxwell-slip operator that takes positions in pieces: d_k <- clip(d_k + dq, -D_k, D_k),
    H = sum_k share_k d_k / D_k. [Madsen2020 ch4 35-37]

    span: rising D_k [rad]; shares: non-negative, sum 1; one element by default.
    """

    def __init__(self, span: float | Sequence[float], shares: Sequence[float] = (1.0,)) -> None:
        D = np.atleast_2d(np.asarray(span, dtype=float))
        self._core = _core.Gms(D, np.atleast_2d(np.asarray(shares)) / D, np.ones((1, 1)), GAP)
        self._samples, self._restarts = 0, 0

    def run(self, q: np.ndarray, start: np.ndarray | None = None) -> np.ndarray:
        """H (N,) of the next positions q (N,) [rad]; `start` (N,) bool marks samples where d = 0 again."""
        restarts = np.full(len(q), self._restarts, np.int64)
        if start is not None:
            restarts += np.cumsum(start, dtype=np.int64)
        samples = self._samples + np.arange(len(q), dtype=np.int64)
        if len(q):
            self._samples, self._restarts = int(samples[-1]) + 1, int(restarts[-1])
        stamps = samples * 1_000_000 + restarts * int(2e9 * GAP)  # a hole in time restarts it
        return self._core.run(stamps, np.ascontiguousarray(q, dtype=float)[:, None])[0][:, 0]


class KeptSlip(SlipOperator):
    """`SlipOperator` over a motion of `samples` that passes several times in the same blocks: it runs in the first pass
    only.
    """

    def __init__(self, span: float | Sequence[float], shares: Sequence[float], samples: int) -> None:
        super().__init__(span, shares)
        self._values, self._at, self._known = np.empty(samples), 0, 0

    def begin(self) -> None:
        """The next block is the first of the motion."""
        self._at = 0

    def run(self, q: np.ndarray, start: np.ndarray | None = None) -> np.ndarray:
        """H (m,) of the next block."""
        own = slice(self._at, self._at + len(q))
        if own.stop > self._known:
            self._values[own], self._known = super().run(q, start), own.stop
        self._at = own.stop
        return self._values[own]


@dataclass(frozen=True)
class JointFriction:
    """Which columns a joint's law has: eps [rad/s], its terms by name, and the shape of the m.. terms."""

    eps: float = EPS
    terms: tuple[str, ...] = SIMPLE
    memory: Memory | None = None

    def with_terms(self, terms: tuple[str, ...]) -> JointFriction:
        """The law with further terms."""
        return replace(self, terms=(*self.terms, *terms))

    def slips(self) -> dict[str, tuple[Sequence[float], Sequence[float]]]:
        """Spans [rad] and shares of the pre-sliding operators, by term."""
        if self.memory is None:
            return {}
        shares = {"ml": self.memory.level, "mt": self.memory.load}
        return {t: (self.memory.span, share) for t, share in shares.items() if t in self.terms}

    def units(self) -> list[str]:
        """Unit of the coefficient of every term."""
        loaded = "" if self.memory is None else f"Nm/Nm^{self.memory.power:g}"
        return [loaded if term == "mt" else UNITS[term.partition("@")[0]] for term in self.terms]


@dataclass
class JointSignals:
    """What the friction of one joint is computed from, all (N,): q, v, a and the torque without friction `load`.

    `others` holds the velocity and acceleration of coupled joints by number; `start` marks the first sample of each
    segment. `slips` holds the pre-sliding operators by column: given again, they go on where the samples before ended.
    `position`, `rotor`: measured position and the rotor's (None: there is none), which drive a `Memory`.
    """

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    load: np.ndarray
    start: np.ndarray
    others: dict[int, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    slips: dict[str, SlipOperator] = field(default_factory=dict)
    position: np.ndarray | None = None
    rotor: np.ndarray | None = None

    def matrix(self, law: JointFriction, out: np.ndarray | None = None) -> np.ndarray:
        """Columns (N, k) of a law, in the order of its terms; out: an array that they are written into."""
        out = np.empty((len(self.q), len(law.terms))) if out is None else out
        for k, t in enumerate(law.terms):
            out[:, k] = self._column(t, law)
        return out

    def _column(self, term: str, law: JointFriction) -> np.ndarray:
        """A column (N,) of a law."""
        v = self.v
        if law.memory is not None and term in MEMORY:
            return self._of_memory(term, law.memory)
        if term == "fc":
            return np.tanh(v / law.eps)
        known = {"fv1": v, "fv2": np.abs(v) * v, "fo": np.ones_like(v), "ia": self.a}
        kind, _, motor = term.partition("@")
        return known[term] if term in known else self._coupled(kind, motor, law.eps)

    def _of_memory(self, term: str, memory: Memory) -> np.ndarray:
        if term in ("ms", "mv"):
            return memory.sliding(term, self.v, self.load)
        if term not in self.slips:
            self.slips[term] = SlipOperator(memory.span, memory.level if term == "ml" else memory.load)
        driver = self.rotor if memory.rotor and self.rotor is not None else self.position
        H = self.slips[term].run(self.q if driver is None else driver, self.start)
        return memory.strength(term, self.v, self.load) * H

    def _coupled(self, kind: str, motor: str, eps: float) -> np.ndarray:
        """Columns of a coupled wrist: friction and inertia of a motor turning with this joint and joint k."""
        v, a = self.others[int(motor.rstrip("+-"))]
        if kind == "cc":
            return np.tanh((self.v + (-v if motor.endswith("-") else v)) / eps)
        return {"cv": v, "ca": a}[kind]


def coupled_terms(k: int) -> list[tuple[str, str, str]]:
    """Terms of a motor that turns with joint k: friction turned with, or against it."""
    return [(f"cc@{k}{sign}", f"cv@{k}", f"ca@{k}") for sign in "+-"]
