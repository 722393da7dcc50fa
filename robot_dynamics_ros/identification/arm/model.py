"""The identified model of a robot's effort: rigid body, friction law of every joint, and how the log was filtered."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import signal

from robot_dynamics_ros.identification.arm.friction_columns import (
    LOADED,
    REMEMBERING,
    JointFriction,
    JointSignals,
    neighbours,
)
from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.identification.arm.solvers.least_squares import JointRows, Solution
from robot_dynamics_ros.identification.dataset.motion import (
    Motion,
    at_lower_rate,
    butterworth,
    filtered,
    kept_rate,
    low_pass,
    stack,
)
from robot_dynamics_ros.identification.dataset.recording import Recording
from robot_dynamics_ros.identification.dataset.stretches import with_short_stands
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.robot_file.geometry import coupling_matrix
from robot_dynamics_ros.signals.runs import pieces_of

SURE = 3.0  # standard deviations beyond which the rotor of a motor that turns with two joints is written


@dataclass(frozen=True)
class EffortFilter:
    """Low-pass that the recorded effort has already passed: cut-off [Hz], zero phase or causal (order 2)."""

    cutoff: float
    causal: bool

    def apply(self, x: np.ndarray, rate: float, start: np.ndarray) -> np.ndarray:
        """x (N, ...) filtered the same way, every piece on its own."""
        return np.concatenate([self._piece(x[a:b], rate) for a, b in pieces_of(start)])

    def acts(self, rate: float) -> bool:
        """Whether a log of this rate [Hz] shows the filter at all."""
        return self.cutoff < 0.45 * rate

    def reach(self, rate: float) -> int:
        """Samples after which it has forgotten its input to rounding: its poles decay with 4.4 times the cut-off."""
        return math.ceil(10.0 * rate / self.cutoff)

    def _piece(self, x: np.ndarray, rate: float) -> np.ndarray:
        if not self.acts(rate) or len(x) < 4:
            return x
        if not self.causal:
            return low_pass(x, self.cutoff, 1 / rate, order=2)
        sos = butterworth(2, 2 * self.cutoff / rate)
        state = signal.sosfilt_zi(sos).reshape(len(sos), 2, *([1] * (x.ndim - 1))) * x[:1][None]
        return signal.sosfilt(sos, x, axis=0, zi=state)[0]

    def __str__(self) -> str:
        return f"{self.cutoff:.3g} Hz {'causal' if self.causal else 'zero-phase'}"


Filters = tuple[EffortFilter | None, ...]


def passed(chosen: EffortFilter | None, x: np.ndarray, motion: Motion) -> np.ndarray:
    """x (N, ...), of the rows of a motion, as a joint's effort has passed its filter; None: it passed none."""
    return x if chosen is None else chosen.apply(x, motion.rate, motion.start)


def recorded(filters: Filters, torque: np.ndarray, motion: Motion) -> np.ndarray:
    """Torque (N, n) as the effort of every joint has passed its filter."""
    return np.column_stack([passed(chosen, torque[:, j], motion) for j, chosen in enumerate(filters)])


@dataclass(frozen=True)
class Structure:
    """What was chosen from the data, and the delay [s] of the effort in the robot file."""

    cutoff: float
    delay: float
    laws: tuple[JointFriction, ...]
    filters: Filters

    def with_laws(self, laws: Sequence[JointFriction]) -> Structure:
        """The same with other friction laws."""
        return replace(self, laws=tuple(laws))

    def remembering(self, loaded: bool = False) -> Structure:
        """The same with presliding elements of all spans, driven by the rotors, where the effort was not smoothed
        before it was recorded; loaded: with their loads and Stribeck friction, too.
        """
        more = REMEMBERING + (LOADED if loaded else ())
        laws = [
            replace(law.with_terms(more), shape=replace(law.shape, rotor=True)) if chosen is None else law
            for law, chosen in zip(self.laws, self.filters, strict=True)
        ]
        return self.with_laws(laws)

    def turning(self, motors: Sequence[tuple[int, int, int]]) -> Structure:
        """The same with columns of these motors alone: joint, other joint, sign."""
        others = [{b if a == j else a for a, b, _ in motors if j in (a, b)} for j in range(len(self.laws))]
        return self.with_laws(
            [
                replace(law, terms=tuple(t for t in law.terms if t[0] != "c" or int(t[3:].rstrip("+-")) in own))
                for law, own in zip(self.laws, others, strict=True)
            ]
        )

    def extended(self, j: int, terms: tuple[str, ...]) -> Structure:
        """The same with further terms in the law of joint j."""
        return self.with_laws([*self.laws[:j], self.laws[j].with_terms(terms), *self.laws[j + 1 :]])

    def size(self, base: int) -> int:
        """Number of parameters: base parameters and friction terms."""
        return base + sum(len(law.terms) for law in self.laws)

    def index(self, base: int) -> list[np.ndarray]:
        """Global parameter numbers of every joint's rows: base parameters, then its own friction terms."""
        starts = base + np.concatenate([[0], np.cumsum([len(law.terms) for law in self.laws])])
        return [np.array([*range(base), *range(starts[j], starts[j + 1])]) for j in range(len(self.laws))]

    def non_negative(self, base: int) -> np.ndarray:
        """Which parameters (p,) are coefficients >= 0."""
        return np.array([False] * base + [x for law in self.laws for x in law.non_negative])

    def places(self, term: str, base: int) -> dict[int, int]:
        """Global parameter number of a term, per joint that has it."""
        index = self.index(base)
        return {j: int(index[j][base + law.terms.index(term)]) for j, law in enumerate(self.laws) if term in law.terms}


