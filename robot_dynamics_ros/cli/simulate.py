"""`robot-dynamics simulate`: a simulated robot controller that real clients can connect to."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from robot_dynamics_ros.cli.options import complete_robot
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.server.launcher import controller_of, settings_of


@click.command()
@click.argument("robot", default="ur5e", shell_complete=complete_robot)
@click.option("--scenario", default="idle", show_default=True, help="Contact scenario of the environment.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on, e.g. 127.0.0.2.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A setting of the vendor's controller: speed=2 (of time), seed=1, rtde_port=0, polyscope=5.11, ...",
)
@click.pass_context
def command(context: click.Context, robot: str, settings: tuple[str, ...], **options: Any) -> None:
    """Run a simulated controller of ROBOT, with the vendor's protocol, until interrupted.

    Example: robot-dynamics simulate ur5e --scenario polishing
    """
    known = load_robot(robot)
    given = {k: v for k, v in options.items() if context.get_parameter_source(k) is not ParameterSource.DEFAULT}
    controller_of(known).serve(settings_of(known, robot, given, settings), click.echo)
