"""robot-dynamics excite: a motion that shows every parameter of a robot."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

from robot_dynamics_ros.cli.options import NewPath, console, print_files, robot_option, stderr, view_file_option

CLEARANCE = 0.1  # m, where none is given


@click.command("excite")
@robot_option
@click.option("--out", type=NewPath(), required=True, help="Trajectory CSV to write.")
@click.option(
    "--points", type=click.IntRange(2, 100), help="Trapezoidal moves through this number of random points instead."
)
@click.option("--duration", type=float, default=20.0, show_default=True, help="Length [s]; whole periods end at rest.")
@click.option("--floor", type=float, help="Lowest height of any joint or the TCP [m] in the base frame.")
@click.option(
    "--clearance",
    type=click.FloatRange(min=0),
    show_default="0.1, less for an arm that cannot",
    help="Minimum distance of joints and TCP from the links before their own [m].",
)
@click.option(
    "--inside",
    type=float,
    nargs=6,
    metavar="X0 Y0 Z0 X1 Y1 Z1",
    help="Box that joints and TCP stay in [m], base frame: lower corner, upper corner; inf where a side is open.",
)
@click.option(
    "--outside",
    type=float,
    nargs=6,
    multiple=True,
    metavar="X0 ...",
    help="Box that no link may enter [m]; may be repeated.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of the random starts.")
@view_file_option
def command(
    robot: str,
    out: Path,
    points: int | None,
    duration: float,
    floor: float | None,
    clearance: float | None,
    inside: tuple[float, ...] | None,
    outside: tuple[tuple[float, ...], ...],
    seed: int,
    view_file: Path | None,
) -> None:
    """Design an excitation motion inside the robot's limits; write it as a trajectory for `play` and `rehearse`.

    Beside it a picture: the motion with its limits, the path of the TCP and the arm.

    Example: robot-dynamics excite --robot ur5e --floor 0.05 --out excitation.csv
    """
    from robot_dynamics_ros.identification.dataset.initial_model import any_robot, rounded_angles
    from robot_dynamics_ros.identification.excitation import Limits, design_fourier, design_points
    from robot_dynamics_ros.identification.excitation.limits import box
    from robot_dynamics_ros.identification.excitation.space import largest_clearance
    from robot_dynamics_ros.models import RobotModel

    arm = any_robot(robot)
    if rounded := rounded_angles(robot):
        stderr.print(f"warning: {rounded}", style="yellow")
    space = box(inside) if inside else None, tuple(box(corners) for corners in outside)
    limits = Limits.of(
        arm, floor=-np.inf if floor is None else floor, clearance=clearance or 0.0, inside=space[0], outside=space[1]
    )
    if clearance is None:
        model = RobotModel(arm.kinematic_chain(), arm.joint_names)
        limits = replace(limits, clearance=min(CLEARANCE, largest_clearance(model, limits)))
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[text]}"), TimeRemainingColumn())
    with Progress(*columns, console=stderr, transient=True, disable=not stderr.is_terminal) as bar:
        task = bar.add_task("searching", text="")

        def report(done: int, total: int, text: str) -> None:
            bar.update(task, completed=done, total=total, text=text)

        if points is None:
            motion = design_fourier(arm, limits, duration=duration, seed=seed, progress=report)
        else:
            motion = design_points(arm, limits, points, seed=seed, progress=report)
    files = write_motion(out, arm, motion, limits)
    if view_file is not None:
        from robot_dynamics_ros.viewer.files import write_motion_rrd

        files["view"] = str(write_motion_rrd(motion, arm, limits, view_file))
    console.print(
        f"condition number {motion.condition:.1f}, {motion.time[-1]:.1f} s, {motion.evaluations} motions tried"
    )
    print_files(files)
    console.print(f"next: robot-dynamics rehearse {out} --robot {robot} --out rehearsal")


def write_motion(out: Path, arm: Any, motion: Any, limits: Any) -> dict[str, str]:
    """The CSV (time and positions, the form that trajectories are played from) and a preview picture beside it.

    Raises DataError when it cannot be written.
    """
    from robot_dynamics_ros.errors import CapabilityError, DataError
    from robot_dynamics_ros.identification.reports.motion_preview import motion_preview
    from robot_dynamics_ros.outputs import write_atomically

    rows = np.column_stack([motion.time, motion.q])
    lines = [",".join(f"{x:.9g}" for x in row) for row in rows]
    try:
        write_atomically(out, "\n".join([",".join(["time", *arm.joint_names]), *lines, ""]))
        picture = out.with_suffix(".png")
        picture.write_bytes(motion_preview(motion, arm, limits))
    except CapabilityError:
        return {"trajectory": str(out)}
    except OSError as error:
        raise DataError(f"{out}: cannot be written ({error.strerror or error})") from None
    return {"trajectory": str(out), "preview": str(picture)}