def signals_of(motion: Motion, load: np.ndarray, elements: Sequence[np.ndarray] | None = None) -> list[JointSignals]:
    """Friction inputs of every joint; `load` (N, n) is the torque without friction.

    elements: H (N, k) of every joint's law, where they are known.
    """
    found = []
    for j in range(motion.n):
        others = {k: (motion.qd[:, k], motion.qdd[:, k]) for k in neighbours(j, motion.n)}
        state = (motion.q[:, j], motion.qd[:, j], motion.qdd[:, j], load[:, j], motion.start)
        rotor = None if motion.rotor is None else motion.rotor[:, j]
        H = None if elements is None else elements[j]
        found.append(JointSignals(*state, others, motion.position[:, j], rotor, H))
    return found


def joint_rows(motion: Motion, W: np.ndarray, load: np.ndarray, structure: Structure) -> list[JointRows]:
    """Rows of every joint: base columns and friction columns through the joint's effort filter, measured effort.

    W (n, N, b): base regressor; load (N, n) [Nm]: torque of the rigid body, for load-dependent friction.
    """
    rows = []
    index = structure.index(W.shape[2])
    for j, s in enumerate(signals_of(motion, load)):
        A = passed(structure.filters[j], np.column_stack([W[j], s.matrix(structure.laws[j])]), motion)
        rows.append(JointRows(A, index[j], motion.effort[:, j]))
    return rows


@dataclass(frozen=True)
class IdentifiedModel:
    """Rigid body (standard parameters phi (10 n,)), friction coefficients per joint, structure; predicts the effort."""

    rigid: RigidModel
    structure: Structure
    phi: np.ndarray
    friction: tuple[np.ndarray, ...]
    solution: Solution

    @classmethod
    def from_solution(cls, rigid: RigidModel, structure: Structure, solution: Solution) -> IdentifiedModel:
        """Model of a least-squares solution over base and friction parameters."""
        b = rigid.base.size
        friction = tuple(solution.x[i[b:]] for i in structure.index(b))
        return cls(rigid, structure, rigid.base.to_standard(solution.x[:b]), friction, solution)

    @property
    def covariance(self) -> np.ndarray:
        """Covariance (p, p) of the parameters. Raises ValueError for a model without: see with_uncertainty."""
        if self.solution.covariance is None:
            raise ValueError("the model has no covariance: see with_uncertainty")
        return self.solution.covariance

    def load(self, motion: Motion) -> np.ndarray:
        """Torque without friction and rotor inertia (N, n) [Nm]."""
        return self.rigid.torque(self.phi, motion.q, motion.qd, motion.qdd)

    def predict(self, motion: Motion, carried: np.ndarray | float = 0.0, load: np.ndarray | None = None) -> np.ndarray:
        """Effort (N, n) [Nm], as it would have been recorded; carried (N, n) [Nm]: torque of a payload, which loads
        friction and is not in the result; load (N, n) [Nm]: that of `load`, where it is known.
        """
        load = self.load(motion) if load is None else load
        torque = load.copy()
        for j, s in enumerate(signals_of(motion, load + carried)):
            torque[:, j] += s.matrix(self.structure.laws[j]) @ self.friction[j]
        return recorded(self.structure.filters, torque, motion)

    def coefficient(self, j: int, term: str) -> float:
        """Coefficient of a term of joint j; 0 when its law has none."""
        terms = self.structure.laws[j].terms
        return float(self.friction[j][terms.index(term)]) if term in terms else 0.0

    @property
    def coupled(self) -> np.ndarray:
        """(n, n) [kg m2] of rotors that turn with two joints: what row j's law has of the acceleration of joint k."""
        n = self.rigid.n
        return np.array([[self.coefficient(j, f"ca@{k}") for k in range(n)] for j in range(n)])


