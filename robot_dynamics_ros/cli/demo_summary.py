"""What a demo run was worth: estimated wrench against ground truth, free and in contact, as numbers and a picture."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import minimum_filter1d

from robot_dynamics_ros.errors import DataError, RobotDynamicsError
from robot_dynamics_ros.types import Log

Array = NDArray[np.float64]
AXES = ("Fx", "Fy", "Fz", "Tx", "Ty", "Tz")
SETTLE = 2.0  # s after the first estimate that the summary leaves out
NEARBY = 1.0  # s around a record in which the fastest arrival gives the offset of the clocks


class TruthRecorder:
    """Collects ground truth in a thread; its controller time is moved to the host clock by the fastest arrivals."""

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
                self._rows.append((float(record["timestamp"]), time.time(), *wrench))
                self.newest = np.asarray(wrench, dtype=float)
        except (OSError, ValueError, RobotDynamicsError):
            return  # the controller has gone: what was recorded is kept

    def table(self) -> Array:
        """(N, 7): host time s, wrench of the environment on the robot (N, Nm).

        On a busy machine the simulated controller loses time against the host, so the fastest arrival is sought near
        each record, not in the whole run.
        """
        rows = np.array(self._rows, dtype=float).reshape(-1, 8)
        if len(rows):
            near = max(3, int(NEARBY * (len(rows) - 1) / max(rows[-1, 0] - rows[0, 0], 1e-3)))
            rows[:, 1] = rows[:, 0] + minimum_filter1d(rows[:, 1] - rows[:, 0], near)
        return rows[:, 1:]


def align(log: Log, truth: Array) -> Array:
    """True wrench (N, 6) at the stamps of the log; raises DataError where they do not overlap."""
    stamps = 1e-9 * log.stamp_ns
    if len(truth) < 2 or stamps[-1] < truth[0, 0] or stamps[0] > truth[-1, 0]:
        raise DataError("the recording and the ground truth do not overlap in time")
    return np.column_stack([np.interp(stamps, truth[:, 0], truth[:, k]) for k in range(1, 7)])


def _rms(error: Array) -> dict[str, float]:
    return {axis: float(np.sqrt(np.mean(error[:, k] ** 2))) for k, axis in enumerate(AXES)} if len(error) else {}


def force_errors(log: Log, truth: Array) -> dict[str, Any]:
    """RMS error per axis, free and in contact, how often it lies within two standard deviations, detection figures."""
    estimate, std = log.external_wrench, log.external_wrench_std
    if not np.isfinite(estimate).any():
        raise DataError("the recording holds no external_wrench")
    seconds = 1e-9 * (log.stamp_ns - log.stamp_ns[0])
    period = float(np.median(np.diff(seconds)))
    used = np.isfinite(estimate).all(axis=1) & (seconds > SETTLE)
    contact = np.linalg.norm(truth[:, :3], axis=1) > 1.0  # N
    error = estimate - truth
    inside = np.abs(error[used]) <= 2 * std[used]
    result: dict[str, Any] = {
        "free": _rms(error[used & ~contact]),
        "contact": _rms(error[used & contact]),
        "within_two_std": {axis: float(np.mean(inside[:, k])) for k, axis in enumerate(AXES)},
        "seconds": {"free": float(period * (used & ~contact).sum()), "contact": float(period * (used & contact).sum())},
    }
    if log.contact is not None:
        said = log.contact[:, -1] > 0.5
        result["contact_detected"] = float(np.mean(said[used & contact])) if (used & contact).any() else None
        result["false_contact"] = float(np.mean(said[used & ~contact])) if (used & ~contact).any() else None
    return result


def draw(log: Log, truth: Array, path: Path, title: str) -> None:
    """Force axes with their two-sigma band against truth, and what the friction model took away."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    t = 1e-9 * (log.stamp_ns - log.stamp_ns[0])
    figure, panels = plt.subplots(4, 1, figsize=(11, 9), sharex=True, height_ratios=[1, 1, 1.4, 1])
    contact = np.linalg.norm(truth[:, :3], axis=1) > 1.0
    for k, (panel, name) in enumerate(zip(panels, ("$F_x$", "$F_y$", "$F_z$"), strict=False)):
        estimate, band = log.external_wrench[:, k], 2 * log.external_wrench_std[:, k]
        panel.fill_between(t, estimate - band, estimate + band, color="#4c78a8", alpha=0.2, lw=0, label="estimate ± 2σ")
        panel.plot(t, estimate, color="#4c78a8", lw=1.0, label="estimate")
        panel.plot(t, truth[:, k], color="#e45756", lw=1.4, label="truth")
        panel.fill_between(t, 0, 1, where=contact, transform=panel.get_xaxis_transform(), color="0.9", zorder=0)
        scale = max(20.0, 1.3 * float(np.nanmax(np.abs(truth[:, k]))), 2.5 * float(np.nanstd(estimate)))
        panel.set_ylim(-scale, scale)
        panel.set_ylabel(f"{name} [N]")
        panel.grid(alpha=0.3)
    panels[0].legend(loc="upper right", ncols=3, fontsize=9)
    panels[0].set_title(title)
    panels[3].plot(t, log.friction_torque, lw=0.8)
    panels[3].legend(log.joint_names, ncols=3, fontsize=7, loc="upper right")
    panels[3].set_ylabel("friction [Nm]")
    panels[3].set_xlabel("time [s]      grey: in contact (truth)")
    panels[3].grid(alpha=0.3)
    figure.tight_layout()
    temporary = path.with_name(f".{path.name}.png")
    figure.savefig(temporary, dpi=110)
    plt.close(figure)
    temporary.replace(path)
