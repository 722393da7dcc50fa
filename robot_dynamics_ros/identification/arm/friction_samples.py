"""What the rigid body leaves of joints' effort, as fits of friction take it, and what drives the elements of a law."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.identification.arm.friction_columns import SPANS
from robot_dynamics_ros.identification.arm.model import EffortFilter
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.signals.runs import last_true, pieces_of
from robot_dynamics_ros.signals.speeds import SLOW

STILL = 0.05  # s in which a joint that stands moves by less than the smallest span: 0.6 mrad/s


@dataclass(frozen=True)
class Kind:
    """What the joints of an arm have in common: whether elements slip at their level, instead of giving way gradually;
    dry: without travel before breakaway; power of the load, 0: not chosen yet; whether spans widen along a turn; level
    of the bearings' friction over the median friction of their joint.
    """

    slips: bool = False
    dry: bool = False
    power: float = 0.0
    widens: bool = False
    bearing: float = 0.0


@dataclass(frozen=True)
class FrictionSamples:
    """What the rigid body leaves of one joint's effort: y (N,) friction [Nm] against velocity v (N,) [rad/s], torque
    without friction `load` (N,) [Nm] and measured position (N,) [rad].

    weight (N,): robust weights. start (N,) bool: first sample of each piece. folds: fold numbers (N,) of one or more
    partitions. effort_filter: the low-pass that the recorded effort has passed. rate: samples per second [Hz]. t (N,):
    stamps [s] within each piece. rotor (N,): position of the rotor from the reported velocity [rad], None where there
    is none.
    """

    y: np.ndarray
    v: np.ndarray
    load: np.ndarray
    position: np.ndarray
    weight: np.ndarray
    start: np.ndarray
    folds: Sequence[np.ndarray]
    effort_filter: EffortFilter | None
    rate: float
    t: np.ndarray
    rotor: np.ndarray | None = None
    kind: Kind = Kind()

    @property
    def driver(self) -> np.ndarray:
        """Positions (N,) [rad] that drive the elements."""
        return np.ascontiguousarray(self.position if self.rotor is None else self.rotor)

    def dry_share(self) -> float:
        """(p - s) / (1 - s) of the shares that a standing joint has: p of the changes of friction by half of its level
        within STILL, s of the time; 0: noise. NaN without such a change, and where the joint never slides.
        """
        change, slides = np.abs(self.y - self.y[before(self.start, self.rate)]), np.abs(self.v) > SLOW
        level = np.sqrt(np.mean(self.y[slides] ** 2)) if slides.any() else np.inf
        large = change > 0.5 * level
        stands = still(self.driver, self.start, self.rate)
        return float(1.0 - np.mean(~stands[large]) / np.mean(~stands)) if large.any() and not stands.all() else np.nan

    def as_recorded(self, x: np.ndarray) -> np.ndarray:
        """Columns (N, k) as the recorded effort shows them: through the same low-pass."""
        return x if self.effort_filter is None else self.effort_filter.apply(x, self.rate, self.start)


def still(driver: np.ndarray, start: np.ndarray, rate: float) -> np.ndarray:
    """Samples before which the driver (N, n) [rad], start (N,), moved by less than the smallest span for STILL."""
    return np.asarray(np.abs(driver - driver[before(start, rate)]) < SPANS[0])


def before(start: np.ndarray, rate: float) -> np.ndarray:
    """Number (N,) of the sample STILL before each; of itself at the beginning of a piece."""
    here = np.arange(len(start))
    row = np.maximum(here - max(round(STILL * rate), 1), 0)
    return np.where(np.cumsum(start)[row] == np.cumsum(start), row, here)


def covered(position: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Range (N, ...) [rad] of positions (N, ...) since the beginning of their piece."""
    parts = (position[a:b] for a, b in pieces_of(start))
    return np.concatenate([np.maximum.accumulate(q) - np.minimum.accumulate(q) for q in parts])


def clock(start: np.ndarray, rate: float) -> np.ndarray:
    """Stamps [ns] (N,) that begin again at 0 in every piece: stamps that jump back reset a hysteretic model."""
    return ((np.arange(len(start)) - last_true(start)) * (1e9 / rate)).astype(np.int64)


def friction_of(stage: _core.FrictionStage, motion: Motion, load: np.ndarray | None) -> np.ndarray:
    """Friction (N, n) [Nm] by the stage that runs live, under load (N, n) [Nm]. The motion's own rotors, of integrated
    velocities at the rate of the recording, drive what follows a rotor.
    """
    given = (motion.position, motion.qd, load, motion.rotor)
    q, v, tau, rotor = (x if x is None else np.ascontiguousarray(x) for x in given)
    out, std = np.empty((2, *motion.q.shape))
    rows = stage.rows(len(motion), q, None, v, tau, None, None, None, rotor, out, std)
    _core.run_in_turn(clock(motion.start, motion.rate), [rows])
    return np.asarray(out)


def bearing_element(position: np.ndarray, span: float, start: np.ndarray) -> np.ndarray:
    """H (N,) of a bearing: one element that slips, at positions (N,) of the link [rad]."""
    return np.asarray(_core.presliding_elements(np.ascontiguousarray(position), np.array([span]), start)[:, 0])
