"""The verdict of an identification: its grade, plain sentences about the robot file, and the next command."""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.identification.reports.grade import (
    BOUNDS,
    KNOWN,
    explainable,
    explained,
    floats,
    grade,
    initial_r2,
    judged_r2,
    r2_and_bound,
    spoilt,
    uncovered,
    unsettled,
)
from robot_dynamics_ros.verdict import times, verdict

LIMITED = 0.97  # share of what noise leaves explainable, from which on no other recording improves a joint
SHORT = 20.0  # s of all recordings that are identified from, of which 30 s leave 21 beside the part to validate on
SLOW = 50.0  # Hz, rate of a recording below which reversals lie between its samples
WORSE = 1.02  # times the RMSE of another model from which on a joint is called worse
LIVE_MORE = 1.5  # times the error of the identification's filters, from which on that of the live nodes is said
LIVE_LOSS = 0.02  # of mean R2 between the filters of the identification and those of the live nodes, that is mentioned
TOO_SHORT = "The contact force is not judged: held-out pieces are too short. Record 30 s or more in one piece."
TOO_LITTLE = (
    "The deviations of the force are too small, as where a hose, a spring or a part that is carried pulls at the arm: "
    "expect errors up to these limits."
)
IN_AMPERE = (
    "Torque constants are unknown: torques, masses and forces of this file are in the unit of the effort, no newtons. "
    "Write drives.torque_constant [Nm/A at the joint] into the robot file that you identify with."
)
MIXED_LOADS = (
    "The force is off by part of the difference of the loads, or judged with another load: identify and validate with "
    "recordings with one load."
)
OTHERS = {"constant_coulomb": "constant Coulomb friction", "initial_model": "the initial model"}


def judged(result: dict[str, Any], remedy: str = "") -> dict[str, Any]:
    """The verdict on the written robot file, and whether it is `usable`; remedy: the next command where it is not."""
    colour = grade(result)
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
        *_keep(result),
        *_force(v.get("force")),
        *[IN_AMPERE] * result["in_ampere"],
        *[TOO_LITTLE] * uncovered(result),
        *[TOO_SHORT] * unsettled(result),
        *[MIXED_LOADS] * bool(result["load_differences"]),
        *result["friction_differences"],
        *_live(result),
        *_better(result),
        *_joints(result),
        *_rest(v, names),
    ]
    if any("slow reversals" in w for w in result["warnings"]):
        words.append("Next time add slow reversals (0.02 to 0.1 rad/s) of every joint.")
    return words + _next_recording(result)


def _keep(result: dict[str, Any]) -> list[str]:
    """What to do where the file that it began with explains clearly more."""
    share = f"{100 * initial_r2(result):.1f} %"
    what = "the recordings are mostly contact, or too short or slow"
    return [f"Keep the robot file that it began with, which explains {share}: {what}."] if spoilt(result) else []


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
    mean = judged_r2(result, v)
    if v.get("repeats_training"):
        return (
            "the written robot file cannot be judged: the data repeat one motion; on a repeat of it "
            f"{100 * mean:.1f} % of the measured effort's variance are explained. Record a second motion "
            "(robot-dynamics excite --seed 2) for --validate."
        )
    share = f"explains {100 * mean:.1f} % of the measured effort's variance on held-out data"
    if (possible := explainable(result)) > mean + 0.01:
        share += f", {100 * possible:.1f} % of what noise leaves explainable"
    if mean < 0:
        r2 = floats(v["r2"])
        which = ", ".join(np.array(result["joint_names"])[r2 < 0]) if (r2 >= 0).any() else "the arm"
        share = f"predicts the effort of {which} on held-out data worse than its mean does"
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
        return floats(v["rmse"]) / floats(other["rmse"])


def _typical(ratio: np.ndarray) -> float:
    known = ratio[np.isfinite(ratio) & (ratio > 0)]
    return float(np.exp(np.log(known).mean())) if len(known) else 1.0


def _live(result: dict[str, Any]) -> list[str]:
    """Where the causal filters of the live nodes cost much of what is explained, a sentence about it."""
    v, names, unit = result["validation"], result["joint_names"], result["unit"]
    live = v.get("live_nodes")
    if not live or live["mean_r2"] is None or not (mean := judged_r2(result, v)) > 0.0:
        return []
    explained_live = judged_r2(result, live)
    if mean - explained_live < LIVE_LOSS:
        rows = zip(names, floats(live["rmse"]), floats(v["rmse"]), strict=True)
        more = [f"{name} {ours:.2g} instead of {here:.2g}" for name, ours, here in rows if ours > LIVE_MORE * here]
        return [f"The live nodes, whose filters are causal, leave more: {', '.join(more)} {unit}."] if more else []
    share = f"explains {100 * explained_live:.1f} %" if explained_live > 0 else "explains nothing"
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
    r2, judged_by, words = floats(v["r2"]), r2_and_bound(result)[0], []
    noise = np.minimum((1 - floats(v["above_cutoff_bound_r2"])) / np.maximum(1 - r2, 1e-12), 1.0)
    if np.isfinite(r2).any():
        worst = int(np.nanargmin(r2))
        words.append(
            f"Lowest R2: {names[worst]} ({r2[worst]:.3f}); {100 * noise[worst]:.0f} % of its residual variance is "
            "above the frequencies of the motion (noise, torque ripple), where the model has no content."
        )
    if bad := [n for n, x, y in zip(names, judged_by, noise, strict=True) if x < KNOWN and not y > KNOWN]:
        words.append(f"Do not use the model for {', '.join(bad)}: it predicts little more than the mean, or less.")
    if still := [n for n, x in zip(names, r2, strict=True) if x < KNOWN and n not in bad]:
        words.append(f"R2 says little of {', '.join(still)}: the effort hardly varies in these data, or is noise.")
    if unknown := [n for n, x in zip(names, r2, strict=True) if np.isnan(x)]:
        words.append(f"Not judged: {', '.join(unknown)}, for want of motion or of a changing effort in these data.")
    return words


def _rest(v: dict[str, Any], names: list[str]) -> list[str]:
    moving, rest = floats(v["moving"]["rmse"]), floats(v["at_rest"]["rmse"])
    samples = np.array(v["at_rest"]["samples"])
    odd = [n for n, m, r, k in zip(names, moving, rest, samples, strict=True) if k > 100 and r > 2 * m]
    if not odd:
        return []
    holds = f"stiction holds {'it' if len(odd) == 1 else 'them'} within its band"
    return [f"At rest the error of {', '.join(odd)} is more than twice that of motion: {holds}."]
