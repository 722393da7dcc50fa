"""Parameters whose values are known: their share goes to the target before anything is solved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from robot_dynamics_ros.identification.arm.solvers.least_squares import Rows, Solution


@dataclass(frozen=True)
class HeldRows:
    """`Rows` without the parameters `held` (number -> value): y - A_held x_held = A_rest x_rest [Madsen2020 ch5 14].

    The rest is numbered in its old order; `whole` gives all parameters back.
    """

    rows: Rows
    held: Mapping[int, float]
    size: int

    @property
    def rest(self) -> np.ndarray:
        """Numbers of the parameters that are not held."""
        return np.setdiff1d(np.arange(self.size), list(self.held))

    @property
    def y(self) -> Sequence[np.ndarray]:
        """Targets as measured."""
        return self.rows.y

    @property
    def index(self) -> list[np.ndarray]:
        """Numbers of every joint's parameters among the rest."""
        return [self.numbers(i) for i in self.rows.index]

    def numbers(self, index: np.ndarray) -> np.ndarray:
        """Numbers among the rest of those of some parameters that are not held."""
        return np.searchsorted(self.rest, index[self._free(index)])

    def moved(self, index: np.ndarray) -> np.ndarray:
        """M (k + 1, k' + 1): columns [A, y] of parameters `index` times M are [A_rest, y - A_held x_held]."""
        k, free = len(index), np.flatnonzero(self._free(index))
        M = np.zeros((k + 1, len(free) + 1))
        M[free, np.arange(len(free))] = 1.0
        M[:k, -1] = [-self.held.get(int(i), 0.0) for i in index]
        M[k, -1] = 1.0
        return M

    def triangles(self, weights: Sequence[np.ndarray] | None = None) -> list[np.ndarray]:
        """Triangles with the held columns moved into the target."""
        return [T @ self.moved(i) for T, i in zip(self.rows.triangles(weights), self.rows.index, strict=True)]

    def residuals(self, x: np.ndarray) -> list[np.ndarray]:
        """Residuals with the held parameters at their values."""
        return self.rows.residuals(self.whole(x))

    def prior(self, prior: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
        """Prior rows (P, z) of all parameters as rows of the rest."""
        rows = np.column_stack(prior) @ self.moved(np.arange(self.size))
        return rows[:, :-1], rows[:, -1]

    def whole(self, x: np.ndarray) -> np.ndarray:
        """All parameters (size,) of the rest x."""
        out = np.empty(self.size)
        out[self.rest] = x
        out[list(self.held)] = list(self.held.values())
        return out

    def part(self, found: Solution) -> Solution:
        """The solution of the rest that `solution` made one of all."""
        rest = self.rest
        return replace(
            found,
            x=found.x[rest],
            std=found.std[rest],
            R=found.R[np.ix_(rest, rest)],
            rhs=found.rhs[rest],
            rank=found.rank - len(self.held),
            separable=found.separable[rest],
        )

    def solution(self, found: Solution) -> Solution:
        """A solution of the rest as one of all: held parameters have no deviation and no say in R."""
        rest = self.rest
        R, rhs = np.zeros((self.size, self.size)), np.zeros(self.size)
        R[np.ix_(rest, rest)], rhs[rest] = found.R, found.rhs
        std, separable = np.zeros(self.size), np.ones(self.size, bool)
        std[rest], separable[rest] = found.std, found.separable
        rank = found.rank + len(self.held)
        return replace(found, x=self.whole(found.x), std=std, R=R, rhs=rhs, rank=rank, separable=separable)

    def _free(self, index: np.ndarray) -> np.ndarray:
        return ~np.isin(index, list(self.held))
