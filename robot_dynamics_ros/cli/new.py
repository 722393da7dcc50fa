"""`robot-dynamics new`: begin a robot file from a URDF."""

from __future__ import annotations

import re
from pathlib import Path

import click

from robot_dynamics_ros.cli.options import NewPath
from robot_dynamics_ros.models.urdf_import import NOTES, robot_from_urdf
from robot_dynamics_ros.robot_file import save_robot
from robot_dynamics_ros.robot_file.gaps import unknown_numbers
from robot_dynamics_ros.verdict import word

EFFORTS = {"motor-torque": ("motor", "Nm"), "link-torque": ("link", "Nm"), "current": ("motor", "A")}


@click.command("new")
@click.argument("urdf", type=click.Path(path_type=Path))
@click.option(
    "--tip",
    help="Link that is the TCP; default: the end of what is fixed behind the last joint. Needed where joints branch.",
)
@click.option(
    "--effort-from",
    "effort",
    type=click.Choice(list(EFFORTS)),
    required=True,
    help="Effort in JointState: torque of the motors, torque behind the gears (joint sensors), or motor current.",
)
@click.option("--out", type=NewPath(fresh=True), required=True, help="Robot file to write.")
def command(urdf: Path, tip: str | None, effort: str, out: Path) -> None:
    """Create a robot file for your robot from its URDF (not xacro).

    Kinematics, masses and limits come from the URDF. Other fields are null until you edit or identify them.

    Example: robot-dynamics new my_arm.urdf --effort-from motor-torque --out my_arm.yaml
    """
    side, unit = EFFORTS[effort]
    robot = robot_from_urdf(urdf, torque_side=side, effort_unit=unit, tip=tip, name=_plain(out.stem))
    save_robot(robot, out, inputs=[urdf], changed=["kinematics", "links", "limits"])
    click.echo(f"wrote {out}: {robot.n_joints} joints; unknown: {', '.join(unknown_numbers(robot))}")
    for note in NOTES:
        if note in robot.sources:
            click.echo(robot.sources[note])
    click.echo(f"next: robot-dynamics check {word(out)}")


def _plain(stem: str) -> str | None:
    """A file's name as a robot's: letters, digits and underscores, a letter first."""
    return re.sub(r"^[^A-Za-z]+|[^A-Za-z0-9_]", "", stem.replace("-", "_")) or None
