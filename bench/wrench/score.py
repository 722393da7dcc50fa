"""Scores a directory of estimated wrenches against a directory of true ones. Needs numpy only.

    python score.py TRUTH SUBMISSION [--rate 1] [--json FILE]

TRUTH/NAME.npz: time (N,) [s], wrench (N, 6) of the environment on the robot at the TCP in base axes [N, Nm], moving and
contact (N,), events (K, 3): begin, end [s], peak |F| [N]. SUBMISSION/NAME.npz: wrench (N, 6), and where the method has
them std (N, 6), flagged (N,): contact is claimed, and significance (N,), which the ROC then has instead of |F|.
Without `flagged`, the smallest threshold of |F| is chosen that gives --rate false alarms per hour. A name is
PLANT_KIND_NUMBER; figures are over all recordings of a plant and kind.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Container, Iterable
from pathlib import Path
from typing import Any

import numpy as np

SETTLED = 2.0  # s at the beginning of every recording that are not scored
LATE, QUIET = 0.1, 0.5  # s after an event in which an alarm finds it; in which an alarm is not false
MERGED = 0.1  # s between two alarms that are one
CLASSES = ((10, 20), (20, 50), (50, 100))  # N, of the peaks
DURATIONS = ((2, 6), (6, 12), (12, 30), (30, 102))  # ms
GOAL = (20, 12)  # N, ms: nothing from both on is to be missed
THRESHOLDS = (*np.geomspace(2.0, 200.0, 49), np.inf)  # of |F| [N] or of the significance
STATES = ("moving", "rest", "contact", "contact_rest")


def main() -> None:
    """Prints one table per plant and kind."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("truth", type=Path)
    parser.add_argument("submission", type=Path)
    parser.add_argument("--rate", type=float, default=1.0, help="false alarms per hour that the threshold may cost")
    parser.add_argument("--json", type=Path, help="write the figures to this file")
    given = parser.parse_args()
    result = score(given.truth, given.submission, given.rate)
    for group, figures in result.items():
        print(f"\n{group}")
        for name, value in figures.items():
            if not isinstance(value, list):
                print(f"  {name:28} {value:.3g}")
    if given.json:
        given.json.write_text(json.dumps(result, indent=1))


def score(
    truth: Path, submission: Path, rate: float = 1.0, names: Container[str] | None = None
) -> dict[str, dict[str, Any]]:
    """Figures by PLANT_KIND of the recordings `names`, None: all; one in memory at a time. Raises SystemExit that names
    a directory without recordings, or a file of the submission that is missing or does not fit.
    """
    groups: dict[str, list[Path]] = {}
    for path in sorted(Path(truth).glob("*.npz")):
        if names is None or path.stem in names:
            groups.setdefault(path.stem.rpartition("_")[0], []).append(path)
    if not groups:
        raise SystemExit(f"{truth}: no recordings")
    return {
        name: figures((recording(path, Path(submission) / path.name) for path in paths), rate)
        for name, paths in groups.items()
    }


def recording(truth: Path, estimate: Path) -> dict[str, np.ndarray]:
    """Arrays of one recording by name, from SETTLED on."""
    if not estimate.exists():
        raise SystemExit(f"{estimate}: missing")
    true, ours = dict(np.load(truth)), dict(np.load(estimate))
    if ours.get("wrench", np.zeros(0)).shape != true["wrench"].shape:
        raise SystemExit(f"{estimate}: wrench has another shape than {true['wrench'].shape}")
    keep = true["time"] >= true["time"][0] + SETTLED
    rows = {k: true[k][keep] for k in ("time", "wrench", "moving", "contact")}
    rows |= {f"our_{k}": ours[k][keep] for k in ("wrench", "std", "flagged", "significance") if k in ours}
    begin = rows["time"][0]
    time, free = rows["time"], np.ones(len(rows["time"]), bool)
    events = np.array([e for e in true["events"].reshape(-1, 3) if e[0] >= begin]).reshape(-1, 3)
    for first, end, _ in events:
        free[np.searchsorted(time, first) : np.searchsorted(time, end + QUIET)] = False
    return rows | {"events": events, "period": np.median(np.diff(time)), "free": free}


