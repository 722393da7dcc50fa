"""robot-dynamics identify: bags in, validated robot file, URDF and report out."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from robot_dynamics_ros.cli.options import (
    bags_argument,
    console,
    effort_option,
    joint_table,
    json_option,
    out_option,
    robot_option_with,
    sensor_options,
    stamps_option,
    stderr,
    topic_option,
    write_json,
)
from robot_dynamics_ros.errors import CapabilityError, DataError

PATH = click.Path(path_type=Path)
NOT_USABLE = 3  # exit status of a result that is written but predicts too little to be loaded
REPORT = "report.html"


SHARES = {  # per cent of the time that each step takes: 10 minutes at 500 Hz
    "reading bags": 10,
    "comparing velocity and position": 1,
    "recognising the effort": 1,
    "looking for contact": 3,
    "choosing filters and friction laws": 17,
    "solving": 10,
    "friction laws of the robot file": 21,
    "acceleration of the live nodes": 1,
    "residuals of the live pipeline": 8,
    "validating": 6,
    "report": 22,
}


class StepProgress:
    """Share of the work that is done and the time left, printed at the beginning of each step."""

    def __init__(self, update: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._update, self._clock = update, clock
        self._began, self._done, self._next = clock(), 0, 0

    def __call__(self, text: str) -> None:
        """Begin a step."""
        self._done = min(self._done + self._next, 99)
        self._next = SHARES.get(text, 0)
        left = (self._clock() - self._began) * (100 - self._done) / max(self._done, 1)
        estimate = f", {left:.0f} s left" if self._done else ""
        self._update(f"{self._done} %{estimate}: {text}")


@click.command("identify")
@bags_argument
@robot_option_with("Shipped robot's name, robot file, or URDF (6, 7 axes, any).")
@click.option("--validate", "-v", multiple=True, type=PATH, help="Bag to validate the result; may be repeated.")
@click.option("--payload-from", multiple=True, type=PATH, help="Bag of a run with payload: its mass, centre, inertia.")
@click.option(
    "--payload-mass",
    type=float,
    metavar="KG",
    help="Known mass in --payload-from: finds the torque constant of every joint, then identifies with these.",
)
@click.option("--tip", help="Last link of the arm, for a URDF with a gripper or several arms.")
@effort_option
@topic_option
@stamps_option
@click.option("--cutoff", type=float, help="Low-pass of the state [Hz]; default chosen from the data.")
@click.option(
    "--method",
    type=click.Choice(["huber", "wls", "torque", "ols", "total", "idim-iv"]),
    default="huber",
    show_default=True,
    help="Weighting: robust, 1/sigma (Madsen2020), 1/||tau|| (Liu2020), none; total: noise in the motion too, rotors "
    "known; idim-iv: instruments from a simulation of the commanded motion.",
)
@click.option("--known-rotor", is_flag=True, help="Rotor inertias are those of the robot file, not identified.")
@click.option("--average-periods", is_flag=True, help="Average a periodic motion over its periods first.")
@sensor_options("--wrench", "WrenchStamped topic of a force sensor: contact is a known input.", touch=False)
@click.option(
    "--wrench-sign",
    type=click.Choice(["auto", "environment", "robot"]),
    default="auto",
    show_default=True,
    help="The sensor measures the force of the environment on the robot, or of the robot; auto: from the data.",
)
@click.option(
    "--exclude",
    "excluded",
    multiple=True,
    metavar="FROM:TO",
    help="Seconds of every bag to leave out; may be repeated.",
)
@click.option(
    "--contact",
    type=click.Choice(["auto", "ignore"]),
    default="auto",
    show_default=True,
    help="auto: contact is left out, hand guiding refused; ignore: identify from all that was recorded.",
)
@click.option("--report/--no-report", default=True, show_default=True, help="HTML report with pictures.")
@out_option
@click.option("--overwrite", is_flag=True, help="Replace the result files of an earlier run in the directory.")
@json_option
def command(
    bags: tuple[Path, ...],
    robot: str,
    validate: tuple[Path, ...],
    payload_from: tuple[Path, ...],
    payload_mass: float | None,
    tip: str | None,
    effort: str,
    topic: str,
    stamps: str,
    cutoff: float | None,
    method: str,
    known_rotor: bool,
    average_periods: bool,
    sensor: Any,
    wrench_sign: str,
    excluded: tuple[str, ...],
    contact: str,
    report: bool,
    out: Path,
    overwrite: bool,
    json_file: Path | None,
) -> None:
    """Identify masses, rotor inertia and friction of a robot from BAGS.

    Validates the result, makes it physically consistent, and writes a robot file, a URDF and a report.

    The figures are of the robot file that is written. Exit status 3: it is written, but the verdict is "not usable".

    Example: robot-dynamics identify run1 --robot ur5e --validate run2 --out identified
    """
    from robot_dynamics_ros.identification.arm.export import write_outputs
    from robot_dynamics_ros.identification.arm.identify import Options, UserChoices, identify, read
    from robot_dynamics_ros.identification.dataset.initial_model import any_robot, rounded_angles
    from robot_dynamics_ros.identification.known_mass import with_known_mass
    from robot_dynamics_ros.identification.reports.result import summarise

    if cutoff is not None and not 0 < cutoff < 1e4:
        raise DataError(f"--cutoff {cutoff} must be above 0 and below 10000 Hz")
    if payload_mass is not None and not payload_from:
        raise DataError("--payload-mass needs the loaded run: --payload-from BAG")
    options = Options(
        effort=effort,
        choices=UserChoices(cutoff=cutoff),
        method=method,
        topic=topic,
        stamps=stamps,
        known_rotor=known_rotor,
        average_periods=average_periods,
        exclude=tuple(map(_interval, excluded)),
        contact=contact,
        wrench=sensor,
        wrench_sign={"auto": 0, "environment": 1, "robot": -1}[wrench_sign],
    )
    arm = any_robot(robot, tip, bags)
    if not overwrite:
        _refuse_earlier(arm.name, out)
    with stderr.status("loading") as status:
        progress = StepProgress(status.update)
        found = identify(arm, bags, validate, options, progress)
        if payload_mass is not None:
            status.update("torque constants from the known mass")
            loaded = [read(found.robot, bag, options) for bag in payload_from]
            known, text = with_known_mass(found, loaded, payload_mass)
            progress = StepProgress(status.update)
            found = identify(known, bags, validate, options, progress)
            found.statements.append(text)
        if rounded := rounded_angles(robot):
            found.statements.append(rounded)
        progress("validating")
        result = summarise(found)
        result["files"] = write_outputs(found, out, [*bags, *validate])
        if payload_from:
            status.update("payload")
            result["payload"] = _payload(found, payload_from, options, out, result["files"])
        if report:
            progress("report")
            from robot_dynamics_ros.identification.reports.arm import write_report

            try:
                result["files"]["report"] = str(write_report(found, result, out / REPORT))
            except CapabilityError as error:  # numbers and files do not depend on drawing
                result["statements"].append(f"no report: {error}")
    write_json(json_file, result)
    _show(result)
    if not result["usable"]:
        click.get_current_context().exit(NOT_USABLE)


def _refuse_earlier(robot: str, out: Path) -> None:
    """Raises DataError where a result file of an earlier run would be replaced."""
    for name in (f"{robot}_identified.yaml", f"{robot}_identified.urdf", f"{robot}_identified_loaded.yaml", REPORT):
        if (out / name).exists():
            raise DataError(f"{out / name}: exists already; choose another --out, or replace it by --overwrite")


def _interval(text: str) -> tuple[float, float]:
    """(begin, end) [s] of FROM:TO; an empty TO is the end of the bag. Raises DataError."""
    begin, colon, end = text.partition(":")
    try:
        interval = float(begin or 0.0), float(end or "inf")
    except ValueError:
        interval = (1.0, 0.0)
    if not (colon and 0 <= interval[0] < interval[1]):
        raise DataError(f"--exclude {text!r} is not FROM:TO in seconds, FROM below TO")
    return interval


def _payload(found: Any, bags: tuple[Path, ...], options: Any, out: Path, files: dict[str, str]) -> dict[str, Any]:
    """Payload of the loaded runs; a second robot file carries it."""
    from robot_dynamics_ros.identification.arm.identify import read
    from robot_dynamics_ros.identification.payload import identify_payload
    from robot_dynamics_ros.robot_file import load_robot, save_robot

    payload = identify_payload(found, [read(found.robot, bag, options) for bag in bags])
    robot = load_robot(files["robot_file"]).with_updates({"payload": payload.block()})
    path = out / f"{robot.name}_identified_loaded.yaml"
    save_robot(robot, path, inputs=[b for b in bags if b.is_file()], changed=["payload"])
    files["loaded_robot_file"] = str(path)
    return payload.to_dict()


def _show(result: dict[str, Any]) -> None:
    from robot_dynamics_ros.bags.rows import dropped_rows

    v, others = result["validation"], result["comparison"]
    heads = ("RMSE", "moving", "at rest", "constant Coulomb", "initial model")
    table = joint_table(result["joint_names"], "R2", *(f"{head} {result['unit']}" for head in heads))
    initial = others.get("catalogue", {}).get("rmse", [None] * len(v["r2"]))
    rows = (v["r2"], v["rmse"], v["moving"]["rmse"], v["at_rest"]["rmse"], others["constant_coulomb"]["rmse"], initial)
    for name, *cells in zip(result["joint_names"], *rows, strict=True):
        table.add_row(name, *("-" if c is None else f"{c:.4g}" for c in cells))
    for text in result["verdict"]:
        console.print(text, highlight=False, markup=False, soft_wrap=True)
    console.print(table)
    mean = "undefined" if v["mean_r2"] is None else f"{v['mean_r2']:.4f}"
    console.print(f"mean R2 {mean} of the written robot file on raw measured effort, {v['samples']} samples")
    for bag in (*result["training"]["bags"], *result["validation_bags"]):
        for text in dropped_rows(bag["name"], bag["dropped"]):
            console.print(f"- {text}", highlight=False, markup=False)
    for text in result["statements"]:
        console.print(f"- {text}", highlight=False, markup=False)
    for text in result["warnings"]:
        console.print(f"warning: {text}", highlight=False, markup=False, style="yellow")
    if "payload" in result:
        p = result["payload"]
        com = ", ".join(f"{c:.4f} +- {s:.4f}" for c, s in zip(p["com"], p["com_std"], strict=True))
        console.print(
            f"payload {p['mass']:.3f} +- {p['mass_std']:.3f} kg, centre of mass [{com}] m in the last link frame"
        )
        console.print(f"observable: {', '.join(p['observable']) or 'nothing'}")
    for what, path in result["files"].items():
        console.print(f"{what.replace('_', ' ')}: {path}", highlight=False, markup=False, soft_wrap=True)
