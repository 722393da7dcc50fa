"""robot-dynamics excite: a motion that shows every parameter of the arm, or one property of a joint."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from robot_dynamics_ros.cli.demo_robots import working_pose
from robot_dynamics_ros.cli.options import (
    Finite,
    NewPath,
    joint_index,
    numbers,
    refuse_options,
    robot_option,
    view_file_option,
)
from robot_dynamics_ros.cli.printed import console, print_files, progress_bar, stderr
from robot_dynamics_ros.outputs import refuse_existing
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.verdict import word

if TYPE_CHECKING:
    from robot_dynamics_ros.identification.excitation import Excitation, Limits
    from robot_dynamics_ros.trajectories.files import Points

SIZES = {  # kind of motion -> option -> argument of its function
    "arm": {"duration": "duration", "seed": "seed"},
    "points": {"count": "points", "seed": "seed"},
    "velocity-steps": {"travel": "travel", "count": "count"},
    "reversals": {"travel": "turn", "count": "count"},
    "duty-cycles": {"travel": "amplitude", "duration": "minutes"},
    "stiffness": {"travel": "travel", "duration": "duration", "seed": "seed"},
}
POOR = 1e4  # condition number of the parameters that a motion shows; of a usual one 10 to 800
OF_A_JOINT, JOINT_OPTIONS = tuple(SIZES)[2:], ("joints", "start")


@click.command("excite")
@click.argument("kind", type=click.Choice(list(SIZES)), default="arm", metavar="[" + "|".join(SIZES) + "]")
@robot_option
@click.option("--out", type=NewPath(fresh=True, suffix=".csv"), required=True, help="Trajectory CSV to write.")
@click.option("--duration", type=click.FloatRange(1, 36000), help="Length [s]: 100; stiffness 35; a duty cycle 1800.")
@click.option("--count", type=click.IntRange(1, 1000), help="Points (6), speeds (14 or more) or reversals (120).")
@click.option("--joint", "joints", multiple=True, help="Name or number (from 1); may be repeated. Default: the first.")
@click.option("--start", help="Where a motion of a joint begins [rad], a,b,...; default: a working pose.")
@click.option("--travel", type=click.FloatRange(min=0, min_open=True), help="Travel of the joint [rad].")
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
    callback=Finite(open=True),
    metavar="X0 Y0 Z0 X1 Y1 Z1",
    help="Box that joints and TCP stay in [m], base frame: lower corner, upper corner; inf where a side is open.",
)
@click.option(
    "--outside",
    type=float,
    nargs=6,
    multiple=True,
    callback=Finite(open=True),
    metavar="X0 ...",
    help="Box that no link may enter [m]; may be repeated.",
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the random starts.")
@view_file_option
def command(kind: str, robot: str, out: Path, view_file: Path | None, **o: Any) -> None:
    """Design an excitation motion inside the robot's limits; write it as a trajectory for `play` and `rehearse`.

    arm (the default): Fourier motion that shows the masses, rotor inertias and friction of the arm, fast, then slowly
    with small reversals. points: trapezoidal moves through random points. velocity-steps, reversals, duty-cycles,
    stiffness: the motion of one joint that shows its friction, hysteresis, heat balance or stiffness.

    Beside it a picture: the motion with its limits, the path of the TCP and the arm. Neither replaces a file.

    Example: robot-dynamics excite --robot ur5e --floor 0.05 --out excitation.csv
    """
    from robot_dynamics_ros.identification.dataset.initial_model import any_robot, rounded_angles
    from robot_dynamics_ros.identification.reports.motion_preview import write_preview
    from robot_dynamics_ros.trajectories.files import write_trajectory

    taken = {*SIZES[kind], *(JOINT_OPTIONS if kind in OF_A_JOINT else ())}
    refuse_options({*JOINT_OPTIONS, *(option for sizes in SIZES.values() for option in sizes)} - taken, kind)
    arm = any_robot(robot)
    if rounded := rounded_angles(robot):
        stderr.print(f"warning: {rounded}", style="yellow")
    picture = out.with_suffix(".png")
    refuse_existing("--out", picture)
    limits = _limits(arm, o)
    if kind in OF_A_JOINT:
        motion, limits, points = _of_joints(kind, arm, limits, o)
    else:
        motion, points = _of_the_arm(kind, arm, limits, o)
    write_trajectory(out, arm.joint_names, points)
    files = {"trajectory": str(out)} | write_preview(motion, arm, limits, picture)
    if view_file is not None:
        from robot_dynamics_ros.viewer.files import write_motion_rrd

        files["view"] = str(write_motion_rrd(motion, arm, limits, view_file))
    print_files(files)
    first, then = ("play", "") if arm.links is None else ("rehearse", " --out rehearsal")  # it needs masses
    console.print(f"next: robot-dynamics {first} {word(out)} --robot {word(robot)}{then}")


def _limits(arm: RobotFile, o: dict[str, Any]) -> Limits:
    from robot_dynamics_ros.identification.excitation import Box, Limits

    return Limits.of(
        arm,
        floor=-np.inf if o["floor"] is None else o["floor"],
        clearance=o["clearance"] or 0.0,
        inside=Box(o["inside"][:3], o["inside"][3:]) if o["inside"] else None,
        outside=tuple(Box(corners[:3], corners[3:]) for corners in o["outside"]),
    )


def _of_the_arm(kind: str, arm: RobotFile, limits: Limits, o: dict[str, Any]) -> tuple[Excitation, Points]:
    from robot_dynamics_ros.identification.excitation import design_fourier, design_points
    from robot_dynamics_ros.identification.excitation.space import usual_clearance
    from robot_dynamics_ros.models import RobotModel
    from robot_dynamics_ros.trajectories.files import Points, few_points

    if o["clearance"] is None:
        model = RobotModel(arm.kinematic_chain(), arm.joint_names)
        limits = replace(limits, clearance=usual_clearance(model, limits))
    with progress_bar() as bar:
        task = bar.add_task("searching")

        def report(done: int, total: int, text: str) -> None:
            bar.update(task, completed=done, total=total, description=f"searching {text}")

        sizes = {to: o[option] for option, to in SIZES[kind].items() if o[option] is not None}
        motion = (design_points if kind == "points" else design_fourier)(arm, limits, progress=report, **sizes)
    if not motion.condition < POOR:
        longer = "--count" if kind == "points" else "--duration"
        stderr.print(f"warning: the motion shows too little of the arm: a larger {longer}", style="yellow")
    console.print(f"condition number {motion.condition:.4g}, {motion.time[-1]:.1f} s")
    if kind == "points":
        return motion, few_points((motion.q, motion.qd, motion.qdd), 1 / motion.time[1])
    return motion, Points(motion.time, motion.q, None)


def _of_joints(kind: str, arm: RobotFile, limits: Limits, o: dict[str, Any]) -> tuple[Excitation, Limits, Points]:
    from robot_dynamics_ros.identification.excitation import joint_motions
    from robot_dynamics_ros.identification.excitation.plan import check_space, sampled, with_limits_of
    from robot_dynamics_ros.trajectories.files import few_points

    sizes: dict[str, Any] = {to: o[option] for option, to in SIZES[kind].items() if o[option] is not None}
    if "minutes" in sizes:
        sizes["minutes"] /= 60.0
    indices = [joint_index(arm, j, "--joint") for j in o["joints"]] or [0]
    make = joint_motions.JOINT_MOTIONS[kind]
    given = o["start"]
    start = working_pose(arm) if given is None else np.array(numbers("--start", given, arm.n_joints))
    if kind == "velocity-steps":
        make = joint_motions.enough_velocity_steps
    plan = joint_motions.joined(arm, [make(arm, j, start, rate=arm.rate, **sizes) for j in indices])
    limits = with_limits_of(arm, limits)
    check_space(arm, limits, plan)
    console.print(f"{kind}: {', '.join(plan.joints)}, {plan.duration:.0f} s, within all limits")
    return sampled(plan), limits, few_points(plan.motion, plan.rate)
