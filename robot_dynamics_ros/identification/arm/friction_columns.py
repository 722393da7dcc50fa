"""Columns that are linear in friction: every term the law of a joint may be built from, by name.

f = s(v) sum_k (c_k + l_k |tau|^p) H_k(theta; D_k) + c_b H(q; D_b) + fs b(v) + fc tanh(v/STEP)
    + fv1 v + fv2 |v| v + fv0 v / (1 + |v|/v0) + fo                              [Madsen2020 ch4 35-37; Luo2024 11]
s(v) = r + (1 - r) g(v)   b(v) = g(v) v / (|v| + e)   g(v) = 1 / (1 + (v/vs)^2)
"h@k" and "hl@k" are s(v) H_k and s(v) |tau|^p H_k of the Maxwell-slip element of span k, tau the torque without
friction; in a shape with a share l all elements have l_k = l c_k, and "h@k" is s(v) (1 + l |tau|^p) H_k. "hg@k" and
"hgl@k" are the same with g(v), from which a sliding ratio is found later; "hb" is H(q; D_b), friction of the output's
bearing and seals, which follows the link's position q. `SIMPLE` is the law of the
first solution, `REMEMBERING` what cut-offs are judged with. Further columns: "ia" the acceleration (rotor inertia);
"tc", "tv" the median H and v times how much warmer the joint is; "cv@k", "ca@k", "cc@k+" or "cc@k-" velocity,
acceleration and Coulomb friction of a motor that turns with this joint and joint k, forwards or backwards.

Where a recording cannot show memory, a robot file holds f = fv v + fc step(v/eps) + fo (`LAW`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.signals.speeds import STEP

SPANS = (_core.DRY_SPAN, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2)  # rad, D_k: half decades; more of them gain nothing
BEARING_SPAN = SPANS[1]  # rad, D_b
STRIBECK_RISE = 5e-3  # rad/s, e: speed at which half of fs is reached; below it the noise of velocities is seen
THINNING_SPEED = 0.3  # rad/s, v0 of the viscosity that falls with speed
SIMPLE = ("fv1", "fo", "ia", "fc")
REMEMBERING = tuple(f"h@{k}" for k in range(len(SPANS)))
LOADED = (*(f"hl@{k}" for k in range(len(SPANS))), "fs", "fv0")
LAW = "viscous_coulomb"  # without memory
UNITS = {  # of coefficients, by kind of column; "hl" depends on the power of the load
    **dict.fromkeys(("fo", "fc", "cc", "h", "hb", "fs"), "Nm"),
    **dict.fromkeys(("fv1", "cv", "fv0"), "Nm s/rad"),
    **dict.fromkeys(("ia", "ca"), "kg m²"),
    "fv2": "Nm s²/rad²",
}


def coulomb_step(v: np.ndarray, eps: float) -> np.ndarray:
    """step(v/eps) (N,) of LAW; v, eps [rad/s]."""
    return FrictionModel(LAW, {"fc": 1.0, "fv": 0.0, "eps": eps}, 1).torque(v[:, None])[:, 0]


def static_table(laws: Sequence[dict[str, float]]) -> dict[str, list[float]]:
    """Parameters of LAW by name, one number per joint, as a robot file holds them."""
    return {name: [law[name] for law in laws] for name in ("fc", "fv", "fo", "eps")}


def stribeck_fall(v: np.ndarray, velocity: float) -> np.ndarray:
    """g(v) = 1 / (1 + (v / vs)^2) (N,); v, vs [rad/s]."""
    return 1 / (1 + (v / velocity) ** 2)


def stribeck_step(v: np.ndarray, velocity: float) -> np.ndarray:
    """b(v) (N,): Stribeck friction of speed alone; v, vs [rad/s]."""
    return stribeck_fall(v, velocity) * v / (np.abs(v) + STRIBECK_RISE)


def thinning(v: np.ndarray, v0: float = THINNING_SPEED) -> np.ndarray:
    """v / (1 + |v| / v0) (N,): viscosity that falls with speed; v, v0 [rad/s]."""
    return v / (1 + np.abs(v) / v0)


def simple_friction(v: np.ndarray) -> np.ndarray:
    """Columns (N, 3) of the simple law beside a rigid body: Coulomb step, v, 1; v (N,) [rad/s]."""
    return np.column_stack([np.tanh(v / STEP), v, np.ones_like(v)])


@dataclass(frozen=True)
class Shape:
    """What presliding columns depend on: load power p, sliding ratio r, Stribeck velocity vs [rad/s]; largest
    load [Nm]; rotor: the rotor's positions drive the elements; spans [rad]; thinning: v0 [rad/s];
    widening: a, b of the spans; step [rad]: of elements that give way gradually, 0: they slip; dry: there is no travel
    before breakaway; share: l [1/Nm^p] of all elements; bearing: c_b over the median friction.
    """

    power: float
    ratio: float
    velocity: float
    load_limit: float = np.inf
    rotor: bool = False
    spans: tuple[float, ...] = SPANS
    thinning: float = THINNING_SPEED
    widening: tuple[float, float] = (0.0, 0.0)
    step: float = 0.0
    dry: bool = False
    share: float = 0.0
    bearing: float = 0.0


@dataclass(frozen=True)
class JointFriction:
    """Which columns a joint's law has: its terms by name, and the shape of those with elements."""

    terms: tuple[str, ...] = SIMPLE
    shape: Shape = Shape(1.0, 1.0, 0.1)

    def with_terms(self, terms: tuple[str, ...]) -> JointFriction:
        """The law with further terms."""
        return replace(self, terms=(*self.terms, *(t for t in terms if t not in self.terms)))

    @property
    def spans(self) -> list[int]:
        """Numbers of its elements among the spans of its shape."""
        return sorted({int(term.partition("@")[2]) for term in self.terms if term[0] == "h" and "@" in term})

    @property
    def non_negative(self) -> list[bool]:
        """Which coefficients are >= 0: of a law with elements all that dissipate."""
        return [bool(self.spans) and term[0] in "hf" and term != "fo" for term in self.terms]

    def units(self) -> list[str]:
        """Unit of the coefficient of every term."""
        loaded = {"hl": f"Nm/Nm^{self.shape.power:g}"}
        return [(UNITS | loaded)[term.partition("@")[0]] for term in self.terms]


