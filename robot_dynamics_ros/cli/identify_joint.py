"""`robot-dynamics identify-joint`: friction, hysteresis, heat and stiffness of joints from bags."""

from __future__ import annotations

from pathlib import Path

import click

from robot_dynamics_ros.bags import load_bag
from robot_dynamics_ros.cli.options import (
    bags_argument,
    console,
    joint_table,
    json_option,
    out_option,
    progress,
    robot_option,
    topic_option,
    write_json,
)
from robot_dynamics_ros.identification.joint.fits import FITS
from robot_dynamics_ros.identification.joint.identify import JointsFound, identify_joints
from robot_dynamics_ros.identification.reports.joint import head, write_joint_outputs
from robot_dynamics_ros.models.friction import LAWS
from robot_dynamics_ros.robot_file import load_robot


@click.command("identify-joint")
@bags_argument
@robot_option
@click.option("--what", required=True, type=click.Choice(list(FITS)), help="What to identify.")
@click.option("--joint", "joints", multiple=True, help="Name, alias or number (from 1); may be repeated. Default: all.")
@click.option("--law", type=click.Choice(list(LAWS)), default="madsen", show_default=True, help="Friction law.")
@click.option(
    "--ambient", type=float, help="Temperature of a joint at rest [deg C], for thermal. Default: first sample."
)
@topic_option
@out_option
@json_option
def command(
    bags: tuple[Path, ...],
    robot: str,
    what: str,
    joints: tuple[str, ...],
    law: str,
    ambient: float | None,
    topic: str,
    out: Path,
    json_file: Path | None,
) -> None:
    """Identify one property of the joints from BAGS, which are parts of one recording or several runs.

    The usable segments (constant velocity, reversals, duty cycles) are detected from the motion. Writes a robot file
    with the results and a report with plots. Joints with insufficient data are refused, with the reason and advice on
    what to record.

    Example: robot-dynamics identify-joint sweeps --robot ur5e --what friction --joint 2 --out joint2
    """
    known = load_robot(robot)
    log, report = load_bag(list(bags), known, topic=topic)
    names = ", ".join(b.name for b in bags)
    found = identify_joints(
        log, known, what, joints, law, names, ambient, lambda items: progress(items, what, len(items))
    )
    files = write_joint_outputs(found, log, list(bags), out)
    write_json(json_file, found.as_dict() | {"files": files, "bags": [str(b) for b in bags]})
    _show(found)
    for text in report.lines()[1:]:
        console.print(f"- {text}", highlight=False, markup=False)
    for name, path in files.items():
        console.print(f"{name.replace('_', ' ')}: {path}", highlight=False, markup=False, soft_wrap=True)


def _show(found: JointsFound) -> None:
    numbers = list(dict.fromkeys(k for fit in found.fits.values() for k in fit.numbers))
    table = joint_table(found.fits, "model", *map(head, numbers))
    for name, fit in found.fits.items():
        table.add_row(name, fit.model, *(f"{fit.numbers[k]:.4g}" if k in fit.numbers else "-" for k in numbers))
    console.print(table)
    for name, fit in found.fits.items():
        for note in fit.notes:
            console.print(f"- {name}: {note}", highlight=False, markup=False)
    for why in found.reasons():
        console.print(f"not identified: {why}", highlight=False, markup=False, style="yellow")
