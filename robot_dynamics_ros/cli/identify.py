"""robot-dynamics identify: bags in, validated robot file, URDF and report out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from robot_dynamics_ros.cli.options import (
    bags_argument,
    console,
    effort_option,
    json_option,
    out_option,
    robot_option_with,
    stamps_option,
    stderr,
    topic_option,
    write_json,
)
from robot_dynamics_ros.errors import CapabilityError, DataError

PATH = click.Path(path_type=Path)


@click.command("identify")
@bags_argument
@robot_option_with("Shipped robot's name, robot file, or URDF (6, 7 axes, any).")
@click.option("--validate", "-v", multiple=True, type=PATH, help="Bag to validate the result; may be repeated.")
@click.option("--payload-from", multiple=True, type=PATH, help="Bag of a run with payload: its mass, centre, inertia.")
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
@click.option("--report/--no-report", default=True, show_default=True, help="HTML report with pictures.")
@out_option
@json_option
def command(
    bags: tuple[Path, ...],
    robot: str,
    validate: tuple[Path, ...],
    payload_from: tuple[Path, ...],
    tip: str | None,
    effort: str,
    topic: str,
    stamps: str,
    cutoff: float | None,
    method: str,
    known_rotor: bool,
    average_periods: bool,
    report: bool,
    out: Path,
    json_file: Path | None,
) -> None:
    """Identify masses, rotor inertia and friction of a robot from BAGS.

    Validates the result, makes it physically consistent, and writes a robot file, a URDF and a report.

    Example: robot-dynamics identify run1 --robot ur5e --validate run2 --out identified
    """
    from robot_dynamics_ros.identification.arm.export import write_outputs
    from robot_dynamics_ros.identification.arm.identify import Options, UserChoices, identify
    from robot_dynamics_ros.identification.dataset.initial_model import any_robot
    from robot_dynamics_ros.identification.reports.result import summarise

    if cutoff is not None and not 0 < cutoff < 1e4:
        raise DataError(f"--cutoff {cutoff} must be above 0 and below 10000 Hz")
    options = Options(
        effort=effort,
        choices=UserChoices(cutoff=cutoff),
        method=method,
        topic=topic,
        stamps=stamps,
        known_rotor=known_rotor,
        average_periods=average_periods,
    )
    with stderr.status("loading") as status:
        found = identify(any_robot(robot, tip, bags), bags, validate, options, lambda text: status.update(text))
        status.update("validating")
        result = summarise(found)
        result["files"] = write_outputs(found, out, [*bags, *validate])
        if payload_from:
            status.update("payload")
            result["payload"] = _payload(found, payload_from, options, out, result["files"])
        if report:
            status.update("report")
            from robot_dynamics_ros.identification.reports.arm import write_report

            try:
                result["files"]["report"] = str(write_report(found, result, out / "report.html"))
            except CapabilityError as error:  # numbers and files do not depend on drawing
                result["statements"].append(f"no report: {error}")
    write_json(json_file, result)
    _show(result)


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
    from rich.table import Table

    v, others = result["validation"], result["comparison"]
    unit = result["unit"]
    table = Table("joint", "R2", f"RMSE {unit}", "moving", "at rest", "constant Coulomb", "initial model")
    initial = others.get("catalogue", {}).get("rmse", [None] * len(v["r2"]))
    rows = (v["r2"], v["rmse"], v["moving"]["rmse"], v["at_rest"]["rmse"], others["constant_coulomb"]["rmse"], initial)
    for name, *cells in zip(result["joint_names"], *rows, strict=True):
        table.add_row(name, *("-" if c is None else f"{c:.4g}" for c in cells))
    console.print(table)
    console.print(f"mean R2 {v['mean_r2']:.4f} on raw measured effort, {v['samples']} samples; {v['split']}")
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
