"""`robot-dynamics export`: a robot file in the format of another tool."""

from __future__ import annotations

from pathlib import Path

import click

from robot_dynamics_ros.cli.options import NewPath, complete_robot, refuse_options
from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.outputs import write_atomically
from robot_dynamics_ros.robot_file import RobotFile, load_robot

FORMATS = ("urdf", "mjcf", "core", "ur-friction-scales")


@click.command("export")
@click.argument("robot", shell_complete=complete_robot)
@click.option("--format", "target", type=click.Choice(FORMATS), required=True, help="What to write.")
@click.option("--out", type=NewPath(fresh=True), required=True, help="File to write.")
@click.option("--set", "settings", multiple=True, help="core: parameter of a stage, e.g. force.bandwidth=40.")
def command(robot: str, target: str, out: Path, settings: tuple[str, ...]) -> None:
    """Write a ROBOT (name of a shipped robot, or path of a robot file) for another tool.

    \b
    urdf (also Gazebo), mjcf (MuJoCo): links, limits, friction; what is left
      out is printed and written as a comment.
    core: parameters of the C++ class ContactForceEstimator.
    ur-friction-scales: scales of a UR controller's torque mode with which a
      hand needs half the force; friction must be identified.

    Example: robot-dynamics export ur5e --format mjcf --out ur5e.xml
    """
    if target != "core":
        refuse_options(("settings",), f"--format {target}")
    known = load_robot(robot)
    text, notes = _scales(known) if target == "ur-friction-scales" else _text(known, target, settings)
    write_atomically(out, text)
    click.echo(f"wrote {out}")
    for note in notes:
        click.echo(f"note: {note}")


def _text(robot: RobotFile, target: str, settings: tuple[str, ...]) -> tuple[str, list[str]]:
    from robot_dynamics_ros.cli.replay import parse_settings
    from robot_dynamics_ros.estimators.core_file import core_text
    from robot_dynamics_ros.models.export_notes import notes
    from robot_dynamics_ros.models.mjcf_writer import mjcf_text
    from robot_dynamics_ros.models.urdf_writer import urdf_text

    if target == "core":
        return core_text(robot, parse_settings(settings)), []
    known, remarks = _with_masses(robot), notes(robot, target)
    if target == "urdf":
        return urdf_text(known, notes=remarks), remarks
    return mjcf_text(known), remarks


def _with_masses(robot: RobotFile) -> RobotFile:
    """The robot; raises ConfigError naming the first link without mass."""
    for name, ten in zip(robot.joint_names, robot.link_parameters, strict=True):
        if not ten[9] > 0:
            raise ConfigError(robot.file, f"links [{name}]", f"mass {ten[9]:g} kg must be > 0")
    return robot


def _scales(robot: RobotFile) -> tuple[str, list[str]]:
    from robot_dynamics_ros.control.friction_scales import friction_scales
    from robot_dynamics_ros.robot_file.gaps import identified

    scales = friction_scales(robot)
    remarks = [f"with the UR ROS 2 driver: {scales.service_call()}"]
    if robot.friction is not None and not identified(robot.friction):
        remarks.insert(0, "friction is an estimate, not identified: identify this robot before you use these scales")
    return scales.as_json(), remarks
