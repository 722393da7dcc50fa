"""`robot-dynamics identify --what ...`: friction, hysteresis, heat and stiffness of joints from bags."""

from __future__ import annotations

from pathlib import Path

from robot_dynamics_ros.bags import load_bag
from robot_dynamics_ros.cli.options import joint_index
from robot_dynamics_ros.cli.printed import (
    console,
    end_with,
    joint_table,
    print_files,
    print_notes,
    progress,
    show_verdict,
    write_json,
)
from robot_dynamics_ros.effort.joint_state import refuse
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.joint.identify import JointsFound, identify_joints
from robot_dynamics_ros.identification.reports.joint import head, write_joint_outputs
from robot_dynamics_ros.outputs import refuse_existing
from robot_dynamics_ros.robot_file import load_robot


def identify_property(
    what: str, bags: tuple[Path, ...], robot: str, joints: tuple[str, ...], topic: str, out: Path
) -> None:
    """Identify one property of the joints from bags, which are parts of one recording or several runs.

    Writes a robot file with the results and a report. Joints with insufficient data are refused, with the reason and
    advice on what to record. Exit status NOT_USABLE where the fit is. Raises DataError for an effort in another unit.
    """
    known = load_robot(robot)
    refuse_existing("--out", out / f"{known.name}_{what}.yaml", out / f"{what}.html", out / f"{what}.json")
    log, report = load_bag(list(bags), known, topic=topic)
    names = ", ".join(b.name for b in bags)
    if (unit := report.effort_unit) and known.drives.effort.unit == "Nm":
        raise DataError(
            f"{report.source}: the effort is in {unit}, {known.name} declares Nm: convert the columns, or identify the "
            "arm first: its file has unit and torque constants"
        )
    refuse(log, known, report.source)
    numbers = [joint_index(known, j, "--joint") for j in joints]
    found = identify_joints(
        log, known, what, numbers, source=names, wrap=lambda items: progress(items, what, len(items))
    )
    said = write_joint_outputs(found, log, list(bags), out, robot)
    write_json(out / f"{what}.json", found.as_dict() | said | {"bags": [str(b) for b in bags]})
    show_verdict(said)
    _show(found)
    print_notes(report.lines()[1:], found.notes)
    print_files(said["files"])
    end_with(said)


def _show(found: JointsFound) -> None:
    numbers = list(dict.fromkeys(k for fit in found.fits.values() for k in fit.numbers))
    table = joint_table(found.fits, "model", *map(head, numbers))
    for name, fit in found.fits.items():
        table.add_row(name, fit.model, *(f"{fit.numbers[k]:.3g}" if k in fit.numbers else "-" for k in numbers))
    console.print(table)
    for name, fit in found.fits.items():
        print_notes(f"{name}: {note}" for note in fit.notes)
