"""Several bags identified each on its own and compared: robots of a fleet, or one robot over months;
numbers, sentences and one self-contained HTML page.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.errors import DataError, RobotDynamicsError
from robot_dynamics_ros.identification.arm.identify import identify
from robot_dynamics_ros.identification.arm.state import Options
from robot_dynamics_ros.identification.dataset.initial_model import any_robot
from robot_dynamics_ros.identification.reports.grade import SPEED, at_speed
from robot_dynamics_ros.identification.reports.result import summarise
from robot_dynamics_ros.pages import write_html
from robot_dynamics_ros.plots import MODEL, OTHER, figure, grid, svg
from robot_dynamics_ros.verdict import CLEAR, SHARE, changed, short_names, times, verdict, word

WARM = 2.0  # K off the median of all bags that are stated beside a difference of friction

Task = tuple[str, str, Options]
TEMPLATE = "compare_report.html.j2"
SAID = 3  # base parameters of a bag that sentences name; the page shows all
NAMED = 20  # bags whose names have room below a picture; of more, every k-th is named
WIDEST = 20.0  # inches of a picture
LARGEST = 8.0  # standard deviations at the end of the colours


def identify_one(task: Task) -> dict[str, Any]:
    """One bag identified on its first 70 %, judged on the rest; `error` in one line where it cannot be."""
    robot, bag, options = task
    try:
        return {"bag": bag, **summarise(identify(any_robot(robot, [bag]), [bag], (), options), robot)}
    except RobotDynamicsError as error:
        return {"bag": bag, "error": str(error)}


def identify_each(
    robot: str,
    bags: Sequence[str | Path],
    options: Options,
    processes: int = 2,
    done: Callable[[int, int], None] = lambda count, total: None,
) -> list[dict[str, Any]]:
    """`identify_one` for every bag, in their order, in so many processes."""
    tasks = [(robot, str(Path(bag).absolute()), options) for bag in bags]
    with ProcessPoolExecutor(min(processes, len(tasks)), multiprocessing.get_context("spawn")) as pool:
        futures = {pool.submit(identify_one, task): place for place, task in enumerate(tasks)}
        results: list[dict[str, Any]] = [{}] * len(tasks)
        for count, future in enumerate(as_completed(futures), 1):
            results[futures[future]] = future.result()
            done(count, len(tasks))
    return results


def compared(results: Sequence[dict[str, Any]], robot: str) -> dict[str, Any]:
    """What differs between identified bags: accuracy, friction at SPEED per joint, base parameters.

    A base parameter differs where it is CLEAR standard deviations off the median of all bags (the other one of two),
    friction where it is SHARE off it besides. robot: as the user named it, for the next command.
    Raises DataError with fewer than two identified bags, or bags of different joints.
    """
    good = [r for r in results if "error" not in r]
    if len(good) < 2:
        reasons = "; ".join(f"{r['bag']}: {r['error'].removeprefix(r['bag'] + ': ')}" for r in results if "error" in r)
        raise DataError(f"a comparison needs two identified bags, there are {len(good)}; {reasons}".rstrip("; "))
    joints = good[0]["joint_names"]
    if any(r["joint_names"] != joints for r in good):
        raise DataError("the bags are of robots with different joints")
    friction, std = (np.array([at_speed(r, key) for r in good]) for key in ("torque", "std"))
    usual = _usual(friction)
    change = (friction - usual) / np.where(usual != 0, np.abs(usual), np.nan)
    spread = np.hypot(std, _usual(std))
    differs = changed(friction - usual, spread, usual)
    base = _base(good)
    bags = [_whole(r) for r in good]
    differences = _differences(good, joints, change, differs, base, [b["temperature"] for b in bags])
    return _said(good, robot, differences) | {
        "robot": good[0]["robot"],
        "joint_names": joints,
        "unit": good[0]["unit"],
        "bags": [r["bag"] for r in good],
        "begun": [b["begun"] for b in bags],
        "duration": [b["duration"] for b in bags],
        "temperature": [b["temperature"] for b in bags],
        "mean_r2": [r["validation"]["mean_r2"] for r in good],
        "rmse": [r["validation"]["rmse"] for r in good],
        "friction_speed": SPEED,
        "friction_share": SHARE,
        "deviations": CLEAR,
        "friction": friction.tolist(),
        "friction_std": std.tolist(),
        "friction_change": change.tolist(),
        "friction_differs": differs.tolist(),
        "base": base,
        "differences": differences,
        "failed": {r["bag"]: r["error"] for r in results if "error" in r},
    }


def _usual(values: np.ndarray) -> np.ndarray:
    """What each bag (row) is compared with: the median of all; of two, whose median halves a difference, the other."""
    return values[::-1] if len(values) == 2 else np.broadcast_to(np.median(values, axis=0), values.shape)


def _said(good: Sequence[dict[str, Any]], robot: str, differences: Sequence[str]) -> dict[str, Any]:
    """Verdict: fair where a bag differs, and what to do with the bags next."""
    bags = " ".join(word(r["bag"]) for r in good)
    if differences:
        then = f"robot-dynamics health {bags} --robot {word(robot)} --out health"
        return verdict("fair", "the bags differ.", *differences, then=then)
    then = f"robot-dynamics identify {bags} --robot {word(robot)} --out identified"
    return verdict("good", "no parameter of a bag differs clearly from the others.", then=then)


def _whole(result: dict[str, Any]) -> dict[str, Any]:
    """Begin, whole duration and temperature of the bag, of which a part was used for validation."""
    first = result["training"]["bags"][0]
    duration = first["duration"] + sum(b["duration"] for b in result["validation_bags"])
    return {"begun": first["begun"], "duration": duration, "temperature": first["temperature"]}


def _base(good: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Base parameters of all bags, and how many deviations each is off what is usual; None where they are not alike."""
    bases = [r["parameters"]["base"] for r in good]
    if any(b["names"] != bases[0]["names"] for b in bases):
        return None
    values, std = (np.array([b[k] for b in bases], dtype=float) for k in ("values", "std"))
    off = (values - _usual(values)) / np.maximum(np.hypot(std, _usual(std)), 1e-12)
    return {"names": bases[0]["names"], "values": values.tolist(), "std": std.tolist(), "off": off.tolist()}


