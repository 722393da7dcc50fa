"""Structure from data: state cut-off, velocity source, effort delay and filter, friction laws; every choice minimises
the held-out error of the raw effort within the identification data (selection.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from robot_dynamics_ros.identification.arm.friction_columns import VELOCITY_WIDTHS, Coupled, JointFriction
from robot_dynamics_ros.identification.arm.model import (
    EffortFilter,
    Filters,
    Structure,
    joint_rows,
    motion_of,
    signals_of,
)
from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.identification.arm.selection import Evidence, Selector, fold_sets
from robot_dynamics_ros.identification.arm.solvers.least_squares import StoredRows, gram_triangle, solve
from robot_dynamics_ros.identification.dataset.motion import (
    low_pass,
    motion_frequency,
    noise_limit,
)
from robot_dynamics_ros.identification.dataset.recording import Recording
from robot_dynamics_ros.identification.dataset.stretches import sampled, shifted, thinned, vertex

MAX_ROWS = 8_000  # samples used for choices; the final solution uses all
SEARCH_ROWS = 5_000  # of them for the search of the settings
SEARCH_WIDTHS = VELOCITY_WIDTHS[::2]
CUTOFF_FACTORS = (3.0, 5.0, 8.0, 12.0, 20.0)  # candidates as multiples of f_dyn; 5 is that of [Madsen2020 ch5 4.1]
LOWER = 1.6  # step to a lower cut-off than the candidates
SLOWEST = 4.0  # Hz, lowest cut-off tried: reversals of friction are faster than the motion
CONTEXT = 0.6  # s beside each stretch for the filters: two periods of SLOWEST and the longest delay
DELAYS = range(-2, 9)  # candidates in steps of SHORTEST_DELAY, or of a sample where that is longer
SHORTEST_DELAY = 0.004  # s; a parabola through the candidates resolves a fraction of it
ROUNDS, CLOSE = 4, 0.01  # of the finer search: at most, and step of the last one; the errors are alike on both sides
SIGNIFICANCE = 3.0  # standard deviations, from the scatter of the joints, beyond which a delay is tried
MIN_GAIN = 0.01  # relative gain in held-out error that a global choice (source, delay) must bring
AGREED = 0.7  # share of joints whose error a delay must lower
NEAR = 0.05  # settings whose error is within this share of the smallest are judged again with the chosen laws
QUIET = 2e-3  # an effort that was smoothed has no noise left above the cut-off: less than this share of its deviation
MIN_FILTER_GAIN = 0.10  # the same for an effort filter: only a log that was visibly smoothed gets one
NO_SHIFT = np.zeros(1, int)


@dataclass(frozen=True)
class UserChoices:
    """Choices the user has made; None leaves them to the data."""

    cutoff: float | None = None
    delay: float | None = None
    laws: tuple[JointFriction, ...] | None = None
    effort_filter: bool = True


class Tuner:
    """Finds the Structure for recordings of one robot."""

    def __init__(
        self, recordings: Sequence[Recording], rigid: RigidModel, rotor_inertia: bool, coupled: Coupled | None = None
    ) -> None:
        self.recordings, self.rigid, self.coupled = list(recordings), rigid, coupled or {}
        terms = ("fv1", "fo", "ia", "fc") if rotor_inertia else ("fv1", "fo", "fc")
        self.simple = tuple(JointFriction(0.02, terms) for _ in range(rigid.n))
        self.rate = min(r.rate for r in self.recordings)
        self._sampled = {rows: sampled(self.recordings, rows, CONTEXT) for rows in (SEARCH_ROWS, MAX_ROWS)}
        self.notes: list[str] = []

    def run(self, choices: UserChoices = UserChoices()) -> Structure:
        """The structure with the smallest held-out error.

        Cut-off, velocity source and delay are searched together with simple laws; effort filters and laws are chosen
        without and with the delay, and the delay stays where these laws predict better with it and, with the same
        laws, AGREED of the joints do. Settings that were nearly as good are judged again with the chosen laws.
        """
        candidates, table, lags = self._search(choices)
        zero = int(np.flatnonzero(lags == 0)[0])
        chosen, errors = self._completed(_best(candidates, table[:, zero]), choices)
        if late := self._late(_best(candidates, table.min(1)), lags):
            other, less = self._completed(late, choices)
            if less.sum() < (1 - MIN_GAIN) * errors.sum() and self._agree(other):
                chosen = _agreed(other, self._refined(other))
                self.notes.append(_lag(chosen))
        near = [c for c, e in zip(candidates, table.min(1), strict=True) if e < (1 + NEAR) * table.min()]
        again = self._again(chosen, near)
        return chosen if again is chosen else self._completed(again, choices)[0]

    # -- cut-off, velocity source and delay -----------------------------------------------------------------------
    def _search(self, choices: UserChoices) -> tuple[list[Structure], np.ndarray, np.ndarray]:
        """Candidates with simple laws, their held-out errors for every delay (candidates, D), and delays [samples].

        f_dyn is an upper bound where positions are quantised: their steps look like fast motion.
        """
        f_dyn = max(motion_frequency(r) for r in self.recordings)
        free = sorted({round(min(max(f * f_dyn, SLOWEST), 0.25 * self.rate), 3) for f in CUTOFF_FACTORS})
        cutoffs = [choices.cutoff] if choices.cutoff else free
        reported = all(p.qd is not None for r in self.recordings for p in r.pieces)
        none: Filters = (None,) * self.rigid.n
        first = Structure(cutoffs[0], "q", choices.delay or 0.0, self.simple, none, self.coupled)
        candidates = []
        for s in ("q", "qd") if reported else ("q",):
            limit = max(SLOWEST, noise_limit(self.recordings, s)) if not choices.cutoff else np.inf
            own = sorted({min(c, round(limit, 3)) for c in cutoffs})
            candidates += [replace(first, cutoff=c, source=s) for c in own]
        lags = NO_SHIFT
        if choices.delay is None:
            lags = np.array(DELAYS) * max(1, round(SHORTEST_DELAY * self.rate))
        margin = min(c.cutoff for c in candidates)
        rows = [self._errors(c, margin, lags).sum(0) for c in candidates]
        if not choices.cutoff:
            self._lower(candidates, rows, lags)
        return candidates, np.array(rows), lags

    def _lower(self, candidates: list[Structure], rows: list[np.ndarray], lags: np.ndarray) -> None:
        """Append candidates below the lowest cut-off of each source while the error falls there."""
        for source in dict.fromkeys(c.source for c in candidates):
            own = [k for k, c in enumerate(candidates) if c.source == source]
            k = min(own, key=lambda i: rows[i].min())
            best, lowest = candidates[k], candidates[k].cutoff == min(candidates[i].cutoff for i in own)
            while lowest and best.cutoff > SLOWEST:
                lower = replace(best, cutoff=max(best.cutoff / LOWER, SLOWEST))
                a, b = (self._errors(c, lower.cutoff, lags).sum(0) for c in (lower, best))
                if a.min() > b.min():
                    break
                candidates.append(lower)
                rows.append(rows[k] * (a / b))  # as if on the samples of the others
                k, best = len(rows) - 1, lower

    def _late(self, structure: Structure, lags: np.ndarray) -> Structure | None:
        """The structure with the delay that simple laws show beyond SIGNIFICANCE deviations, or None."""
        if len(lags) == 1:
            return None
        table = self._errors(structure, None, lags)
        k = int(table.sum(0).argmin())
        if not 0 < k < len(lags) - 1:
            return None  # a minimum at the end of the range is a trend, not a delay
        place, std = vertex(table[:, k - 1 : k + 2])
        step = (lags[1] - lags[0]) / self.rate
        delay = lags[k] / self.rate + place * step
        if not abs(delay) > SIGNIFICANCE * std * step:
            return None
        rough = replace(structure, delay=delay, delay_std=std * step)
        return self._refined(rough, SEARCH_WIDTHS)

    def _agree(self, late: Structure) -> bool:
        """Whether AGREED of the joints are predicted better with the delay than without it by the same laws: other laws
        that come with a delay can gain more than it does.
        """
        without, delayed = (self._errors(s, s.cutoff, NO_SHIFT, widths=None) for s in (replace(late, delay=0.0), late))
        return bool((delayed < without).mean() >= AGREED)

    def _refined(self, structure: Structure, widths: Sequence[float] | None = None) -> Structure:
        """The structure with its delay found again in finer steps around it; widths as for `_errors`.

        Reversals make the error grow like the distance from the delay, not its square: a parabola is right only where
        its middle is the delay, so the state is shifted to the vertex until that stays.
        """
        half = max(1, round(0.5 * SHORTEST_DELAY * self.rate))
        for _ in range(ROUNDS):
            table = self._errors(structure, structure.cutoff, half * np.arange(-1, 2), widths)
            place, std = vertex(table)
            if abs(place) > 1:
                return structure
            delay = structure.delay + place * half / self.rate
            structure = replace(structure, delay=delay, delay_std=std * half / self.rate)
            if abs(place) < CLOSE:
                break
        return structure

    def _again(self, chosen: Structure, near: list[Structure]) -> Structure:
        """The nearly best settings with the chosen laws: the best of them where it gains MIN_GAIN, else the chosen."""
        own = (chosen.cutoff, chosen.source)
        options = [replace(chosen, cutoff=c.cutoff, source=c.source) for c in near if (c.cutoff, c.source) != own]
        if not options:
            return chosen
        margin = min(c.cutoff for c in (chosen, *options))
        errors = [self._errors(c, margin, NO_SHIFT, widths=None).sum() for c in (chosen, *options)]
        best = int(np.argmin(errors))
        return options[best - 1] if errors[best] < (1 - MIN_GAIN) * errors[0] else chosen

    # -- effort filters and laws ----------------------------------------------------------------------------------
    def _completed(self, structure: Structure, choices: UserChoices) -> tuple[Structure, np.ndarray]:
        """The structure with effort filters and laws for its settings, and the held-out error (n,) of each joint."""
        structure = structure.with_laws(self.simple)
        evidence = self._evidence(structure)
        if choices.effort_filter:
            structure = replace(structure, filters=self._filters(structure, evidence))
        selector = Selector(replace(evidence, filters=structure.filters), list(structure.laws), self.coupled)
        laws = list(choices.laws) if choices.laws else selector.run()
        errors = [selector.fold_errors(j, law).sum() for j, law in enumerate(laws)]
        return structure.with_laws(laws), np.array(errors) / _power(evidence)

    def _filters(self, structure: Structure, evidence: Evidence) -> Filters:
        """Per joint: the low-pass the recorded effort has seen, if the data show one beyond doubt."""
        n = self.rigid.n
        possible = self._smoothed(np.geomspace(1.0, 0.16 * evidence.motion.rate, 13))
        options: list[EffortFilter | None] = [None]
        options += [EffortFilter(float(c), k) for c, joints in possible.items() if joints.any() for k in (False, True)]
        if len(options) == 1:
            return (None,) * n
        table = np.empty((len(options), n))
        for k, option in enumerate(options):
            selector = Selector(replace(evidence, filters=(option,) * n), list(structure.laws), self.coupled)
            table[k] = [selector.fold_errors(j, selector.laws[j]).sum() for j in range(n)]
            if option is not None:
                table[k, ~possible[option.cutoff]] = np.inf
        chosen = table.argmin(0)
        worth = table.min(0) < (1 - MIN_FILTER_GAIN) * table[0]
        return tuple(options[c] if w else None for c, w in zip(chosen, worth, strict=True))

    def _smoothed(self, cutoffs: np.ndarray) -> dict[float, np.ndarray]:
        """Which efforts (n,) have no noise left well above a cut-off: under QUIET of their deviation.

        At the rate of the recording: behind the anti-alias filter of a lower rate no effort has noise left. What has
        noise above one cut-off has it above every lower one.
        """
        pieces = [(p.effort, p.period) for r in self._sampled[SEARCH_ROWS] for p in r.pieces]
        size = np.maximum(np.concatenate([y for y, _ in pieces]).std(0), 1e-12)
        quiet, found = np.ones(self.rigid.n, bool), {}
        for cutoff in cutoffs[::-1].tolist():
            if quiet.any():
                rest = np.concatenate([y - low_pass(y, 2.5 * cutoff, dt) for y, dt in pieces])
                quiet = quiet & (np.median(np.abs(rest), axis=0) < QUIET * size)
            found[cutoff] = quiet
        return dict(reversed(found.items()))

    # -- errors ---------------------------------------------------------------------------------------------------
    def _evidence(
        self, structure: Structure, margin: float | None = None, lags: np.ndarray = NO_SHIFT, rows: int = MAX_ROWS
    ) -> Evidence:
        """What the selection reads for a structure; lags (D,): versions of the effort, the first one counts."""
        motion = thinned(motion_of(shifted(self._sampled[rows], lags), structure, margin), rows)
        efforts, motion = motion.effort, replace(motion, effort=motion.effort[:, : self.rigid.n])
        W = self.rigid.base_regressor(motion.q, motion.qd, motion.qdd)
        zero = np.zeros_like(motion.q)
        size = int(structure.index(W.shape[2])[-1][-1]) + 1
        joints = StoredRows(joint_rows(motion, W, zero, structure), gram_triangle)
        weights = None if motion.weight is None else list(motion.weight.T)
        solution = solve(joints, size, iterations=3, row_weights=weights)
        load = (W @ solution.x[: W.shape[2]]).T
        return Evidence(W, efforts, solution.weights, fold_sets(motion), signals_of(motion, load, self.coupled), motion)

    def _errors(
        self,
        structure: Structure,
        margin: float | None,
        lags: np.ndarray,
        widths: Sequence[float] | None = SEARCH_WIDTHS,
    ) -> np.ndarray:
        """Held-out error (n, D) of each joint relative to its effort's power, for effort taken lags (D,) [samples]
        later.

        The normal matrices are made once; each delay is one more right-hand side. widths: of the laws' velocity, the
        best one counts; None: those that the laws have.
        """
        first = int(np.abs(lags).argmin())
        order = np.r_[first, np.delete(np.arange(len(lags)), first)]
        evidence = self._evidence(structure, margin, lags[order], SEARCH_ROWS)
        selector = Selector(replace(evidence, filters=structure.filters), list(structure.laws), self.coupled)
        errors = np.empty((self.rigid.n, len(lags)))
        for j, law in enumerate(selector.laws):
            options = [law.with_eps(e) for e in widths or (law.eps,)]
            errors[j, order] = selector.shifted_errors(j, options).sum(1).min(0)
        return errors / _power(evidence)[:, None]


def _power(evidence: Evidence) -> np.ndarray:
    """Power of every joint's effort (n,), counted once per partition."""
    return (evidence.weight * evidence.motion.effort**2).sum(0) * len(evidence.folds)


def _best(candidates: list[Structure], errors: np.ndarray) -> Structure:
    """The candidate with the smallest error; reported velocities only where they gain MIN_GAIN."""
    first = min((k for k, c in enumerate(candidates) if c.source == "q"), key=lambda k: errors[k])
    best = int(errors.argmin())
    return candidates[best if errors[best] < (1 - MIN_GAIN) * errors[first] else first]


def _agreed(simple: Structure, own: Structure) -> Structure:
    """The second structure with the delay of the two that the joints agree on better; half of their difference is in
    its deviation: presliding friction and delay explain each other in part.
    """
    best = simple if simple.delay_std <= own.delay_std else own
    std = float(np.hypot(best.delay_std, 0.5 * (simple.delay - own.delay)))
    return replace(own, delay=best.delay, delay_std=std)


def _lag(structure: Structure) -> str:
    relation = "lags" if structure.delay > 0 else "leads"
    size, std = 1e3 * abs(structure.delay), 1e3 * structure.delay_std
    return f"effort {relation} the reported state by {size:.3g} +- {std:.1g} ms: compensated"


__all__ = ["Tuner", "UserChoices"]
