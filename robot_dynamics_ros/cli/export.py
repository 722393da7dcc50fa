"""`robot-dynamics export`: a robot file in the format of another tool."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from robot_dynamics_ros.cli.options import NewPath, complete_robot
from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.outputs import write_atomically
from robot_dynamics_ros.robot_file import load_robot

if TYPE_CHECKING:
    from robot_dynamics_ros.robot_file import RobotFile

FORMATS = ("core",)


@click.command("export")
@click.argument("robot", shell_complete=complete_robot)
@click.option("--format", "target", type=click.Choice(FORMATS), required=True, help="What to write.")
@click.option("--out", type=NewPath(), required=True, help="File to write.")
@click.option("--set", "settings", multiple=True, help="core: parameter of a stage, e.g. force.bandwidth=40.")
@click.option("--overwrite", is_flag=True, help="Replace the file.")
def command(robot: str, target: str, out: Path, settings: tuple[str, ...], overwrite: bool) -> None:
    """Write a ROBOT (name of a shipped robot, or path of a robot file) for another tool.

    core: parameters of the C++ class ContactForceEstimator.

    Example: robot-dynamics export ur5e --format core --out ur5e.core
    """
    if out.exists() and not overwrite:
        raise ConfigError(str(out), "", "exists already; choose another --out or give --overwrite")
    text, notes = _text(load_robot(robot), target, settings)
    write_atomically(out, text)
    click.echo(f"wrote {out}")
    for note in notes:
        click.echo(f"note: {note}")


def _text(robot: RobotFile, target: str, settings: tuple[str, ...]) -> tuple[str, list[str]]:
    if settings and target != "core":
        raise ConfigError("export", "--set", f"applies to --format core, not {target}")
    return _core(robot, settings)


def _core(robot: RobotFile, settings: tuple[str, ...]) -> tuple[str, list[str]]:
    from robot_dynamics_ros.cli.replay import parse_settings
    from robot_dynamics_ros.estimators.core_file import core_text

    given: dict[str, dict[str, Any]] = parse_settings(settings)
    return core_text(robot, given), []
