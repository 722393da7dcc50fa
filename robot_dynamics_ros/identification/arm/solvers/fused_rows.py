"""Rows of the final solution, block by block: of regressor and friction columns only the elements' H are stored.

A block of the motion goes through the core's fused QR: regressor, friction columns and effort become one triangle per
joint inside the cache. The columns of a joint whose effort was smoothed before it was recorded pass the same filter:
block by block as well, with as much of the neighbours as the filter remembers.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.identification.arm.model import EffortFilter, Structure, passed, signals_of
from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.signals.runs import pieces_of

KEPT_ROWS = 16_384  # of a motion whose friction columns stay in memory between the passes
BLOCK = 2048  # samples whose friction columns exist at a time: a few MB for seven joints with a dozen terms each


class FusedRows:
    """Rows (least_squares.Rows) of a motion under a structure: y_j = [W_j, F_j] x[index[j]].

    phi (10 n,): standard parameters whose torque is the load of load-dependent friction; None: no load.
    """

    def __init__(self, rigid: RigidModel, structure: Structure, motion: Motion, phi: np.ndarray | None) -> None:
        self.rigid, self.structure, self.motion, self.phi = rigid, structure, motion, phi
        self.columns = rigid.base.independent.tolist()
        self.terms = [len(law.terms) for law in structure.laws]
        ends = np.cumsum([0, *self.terms]).tolist()
        self.own = [slice(a, b) for a, b in itertools.pairwise(ends)]  # friction columns of every joint
        self.index = [np.array(self._triangles().parameters_of(j)) for j in range(rigid.n)]
        signals = signals_of(motion, np.zeros_like(motion.q))
        self._elements = [s.slipped(law) for s, law in zip(signals, structure.laws, strict=True)]
        self._columns: dict[int, np.ndarray] = {}  # friction columns by the first row of their block
        filters = structure.filters
        self.filters = [f if f is not None and f.acts(motion.rate) else None for f in filters]

    @property
    def y(self) -> list[np.ndarray]:
        """Effort (N,) of every joint."""
        return list(self.motion.effort.T)

    def triangles(self, weights: Sequence[np.ndarray] | None = None) -> list[np.ndarray]:
        """Triangle of every joint, its samples times sqrt(weights); one pass over the motion.

        A block is folded in a thread while the columns of the next one are made.
        """
        qr = self._triangles()
        roots = None if weights is None else [np.sqrt(w) for w in weights]
        plain = [j for j, f in enumerate(self.filters) if f is None]
        with ThreadPoolExecutor(1) as worker:
            folded = worker.submit(lambda: None)
            for first, last, state, friction, ready in self._blocks():
                folded.result()
                for j, a, A in ready:
                    rows = np.column_stack([A, self.motion.effort[a : a + len(A), j]])
                    qr.absorb(j, rows, None if roots is None else roots[j][a : a + len(A)])
                if plain:
                    root = None if roots is None else np.column_stack([r[first:last] for r in roots])
                    effort = np.ascontiguousarray(self.motion.effort[first:last])
                    q, qd, qdd = state
                    folded = worker.submit(qr.update, q, qd, qdd, effort, friction, root, plain)
            folded.result()
        return [qr.triangle(j) for j in range(self.rigid.n)]

    def _blocks(self) -> Iterator[tuple[int, int, list[np.ndarray], np.ndarray, list[tuple[int, int, np.ndarray]]]]:
        """(first, last, state, friction columns, ready rows of the joints with a filter) of every block in order."""
        windows = {j: Window(f, self.motion.rate) for j, f in enumerate(self.filters) if f is not None}
        for first, last, ends in blocks(self.motion.start):
            part = self.motion.block(first, last)
            state = [np.ascontiguousarray(x) for x in (part.q, part.qd, part.qdd)]
            friction = self._friction(part, first)
            W = self.rigid.base_regressor(*state) if windows else np.zeros((0, 0, 0))
            ready = []
            for j, window in windows.items():
                own = self.index[j][self.index[j] < len(self.columns)]
                A = np.hstack([W[j][:, own], friction[:, self.own[j]]])
                ready += [(j, a, x) for a, x in window.push(A, ends)]
            yield first, last, state, friction, ready

    def residuals(self, x: np.ndarray) -> list[np.ndarray]:
        """Effort minus prediction (N,) of every joint."""
        b = len(self.columns)
        own = [x[b:][terms] for terms in self.own]
        phi = self.rigid.base.to_standard(x[:b])
        total = np.empty((self.rigid.n, len(self.motion)))
        for first, last, _ in blocks(self.motion.start):
            part = self.motion.block(first, last)
            rigid = self.rigid.torque(phi, part.q, part.qd, part.qdd)
            F = self._friction(part, first)
            for j, terms in enumerate(self.own):
                total[j, first:last] = rigid[:, j] + F[:, terms] @ own[j]
        for j, chosen in enumerate(self.filters):
            total[j] = passed(chosen, total[j], self.motion)
        return list(self.motion.effort.T - total)

    def _triangles(self) -> _core.FusedQR:
        return _core.FusedQR(self.rigid.model.chain, self.columns, self.terms)

    def _friction(self, part: Motion, first: int) -> np.ndarray:
        """Friction columns (m, sum of k_j) of all joints in one block."""
        if first in self._columns:
            return self._columns[first]
        load = np.zeros_like(part.q) if self.phi is None else self.rigid.torque(self.phi, part.q, part.qd, part.qdd)
        elements = [H[first : first + len(part)] for H in self._elements]
        signals = signals_of(part, load, elements)
        out = np.empty((len(part), sum(self.terms)))
        for s, law, own in zip(signals, self.structure.laws, self.own, strict=True):
            s.matrix(law, out[:, own])
        if len(self.motion) <= KEPT_ROWS:
            self._columns[first] = out
        return out


def blocks(start: np.ndarray, size: int = BLOCK) -> Iterator[tuple[int, int, bool]]:
    """(first, last, whether a piece ends there): at most `size` samples, none across the beginning of a piece.

    start (N,) bool: samples where a piece begins.
    """
    for a, b in pieces_of(start):
        for first in range(a, b, size):
            yield first, min(first + size, b), first + size >= b


class Window:
    """A filter over columns that come in blocks: rows leave once the filter cannot be changed by what follows."""

    def __init__(self, chosen: EffortFilter, rate: float) -> None:
        self.filter, self.rate, self.reach = chosen, rate, chosen.reach(rate)
        self._kept: np.ndarray | None = None
        self._done, self._next = 0, 0  # rows of what is kept that have left; number of the next row to leave

    def push(self, rows: np.ndarray, ends: bool) -> Iterator[tuple[int, np.ndarray]]:
        """(number of the first row, filtered rows (m, k)); `ends`: a piece ends with these rows."""
        kept = rows if self._kept is None else np.vstack([self._kept, rows])
        ready = len(kept) if ends else len(kept) - self.reach
        if ready > self._done:
            start = np.zeros(len(kept), bool)
            start[0] = True
            out = self.filter.apply(kept, self.rate, start)[self._done : ready]
            yield self._next, out
            self._next += len(out)
            self._done = ready
        drop = max(self._done - self.reach, 0)
        self._kept, self._done = (None, 0) if ends else (kept[drop:], self._done - drop)
