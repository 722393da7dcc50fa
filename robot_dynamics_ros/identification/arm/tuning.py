"""Structure from data: state cut-off, effort filter, coupled motors; every choice minimises the held-out error of the
raw effort within the identification data (cross_validation.py), under the simple law of friction. Cut-offs are judged
with presliding elements beside that law where they predict clearly better. A delay of the effort is the robot file's:
friction that the laws miss looks late, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from robot_dynamics_ros.identification.arm.cross_validation import CrossValidation
from robot_dynamics_ros.identification.arm.friction_columns import simple_law
from robot_dynamics_ros.identification.arm.model import EffortFilter, Filters, Structure, motion_of
from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.identification.dataset.motion import low_pass, motion_frequency
from robot_dynamics_ros.identification.dataset.recording import Recording
from robot_dynamics_ros.identification.dataset.stretches import sampled, thinned

ROWS = 6_000  # samples used for choices; the final solution uses all
CUTOFFS, TOP = 7, 20.0  # candidates in even ratios, the highest as a multiple of f_dyn of [Madsen2020 ch5 4.1]
SLOWEST = 4.0  # Hz, lowest cut-off tried: reversals of friction are faster than the motion
CONTEXT = 0.6  # s beside each stretch for the filters: two periods of SLOWEST and a delay
# Relative gain in held-out error that shows presliding: 0.3..0.6 on the zoo; a Coulomb step wider than STEP brings 0.1.
MEMORY_GAIN = 0.2
QUIET = 2e-3  # an effort that was smoothed has no noise left above the cut-off: less than this share of its deviation
MIN_FILTER_GAIN = 0.10  # the same gain for an effort filter: only a log that was visibly smoothed gets one


class Tuner:
    """Finds the Structure for recordings of one robot; motor: its effort is taken on the motor side; delay [s]: of its
    effort, as its robot file has it.
    """

    def __init__(
        self, recordings: Sequence[Recording], rigid: RigidModel, motor: bool = True, delay: float = 0.0
    ) -> None:
        self.recordings, self.rigid, self.motor, self.delay = list(recordings), rigid, motor, delay
        self.simple = (simple_law(motor),) * rigid.n
        self.rate = min(r.rate for r in self.recordings)
        self._sampled = sampled(self.recordings, ROWS, CONTEXT)

    def run(self) -> Structure:
        """The structure with the smallest held-out error: first the cut-off, then effort filters and coupled motors."""
        candidates = self._candidates()
        errors = [self._error(s, candidates[0].cutoff) for s in candidates]
        best = candidates[int(np.argmin(errors))].with_laws(self.simple)
        judged = self._judged(best)
        structure = replace(best, filters=self._filters(best, judged))
        return judged.with_motors(structure) if self.motor else structure

    # -- cut-off ---------------------------------------------------------------------------------------------------
    def _candidates(self) -> list[Structure]:
        """Structures of every cut-off, with the law that they are judged with.

        The highest cut-off is TOP times f_dyn; positions in steps and late stamps look like fast motion.
        """
        fastest = TOP * max(motion_frequency(r) for r in self.recordings)
        highest = min(max(fastest, SLOWEST), 0.25 * self.rate)
        cutoffs = np.geomspace(min(SLOWEST, highest), highest, CUTOFFS).tolist()
        none: Filters = (None,) * self.rigid.n
        found = [Structure(c, self.delay, self.simple, none) for c in cutoffs]
        simple, memory = (self._error(s, cutoffs[0]) for s in (found[0], found[0].remembering()))
        return [s.remembering() for s in found] if memory < (1 - MEMORY_GAIN) * simple else found

    # -- effort filters -------------------------------------------------------------------------------------------
    def _filters(self, structure: Structure, judged: CrossValidation) -> Filters:
        """Per joint: the low-pass the recorded effort has seen, if the data show one beyond doubt."""
        n = self.rigid.n
        possible = self._smoothed(np.geomspace(1.0, 0.16 * judged.motion.rate, 13))
        options: list[EffortFilter | None] = [None]
        options += [EffortFilter(float(c), k) for c, joints in possible.items() if joints.any() for k in (False, True)]
        if len(options) == 1:
            return (None,) * n
        table = np.array([judged.errors(replace(structure, filters=(option,) * n)) for option in options])
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
    def _judged(self, structure: Structure, margin: float | None = None) -> CrossValidation:
        """The motion as the structure filters it."""
        return CrossValidation(self.rigid, structure, thinned(motion_of(self._sampled, structure, margin), ROWS))

    def _error(self, structure: Structure, margin: float) -> float:
        """Sum of the joints' held-out errors relative to their efforts' power."""
        return float(self._judged(structure, margin).errors(structure).sum())
