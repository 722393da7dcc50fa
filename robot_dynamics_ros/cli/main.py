"""Entry point of `robot-dynamics`: a table of commands, each imported only when it is used."""

from __future__ import annotations

import importlib
import sys

import click

from robot_dynamics_ros import __version__
from robot_dynamics_ros.errors import RobotDynamicsError

# name -> module under robot_dynamics_ros.cli holding `command`, in the order a newcomer meets them
COMMANDS: dict[str, str] = {
    "new": "new",
    "check": "check",
    "demo": "demo",
    "simulate": "simulate",
    "up": "up",
    "record": "record",
    "excite": "excite",
    "identify": "identify",
    "identify-joint": "identify_joint",
    "identify-drive": "identify_drive",
    "compare": "compare",
    "experiment": "experiment",
    "reproduce": "reproduce",
    "ablation": "ablation",
    "replay": "replay",
    "health": "health",
    "faults": "faults",
    "endurance": "endurance",
    "bench": "bench",
    "latency": "latency",
}


class LazyGroup(click.Group):
    """A click group that imports a command's module only when that command is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        if name not in COMMANDS:
            return None
        return importlib.import_module(f"robot_dynamics_ros.cli.{COMMANDS[name]}").command


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def cli() -> None:
    """Robot joints, known better than the data sheet."""


def main() -> None:
    """Run the command line: user errors are one line and exit status 1, never a traceback."""
    try:
        cli(prog_name="robot-dynamics")
    except RobotDynamicsError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(1)


if __name__ == "__main__":
    main()
