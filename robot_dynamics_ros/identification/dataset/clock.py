"""The clock of a recording made regular: stamps that jitter are given to the ticks of an even clock."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import median_filter

from robot_dynamics_ros.effort.joint_state import bursts
from robot_dynamics_ros.errors import DataError

CLEARLY = 0.8  # of the other clock's inconsistency, from which on uneven stamps are the clock of the motion
TRAVELS = 0.05  # rad/s, at which a wrong clock shows in the travel of a step
SURE = 6.0  # deviations of dq = qd dt, from which on the travel of a step shows how many periods it took
FOLLOWS = 0.1  # of the lead of each stamp, by which the phase of the even clock follows
ROUNDS = 10  # in which each stamp is given to the nearest tick of the clock that fits all
Clock = tuple[np.ndarray, float, int]  # times (N,) [s], period [s], periods without a sample
UNSURE = 0.3  # rms jitter over the period, from which on a stamp does not show its tick; evenly spread ones have 0.29


def regular(t: np.ndarray, notes: list[str], q: np.ndarray, qd: np.ndarray | None) -> np.ndarray:
    """Times without jitter (N,) [s].

    Clean stamps, with or without missing samples, stay; jittering ones become those of an even clock. Receive stamps
    jitter by milliseconds while the controller samples evenly; acceleration and friction before breakaway need the
    latter. Beside q and known qd (N, n) the clock with which dq = qd dt holds better is taken: a controller may sample
    unevenly. Raises DataError where stamps come in bursts and show no even clock.
    """
    step, arrived = np.diff(t), bursts(t)
    period = float(step.mean() if arrived else np.median(step))
    multiples = step / period
    clean = np.abs(multiples - np.round(multiples)) < 0.03
    if clean.mean() > 0.9 and (multiples > 0.9).mean() > 0.9:
        return t
    found = _even(t, period)
    if qd is not None:
        found = _moved(t, found, q, qd)
    if found is None:
        if arrived:
            raise DataError(arrived)
        what = f"stamps are uneven ({1e3 * np.std(step):.2g} ms, every {1e3 * period:.3g} ms) and show no even clock"
        notes.append(f"{what}: used as they are, please check; stamp a sample when it is taken, and record every one")
        return t
    line, mean, missing = found
    jitter = float(np.std(step - np.diff(line)))
    if qd is not None and (reason := _kept(t, line, q, qd)):
        notes.append(f"stamps are uneven ({1e3 * jitter:.2g} ms): {reason}")
        return t
    if jitter > 0.05 * mean:
        lost = f", {missing} samples of which are missing" if missing else ""
        notes.append(f"stamps jitter by {1e3 * jitter:.2g} ms: replaced by an even clock of {1e3 * mean:.4g} ms{lost}")
    return line


def _even(t: np.ndarray, period: float) -> Clock | None:
    """Times (N,) and period [s] of the even clock nearest to the stamps, and its ticks without a sample; None where
    there is none. A log is complete unless missing samples explain its stamps clearly better, and surely.
    """
    most = max(3.0 * period, 0.02)
    complete, lacking = _line(np.arange(len(t)), t), _lacking(t, period)
    jitter = np.std(t - lacking[0])
    clearly = jitter < min(CLEARLY * np.std(t - complete[0]), UNSURE * lacking[1])
    found = lacking if clearly else complete
    return found if np.abs(found[0] - t).max() < most else None


def _moved(t: np.ndarray, found: Clock | None, q: np.ndarray, qd: np.ndarray) -> Clock | None:
    """The clock of which the motion shows how many periods each step took, with the stamps where it does not; what was
    `found` where velocities do not agree with it clearly better than with that and the stamps.
    """
    step, counts = np.diff(t), _periods(q, qd)
    if not (known := counts > 0).any():
        return found
    period = float(step[known].sum() / counts[known].sum())
    line = t[0] + np.concatenate([[0.0], np.cumsum(np.where(known, period * counts, step))])
    others = [t] if found is None else [t, found[0]]
    if not _inconsistency(line, q, qd) < CLEARLY * min(_inconsistency(x, q, qd) for x in others):
        return found
    return line, period, int((counts[known] - 1).sum())


def _periods(q: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Periods that each step (N - 1,) took by dq = qd dt, the usual one being one; 0 where the travel is too small."""
    dq, mean = np.diff(q, axis=0), 0.5 * (qd[1:] + qd[:-1])
    size = np.linalg.norm(mean, axis=1)
    if not (moves := size > TRAVELS).any():
        return np.zeros(len(dq))
    time = (dq * mean).sum(axis=1) / np.maximum(size, TRAVELS) ** 2
    usual = np.median(time[moves])
    noise = np.median(np.linalg.norm(dq - usual * mean, axis=1)[moves]) / np.sqrt(q.shape[1])
    return np.where(moves & (usual * size > SURE * noise), np.maximum(np.round(time / usual), 1.0), 0.0)


