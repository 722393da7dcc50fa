"""The verdict of an identification: its level, plain sentences about the robot file, and the next command; and the
matrix on top of its report: joint x (torque error, friction, masses).
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from robot_dynamics_ros.identification.metrics import mean_r2
from robot_dynamics_ros.pages import number
from robot_dynamics_ros.verdict import DEVIATION, cell, level_of, matrix, times, verdict, worst

BOUNDS = (0.93, 0.8)  # R2 on held-out data of what noise leaves explainable, from which on a file is good, and fair
KNOWN = 0.5  # R2 below which nobody knows whether noise or the model is left
STANDS = 3.0  # times the deviation of the effort in the training over that in the held-out data, where a joint stands
LIMITED = 0.97  # share of what noise leaves explainable, from which on no other recording improves a joint
SHORT = 20.0  # s of all recordings that are identified from, of which 30 s leave 21 beside the part to validate on
SLOW = 50.0  # Hz, rate of a recording below which reversals lie between its samples
WORSE = 1.02  # times the RMSE of another model from which on a joint is called worse
SPOILT = 0.02  # of mean R2, and twice what is left, by which a file is not usable: it makes the initial model worse
LIVE_MORE = 1.5  # times the error of the identification's filters, from which on that of the live nodes is said
LIVE_LOSS = 0.02  # of mean R2 between the filters of the identification and those of the live nodes, that is mentioned
OTHERS = {"constant_coulomb": "constant Coulomb friction", "initial_model": "the initial model"}
SPEED = 0.5  # rad/s of the friction that is shown and compared


def level(result: dict[str, Any]) -> str:
    """good, fair or bad: the worst of the mean and of what single joints allow, fair below the second of BOUNDS and bad
    below KNOWN, unless most of the joint's effort is noise. Another robot's recording is bad, and a file that makes
    the initial model clearly worse; what repeats the training is fair at best.
    """
    v = result["validation"]
    if result.get("other_robot") or v["mean_r2"] is None:
        return "bad"
    joints = zip(explained(result), _r2(result)[1], strict=True)
    single = ["bad" if share < KNOWN <= bound else "fair" for share, bound in joints if share < BOUNDS[1]]
    spoilt = ["bad"] * bool(_spoilt(result))
    return worst([level_of(_possible(result), *BOUNDS), *single, *spoilt, *["fair"] * bool(v.get("repeats_training"))])


def judged(result: dict[str, Any], remedy: str = "") -> dict[str, Any]:
    """The verdict on the written robot file, and whether it is `usable`; remedy: the next command where it is not."""
    colour = level(result)
    then, usable = (remedy if colour == "bad" else ""), {"usable": colour != "bad"}
    if result.get("other_robot"):
        text = (
            f"this is a recording of another robot than {result['robot']} ({result['other_robot']}). "
            "Give --robot the arm that was recorded."
        )
        return verdict(colour, text, then=then) | usable
    but = "" if result["validation"].get("repeats_training") else _except(result)
    return verdict(colour, _headline(result), *_reasons(result), exceptions=but, then=then) | usable


def _reasons(result: dict[str, Any]) -> list[str]:
    v, names = result["validation"], result["joint_names"]
    words = [
        *filter(None, [_spoilt(result)]),
        *_force(v.get("force")),
        *result["friction_differences"],
        *_live(v, names, result["unit"]),
        *_better(result),
        *_joints(result),
        *_rest(v, names),
    ]
    if any("slow reversals" in w for w in result["warnings"]):
        words.append("Next time add slow reversals (0.02 to 0.1 rad/s) of every joint.")
    return words + _next_recording(result)


def _spoilt(result: dict[str, Any]) -> str:
    """What to do where the initial model explains clearly more (SPOILT); "" where it does not."""
    theirs = (result["comparison"].get("initial_model") or {}).get("mean_r2") or 0.0
    ours = result["validation"]["mean_r2"] or 0.0
    if theirs - ours < SPOILT or 1.0 - ours < 2.0 * (1.0 - theirs):
        return ""
    return (
        f"Keep the robot file that it began with, which explains {100 * theirs:.1f} %: the recordings are mostly "
        "contact, or too short or slow."
    )


def explained(result: dict[str, Any]) -> np.ndarray:
    """Share (n,) of the variance that noise above the motion's frequencies leaves explainable; NaN where nothing is."""
    r2, bound = _r2(result)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(bound > 0, np.minimum(r2 / bound, 1.0), np.nan)