@dataclass
class JointSignals:
    """What the friction of one joint is computed from, all (N,): q, v, a and the torque without friction `load`.

    `others` holds the velocity and acceleration of the `neighbours` by number; `start` marks the first sample of each
    segment. `position`, `rotor`: measured position and the rotor's (None: there is none), which drive the elements;
    `elements` (N, k): H of the law's spans where they are known; `warmer` [K]: than the law's temperature.
    """

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    load: np.ndarray
    start: np.ndarray
    others: dict[int, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    position: np.ndarray | None = None
    rotor: np.ndarray | None = None
    elements: np.ndarray | None = None
    warmer: np.ndarray | float = 0.0

    def matrix(self, law: JointFriction, out: np.ndarray | None = None) -> np.ndarray:
        """Columns (N, k) of a law, in the order of its terms; out: an array that they are written into."""
        out = np.empty((len(law.terms), len(self.q))).T if out is None else out  # column by column in memory
        H, weights = np.empty((len(self.q), 0)), dict[str, np.ndarray]()
        if law.spans:
            H, weights = self.slipped(law) if self.elements is None else self.elements, self._weights(law.shape)
        for k, term in enumerate(law.terms):
            kind, _, of = term.partition("@")
            if kind in weights:
                np.multiply(weights[kind], H[:, law.spans.index(int(of))], out=out[:, k])
            elif kind == "hb":
                out[:, k] = H[:, -1]
            elif kind == "tc":
                out[:, k] = self.warmer * np.median(H, axis=1)
            else:
                out[:, k] = self._column(term, law)
        return out

    def slipped(self, law: JointFriction) -> np.ndarray:
        """H (N, k) of the law's spans, then that of the bearing."""
        driver = self.rotor if law.shape.rotor and self.rotor is not None else self.position
        driver = np.ascontiguousarray(self.q if driver is None else driver)
        spans, shape = np.array(law.shape.spans)[law.spans], law.shape
        H = _core.presliding_elements(driver, spans, self.start, shape.widening, shape.step)
        if "hb" not in law.terms:
            return H
        link = np.ascontiguousarray(self.q if self.position is None else self.position)
        return np.column_stack([H, _core.presliding_elements(link, np.array([BEARING_SPAN]), self.start)])

    def _weights(self, shape: Shape) -> dict[str, np.ndarray]:
        """Factor (N,) of H in the columns of elements, by their kind."""
        fall, load = stribeck_fall(self.v, shape.velocity), np.minimum(np.abs(self.load), shape.load_limit)
        level, load = shape.ratio + (1 - shape.ratio) * fall, load**shape.power
        return {"h": level * (1 + shape.share * load), "hl": level * load, "hg": fall, "hgl": fall * load}

    def _column(self, term: str, law: JointFriction) -> np.ndarray:
        """A column (N,) of a law without elements."""
        v = self.v
        if term == "fc":
            return np.tanh(v / STEP)
        if term == "fs":
            return stribeck_step(v, law.shape.velocity)
        if term == "fv0":
            return thinning(v, law.shape.thinning)
        if term == "tv":
            return self.warmer * v
        known = {"fv1": v, "fv2": np.abs(v) * v, "fo": np.ones_like(v), "ia": self.a}
        kind, _, motor = term.partition("@")
        return known[term] if term in known else self._coupled(kind, motor)

    def _coupled(self, kind: str, motor: str) -> np.ndarray:
        """Columns of a coupled wrist: friction and inertia of a motor turning with this joint and joint k."""
        v, a = self.others[int(motor.rstrip("+-"))]
        if kind == "cc":
            return np.tanh((self.v + (-v if motor.endswith("-") else v)) / STEP)
        return {"cv": v, "ca": a}[kind]


def simple_law(motor: bool) -> JointFriction:
    """The simple law of friction beside the rotor's inertia, which an effort behind the gear does not hold."""
    return JointFriction(SIMPLE if motor else tuple(t for t in SIMPLE if t != "ia"))


def sliding(law: JointFriction, v: np.ndarray, load: float) -> np.ndarray:
    """Columns (N, k) of a law at steady speeds v (N,) under a load [Nm]: its elements slide, coupled motors stand."""
    own = replace(law, terms=tuple(t for t in law.terms if t[:1] != "c"))
    still, H = np.zeros_like(v), np.repeat(np.sign(v)[:, None], len(own.spans), axis=1)
    signals = JointSignals(still, v, still, np.full_like(v, load), still.astype(bool), elements=H)
    out = np.zeros((len(v), len(law.terms)))
    out[:, [t[:1] != "c" for t in law.terms]] = signals.matrix(own)
    return out


def neighbours(j: int, n: int) -> list[int]:
    """Joints of n whose motors may turn with joint j, as of a wrist or a parallelogram."""
    return [k for k in (j - 1, j + 1) if 0 <= k < n]


def coupled_terms(k: int) -> list[tuple[str, str, str]]:
    """Terms of a motor that turns with joint k: friction turned with, or against it."""
    return [(f"cc@{k}{sign}", f"cv@{k}", f"ca@{k}") for sign in "+-"]