def _lacking(t: np.ndarray, period: float) -> Clock:
    """The same of a log that lacks samples, if the clock that follows the stamps finds any missing: the stamps of a
    complete log may wander off a straight line by more than a tick.
    """
    period = float(t[-1] - t[0]) / max(float(np.round(np.diff(t) / period).sum()), 1.0)
    ticks = _rising(_ticks(t, period))
    line, period, missing = _line(ticks, t)
    for _ in range(ROUNDS if missing else 0):
        before, ticks = ticks, _rising(ticks + np.round((t - line) / period))
        if (ticks == before).all():
            break
        line, period, missing = _line(ticks, t)
    return line, period, missing


def _rising(ticks: np.ndarray) -> np.ndarray:
    """Ticks (N,) from 0, none of them twice: what was delayed alone, or with those behind it, has the one before."""
    lost = median_filter(ticks - np.arange(len(ticks)), 5, mode="nearest")
    lost = np.minimum.accumulate(lost[::-1])[::-1]
    return lost - lost[0] + np.arange(len(ticks))


def _line(ticks: np.ndarray, t: np.ndarray) -> Clock:
    """Times (N,) of the ticks (N,) of the clock that fits the stamps best, its period [s], and ticks between them."""
    line = np.polynomial.Polynomial.fit(ticks, t, 1)(ticks)
    return line, float(line[-1] - line[0]) / float(ticks[-1]), int(ticks[-1]) + 1 - len(t)


def _ticks(t: np.ndarray, period: float) -> np.ndarray:
    """Number (N,) of the tick that each stamp belongs to, by a clock whose phase and period follow the stamps."""
    numbers, phase = [0.0], float(t[0])
    for stamp in t[1:].tolist():
        count = round((stamp - phase) / period)
        lead = stamp - phase - count * period
        phase, period = stamp - (1.0 - FOLLOWS) * lead, period + 0.25 * FOLLOWS**2 * lead
        numbers.append(numbers[-1] + count)
    return np.array(numbers)


def _kept(t: np.ndarray, line: np.ndarray, q: np.ndarray, qd: np.ndarray) -> str:
    """Why the stamps t are the clock of the motion and the even clock is not; empty where they are not."""
    stamped, even = _inconsistency(t, q, qd), _inconsistency(line, q, qd)
    if not stamped < CLEARLY * even:
        return ""
    return f"kept, velocities agree with them to {1e3 * stamped:.2g} mrad and with an even clock to {1e3 * even:.2g}"


def _inconsistency(t: np.ndarray, q: np.ndarray, qd: np.ndarray) -> float:
    """RMS of dq - qd dt (trapezoidal rule) over the steps of all joints in which a joint moves [rad]."""
    dq, mean = np.diff(q, axis=0), 0.5 * (qd[1:] + qd[:-1])
    error = (dq - mean * np.diff(t)[:, None])[np.abs(mean) > TRAVELS]
    return float(np.sqrt(np.mean(error[np.isfinite(error)] ** 2))) if np.isfinite(error).any() else np.inf
