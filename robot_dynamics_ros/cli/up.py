"""`robot-dynamics up`: the live graph for a robot, without the launch package."""

from __future__ import annotations

import signal
import sys

import click

from robot_dynamics_ros.bringup import DRIVERS, describe
from robot_dynamics_ros.cli.options import robot_option, view_option
from robot_dynamics_ros.nodes.executables import require_ros
from robot_dynamics_ros.supervisor import Supervisor
from robot_dynamics_ros.waiting import ends


@click.command()
@robot_option
@click.option("--ip", default="127.0.0.1", show_default=True, help="Address of the controller.")
@click.option(
    "--driver",
    type=click.Choice(("auto", *DRIVERS)),
    default="auto",
    show_default=True,
    help="auto: that of the manufacturer, or none; none: subscribe to an existing driver.",
)
@click.option("--composed/--separate", default=True, show_default=True, help="One process, or one per node.")
@click.option("--namespace", default="", help="ROS namespace of all nodes.")
@click.option("--params", "params_file", type=click.Path(exists=True, dir_okay=False), help="ROS parameter file.")
@click.option(
    "--joint-states", default="joint_states", show_default=True, help="JointState topic of an existing driver."
)
@view_option
def command(params_file: str | None, **options: object) -> None:
    """Start the nodes for a robot and run until Ctrl-C; stop all when one node fails.

    With --driver none the estimators subscribe to joint_states of an existing driver (ros2_control, vendor driver).

    Example: robot-dynamics up --robot ur5e --ip 192.168.0.10
    """
    require_ros()
    graph = describe(params_file=params_file or "", **options)  # type: ignore[arg-type]
    for note in graph.notes:
        click.echo(note, err=True)
    for number in ends():
        signal.signal(number, _interrupt)
    supervisor = Supervisor()
    try:
        for node in graph.nodes:
            supervisor.start(node.name, graph.command(node), graph.environment)
        status = supervisor.wait()
    except KeyboardInterrupt:
        status = 0
    finally:
        supervisor.stop()
    sys.exit(status)


def _interrupt(*_: object) -> None:
    """The first of ends() ends the graph in order; a second one would end this process before its nodes."""
    for number in ends():
        signal.signal(number, signal.SIG_IGN)
    raise KeyboardInterrupt
