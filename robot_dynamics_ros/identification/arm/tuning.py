"""Structure from data: state cut-off, effort delay and filter, coupled motors; every choice minimises
the held-out error of the raw effort within the identification data (cross_validation.py), under the simple law of
friction. Friction that turns round after some travel is late as well: cut-offs and delays are judged with presliding
elements beside that law where they predict clearly better, and a delay where joints slide, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from robot_dynamics_ros.identification.arm.cross_validation import CrossValidation
from robot_dynamics_ros.identification.arm.friction_columns import SIMPLE, SPANS, Coupled, JointFriction
from robot_dynamics_ros.identification.arm.friction_samples import since_turn
from robot_dynamics_ros.identification.arm.model import EffortFilter, Filters, Structure, motion_of
from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.identification.dataset.motion import low_pass, motion_frequency
from robot_dynamics_ros.identification.dataset.recording import Recording
from robot_dynamics_ros.identification.dataset.stretches import sampled, shifted, thinned, vertex

ROWS = 6_000  # samples used for choices; the final solution uses all
CUTOFFS, TOP = 7, 20.0  # candidates in even ratios, the highest as a multiple of f_dyn of [Madsen2020 ch5 4.1]
SLOWEST = 4.0  # Hz, lowest cut-off tried: reversals of friction are faster than the motion
CONTEXT = 0.6  # s beside each stretch for the filters: two periods of SLOWEST and the longest delay
DELAYS = range(-2, 9)  # candidates in steps of SHORTEST_DELAY, or of a sample where that is longer
SHORTEST_DELAY = 0.004  # s; a parabola through the candidates resolves a fraction of it
ROUNDS, CLOSE = 4, 0.01  # of the finer search: at most, and step of the last one; the errors are alike on both sides
SIGNIFICANCE = 3.0  # standard deviations, from the scatter of the joints, beyond which a delay is tried
MIN_GAIN = 0.01  # relative gain in held-out error that a delay must bring
AGREED = 0.7  # share of joints whose error a delay must lower
MEMORY_GAIN = 0.2  # the same that shows presliding: 0.3..0.6 on the zoo; a Coulomb step wider than STEP brings 0.1
# Weight of samples that are within the largest span of presliding from a turn, of joints that slide for that share of
# the time at least.
TURNING, MIN_SLIDING = 1e-3, 0.1
QUIET = 2e-3  # an effort that was smoothed has no noise left above the cut-off: less than this share of its deviation
MIN_FILTER_GAIN = 0.10  # the same for an effort filter: only a log that was visibly smoothed gets one
NO_SHIFT = np.zeros(1, int)


class Tuner:
    """Finds the Structure for recordings of one robot."""

    def __init__(
        self, recordings: Sequence[Recording], rigid: RigidModel, rotor_inertia: bool, coupled: Coupled | None = None
    ) -> None:
        self.recordings, self.rigid, self.coupled = list(recordings), rigid, coupled or {}
        terms = SIMPLE if rotor_inertia else tuple(t for t in SIMPLE if t != "ia")
        self.simple = (JointFriction(terms=terms),) * rigid.n
        self.rate = min(r.rate for r in self.recordings)
        self._sampled = sampled(self.recordings, ROWS, CONTEXT)
        self.notes: list[str] = []
        self._remembers = False  # cut-offs and delays are judged with presliding elements
        self._shifted: dict[tuple[Any, ...], np.ndarray] = {}  # efforts by delays and margin

    def run(self) -> Structure:
        """The structure with the smallest held-out error.

        Cut-off and delay are searched together; effort filters and coupled motors are chosen without and with the
        delay, and the delay stays where the robot is predicted better with it and, with the same filters and motors,
        AGREED of the joints are.
        """
        candidates, errors, lags = self._search()
        table, zero = errors.sum(1), int(np.flatnonzero(lags == 0)[0])
        chosen = self._completed(candidates[int(table[:, zero].argmin())])
        k = int(table.min(1).argmin())
        if late := self._late(candidates[k], errors[k], lags):
            other = self._completed(late)
            if self._gains(other, chosen):
                chosen = self._refined(other)
                self.notes.append(_lag(chosen))
        return chosen

    # -- cut-off and delay ---------------------------------------------------------------------------------------
    def _search(self) -> tuple[list[Structure], np.ndarray, np.ndarray]:
        """Candidates, held-out errors of their joints for every delay (candidates, n, D), and delays [samples].

        The highest cut-off is TOP times f_dyn; positions in steps and late stamps look like fast motion.
        """
        fastest = TOP * max(motion_frequency(r) for r in self.recordings)
        highest = min(max(fastest, SLOWEST), 0.25 * self.rate)
        cutoffs = np.geomspace(min(SLOWEST, highest), highest, CUTOFFS).tolist()
        none: Filters = (None,) * self.rigid.n
        lags = np.array(DELAYS) * max(1, round(SHORTEST_DELAY * self.rate))
        candidates = [Structure(c, 0.0, self.simple, none, self.coupled) for c in cutoffs]
        first = candidates[0], candidates[0].remembering()
        simple, memory = (self._errors(s, lags, cutoffs[0]) for s in first)
        self._remembers = bool(memory.sum(0).min() < (1 - MEMORY_GAIN) * simple.sum(0).min())
        rows = [memory if self._remembers else simple]
        rows += [self._errors(self._law(s), lags, cutoffs[0]) for s in candidates[1:]]
        return candidates, np.array(rows), lags

    def _late(self, structure: Structure, table: np.ndarray, lags: np.ndarray) -> Structure | None:
        """The structure with the delay that shows beyond SIGNIFICANCE deviations, or None; table (n, D): its errors.

        Effort that leads by more than SHORTEST_DELAY and a sample is none: a controller reports state and effort of one
        cycle, and friction or elasticity that the laws lack looks like that.
        """
        k = int(table.sum(0).argmin())
        if not 0 < k < len(lags) - 1:
            return None  # a minimum at the end of the range is a trend, not a delay
        place, std = vertex(table[:, k - 1 : k + 2])
        step = (lags[1] - lags[0]) / self.rate
        delay = lags[k] / self.rate + place * step
        if not abs(delay) > SIGNIFICANCE * std * step:
            return None
        found = self._refined(replace(structure, delay=delay, delay_std=std * step))
        return found if found.delay > -max(SHORTEST_DELAY, 1 / self.rate) else None

    def _gains(self, late: Structure, chosen: Structure) -> bool:
        """Whether a delay saves MIN_GAIN of the held-out error and lowers that of AGREED of the sliding joints.

        Filters or motors that come with it can gain more than it does, and at turns friction that the laws lack looks
        like a delay (39.8 +- 1.7 ms where 0 to 3 are true).
        """
        margin = min(late.cutoff, chosen.cutoff)
        before, after = (self._errors(self._law(s), NO_SHIFT, margin).sum() for s in (chosen, late))
        without, delayed = (
            self._errors(self._law(s), NO_SHIFT, margin, True)[:, 0] for s in (replace(late, delay=0.0), late)
        )
        return bool(after < (1 - MIN_GAIN) * before and (delayed < without).mean() >= AGREED)

    def _refined(self, structure: Structure) -> Structure:
        """The structure with its delay found again in finer steps around it.

        Reversals make the error grow like the distance from the delay, not its square: a parabola is right only where
        its middle is the delay, so the state is shifted to the vertex until that stays.
        """
        half = max(1, round(0.5 * SHORTEST_DELAY * self.rate))
        for _ in range(ROUNDS):
            place, std = vertex(self._errors(self._law(structure), half * np.arange(-1, 2), structure.cutoff))
            if abs(place) > 1:
                return structure
            delay = structure.delay + place * half / self.rate
            structure = replace(structure, delay=delay, delay_std=std * half / self.rate)
            if abs(place) < CLOSE:
                break
        return structure

    def _law(self, structure: Structure) -> Structure:
        """The structure with the law that cut-offs and delays are judged with."""
        return structure.remembering() if self._remembers else structure

    # -- effort filters and coupled motors ------------------------------------------------------------------------
    def _completed(self, structure: Structure) -> Structure:
        """The structure with effort filters and coupled motors for its settings."""
        judged = self._judged(structure)
        return judged.with_motors(replace(structure, filters=self._filters(structure, judged)))

    def _filters(self, structure: Structure, judged: CrossValidation) -> Filters:
        """Per joint: the low-pass the recorded effort has seen, if the data show one beyond doubt."""
        n = self.rigid.n
        possible = self._smoothed(np.geomspace(1.0, 0.16 * judged.motion.rate, 13))
        options: list[EffortFilter | None] = [None]
        options += [EffortFilter(float(c), k) for c, joints in possible.items() if joints.any() for k in (False, True)]
        if len(options) == 1:
            return (None,) * n
        table = np.array([judged.errors(replace(structure, filters=(option,) * n))[:, 0] for option in options])
        for k, option in enumerate(options):
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
        pieces = [(p.effort, p.period) for r in self._sampled for p in r.pieces]
        size = np.maximum(np.concatenate([y for y, _ in pieces]).std(0), 1e-12)
        quiet, found = np.ones(self.rigid.n, bool), {}
        for cutoff in cutoffs[::-1].tolist():
            if quiet.any():
                rest = np.concatenate([y - low_pass(y, 2.5 * cutoff, dt) for y, dt in pieces])
                quiet = quiet & (np.median(np.abs(rest), axis=0) < QUIET * size)
            found[cutoff] = quiet
        return dict(reversed(found.items()))

    # -- errors ---------------------------------------------------------------------------------------------------
    def _judged(
        self, structure: Structure, lags: np.ndarray = NO_SHIFT, margin: float | None = None, slides: bool = False
    ) -> CrossValidation:
        """The motion as the structure filters it, with the effort taken lags (D,) [samples] later, 0 first.

        slides: joints that turned or stood hardly count.
        """
        motion = thinned(motion_of(self._sampled, structure, margin), ROWS)
        key = (*lags.tolist(), margin or structure.cutoff)
        if key not in self._shifted:  # of candidates with one margin they are alike
            self._shifted[key] = thinned(motion_of(shifted(self._sampled, lags), structure, margin), ROWS).effort
        if slides:
            away = since_turn(motion.q, motion.qd, motion.start) > SPANS[-1]
            weight = np.where(away.mean(axis=0) > MIN_SLIDING, np.maximum(away, TURNING), 1.0)
            motion = replace(motion, weight=weight if motion.weight is None else weight * motion.weight)
        return CrossValidation(self.rigid, structure, motion, self._shifted[key])

    def _errors(
        self, structure: Structure, lags: np.ndarray, margin: float | None = None, slides: bool = False
    ) -> np.ndarray:
        """Held-out error (n, D) of each joint relative to its effort's power, for effort taken lags (D,) [samples]
        later. The normal matrices are made once; each delay is one more right-hand side.
        """
        first = int(np.abs(lags).argmin())
        order = np.r_[first, np.delete(np.arange(len(lags)), first)]
        errors = np.empty((self.rigid.n, len(lags)))
        errors[:, order] = self._judged(structure, lags[order], margin, slides).errors(structure)
        return errors


def _lag(structure: Structure) -> str:
    relation = "lags" if structure.delay > 0 else "leads"
    size, std = 1e3 * abs(structure.delay), 1e3 * structure.delay_std
    return f"effort {relation} the reported state by {size:.3g} +- {std:.1g} ms: compensated"
