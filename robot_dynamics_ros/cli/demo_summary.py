"""Summary of a demo run: error of the estimated wrench vs. ground truth, in free motion and in contact."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import minimum_filter1d
from scipy.optimize import minimize_scalar

from robot_dynamics_ros.errors import DataError, RobotDynamicsError
from robot_dynamics_ros.estimators.replay_verdict import WITHIN
from robot_dynamics_ros.estimators.wrench_metrics import moving_mask
from robot_dynamics_ros.plots import TOUCH
from robot_dynamics_ros.signals import WRENCH_AXES, Log
from robot_dynamics_ros.signals.interpolation import interpolated
from robot_dynamics_ros.verdict import level_of, verdict, word

Array = NDArray[np.float64]
SETTLE = 2.0  # s after the first record that the summary leaves out
REAL_TIME = 0.9  # of the nominal rate: below, the machine was too busy for real time
LATE = 0.05  # s from stamp to arrival at the recorder of the slowest percent: above, likewise
PHASES = {
    "free": "free",
    "contact": "contact",
    "free_standing": "free, at rest",
    "contact_standing": "contact, at rest",
}
NEARBY = 1.0  # s around a record, in which the fastest arrival is not late
COARSE = 0.05  # s between clocks that are compared first


class TruthRecorder:
    """Collects ground truth, stamped with the controller's time, in a thread."""

    def __init__(self, records: Iterable[Mapping[str, Any]]) -> None:
        self._records = records
        self._rows: list[tuple[float, ...]] = []
        self.newest: Array = np.full(6, np.nan)
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            for record in self._records:
                wrench = record["external_wrench"]
                self._rows.append((float(record["timestamp"]), *wrench, *record["q"]))
                self.newest = np.asarray(wrench, dtype=float)
        except (OSError, ValueError, RobotDynamicsError):
            return  # the controller has gone: what was recorded is kept

    @property
    def ended(self) -> bool:
        """No more truth comes: the controller has gone."""
        return not self._thread.is_alive()

    @property
    def seconds(self) -> float:
        """Time of the controller [s] at the newest record."""
        return self._rows[-1][0] if self._rows else 0.0

    def table(self, log: Log) -> Array:
        """(N, 7): stamps [s] of a log, whose clock runs like the controller's, and the wrench of the environment on the
        robot [N, Nm]. Between the clocks lies what brings the positions together. Raises DataError without truth.
        """
        if not self._rows:
            raise DataError("the controller sent no ground truth")
        rows = np.array(self._rows, dtype=float)
        time, q = rows[:, 0] - rows[0, 0], rows[:, 7:]

        def differ(shift: float) -> float:
            return float(np.mean((interpolated(time + shift, log.time, log.q) - q) ** 2))

        between = sorted((0.0, log.time[-1] - time[-1]))  # one of them began, or ended, before the other
        near = min(np.arange(between[0] - NEARBY, between[1] + NEARBY, COARSE), key=differ)
        shift = minimize_scalar(differ, bounds=(near - COARSE, near + COARSE), options={"xatol": 1e-4}).x
        return np.column_stack([1e-9 * log.stamp_ns[0] + time + shift, rows[:, 1:7]])


def align(log: Log, truth: Array) -> Array:
    """True wrench (N, 6) at the stamps of the log; raises DataError where they do not overlap."""
    stamps = 1e-9 * log.stamp_ns
    if len(truth) < 2 or stamps[-1] < truth[0, 0] or stamps[0] > truth[-1, 0]:
        raise DataError("the recording and the ground truth do not overlap in time")
    return interpolated(stamps, truth[:, 0], truth[:, 1:7])


def _rms(error: Array) -> dict[str, float]:
    return {axis: float(np.sqrt(np.mean(error[:, k] ** 2))) for k, axis in enumerate(WRENCH_AXES)} if len(error) else {}


