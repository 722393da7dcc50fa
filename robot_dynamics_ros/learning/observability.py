"""What the recordings say about every base parameter, what they leave open, and which motion would show it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.identification.excitation import Limits, design_fourier
from robot_dynamics_ros.identification.excitation.design import Excitation
from robot_dynamics_ros.learning.update import Information, Prior

OPEN, PARTLY = 0.7, 0.3  # of the prior deviation that is left
DURATIONS = (5.0, 10.0, 20.0, 40.0)  # s of motions that are tried, the shortest first
DETERMINED = 0.5  # deviation after / before a motion, below which it determines a parameter
SIGMA, ALIKE = 0.3, 25.0  # Nm and rows per independent row that a motion is expected to be recorded with
RATE = 100.0  # Hz of the rows that a motion is judged on


@dataclass(frozen=True)
class Knowledge:
    """One base parameter: name, value, deviation now and of the prior."""

    name: str
    value: float
    std: float
    prior_std: float

    @property
    def left(self) -> float:
        """Share of the prior deviation that is left."""
        return self.std / self.prior_std


def knowledge(prior: Prior, state: Information) -> list[Knowledge]:
    """Every base parameter under a posterior."""
    names, b = prior.columns.names, prior.columns.base
    values, std, before = state.mean, state.std, np.sqrt(np.diag(prior.covariance))
    return [Knowledge(names[k], float(values[k]), float(std[k]), float(before[k])) for k in range(b)]


def shortest_motion(prior: Prior, state: Information, limits: Limits | None = None) -> tuple[Excitation, list[str]]:
    """The shortest of DURATIONS whose motion halves the deviation of what is open, and the names of what it shows.

    The motion is designed for the open columns alone. Where none shows all of them, the longest is returned with those
    that it shows. Raises DataError where nothing is open, or where no motion keeps the limits.
    """
    columns = prior.columns
    places = [k for k, one in enumerate(knowledge(prior, state)) if one.left > OPEN]
    if not places:
        raise DataError("the recordings show every base parameter: no motion is needed")
    wanted = columns.rigid.base.independent[places].tolist()
    for duration in DURATIONS:
        motion = design_fourier(
            columns.robot, limits, base=2 * np.pi / duration, duration=duration, starts=1, columns=wanted, slow=False
        )
        after = expected(prior, state, motion).std
        shown = [columns.names[k] for k in places if after[k] < DETERMINED * state.std[k]]
        if len(shown) == len(places):
            break
    return motion, shown


def expected(prior: Prior, state: Information, motion: Excitation) -> Information:
    """The posterior after a recording of a motion, before it is made."""
    columns, rate = prior.columns, 1 / float(np.median(np.diff(motion.time)))
    step = max(round(rate / RATE), 1)
    time, q, qd, qdd = (np.ascontiguousarray(x[::step]) for x in (motion.time, motion.q, motion.qd, motion.qdd))
    moved = Motion(time, q, qd, qdd, np.zeros_like(q), np.arange(len(q)) == 0, rate / step)
    qr = columns.qr()
    qr.update(q, qd, qdd, np.zeros_like(q), np.column_stack(columns.friction(moved, columns.load(moved))))
    rows = np.vstack([columns.wide(j, qr.triangle(j)) for j in range(columns.n)]) / (SIGMA * np.sqrt(ALIKE))
    rows[:, -1] = rows[:, :-1] @ state.mean
    return state.with_rows(rows)