def _differences(
    good: Sequence[dict[str, Any]],
    joints: Sequence[str],
    change: np.ndarray,
    differs: np.ndarray,
    base: dict[str, Any] | None,
    temperature: Sequence[list[float] | None],
) -> list[str]:
    """Sentences, the largest difference of each bag first."""
    known = [T for T in temperature if T is not None] or [[0.0] * len(joints)]
    degrees = np.array([np.median(known, axis=0) if T is None else T for T in temperature])
    other = "the other" if len(good) == 2 else "the median"
    names, sentences = short_names([r["bag"] for r in good]), []
    for name, share, clear, apart in zip(names, change, differs, degrees - _usual(degrees), strict=True):
        for j in np.argsort(-np.abs(np.nan_to_num(share))):
            if clear[j]:
                kelvin = f"{abs(apart[j]):.0f} K {'warmer' if apart[j] > 0 else 'colder'}"
                warm = f"; it was {kelvin}" if abs(apart[j]) > WARM else ""
                sentences.append(
                    f"{name}: friction of {joints[j]} at {SPEED} rad/s {times(1 + share[j])} off {other}{warm}"
                )
    if base is None:
        return sentences
    off, values = np.array(base["off"]), np.array(base["values"])
    for name, row, value, usual in zip(names, off, values, _usual(values), strict=True):
        beyond = np.flatnonzero(np.abs(row) > CLEAR).tolist()
        for _, k in sorted((-abs(float(row[k])), k) for k in beyond)[:SAID]:
            sentences.append(
                f"{name}: {base['names'][k]} is {value[k]:.4g}, {other} {usual[k]:.4g} "
                f"({row[k]:+.1f} standard deviations)"
            )
        if (more := len(beyond) - SAID) > 0:
            sentences.append(f"{name}: {more} more base parameters differ, those of a payload or tool do together")
    return sentences


def write_comparison(result: dict[str, Any], path: Path) -> Path:
    """Write what `compared` found. Raises CapabilityError without jinja2 or matplotlib, DataError when it cannot
    be written.
    """
    short = result | {"bags": short_names(result["bags"])}
    pictures = {"friction": _friction(short), "base": _base_picture(short)}
    return write_html(TEMPLATE, path, result=short, pictures=pictures)


def _friction(result: dict[str, Any]) -> str:
    """Friction of every joint over the recordings, with its deviation and the median."""
    value, std = np.array(result["friction"]), np.array(result["friction_std"], dtype=float)

    def draw(axis: Any, j: int) -> None:
        axis.errorbar(np.arange(len(value)), value[:, j], std[:, j], fmt="o", color=MODEL, capsize=3)
        axis.axhline(np.median(value[:, j]), color=OTHER, lw=1)
        _name_bags(axis, result["bags"])
        axis.set_ylim(0, 1.15 * float(np.nanmax(value[:, j])))

    return grid(value.shape[1], draw, result["joint_names"], "", "friction [Nm]")


def _base_picture(result: dict[str, Any]) -> str:
    """Base parameters by recordings, coloured by their difference in standard deviations."""
    if not result["base"]:
        return ""
    z = np.array(result["base"]["off"], dtype=float)
    names = [name if len(name) < 40 else name[:37] + ".." for name in result["base"]["names"]]
    drawing, axes = figure(1, 1, min(3.5 + 0.9 * len(z), WIDEST), 1.5 + 0.2 * len(names))
    shown = axes[0, 0].imshow(z.T, cmap="RdBu_r", vmin=-LARGEST, vmax=LARGEST, aspect="auto")
    axes[0, 0].set_yticks(np.arange(len(names)), names, fontsize=7)
    _name_bags(axes[0, 0], result["bags"])
    drawing.colorbar(shown, label="standard deviations off the median (of two, the other)", shrink=0.5)
    return svg(drawing)


def _name_bags(axis: Any, bags: list[str]) -> None:
    """Names of the recordings below an axis."""
    places = np.arange(0, len(bags), -(-len(bags) // NAMED))
    axis.set_xticks(places, [bags[k] for k in places], rotation=30, ha="right", fontsize=8, parse_math=False)