def force_errors(log: Log, truth: Array) -> dict[str, Any]:
    """RMS error per axis in every of PHASES, how often it lies within two standard deviations, detection figures.

    Raises DataError for a recording without wrenches.
    """
    estimate, std = log.external_wrench, log.external_wrench_std
    seconds = log.time
    used = np.isfinite(estimate).all(axis=1) & (seconds > SETTLE)
    if not used.any():
        raise DataError(f"the recording holds no topic external_wrench_base later than {SETTLE:g} s after its start")
    period = float(np.median(np.diff(seconds)))
    contact = np.linalg.norm(truth[:, :3], axis=1) > TOUCH
    standing = ~moving_mask(np.nan_to_num(log.qd), seconds)
    masks = dict(zip(PHASES, (~contact, contact, ~contact & standing, contact & standing), strict=True))
    error = estimate - truth
    inside = np.abs(error[used]) <= 2 * std[used]
    result: dict[str, Any] = {
        **{name: _rms(error[used & mask]) for name, mask in masks.items()},
        "within_two_std": {axis: float(np.mean(inside[:, k])) for k, axis in enumerate(WRENCH_AXES)},
        "seconds": {name: float(period * (used & mask).sum()) for name, mask in masks.items()},
    }
    if log.has("contact"):
        reported = log.contact[:, -1] > 0.5
        result["contact_detected"] = float(np.mean(reported[used & contact])) if (used & contact).any() else None
        result["false_contact"] = float(np.mean(reported[used & ~contact])) if (used & ~contact).any() else None
    return result


def judged(found: dict[str, Any]) -> dict[str, Any]:
    """Verdict on what force_errors found, with `bag` and `model` of the run."""
    covered = min(found["within_two_std"].values())
    sizes = {phase: max(list(found[phase].values())[:3]) for phase in ("free", "contact") if found[phase]}
    errors = ", ".join(f"{size:.1f} N {'in contact' if phase == 'contact' else phase}" for phase, size in sizes.items())
    reasons = [f"The true wrench is within two deviations for {100 * covered:.0f} % of the time at least; 95 expected."]
    if found.get("contact_detected") is not None and found["false_contact"] is not None:
        seen, wrong = 100 * found["contact_detected"], 100 * found["false_contact"]
        reasons.append(f"Contact is reported for {seen:.0f} % of its time, and for {wrong:.1f} % of the free time.")
    return verdict(
        level_of(covered, *WITHIN),
        f"RMS error of the force in its worst axis {errors}.",
        *reasons,
        then=f"robot-dynamics replay {word(found['bag'])} --robot {word(found['model'])} --out replayed",
    )


def pace(log: Log, nominal: float) -> dict[str, Any]:
    """Whether a recording kept real time: rate [Hz] of the records against `nominal`, 99th percentile of their delay
    [s] behind the fastest NEARBY (a simulated controller with little processor time loses time against the host).

    `busy`: one sentence where it did not, empty where it did.
    """
    arrival = log.stamp_ns if log.receive_ns is None else log.receive_ns
    rate = 1e9 * (len(log) - 1) / max(int(arrival[-1] - arrival[0]), 1)
    age = 1e-9 * (arrival - log.stamp_ns)
    age_p99 = float(np.percentile(age - minimum_filter1d(age, int(NEARBY * nominal)), 99))
    slow, late = rate < REAL_TIME * nominal, age_p99 > LATE
    how = f"{rate:.0f} of {nominal:.0f} Hz" if slow else f"1 % of the samples more than {1e3 * age_p99:.0f} ms late"
    busy = (
        f"this machine was too busy for real time: {how} (load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores); "
        "the errors are larger than on an idle machine"
    )
    return {"rate": rate, "nominal": nominal, "age_p99": age_p99, "busy": busy if slow or late else ""}


def agreement(live: Log, replayed: Log) -> dict[str, float]:
    """Shares of wrenches that the replay gives bit for bit and within one stated deviation: what the recorder lost, or
    missed before it ran, is missing in the history of presliding and drift as well.
    """
    late = live.time > SETTLE
    live_wrench, again = live.external_wrench[late], replayed.external_wrench[late]
    near = np.abs(live_wrench - again) < live.external_wrench_std[late]
    same = live_wrench == again
    return {"identical_share": float(same.all(axis=1).mean()), "near_share": float(near.all(axis=1).mean())}