def figures(recordings: Iterable[dict[str, np.ndarray]], rate: float) -> dict[str, Any]:
    """RMS of force [N] and moment [Nm] per axis, coverage, events, false alarms per hour, ROC."""
    sums: dict[str, np.ndarray] = {}
    own, roc = Alarms(), [Alarms() for _ in THRESHOLDS]
    for r in recordings:
        moving, contact = r["moving"].astype(bool), r["contact"].astype(bool)
        for name, mask in zip(STATES, (moving & ~contact, ~moving & ~contact, contact, contact & ~moving), strict=True):
            sums[name] = sums.get(name, 0.0) + squares(r, mask)
        size = r.get("our_significance", np.linalg.norm(r["our_wrench"][:, :3], axis=1))
        for threshold, alarms in zip(THRESHOLDS, roc, strict=True):
            alarms.add(r, size > threshold)
        if "our_flagged" in r:
            own.add(r, r["our_flagged"] > 0)
    result: dict[str, Any] = {}
    for name, (force, moment, one, two, count) in sums.items():
        if count:
            result |= {f"force_{name}": float(np.sqrt(force / count)), f"moment_{name}": float(np.sqrt(moment / count))}
            if np.isfinite(one):
                result |= {f"within_1_{name}": float(one / count / 2), f"within_2_{name}": float(two / count / 2)}
    judged = [alarms.figures() | {"threshold": float(t)} for t, alarms in zip(THRESHOLDS, roc, strict=True)]
    shown = ("threshold", "missed", "missed_goal", "false_per_hour", "false_high")
    result["roc"] = [{k: f[k] for k in shown if k in f} for f in judged[:-1]]
    return result | (own.figures() if own.hours else next(f for f in judged if f["false_per_hour"] <= rate))


def squares(r: dict[str, np.ndarray], mask: np.ndarray) -> np.ndarray:
    """Over the rows of a mask, (5,): squares of force and of moment, how many of the six axes lie within one and two
    deviations (NaN without any), number of values of three axes.
    """
    error = np.asarray(r["our_wrench"], float)[mask] - r["wrench"][mask]
    within = [(np.abs(error) <= k * r["our_std"][mask]).sum() if "our_std" in r else np.nan for k in (1, 2)]
    return np.array([(error[:, :3] ** 2).sum(), (error[:, 3:] ** 2).sum(), *within, 3 * len(error)])


class Alarms:
    """Claims of contact against events: missed share, delay [s], false alarms per hour of free time."""

    def __init__(self) -> None:
        self.events: list[tuple[bool, float, float]] = []  # missed, peak [N], length [ms]
        self.delays: list[float] = []
        self.false, self.hours = 0, 0.0

    def add(self, r: dict[str, np.ndarray], flagged: np.ndarray) -> None:
        """One more recording with its claims (N,)."""
        time, period, free = r["time"], float(r["period"]), r["free"]
        rising = flagged & ~np.concatenate([[False], flagged[:-1]])
        for begin, end, peak in r["events"]:
            first, last = np.searchsorted(time, (begin, end + LATE))
            hit = bool(rising[first:last].any())  # a claim that was there before is none of this contact
            self.events.append((not hit, peak, 1e3 * (end - begin + period)))
            self.delays += [time[first + int(rising[first:last].argmax())] - begin] if hit else []
        new = np.diff(time[flagged], prepend=-np.inf) > MERGED
        self.false += int((new & free[flagged]).sum())
        self.hours += float(free.sum()) * period / 3600.0

    def figures(self) -> dict[str, float]:
        """By name; of each class of peaks and durations too."""
        low, high = poisson(self.false)
        result = {"events": float(len(self.events)), "free_hours": self.hours, "false": float(self.false)}
        result |= {
            "false_per_hour": self.false / self.hours,
            "false_low": low / self.hours,
            "false_high": high / self.hours,
        }
        if self.events:
            missed, peak_of, length = np.array(self.events, float).T
            result |= {"missed": float(missed.mean())}
            for low, high in CLASSES:
                kind = (peak_of >= low) & (peak_of < high)
                result[f"missed_{low}_{high}"] = share(missed[kind])
                for short, long in DURATIONS:
                    own = kind & (length >= short - 0.1) & (length < long - 0.1)
                    result |= {
                        f"missed_{low}_{high}_{short}": share(missed[own]),
                        f"events_{low}_{high}_{short}": float(own.sum()),
                    }
            result["missed_goal"] = share(missed[(peak_of >= GOAL[0]) & (length >= GOAL[1] - 0.1)])
        if self.delays:
            result["delay_median"], result["delay_95"] = (float(np.percentile(self.delays, p)) for p in (50, 95))
        return result


def poisson(count: int) -> tuple[float, float]:
    """95 % interval of the mean of a Poisson number, by Byar's approximation."""
    ends = [
        n * (1 - 1 / (9 * n) + z / (3 * np.sqrt(n))) ** 3 if n else 0.0 for n, z in ((count, -1.96), (count + 1, 1.96))
    ]
    return float(ends[0]), float(ends[1])


def share(missed: np.ndarray) -> float:
    """Mean, NaN of nothing."""
    return float(missed.mean()) if len(missed) else float("nan")


if __name__ == "__main__":
    main()
