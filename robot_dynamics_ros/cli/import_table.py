"""`robot-dynamics import`: files of numbers into a bag."""

from __future__ import annotations

from pathlib import Path

import click

from robot_dynamics_ros.bags import load_bag, write_bag
from robot_dynamics_ros.bags.table_clock import RATES
from robot_dynamics_ros.bags.table_log import UNITS, TableOptions
from robot_dynamics_ros.bags.tables import READERS, is_table
from robot_dynamics_ros.cli.options import NewPath, complete_robot
from robot_dynamics_ros.cli.printed import console, print_identify
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.outputs import EFFORT_UNIT, refuse_bag
from robot_dynamics_ros.robot_file import load_robot


@click.command("import")
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option("--out", type=NewPath(directory=True), required=True, help="Bag directory to write.")
@click.option(
    "--map",
    "columns",
    multiple=True,
    metavar="SIGNAL=COLUMNS,...",
    help="q, qd, effort, current, q_d, qd_d, qdd_d, tau_d, temperature = an array, FIRST..LAST, a pattern with *, or "
    "numbers from 1 such as 2-7; default: found by name.",
)
@click.option(
    "--time",
    default="",
    metavar="COLUMN|HZ",
    help="Column of the clock (first: 1-1), or samples per second; default: by name.",
)
@click.option(
    "--unit",
    "units",
    multiple=True,
    type=click.Choice(UNITS),
    help="Unit of the angles (rad, deg) or the effort (Nm, A, mA); may be repeated; default: by name and size.",
)
@click.option("--robot", "-r", shell_complete=complete_robot, help="Names the joints: shipped robot or robot file.")
def command(
    files: tuple[Path, ...], out: Path, columns: tuple[str, ...], time: str, units: tuple[str, ...], robot: str | None
) -> None:
    """Write a bag from FILES of numbers (CSV, npz, parquet, HDF5; several are parts of one recording).

    Prints which columns were taken, with their units. Columns are found by their names: records of ur_rtde and
    libfranka, exports of PlotJuggler, LeRobot data sets (observation.state, action) and others alike.

    Example: robot-dynamics import record.csv --unit deg --map effort=current_1..current_6 --out run1
    """
    refuse_bag(out, inputs=files)
    for file in files:
        if not is_table(file):
            raise DataError(f"{file}: not one of {', '.join(READERS)}; a bag needs no import")
    for kind in (UNITS[:2], UNITS[2:]):
        if len(set(units).intersection(kind)) > 1:
            raise DataError(f"--unit: choose one of {', '.join(kind)}")
    options = TableOptions(_mapping(columns), *_clock(time), units)
    arm = None if robot is None else load_robot(robot)
    log, report = load_bag(files, arm, require=("q",), table=options)
    about = {"imported": ", ".join(f.name for f in files), EFFORT_UNIT: report.effort_unit}
    write_bag(log, out, inputs=files, about=about)
    for line in report.lines():
        console.print(line)
    if not log.has("effort"):
        console.print("no effort: a recording without it cannot be identified", style="yellow")
    console.print(f"wrote {out}")
    if log.has("effort"):
        print_identify(out, robot)


def _clock(time: str) -> tuple[str, float | None]:
    """Name of the column, or the rate [Hz]. Raises DataError for a rate that is none."""
    try:
        rate = float(time)
    except ValueError:
        return time, None
    if not RATES[0] <= rate <= RATES[1]:
        limits = f"{RATES[0]:g} to {RATES[1]:g}"
        raise DataError(f"--time {time}: samples per second must be {limits}; column 1 is --time 1-1")
    return "", rate


def _mapping(texts: tuple[str, ...]) -> dict[str, str]:
    """Signal -> columns of SIGNAL=COLUMNS,... Raises DataError."""
    found: dict[str, str] = {}
    for part in (part for text in texts for part in text.split(",")):
        signal, equals, columns = part.partition("=")
        if not (equals and signal.strip() and columns.strip()):
            raise DataError(f"--map {part!r} is not SIGNAL=COLUMNS, such as q=q_1..q_6 or effort=tau")
        found[signal.strip()] = columns.strip()
    return found
