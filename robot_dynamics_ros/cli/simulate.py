"""`robot-dynamics simulate`: a simulated robot controller that real clients can connect to."""

from __future__ import annotations

import dataclasses
from typing import Any

import click
from click.core import ParameterSource

from robot_dynamics_ros.cli.options import complete_robot
from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.server.launcher import controller_of


@click.command()
@click.argument("robot", default="ur5e", shell_complete=complete_robot)
@click.option("--scenario", default="idle", show_default=True, help="Contact scenario of the environment.")
@click.option("--speed", default=1.0, show_default=True, help="Controller time per wall time.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on, e.g. 127.0.0.2.")
@click.option(
    "--rtde-port", default=30004, show_default=True, help="UR: RTDE port; 0 selects a free port (all port options)."
)
@click.option("--dashboard-port", default=29999, show_default=True, help="UR: port of the dashboard server.")
@click.option("--script-port", default=30003, show_default=True, help="UR: port of the script interface.")
@click.option("--truth-port", default=0, help="Port of the ground truth (JSON lines).")
@click.option("--truth-period", default=1, show_default=True, help="Cycles between two lines of ground truth.")
@click.option("--control-port", default=0, help="Port of the control channel for faults and environment (JSON lines).")
@click.option("--seed", default=0, show_default=True, help="Seed of all noise.")
@click.option("--duration", type=float, help="End after so many seconds of controller time.")
@click.option("--polyscope", "version", default="5.26.0.0", show_default=True, help="Version to announce.")
@click.option(
    "--gravity-in-current-torque/--no-gravity-in-current-torque",
    default=True,
    show_default=True,
    help="UR: whether the torque reported from currents contains gravity.",
)
@click.option("--lockstep/--no-lockstep", default=False, help="In torque mode a cycle waits for the client.")
@click.option("--stop-with-stdin", is_flag=True, help="End when standard input is closed.")
@click.option("--broker", help="Comau: host:port of an MQTT broker to publish to besides UDP.")
@click.option("--rate", type=float, help="Comau: cycles per second, e.g. 2500. Default: rate of the robot file.")
@click.option("--udp-port", default=0, help="Comau: port of the UDP state and command exchange.")
@click.pass_context
def command(context: click.Context, **options: Any) -> None:
    """Run a simulated controller of ROBOT, with the vendor's protocol, until interrupted.

    Example: robot-dynamics simulate ur5e --scenario polishing
    """
    robot = load_robot(options["robot"])
    module = controller_of(robot)
    known = {field.name for field in dataclasses.fields(module.Settings)}
    for name in set(options) - known:
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT:
            raise ConfigError(robot.name, f"--{name.replace('_', '-')}", f"a {robot.manufacturer} controller has none")
    module.serve(module.Settings(**{name: value for name, value in options.items() if name in known}), click.echo)