def coupled_statement(robot: RobotFile, structure: Structure) -> str:
    """A sentence naming the joints of coupled motors; empty where there are none."""
    names = [robot.joint_names[j] for j, law in enumerate(structure.laws) if any(t[0] == "c" for t in law.terms)]
    return f"coupled motors: {', '.join(names)} with friction of a motor that also turns a neighbour" if names else ""


def motor_inertia(model: IdentifiedModel, rotor: np.ndarray, places: Sequence[tuple[int, int, int]]) -> np.ndarray:
    """I (m,) [kg m2] of the rotors of motors that turn with two joints: the mean of both joints' s ca by their inverse
    variances; 0 within SURE deviations of zero, or where one of both is as far below it.

    places: joint, other joint, sign s of each. Together I leave diag(rotor) + J positive semidefinite, J_jk = s I;
    rotor (n,) [kg m2]: 0 where the effort holds none. Raises ValueError for a model without covariance (source: own).
    """
    n, b, std = len(rotor), model.rigid.base.size, np.sqrt(np.diag(model.covariance))
    found, size = np.zeros(len(places)), np.sqrt(np.outer(rotor, rotor))
    for i, (j, k, sign) in enumerate(places):
        own = [at[a] for a, c in ((j, k), (k, j)) if a in (at := model.structure.places(f"ca@{c}", b))]
        value, weight = sign * model.solution.x[own], std[own] ** -2.0
        sure = value @ weight > SURE * np.sqrt(weight.sum()) and (value > -SURE * std[own]).all()
        found[i] = value @ weight / weight.sum() if sure and size[j, k] > 0 else 0.0
    J = coupling_matrix([(j, k, sign * x) for (j, k, sign), x in zip(places, found, strict=True)], n)
    least = np.linalg.eigvalsh(np.divide(J, size, out=np.zeros_like(J), where=size > 0))[0]
    return found / max(1.0, -least)


def rotors_left_out(model: IdentifiedModel, motion: Motion, moving: np.ndarray, written: np.ndarray) -> str:
    """A sentence naming joints whose motor turns with another one, too, where the torque of its rotor, ca qdd, exceeds
    moving (n,) [Nm], what the live pipeline errs by anyway, and is not in J `written` (n, n); empty where none does.
    """
    names, inertia = model.rigid.robot.joint_names, np.abs(model.coupled)
    fastest = np.quantile(np.abs(motion.qdd), 0.999, axis=0)  # not the edges of the low-pass
    left = (written == 0) & (inertia * fastest > moving[:, None])
    found = [
        f"{names[j]} ({inertia[j, k]:.2g} kg m2, {inertia[j, k] * fastest[k]:.2g} Nm at the {fastest[k]:.2g} rad/s2 of "
        f"{names[k]} here)"
        for j, k in np.argwhere(left)
    ]
    if not found:
        return ""
    return (
        f"rotors that turn with two joints are not in the robot file: {', '.join(found)}; the force errs by it, and "
        "faster starts and stops of the wrist show as contact"
    )


def motion_of(recordings: Sequence[Recording], structure: Structure, margin: float | None = None) -> Motion:
    """Recordings filtered as a structure says, at the rate of the solution."""
    return stack(motions_of(recordings, structure, margin))


def motions_of(recordings: Sequence[Recording], structure: Structure, margin: float | None = None) -> list[Motion]:
    """The same of every recording, at one rate for all, the lowest; long stands have less weight."""
    s, rate = structure, min(min(kept_rate(r.samples, r.rate), r.rate) for r in recordings)
    return [with_short_stands(at_lower_rate(filtered(r, s.cutoff, s.delay, margin), rate)) for r in recordings]
