"""What the recordings say about every base parameter, what they leave open, and which motion would show it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.arm.rigid import LETTERS
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.identification.excitation import Limits, design_fourier
from robot_dynamics_ros.identification.excitation.design import Excitation
from robot_dynamics_ros.learning.columns import Columns
from robot_dynamics_ros.learning.update import Information, Prior
from robot_dynamics_ros.trajectories.motions import fourier

OPEN, PARTLY = 0.7, 0.3  # of the prior deviation that is left
DURATIONS = (5.0, 10.0, 20.0, 40.0)  # s of motions that are tried, the shortest first
DETERMINED = 0.5  # deviation after / before a motion, below which it determines a parameter
SIGMA, ALIKE = 0.3, 25.0  # Nm and rows per independent row that a motion is expected to be recorded with
ENDS = (("lower", -np.pi), ("upper", np.pi))
RATE = 100.0  # Hz of the rows that a motion is judged on


@dataclass(frozen=True)
class Knowledge:
    """One base parameter: name, value, deviation now and of the prior, and what that means."""

    name: str
    value: float
    std: float
    prior_std: float

    @property
    def left(self) -> float:
        """Share of the prior deviation that is left."""
        return self.std / self.prior_std

    @property
    def short(self) -> str:
        """The first standard parameter of its name, e.g. ZZ6."""
        return self.name.split(" ")[0]

    @property
    def text(self) -> str:
        """In words."""
        left = self.left
        word = "prior only" if left > OPEN else "partly from recordings" if left > PARTLY else "from recordings"
        return f"{self.name}: {word} ({self.value:.3g} +- {self.std:.2g}, prior +- {self.prior_std:.2g})"


def knowledge(prior: Prior, state: Information) -> list[Knowledge]:
    """Every base parameter under a posterior."""
    names, b = prior.columns.names, prior.columns.base
    values, std, before = state.mean, state.std, np.sqrt(np.diag(prior.covariance))
    return [Knowledge(names[k], float(values[k]), float(std[k]), float(before[k])) for k in range(b)]


def open_parameters(known: list[Knowledge]) -> list[int]:
    """Numbers of the base parameters that are prior only."""
    return [k for k, one in enumerate(known) if one.left > OPEN]


def advice(prior: Prior, state: Information, known: list[Knowledge]) -> list[str]:
    """A sentence per group of joints on what is open, and how long a motion of these joints would show it."""
    groups: dict[tuple[int, ...], list[int]] = {}
    for k in open_parameters(known):
        groups.setdefault(joints_of(prior.columns, k), []).append(k)
    found = []
    for joints, places in sorted(groups.items()):
        names = ", ".join(known[k].short for k in places)
        who = " and ".join(prior.columns.robot.joint_names[j] for j in joints)
        duration, torque = seconds_of(prior, state, joints, places)
        it = "it" if len(places) == 1 else "them"
        cure = f"a motion of {who} of {duration:.0f} s would fix {it}"
        if not duration:
            cure = f"{who} alone cannot show {it}, but what is open adds only {torque:.2g} Nm to its torque"
        found.append(f"{names}: prior only; {cure}")
    return found


def joints_of(columns: Columns, k: int) -> tuple[int, ...]:
    """Joints that show base parameter k: the link's own, and the one before where it is not about its own axis."""
    number = int(columns.rigid.base.independent[k])
    link, letter = divmod(number, 10)
    alone = LETTERS[letter] in ("ZZ", "mX", "mY") or link == 0
    return (link,) if alone else (link - 1, link)


def seconds_of(prior: Prior, state: Information, joints: Sequence[int], places: Sequence[int]) -> tuple[float, float]:
    """Shortest of DURATIONS [s] in which a motion of these joints alone halves the deviations of parameters `places`
    on average, 0 where none does; and the RMS torque [Nm] of these deviations on the last motion, of its largest joint.

    The arm stands in the middle of its range otherwise.
    """
    lower, upper = (np.clip(prior.columns.robot.array_or(f"limits.position_{s}", v), -2.0, 2.0) for s, v in ENDS)
    for duration in DURATIONS:
        centre = 0.5 * (lower + upper) + 0.3
        q, qd, qdd = fourier(centre, duration, RATE, amplitude=0.7, velocity=1.5, base=2 * np.pi / duration)
        still = np.setdiff1d(np.arange(prior.columns.n), joints)
        q[:, still], qd[:, still], qdd[:, still] = centre[still], 0.0, 0.0
        after = expected(prior, state, q, qd, qdd, RATE).std
        if np.mean(after[list(places)] / state.std[list(places)]) < DETERMINED:
            break
    else:
        duration = 0.0
    W = prior.columns.rigid.base_regressor(*(np.ascontiguousarray(x) for x in (q, qd, qdd)))
    spread = np.array([A[:, list(places)] @ state.root[list(places)] for A in W])  # (n, N, p)
    return duration, float(np.sqrt((spread**2).sum(axis=2).mean(axis=1)).max())


def shortest_motion(
    prior: Prior, state: Information, limits: Limits | None = None, seed: int = 0
) -> tuple[Excitation, list[str]]:
    """The shortest of DURATIONS whose motion halves the deviation of what is open, and the names of what it shows.

    The motion is designed for the open columns alone. Where none shows all of them, the longest is returned with those
    that it shows. Raises DataError where nothing is open, or where no motion keeps the limits.
    """
    columns = prior.columns
    places = open_parameters(knowledge(prior, state))
    if not places:
        raise DataError("the recordings show every base parameter: no motion is needed")
    wanted = columns.rigid.base.independent[places].tolist()
    for duration in DURATIONS:
        motion = design_fourier(
            columns.robot, limits, base=2 * np.pi / duration, duration=duration, starts=1, seed=seed, columns=wanted
        )
        rate = 1 / float(np.median(np.diff(motion.time)))
        after = expected(prior, state, motion.q, motion.qd, motion.qdd, rate).std
        shown = [columns.names[k] for k in places if after[k] < DETERMINED * state.std[k]]
        if len(shown) == len(places):
            break
    return motion, shown


def expected(
    prior: Prior, state: Information, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, rate: float
) -> Information:
    """The posterior after a recording of a motion q, qd, qdd (N, n) at `rate` [Hz], before it is made."""
    columns, step = prior.columns, max(round(rate / RATE), 1)
    q, qd, qdd = (np.ascontiguousarray(x[::step]) for x in (q, qd, qdd))
    start, time = np.arange(len(q)) == 0, np.arange(len(q)) * step / rate
    moved = Motion(time, q, qd, qdd, np.zeros_like(q), start, rate / step)
    qr = columns.qr()
    qr.update(q, qd, qdd, np.zeros_like(q), np.column_stack(columns.friction(moved, columns.load(moved))))
    rows = []
    for j, index in enumerate(columns.index):
        full = np.zeros((len(index) + 1, columns.size + 1))
        full[:, index] = qr.triangle(j)[:, :-1] / (SIGMA * np.sqrt(ALIKE))
        full[:, -1] = full[:, :-1] @ state.mean
        rows.append(full)
    return state.with_rows(np.vstack(rows))
