"""`robot-dynamics simulate`: a simulated robot controller that real clients can connect to."""

from __future__ import annotations

import click

from robot_dynamics_ros.cli.options import complete_robot
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.server.launcher import serve


@click.command()
@click.argument("robot", default="ur5e", shell_complete=complete_robot)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="A setting of the controller: scenario=push (contact), host=127.0.0.2, speed=2 (of time), polyscope=5.11, ...",
)
def command(robot: str, settings: tuple[str, ...]) -> None:
    """Run a simulated controller of ROBOT, with the vendor's protocol, until interrupted.

    Example: robot-dynamics simulate ur5e --set scenario=polishing
    """
    serve(load_robot(robot), robot, settings, click.echo)
