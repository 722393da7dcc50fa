"""Entry point of `robot-dynamics`: a table of commands, each imported only when it is used."""

from __future__ import annotations

import importlib
import os
import sys
import warnings

import click

from robot_dynamics_ros import __version__
from robot_dynamics_ros.errors import RobotDynamicsError, nearest, printable

# heading of --help -> name -> (module under robot_dynamics_ros.cli holding `command`, what for)
GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Start": {
        "demo": ("demo", "simulated robot, all nodes, contact force vs. ground truth"),
        "new": ("new", "create a robot file from a URDF"),
        "check": ("check", "check a robot file and summarise it"),
        "simulate": ("simulate", "run a simulated controller with the vendor's protocol"),
    },
    "Record": {
        "excite": ("excite", "design an excitation motion for identification"),
        "rehearse": ("rehearse", "run a motion on a simulated arm of any robot file"),
        "play": ("play", "run a motion of excite on the robot that `up` runs"),
        "record": ("record", "record topics into a bag; recover a killed recording"),
        "import": ("import_table", "write a bag from CSV, npz, parquet or HDF5 files"),
    },
    "Identify": {
        "identify": ("identify", "identify arm, joints or drives from bags; report"),
        "learn": ("learn", "improve a robot file from recordings of ordinary work"),
        "learn-fleet": ("learn_fleet", "merge what robots of one model learned into a prior"),
    },
    "Use": {
        "up": ("up", "start the nodes for a robot, simulated robot or other driver"),
        "replay": ("replay", "run all estimators over a recording"),
        "export": ("export", "write a robot file for C++, URDF tools, MuJoCo"),
        "health": ("health", "trends of joint parameters over many recordings"),
    },
}
COMMANDS = {name: row for rows in GROUPS.values() for name, row in rows.items()}


class LazyGroup(click.Group):
    """Commands of a table, name -> (module of `package` with `command`, what for); each is imported when called."""

    package, table, all_threads = "robot_dynamics_ros.cli", COMMANDS, ""
    groups = GROUPS

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of the table."""
        return list(self.table)

    def get_command(self, ctx: click.Context | None, name: str) -> click.Command | None:
        """The command of that name. Raises UsageError, with the name that was meant where one is close."""
        if name not in self.table:
            raise click.UsageError(f"no command {name!r}{nearest(name, self.table)}")
        if name != self.all_threads:
            # matrices are small here: a second BLAS thread would only wait for the first; read when numpy loads
            os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
        module = importlib.import_module(f"{self.package}.{self.table[name][0]}")
        return importlib.import_module("robot_dynamics_ros.cli.options").only_finite(module.command)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Each group of the table, whole, in columns of one width."""
        width = max(map(len, self.table))
        for heading, rows in self.groups.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), text) for name, (_, text) in rows.items()])


@click.group("robot-dynamics", cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__)
def cli() -> None:
    """Sensorless force estimation, friction and stiffness observers, and identification from bags for robot arms.

    `robot-dynamics COMMAND --help` explains a command and shows an example. Start with `robot-dynamics demo`.
    """


def _complain(text: str) -> None:
    click.echo(f"{click.style('error:', fg='red')} {printable(text)}", err=True)


def run(group: click.Group) -> None:
    """Run a command line: user errors are one line and exit status 1, never a traceback."""
    if not sys.warnoptions:
        warnings.simplefilter("ignore", RuntimeWarning)  # of numpy: results say themselves where nothing is defined
    try:
        group(prog_name=group.name)
    except RobotDynamicsError as error:
        _complain(str(error))
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("robot_dynamics_ros"):
            raise  # a defect of ours
        _complain(f"{error}: install what docs/install.md lists")
    except ImportError as error:
        if not isinstance(error.__cause__, KeyboardInterrupt):
            raise
        click.echo("\nAborted!", err=True)  # as click says of a Ctrl-C that does not fall into loading an extension
    except OSError as error:
        if error.filename is None:
            raise  # no file of the user's: a defect of ours
        _complain(f"{error.filename}: {error.strerror}")
    sys.exit(1)


def main() -> None:
    """Entry point of the installed command."""
    run(cli)


if __name__ == "__main__":
    main()