def _r2(result: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    """R2 of the held-out data, and what noise leaves of it, (n,); of a joint that stands there over the variance of its
    effort in the training: its effort hardly varies.
    """
    v, less = result["validation"], _times_more(result) ** 2
    return 1 - (1 - _floats(v["r2"])) / less, 1 - (1 - _floats(v["above_cutoff_bound_r2"])) / less


def _mean_r2(result: dict[str, Any]) -> float:
    """That of the held-out data (`metrics.mean_r2`), with `_r2` where joints stand."""
    stands = (_times_more(result) > 1.0).any()
    return mean_r2(_r2(result)[0]) if stands else float(result["validation"]["mean_r2"])


def _times_more(result: dict[str, Any]) -> np.ndarray:
    """How much more the effort varies in the training (n,), of joints that stand in the held-out data; 1 of others."""
    more = _floats(result["training"]["deviation"]) / _floats(result["validation"]["deviation"])
    return np.where(more > STANDS, more, 1.0)


def _possible(result: dict[str, Any]) -> float:
    """Mean R2, or where it is KNOWN the mean share of what noise leaves explainable, if that is more."""
    mean, shares = _mean_r2(result), explained(result)
    known = mean >= KNOWN and np.isfinite(shares).any()
    return max(mean, float(np.nanmean(shares))) if known else mean


def _next_recording(result: dict[str, Any]) -> list[str]:
    """What to record for the joints that another recording would improve; nothing where noise alone is left."""
    names, rate = result["joint_names"], min(b["rate"] for b in result["training"]["bags"])
    weak = [n for n, share in zip(names, explained(result), strict=True) if share < LIMITED]
    words, duration = [], sum(b["duration"] for b in result["training"]["bags"])
    if weak and duration < SHORT:
        words.append(f"It was identified from {duration:.0f} s: record 30 s or more.")
    if rate < SLOW:
        words.append(f"It was recorded at {rate:.0f} Hz: record at 100 Hz or more, or reversals lie between samples.")
    if weak and any("weak excitation" in w for w in result["warnings"]):
        words.append(
            f"The recording does not determine some parameters well: record a faster, larger excitation of "
            f"{', '.join(weak)} (20 s or more, five harmonics) before you use the model for other motions."
        )
    return words


def _headline(result: dict[str, Any]) -> str:
    v = result["validation"]
    if v["mean_r2"] is None:
        return "nothing could be validated: no joint moved, or the effort does not vary."
    mean = _mean_r2(result)
    if v.get("repeats_training"):
        return (
            "the written robot file cannot be judged: the data repeat one motion; on a repeat of it "
            f"{100 * mean:.1f} % of the measured effort's variance are explained. Record a second motion "
            "(robot-dynamics excite --seed 2) for --validate."
        )
    share = f"explains {100 * mean:.1f} % of the measured effort's variance on held-out data"
    if (possible := _possible(result)) > mean + 0.01:
        share += f", {100 * possible:.1f} % of what noise leaves explainable"
    if mean < 0:
        share = "predicts the effort on held-out data worse than the mean of the effort does"
    return f"the written robot file {share} ({v['split']})."


def _except(result: dict[str, Any]) -> str:
    """Joints of which the written file leaves much, and joints, or their mean, that another model predicts better, for
    the first sentence.
    """
    v = result["validation"]
    rows = zip(result["joint_names"], v["r2"], explained(result), strict=True)
    weak = [f"{name} (R2 {r2:.2f})" for name, r2, share in rows if share < BOUNDS[1]]
    found = [", ".join(weak)] if weak else []
    for name, text in OTHERS.items():
        other = result["comparison"].get(name)
        if not other:
            continue
        ratios = zip(result["joint_names"], _ratio(v, other), strict=True)
        worse = [f"{n} {times(x).lstrip('+')}" for n, x in ratios if x > WORSE]
        ours, theirs = v["mean_r2"], other["mean_r2"]
        if None not in (ours, theirs) and ours < theirs - 1e-3:
            worse.append(f"mean R2 ({ours:.3f} against {theirs:.3f})")
        if worse:
            found.append(f"{', '.join(worse)} worse than with {text}")
    return "; ".join(found)


def _better(result: dict[str, Any]) -> list[str]:
    """How much lower the errors are than those of the other models, the joints' geometric mean, where they are; of
    another model that explains nothing there is nothing to say.
    """
    words = []
    for name, text in OTHERS.items():
        other = result["comparison"].get(name)
        says = other and (other["mean_r2"] or 0.0) > 0.0
        gain = 100 * (1 - _typical(_ratio(result["validation"], other))) if says else 0.0
        if gain >= 1:
            words.append(f"Its errors are {gain:.0f} % lower than with {text}, in the mean over the joints.")
    return words


def _ratio(v: dict[str, Any], other: dict[str, Any]) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return _floats(v["rmse"]) / _floats(other["rmse"])


def _typical(ratio: np.ndarray) -> float:
    known = ratio[np.isfinite(ratio) & (ratio > 0)]
    return float(np.exp(np.log(known).mean())) if len(known) else 1.0


def _live(v: dict[str, Any], names: list[str], unit: str) -> list[str]:
    """Where the causal filters of the live nodes cost much of what is explained, a sentence about it."""
    live = v.get("live_nodes")
    if not live or live["mean_r2"] is None or (v["mean_r2"] or 0.0) <= 0.0:
        return []
    if v["mean_r2"] - live["mean_r2"] < LIVE_LOSS:
        rows = zip(names, _floats(live["rmse"]), _floats(v["rmse"]), strict=True)
        more = [f"{name} {ours:.2g} instead of {here:.2g}" for name, ours, here in rows if ours > LIVE_MORE * here]
        return [f"The live nodes, whose filters are causal, leave more: {', '.join(more)} {unit}."] if more else []
    share = f"explains {100 * live['mean_r2']:.1f} %" if live["mean_r2"] > 0 else "explains nothing"
    return [
        f"With the causal filters of the live nodes it {share}: the recorded velocity "
        "is noisy or late, or the effort was filtered or delayed before it was recorded."
    ]


def _force(force: dict[str, Any] | None) -> list[str]:
    """How wrong the contact force is on these data, where it is known."""
    if not force:
        return []
    within = ", ".join(f"{x:.2g}" for x in force["within"])
    std, covered = float(np.linalg.norm(force["std"])), 100 * min(force["covered"])
    return [
        f"Contact force where nothing touches the robot, as the live nodes estimate it: within {within} N of zero "
        f"({', '.join(force['axes'])}) for 95 % of the time; standard deviation {std:.2g} N, within two of them "
        f"{covered:.0f} % of the time at least (95 expected). In contact the error is larger."
    ]


def _joints(result: dict[str, Any]) -> list[str]:
    v, names = result["validation"], result["joint_names"]
    r2, bound, judged_by = _floats(v["r2"]), _floats(v["above_cutoff_bound_r2"]), _r2(result)[0]
    words = []
    if np.isfinite(r2).any():
        worst = int(np.nanargmin(r2))
        share = (1 - bound[worst]) / max(1 - r2[worst], 1e-12)
        words.append(
            f"Lowest R2: {names[worst]} ({r2[worst]:.3f}); {100 * min(share, 1):.0f} % of its residual variance is "
            "above the frequencies of the motion (noise, torque ripple), where the model has no content."
        )
    if bad := [n for n, x in zip(names, judged_by, strict=True) if x < KNOWN]:
        words.append(f"Do not use the model for {', '.join(bad)}: it predicts little more than the mean, or less.")
    if still := [n for n, x, y in zip(names, r2, judged_by, strict=True) if x < KNOWN <= y]:
        words.append(f"R2 says little of {', '.join(still)}: the effort hardly varies in these data.")
    if unknown := [n for n, x in zip(names, r2, strict=True) if np.isnan(x)]:
        words.append(f"Not judged: {', '.join(unknown)}, which did not move in these data, or have constant effort.")
    return words


def _rest(v: dict[str, Any], names: list[str]) -> list[str]:
    moving, rest = _floats(v["moving"]["rmse"]), _floats(v["at_rest"]["rmse"])
    samples = np.array(v["at_rest"]["samples"])
    odd = [n for n, m, r, k in zip(names, moving, rest, samples, strict=True) if k > 100 and r > 2 * m]
    if not odd:
        return []
    holds = f"stiction holds {'it' if len(odd) == 1 else 'them'} within its band"
    return [f"At rest the error of {', '.join(odd)} is more than twice that of motion: {holds}."]


def _floats(values: list[float | None]) -> np.ndarray:
    return np.array([np.nan if x is None else x for x in values], dtype=float)


def arm_matrix(result: dict[str, Any]) -> dict[str, Any]:
    """Error by what noise leaves explainable, friction by its deviation; masses at worst fair: many add little."""
    v, names = result["validation"], result["joint_names"]
    at = list(zip(at_speed(result, "torque"), at_speed(result, "std"), strict=True))
    loose = [_link(result["parameters"]["base"], j + 1) for j in range(len(names))]
    columns = {
        f"torque error {result['unit']}": [
            cell(rmse, level_of(share, *BOUNDS)) for rmse, share in zip(v["rmse"], explained(result), strict=True)
        ],
        f"friction at {SPEED} rad/s Nm": [(f"{number(f, 3)} ± {number(s, 3)}", _share(f, s)) for f, s in at],
        "deviation of masses %": [cell(x, level_of(x, DEVIATION[0], np.inf)) for x in loose],
    }
    return matrix(names, columns)


def at_speed(result: dict[str, Any], key: str) -> list[float]:
    """Sliding friction (n,) [Nm] of a result at SPEED, or its deviation."""
    sliding = result["parameters"]["sliding_friction"]
    place = int(np.argmin(np.abs(np.array(sliding["speeds"]) - SPEED)))
    return [row[place] for row in sliding[key]]


def _share(value: float | None, std: float | None) -> str:
    return "unknown" if not value or std is None else level_of(100 * std / abs(value), *DEVIATION)


def _link(base: dict[str, Any], number: int) -> float:
    """Median relative deviation [%] of the base parameters of one link; NaN where it has none."""
    pairs = zip(base["names"], base["relative_std_percent"], strict=True)
    own = [x for name, x in pairs if x is not None and int(re.findall(r"[A-Za-z]+(\d+)", name)[0]) == number]
    return float(np.median(own)) if own else float("nan")
