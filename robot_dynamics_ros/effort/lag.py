"""How much later than the positions effort and velocity come, as motion shows it: of recordings and of live samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.effort.decision import SIGNIFICANCE
from robot_dynamics_ros.models.robot_model import RobotModel
from robot_dynamics_ros.robot_file.numbers import LONGEST_DELAY
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.signals.speeds import SLIDING, STEP

if TYPE_CHECKING:
    from robot_dynamics_ros.robot_file import RobotFile

PIECE = 5.0  # s of samples that show a lag of every joint
# s that are averaged, by whole samples: a shift between samples would smooth their noise, and look better than none;
# s whose difference is compared: less of a push and of friction is in it
BIN, DIFFERENCE = 0.01, 0.1
REACH = 0.12  # s, to both sides: what noise alone shows is then none in the mean
AGREE = 0.02  # s within which half of the lags agree: of a slow motion, friction alone, they lay at 68 +- 23 ms
LEAST, VALUES = 40, 10  # bins in which a joint slides; joints of all pieces that show one lag
# s, deviation beside the scatter: an effort that is 0 to 3 ms late seems 1 to 10 ms late on simulated UR5e, pushed a
# third of the time, warm, worn, loaded, and up to 20 ms early on pushed stiff ones, so that early ones are not named
ERROR = {"effort": 4e-3, "reported velocity": 2e-3}


def late_signals(robot: RobotFile, log: Log) -> str:
    """What `late` says of all pieces of a recording; "" without effort."""
    if not log.has("effort"):
        return ""
    edges = np.flatnonzero(np.diff(np.floor(log.time / PIECE)) > 0) + 1
    pieces = (binned(robot, log[part]) for part in np.split(np.arange(len(log)), edges))
    return late(robot, [lags(means) for means in pieces if means is not None])


@dataclass(frozen=True)
class Means:
    """Times t (M,) [s], and means of q, effort and qd (NaN: not reported), derivatives v and a of q, and the torque of
    the links at them (M, n).
    """

    t: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    effort: np.ndarray
    qd: np.ndarray
    links: np.ndarray


def binned(robot: RobotFile, log: Log) -> Means | None:
    """Means over BIN or little more of half a PIECE or more, numbers that are not finite left out; None of samples with
    gaps or seldom ones, and without masses of the links.
    """
    if robot.links is None:
        return None
    signals = [getattr(log, name) for name in ("q", "qd", "effort") if log.has(name)]
    log = log[np.isfinite(np.hstack(signals)).all(axis=1)]
    step = np.diff(log.time)
    period = float(np.median(step)) if len(step) else np.inf
    if not 0 < period <= 2 * BIN or len(log) * period < PIECE / 2 or step.max() > 5 * BIN or step.min() < 0:
        return None
    size = int(np.ceil(BIN / period - 0.1))
    rows = len(log) // size * size
    means = (x[:rows].reshape(-1, size, *x.shape[1:]).mean(axis=1) for x in (log.time, log.q, log.effort, log.qd))
    t, q, effort, qd = means
    v = np.gradient(q, t, axis=0)
    a = np.gradient(v, t, axis=0)
    return Means(t, q, v, a, effort, qd, RobotModel(robot.chain(), robot.joint_names).rnea(q, v, a))


def lags(means: Means) -> list[np.ndarray]:
    """Lags [s] of effort and velocity behind the positions in a PIECE, with their information [1/s^2], (K, 2) each,
    of the joints that show them.

    The effort: differences over DIFFERENCE of effort(t + L) = c tanh(v / STEP) + d v + b a + k tau_links + o are fitted
    for every L within REACH; the parabola through the three least sums of squares is lowest at the lag. The
    velocity: qd = g v + o - L a.
    """
    t, v, a, effort, qd = means.t, means.v, means.a, means.effort, means.qd
    width = float(np.median(np.diff(t)))
    shifts, steps = np.arange(-round(REACH / width), round(REACH / width) + 1), round(DIFFERENCE / width)
    place = np.arange(len(t))
    inside = (place + shifts[0] >= 0) & (place + shifts[-1] < len(t))
    found: list[list[tuple[float, float]]] = [[], []]
    for j in range(v.shape[1]):
        slides = inside & (np.abs(v[:, j]) > SLIDING)
        rows = np.flatnonzero(slides[steps:] & slides[:-steps] & (v[steps:, j] * v[:-steps, j] > 0))
        if len(rows) < LEAST:
            continue
        shifted = np.column_stack([np.roll(effort[:, j], -shift) for shift in shifts])
        terms = np.column_stack([np.tanh(v[:, j] / STEP), v[:, j], a[:, j], means.links[:, j]])
        left = _left(terms[rows + steps] - terms[rows], shifted[rows + steps] - shifted[rows])
        k = int(left.argmin())
        if 0 < k < len(shifts) - 1:
            bend = left[k - 1] - 2 * left[k] + left[k + 1]
            lag = width * (shifts[k] + 0.5 * (left[k - 1] - left[k + 1]) / bend)
            found[0].append((lag, len(rows) * bend / width**2 / max(left[k], 1e-9 * bend)))
        speed = np.column_stack([v[slides, j], np.ones(slides.sum()), a[slides, j]])
        gain, _, slope = np.linalg.lstsq(speed, qd[slides, j], rcond=None)[0] if np.isfinite(qd).all() else np.zeros(3)
        shown = gain**2 * _left(speed[:, :2], speed[:, 2:])[0]
        if shown > 0:
            rest = _left(speed, qd[slides, j : j + 1])[0]
            found[1].append((-slope / gain, slides.sum() * shown / max(rest, 1e-9 * shown)))
    return [np.reshape(each, (-1, 2)) for each in found]


def late(robot: RobotFile, pieces: Sequence[list[np.ndarray]]) -> str:
    """Whether the effort comes surely later than the robot file says, or the velocity later or earlier, and what to do;
    "" where neither does.

    pieces: of `lags`, two arrays (K, 2) each. Their median by information, with 1.48 times the median deviation over
    the root of their number.
    """
    effort, velocity = robot.drives.effort, robot.drives.velocity
    known = {"effort": effort.delay, "reported velocity": 0.0 if velocity is None else velocity.delay}
    follows = effort.includes_gravity, velocity is None or velocity.window == 0.0
    found = []
    for (what, said), values, used in zip(known.items(), zip(*pieces, strict=True), follows, strict=False):
        lag, weight = np.concatenate(values).T
        if len(lag) < VALUES or not used:
            continue
        middle = _median(lag, weight)
        scatter = _median(np.abs(lag - middle), weight)
        spread = 1.48 * scatter * np.linalg.norm(weight) / weight.sum()
        off, std = middle - said, float(np.hypot(spread, ERROR[what]))
        if scatter < AGREE and (off if what == "effort" else abs(off)) > SIGNIFICANCE * std:
            how = f"{1e3 * abs(off):.0f} +- {1e3 * std:.0f} ms {'later' if off > 0 else 'earlier'}"
            delay = float(np.clip(middle, -LONGEST_DELAY, LONGEST_DELAY))
            write = f"write drives.effort.delay: {delay:.3f} into the robot file, and " if what == "effort" else ""
            found.append(
                f"the {what} comes {how} than the robot file says, as behind a filter, and forces are wrong in starts, "
                f"stops and where joints turn round: {write}identify again"
            )
    return "; ".join(found)


def _left(terms: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Sums of squares (M,) that terms (N, k) leave of values (N, M)."""
    span, size, _ = np.linalg.svd(terms, full_matrices=False)
    span = span[:, size > 1e-6 * size[0]]
    return np.asarray(((values - span @ (span.T @ values)) ** 2).sum(axis=0))


def _median(values: np.ndarray, weight: np.ndarray) -> float:
    """Value (of K) below which half of the weight (K,) lies."""
    order = np.argsort(values)
    share = np.cumsum(weight[order])
    return float(values[order][np.searchsorted(share, 0.5 * share[-1])])
