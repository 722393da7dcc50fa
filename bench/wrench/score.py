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
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

SETTLED = 2.0  # s at the beginning of every recording that are not scored
LATE, QUIET = 0.1, 0.5  # s after an event in which an alarm finds it; in which an alarm is not false
MERGED = 0.1  # s between two alarms that are one
CLASSES = ((10, 20), (20, 50), (50, 100))  # N, of the peaks
DURATIONS = ((2, 6), (6, 12), (12, 30), (30, 102))  # ms
GOAL = (20, 12)  # N, ms: nothing from both on is to be missed
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


def score(truth: Path, submission: Path, rate: float = 1.0) -> dict[str, dict[str, Any]]:
    """Figures by PLANT_KIND. Raises SystemExit that names a file of the submission that is missing or does not fit."""
    groups: dict[str, list[dict[str, np.ndarray]]] = {}
    for path in sorted(Path(truth).glob("*.npz")):
        groups.setdefault(path.stem.rpartition("_")[0], []).append(recording(path, Path(submission) / path.name))
    return {name: figures(recordings, rate) for name, recordings in groups.items()}


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
    return rows | {"events": np.array([e for e in true["events"].reshape(-1, 3) if e[0] >= begin]).reshape(-1, 3)}


def figures(recordings: Sequence[dict[str, np.ndarray]], rate: float) -> dict[str, Any]:
    """RMS of force [N] and moment [Nm] per axis, coverage, events, false alarms per hour, ROC."""
    join = {k: np.concatenate([r[k] for r in recordings]) for k in recordings[0] if k != "events"}
    error = join["our_wrench"] - join["wrench"]
    result: dict[str, Any] = {}
    moving, contact = join["moving"].astype(bool), join["contact"].astype(bool)
    masks = (moving & ~contact, ~moving & ~contact, contact, contact & ~moving)
    for name, mask in zip(STATES, masks, strict=True):
        if mask.any():
            result[f"force_{name}"] = float(np.sqrt((error[mask, :3] ** 2).mean()))
            result[f"moment_{name}"] = float(np.sqrt((error[mask, 3:] ** 2).mean()))
            for k in (1, 2) if "our_std" in join else ():
                result[f"within_{k}_{name}"] = float((np.abs(error[mask]) <= k * join["our_std"][mask]).mean())
    size = [np.linalg.norm(r["our_wrench"][:, :3], axis=1) for r in recordings]
    result |= {"roc": roc(recordings, [r.get("our_significance", s) for r, s in zip(recordings, size, strict=True)])}
    if "our_flagged" in join:
        flags = [r["our_flagged"] > 0 for r in recordings]
    else:
        allowed = [row for row in result["roc"] if row["false_per_hour"] <= rate]
        result["threshold"] = min((row["threshold"] for row in allowed), default=np.inf)
        flags = [s > result["threshold"] for s in size]
    return result | alarms(recordings, flags)


def roc(recordings: Sequence[dict[str, np.ndarray]], size: Sequence[np.ndarray]) -> list[dict[str, float]]:
    """Missed share of the events against false alarms per hour, for thresholds of |F| [N]."""
    rows = []
    for threshold in np.geomspace(2.0, 200.0, 25):
        found = alarms(recordings, [s > threshold for s in size])
        rows.append({"threshold": float(threshold)} | {k: found[k] for k in ("missed", "false_per_hour") if k in found})
    return rows


def alarms(recordings: Sequence[dict[str, np.ndarray]], flags: Sequence[np.ndarray]) -> dict[str, float]:
    """Missed share of the events, of each class of peaks, delay [s], false alarms per hour of free time."""
    lost: list[bool] = []
    delays: list[float] = []
    peaks: list[float] = []
    lengths: list[float] = []
    false, hours = 0, 0.0
    for r, flagged in zip(recordings, flags, strict=True):
        time, events = r["time"], r["events"]
        claimed, rising = np.zeros(len(time), bool), flagged & ~np.concatenate([[False], flagged[:-1]])
        for begin, end, peak in events:
            first, last = np.searchsorted(time, (begin, end + LATE))
            hit = rising[first:last].any()  # a claim that was there before is none of this contact
            lost.append(not hit)
            peaks.append(peak)
            lengths.append(1e3 * (end - begin + np.median(np.diff(time))))
            delays += [time[first + int(rising[first:last].argmax())] - begin] if hit else []
            claimed[first : np.searchsorted(time, end + QUIET)] = True
        new = np.diff(time[flagged], prepend=-np.inf) > MERGED
        false += int((new & ~claimed[flagged]).sum())
        hours += (~claimed).sum() * np.median(np.diff(time)) / 3600.0
    missed, peak_of, length = np.array(lost, float), np.array(peaks), np.array(lengths)
    result = {"events": float(len(missed)), "free_hours": float(hours), "false_per_hour": float(false / hours)}
    if len(missed):
        result["missed"] = float(missed.mean())
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
    if delays:
        result["delay_median"], result["delay_95"] = (float(np.percentile(delays, p)) for p in (50, 95))
    return result


def share(missed: np.ndarray) -> float:
    """Mean, NaN of nothing."""
    return float(missed.mean()) if len(missed) else float("nan")


if __name__ == "__main__":
    main()
