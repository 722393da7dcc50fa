"""Search over Fourier motions with slopes: a criterion under limits by augmented Lagrangians and quasi-Newton steps.

Limits enter as sum (max(0, m + w g)^2 - m^2) / (2 w), the multipliers m growing from
round to round [Nocedal, Wright, Numerical Optimization, 17.3]. It starts small, where all limits hold, and grows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from scipy.optimize import minimize

from robot_dynamics_ros.identification.excitation.motion import PARTS, FourierMotion, slow_part
from robot_dynamics_ros.identification.excitation.problem import Criteria, ExcitationProblem
from robot_dynamics_ros.trajectories.motions import JointMotion

SAMPLES = 200  # of a motion during the search, for up to a quarter hertz in 20 s
TRIES = 60  # random motions of which the first that keeps the limits is taken, else the best
WEIGHT = 30.0  # w: of an excess of 10 % against a factor e^0.15 in the condition number
KEPT = 0.01  # excess up to which a limit counts as kept: a ninth of what USE leaves
MEMORY = 30  # steps that the quasi-Newton search remembers
BOUND = "logdet"

Watch = Callable[[np.ndarray], None]


@dataclass
class Phase:
    """Steps on a criterion; `bounded`: without letting logdet grow above that of the start."""

    criterion: str
    iterations: int
    bounded: bool = False


@dataclass
class State:
    """Where a search is: x, multipliers by limit, the bound of logdet, and the best x so far that keeps everything."""

    x: np.ndarray
    multipliers: dict[str, float] = field(default_factory=dict)
    bound: float | None = None
    best: np.ndarray | None = None
    least: float = np.inf  # the criterion there
    criterion: str = ""


def phases(effort: int) -> list[Phase]:
    """Rounds of a search, about 5 `effort` steps [Luo2024 20]: a few on hadamard for the guess, then the condition
    number, logdet not above the guess's.
    """
    first = [Phase("hadamard", effort // 2), Phase("blunt_condition", effort, True)]
    return first + [Phase("condition", effort, True) for _ in range(4)]


class FourierSearch:
    """Search over Fourier motions of one robot; x (m,): their free numbers. slow: each is followed by `slow_part`."""

    def __init__(self, criteria: Criteria, harmonics: int, base: float, duration: float, slow: bool = False) -> None:
        samples = max(SAMPLES, int(np.ceil(6 * harmonics * base * duration / np.pi)))  # 12 per fastest period
        t = np.linspace(0, duration, samples, endpoint=False)
        self.duration, self.criteria, self.parts = duration, criteria, PARTS if slow else 1
        self.motions = FourierMotion(criteria.limits, harmonics, base, t)
        self.problem = ExcitationProblem(criteria, self.motions)

    def start(self, rng: np.random.Generator) -> np.ndarray:
        """Random free numbers of a small motion that keeps the limits, or the one nearest to it after some steps."""
        tried: list[tuple[float, np.ndarray]] = []
        for _ in range(TRIES):
            x = self.motions.random(rng, rng.uniform(0.05, 0.6))
            tried.append((self.broken(x), x))
            if tried[-1][0] == 0:
                return tried[-1][1]
        return self.into_limits(min(tried, key=lambda t: t[0])[1], {})

    def broken(self, x: np.ndarray) -> float:
        """Sum of the excesses over the limits."""
        return float(sum(max(value, 0.0) for value in self.problem.excess(x).values()))

    def run(self, x: np.ndarray, plan: list[Phase], watch: Watch | None = None) -> np.ndarray:
        """The best motion found that keeps the limits, or the last; `watch` is called with every step."""
        state = State(x)
        for phase in plan:
            self.round(state, phase, watch)
        return state.x if state.best is None else state.best

    def round(self, state: State, phase: Phase, watch: Watch | None = None) -> None:
        """One round of quasi-Newton steps, then new multipliers."""
        if phase.bounded and state.bound is None:
            (state.bound,) = self.problem.values(state.x, BOUND)
        if phase.criterion != state.criterion:
            state.criterion, state.best, state.least = phase.criterion, None, np.inf
        options = {"maxiter": phase.iterations, "maxcor": MEMORY, "maxfun": 10**9}
        found = minimize(
            lambda x: self.lagrangian(x, phase, state),
            state.x,
            jac=True,
            method="L-BFGS-B",
            callback=watch,
            options=options,
        )
        state.x = found.x
        for name, value in self._excess(state.x, state.bound).items():
            state.multipliers[name] = max(0.0, state.multipliers.get(name, 0.0) + WEIGHT * value)

    def lagrangian(self, x: np.ndarray, phase: Phase, state: State) -> tuple[float, np.ndarray]:
        """The augmented Lagrangian and its slopes."""
        total, factors = self.value(x, phase, state)
        bound = factors.pop(BOUND, 0.0)
        criteria = {phase.criterion: 1.0} | ({BOUND: bound} if bound > 0 else {})
        return total, self.problem.slopes(x, criteria, factors)

    def value(self, x: np.ndarray, phase: Phase, state: State) -> tuple[float, dict[str, float]]:
        """The augmented Lagrangian, and the factors of the limits' slopes in its own."""
        (value,) = self.problem.values(x, phase.criterion)
        excess, total, factors = self._excess(x, state.bound), value, {}
        for name, g in excess.items():
            m = state.multipliers.get(name, 0.0)
            factors[name] = max(0.0, m + WEIGHT * g)
            total += (factors[name] ** 2 - m**2) / (2 * WEIGHT)
        if value < state.least and max(excess.values(), default=0.0) <= KEPT:
            state.best, state.least = x.copy(), value
        return total, factors

    def _excess(self, x: np.ndarray, bound: float | None) -> dict[str, float]:
        excess = self.problem.excess(x)
        if bound is not None:
            excess[BOUND] = self.problem.values(x, BOUND)[0] - bound
        return excess

    def into_limits(self, x: np.ndarray, margins: Mapping[str, float]) -> np.ndarray:
        """Free numbers near x with the least squares of excess over the limits, each drawn in by its margin if any."""

        def squares(x: np.ndarray) -> tuple[float, np.ndarray]:
            over = {name: max(g + margins.get(name.split()[0], 0.0), 0.0) for name, g in self.problem.excess(x).items()}
            return 0.5 * sum(g * g for g in over.values()), self.problem.slopes(x, {}, over)

        return self.motions.inside(minimize(squares, x, jac=True, method="L-BFGS-B", options={"maxiter": 50}).x)

    def smaller(self, x: np.ndarray, share: float) -> np.ndarray:
        """Free numbers of the motion of x with every joint's amplitude at `share`."""
        y = x.copy().reshape(self.motions.n, -1)
        y[:, :-1] *= share
        return y.ravel()

    def at(self, x: np.ndarray, t: np.ndarray) -> JointMotion:
        """q, qd, qdd (N, n) of free numbers x at times t (N,) [s], both parts."""
        if self.parts == 1:
            return self.motions.at(x, t)
        place, speed, change = slow_part(t, self.duration)
        (q, qd, qdd), speed = self.motions.at(x, place), speed[:, None]
        return q, speed * qd, speed**2 * qdd + change[:, None] * qd
