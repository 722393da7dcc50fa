"""Entry point of `robot-dynamics`: a table of commands, each imported only when it is used."""

from __future__ import annotations

import importlib
import os
import sys

import click

from robot_dynamics_ros import __version__
from robot_dynamics_ros.errors import RobotDynamicsError

# name -> (module under robot_dynamics_ros.cli holding `command`, what for), in the order a newcomer meets them
COMMANDS: dict[str, tuple[str, str]] = {
    "new": ("new", "begin a robot file from a URDF"),
    "check": ("check", "what is wrong with a robot file, or what it says"),
    "demo": ("demo", "a simulated robot, the whole graph, force against truth"),
    "simulate": ("simulate", "a simulated controller that speaks the robot's protocol"),
    "up": ("up", "the graph on a robot, a simulated one, or another driver"),
    "record": ("record", "topics into a bag; completes a killed recording"),
    "excite": ("excite", "design a motion for identification"),
    "rehearse": ("rehearse", "a motion on the simulated arm of any robot file"),
    "play": ("play", "a motion of excite on the robot that `up` runs"),
    "identify": ("identify", "bags to robot file, URDF and report"),
    "identify-joint": ("identify_joint", "friction, hysteresis, heat, stiffness of joints"),
    "identify-drive": ("identify_drive", "torque constants, rotor inertia, losses, energy"),
    "compare": ("compare", "bags identified side by side, and what differs"),
    "experiment": ("experiment", "make, check, run, record a joint's identification motion"),
    "reproduce": ("reproduce", "the papers' numbers beside ours"),
    "ablation": ("ablation", "what temperature, memory and load dependence each buy"),
    "validate": ("validate", "estimates judged on a zoo of simulated robots"),
    "replay": ("replay", "all estimators over a recording"),
    "calibrate-force": ("calibrate_force", "noise, band and contact threshold from a force sensor"),
    "health": ("health", "how joints changed over many recordings, on one page"),
    "faults": ("faults", "faults of the command path, injected and judged"),
    "endurance": ("endurance", "torque control for long, with a fault every minute"),
    "bench": ("bench", "peers beside ours"),
    "latency": ("latency", "rate, latency, losses and CPU of the graph"),
}


class LazyGroup(click.Group):
    """A click group that imports a command's module only when that command is asked for; its own help needs none."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context | None, name: str) -> click.Command | None:
        """The command of that name, None where there is none."""
        if name not in COMMANDS:
            return None
        if name != "bench":  # the peers it compares with run as they do by themselves
            # matrices are small here: a second BLAS thread would only wait for the first; read when numpy loads
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        return importlib.import_module(f"robot_dynamics_ros.cli.{COMMANDS[name][0]}").command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The table, whole."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def cli() -> None:
    """Robot joints, known better than the data sheet.

    `robot-dynamics COMMAND --help` explains a command and shows an example; begin with `robot-dynamics demo`.
    """


def main() -> None:
    """Run the command line: user errors are one line and exit status 1, never a traceback."""
    try:
        cli(prog_name="robot-dynamics")
    except RobotDynamicsError as error:
        click.echo(f"error: {error}", err=True)
    except OSError as error:
        if error.filename is None:
            raise  # no file of the user's: a defect of ours
        click.echo(f"error: {error.filename}: {error.strerror}", err=True)
    sys.exit(1)


if __name__ == "__main__":
    main()
