"""Structure from data: state cut-off, velocity source, effort delay, effort filter, friction laws.

Every choice minimises the held-out error of the raw effort within the identification data (selection.py); nothing
about a robot or a log is assumed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from robot_dynamics_ros.identification.arm.friction_columns import VELOCITY_WIDTHS, JointFriction
from robot_dynamics_ros.identification.arm.model import EffortFilter, Filters, Structure, joint_rows, signals_of
from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.identification.arm.selection import Evidence, Selector, state_folds
from robot_dynamics_ros.identification.arm.solvers.least_squares import StoredRows, gram_triangle, solve
from robot_dynamics_ros.identification.dataset.motion import (
    Motion,
    at_lower_rate,
    filtered,
    low_pass,
    motion_frequency,
    stack,
)
from robot_dynamics_ros.identification.dataset.recording import Recording

MAX_ROWS = 8_000  # samples used for choices; the final solution uses all
CUTOFF_FACTORS = (3.0, 5.0, 8.0, 12.0, 20.0)  # candidates as multiples of f_dyn; 5 is that of [Madsen2020 ch5 4.1]
DELAYS = range(-2, 9)  # candidates in samples, or in SHORTEST_DELAY where that is longer
SHORTEST_DELAY = 0.004  # s; a parabola through the candidates resolves a fraction of it
PRE_SLIDING = ("h@0.001", "h@0.01", "fs@0.3")  # what a law has beyond its simple terms while a delay is judged
SLIDING = 0.03  # rad of travel after a reversal beyond which presliding friction has settled
MIN_SLIDING = 0.2  # of a joint's samples: one that slides less is judged everywhere
MIN_DELAY_GAIN = 0.05  # relative gain that a delay must bring: logged delays bring several times as much
LOWER = 1.6  # step to a lower cut-off than the candidates
SLOWEST = 4.0  # Hz, lowest cut-off tried: reversals of friction are faster than the motion
MIN_GAIN = 0.01  # relative gain in held-out error that a global choice (source, delay) must bring
QUIET = 2e-3  # an effort that was smoothed has no noise left above the cut-off: less than this share of its deviation
AGREED = 0.7  # share of joints whose error a delay must lower
MIN_FILTER_GAIN = 0.10  # the same for an effort filter: only a log that was visibly smoothed gets one


@dataclass(frozen=True)
class UserChoices:
    """Choices the user has made; None leaves them to the data."""

    cutoff: float | None = None
    delay: float | None = None
    laws: tuple[JointFriction, ...] | None = None
    effort_filter: bool = True


class Tuner:
    """Finds the Structure for recordings of one robot."""

    def __init__(self, recordings: Sequence[Recording], rigid: RigidModel, rotor_inertia: bool, coupled=None) -> None:
        self.recordings, self.rigid, self.coupled = list(recordings), rigid, coupled or {}
        terms = ("fv1", "fo", "ia", "fc") if rotor_inertia else ("fv1", "fo", "fc")
        self.simple = tuple(JointFriction(0.02, terms) for _ in range(rigid.n))
        self.notes: list[str] = []

    def run(self, choices: UserChoices = UserChoices()) -> Structure:
        """The structure with the smallest held-out error."""
        f_dyn = max(motion_frequency(r) for r in self.recordings)
        rate = min(r.rate for r in self.recordings)
        cutoff = choices.cutoff or min(8 * f_dyn, 0.2 * rate)
        none: Filters = (None,) * self.rigid.n
        structure = Structure(cutoff, "q", choices.delay or 0.0, self.simple, none, self.coupled)
        if choices.cutoff is None:
            structure = self._cutoff(structure, f_dyn, rate)
        if all(p.qd is not None for r in self.recordings for p in r.pieces):
            structure = self._velocity(structure, choices, f_dyn, rate)
        if choices.delay is None:
            structure = self._delay(structure, rate)
        evidence = self._evidence(structure)
        if choices.effort_filter:
            structure = replace(structure, filters=self._filters(structure, evidence, evidence.motion.rate))
        laws = choices.laws or self._laws(structure, evidence)
        return replace(structure, laws=tuple(laws))

    # -- the single choices ---------------------------------------------------------------------------------------
    def _cutoff(self, structure: Structure, f_dyn: float, rate: float) -> Structure:
        """State cut-off with the smallest held-out error; onwards below the candidates while it gets better.

        f_dyn is an upper bound where positions are quantised: their steps look like fast motion.
        """
        values = sorted({round(min(max(f * f_dyn, SLOWEST), 0.25 * rate), 3) for f in CUTOFF_FACTORS})
        errors = [self._error(replace(structure, cutoff=c), min(values)) for c in values]
        best = values[int(np.argmin(errors))]
        while best == min(values) and best > SLOWEST:
            lower = max(best / LOWER, SLOWEST)
            if self._error(replace(structure, cutoff=lower), lower) > self._error(
                replace(structure, cutoff=best), lower
            ):
                break
            values, best = [lower], lower
        return replace(structure, cutoff=best)

    def _velocity(self, structure: Structure, choices: UserChoices, f_dyn: float, rate: float) -> Structure:
        """The reported velocity, with a cut-off of its own, where it does better than the differentiated position."""
        reported = replace(structure, source="qd")
        if choices.cutoff is None:
            reported = self._cutoff(reported, f_dyn, rate)
        return self._improve(structure, [reported])

    def _improve(self, structure: Structure, options: list[Structure]) -> Structure:
        best, error = structure, self._error(structure)
        for option in options:
            e = self._error(option)
            if e < (1 - MIN_GAIN) * error:
                best, error = option, e
        return best

    def _delay(self, structure: Structure, rate: float) -> Structure:
        """Delay with the smallest held-out error, where most joints agree and the opposite shift makes it worse.

        Judged away from reversals and with hysteretic laws: friction is late after a reversal, the effort is
        not.
        """
        step = max(1 / rate, SHORTEST_DELAY)
        laws = [JointFriction(law.eps, (*law.terms, *PRE_SLIDING)) for law in structure.laws]
        able = structure.with_laws(laws)
        table = {d: self._errors(replace(able, delay=d * step), away=True) for d in (-1, 0, 1)}
        k = min(table, key=lambda d: table[d].sum())
        while k and k + k // abs(k) in DELAYS:  # onwards while it gets better
            further = k + k // abs(k)
            table[further] = self._errors(replace(able, delay=further * step), away=True)
            if table[further].sum() >= table[k].sum():
                break
            k = further
        errors = {d: float(e.sum()) for d, e in table.items()}
        opposite = errors[-1 if k > 0 else 1]
        agreed = (table[k] < table[0]).mean() >= AGREED
        inside = {k - 1, k + 1} <= set(errors)  # a minimum at the end of the range is a trend, not a delay
        if errors[k] > (1 - MIN_DELAY_GAIN) * errors[0] or opposite < errors[0] or not agreed or not inside:
            return structure
        a, b, c = (errors[d] for d in (k - 1, k, k + 1))
        best = (k + 0.5 * (a - c) / (a - 2 * b + c)) * step
        relation = "lags" if best > 0 else "leads"
        self.notes.append(f"effort {relation} the reported state by {1e3 * abs(best):.2g} ms: compensated")
        return replace(structure, delay=float(best))

    def _filters(self, structure: Structure, evidence: Evidence, rate: float) -> Filters:
        """Per joint: the low-pass the recorded effort has seen, if the data show one beyond doubt."""
        n = self.rigid.n
        possible = {c: self._smoothed(evidence, c, rate) for c in np.geomspace(1.0, 0.16 * rate, 13)}
        options: list[EffortFilter | None] = [None]
        options += [EffortFilter(float(c), k) for c, joints in possible.items() if joints.any() for k in (False, True)]
        if len(options) == 1:
            return (None,) * n
        table = np.empty((len(options), n))
        for k, option in enumerate(options):
            selector = _selector(evidence, structure.laws, (option,) * n, self.coupled)
            table[k] = [selector.fold_errors(j, selector.laws[j]).sum() for j in range(n)]
            if option is not None:
                table[k, ~possible[option.cutoff]] = np.inf
        chosen = table.argmin(0)
        worth = table.min(0) < (1 - MIN_FILTER_GAIN) * table[0]
        return tuple(options[c] if w else None for c, w in zip(chosen, worth, strict=True))

    @staticmethod
    def _smoothed(evidence: Evidence, cutoff: float, rate: float) -> np.ndarray:
        """Which efforts (n,) have no noise left well above a cut-off: under QUIET of their deviation."""
        rest = evidence.effort - low_pass(evidence.effort, 2.5 * cutoff, 1 / rate)
        return np.median(np.abs(rest), axis=0) < QUIET * np.maximum(evidence.effort.std(0), 1e-12)

    def _laws(self, structure: Structure, evidence: Evidence) -> list[JointFriction]:
        return _selector(evidence, structure.laws, structure.filters, self.coupled).run()

    # -- errors ---------------------------------------------------------------------------------------------------
    def motion(self, structure: Structure, margin: float | None = None) -> Motion:
        """All recordings filtered as the structure says."""
        return motion_of(self.recordings, structure, margin)

    def _evidence(self, structure: Structure, margin: float | None = None) -> Evidence:
        motion = thinned(self.motion(structure, margin))
        W = self.rigid.base_regressor(motion.q, motion.qd, motion.qdd)
        zero = np.zeros_like(motion.q)
        size = int(structure.index(W.shape[2])[-1][-1]) + 1
        rows = StoredRows(joint_rows(motion, W, zero, structure), gram_triangle)
        weights = None if motion.weight is None else list(motion.weight.T)
        solution = solve(rows, size, iterations=3, row_weights=weights)
        load = (W @ solution.x[: W.shape[2]]).T
        return Evidence(
            W, motion.effort, solution.weights, fold_sets(motion), signals_of(motion, load, self.coupled), motion
        )

    def _error(self, structure: Structure, margin: float | None = None) -> float:
        return float(self._errors(structure, margin).sum())

    def _errors(self, structure: Structure, margin: float | None = None, away: bool = False) -> np.ndarray:
        """Held-out error (n,) of each joint relative to its effort's power, for simple friction laws.

        away: only samples that are SLIDING away from the last reversal of their joint count.
        """
        evidence = self._evidence(structure, margin)
        if away:
            evidence = replace(evidence, weight=evidence.weight * sliding(evidence.motion))
        selector = _selector(evidence, structure.laws, structure.filters, self.coupled)
        power = (evidence.weight * evidence.effort**2).sum(0) * len(evidence.folds)
        errors = [
            min(selector.fold_errors(j, law.with_eps(e)).sum() for e in VELOCITY_WIDTHS)
            for j, law in enumerate(selector.laws)
        ]
        return np.array(errors) / power


def motion_of(recordings: Sequence[Recording], structure: Structure, margin: float | None = None) -> Motion:
    """Recordings filtered as a structure says, at the rate of the solution."""
    s = structure
    return stack([at_lower_rate(filtered(r, s.cutoff, s.source, s.delay, margin)) for r in recordings])


def _selector(evidence: Evidence, laws, filters: Filters, coupled) -> Selector:
    return Selector(replace(evidence, filters=filters), list(laws), coupled)


def sliding(motion: Motion) -> np.ndarray:
    """(N, n) bool: the joint is SLIDING past its last reversal; all samples where that leaves less than MIN_SLIDING."""
    rows = np.arange(len(motion))
    kept = np.ones(motion.q.shape, bool)
    for j in range(motion.n):
        turned = motion.start.copy()
        turned[1:] |= np.diff(np.sign(motion.qd[:, j])) != 0
        last = np.maximum.accumulate(np.where(turned, rows, 0))
        far = np.abs(motion.q[:, j] - motion.q[last, j]) > SLIDING
        kept[:, j] = far if far.mean() > MIN_SLIDING else True
    return kept


def fold_sets(motion: Motion) -> list[np.ndarray]:
    """Two partitions of the samples: regions of the state space, and stretches of time."""
    time = np.minimum(np.arange(len(motion)) * 6 // len(motion), 5)
    return [state_folds(motion.q, motion.qd), time]


def thinned(motion: Motion) -> Motion:
    """At most MAX_ROWS samples for the choices."""
    return motion if len(motion) <= MAX_ROWS else motion.take(stretches(len(motion), MAX_ROWS, 12))


def stretches(samples: int, rows: int, count: int) -> np.ndarray:
    """Indices of `count` stretches taken evenly over the motion: filters and hysteresis keep working inside each."""
    length = rows // count
    starts = np.linspace(0, samples - length, count).astype(int)
    return np.unique(np.concatenate([np.arange(s, s + length) for s in starts]))


__all__ = ["Tuner", "UserChoices", "fold_sets", "stretches", "thinned"]
