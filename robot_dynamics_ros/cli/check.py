"""`robot-dynamics check`: errors of a robot file, or its summary."""

from __future__ import annotations

import sys
from typing import Any

import click
import numpy as np
from rich.table import Table

from robot_dynamics_ros.cli.options import complete_robot
from robot_dynamics_ros.cli.printed import console, joint_table, print_next, show_verdict
from robot_dynamics_ros.errors import ConfigError, printable
from robot_dynamics_ros.models.robot_report import Report, report
from robot_dynamics_ros.robot_file import capabilities, shipped_robots
from robot_dynamics_ros.robot_file.gaps import estimates, one_recording_gives, unknown_numbers
from robot_dynamics_ros.robot_file.store import examine_robot
from robot_dynamics_ros.verdict import GRADES, short_names, verdict, word


@click.command("check")
@click.argument("robots", nargs=-1, metavar="[FILE|NAME]...", shell_complete=complete_robot)
def command(robots: tuple[str, ...]) -> None:
    """Check robot files: print all errors, or a summary with checks of the dynamics.

    Without arguments, check every shipped robot, one line each. Exit status 1 on any error.

    Example: robot-dynamics check ur5e my_arm.yaml
    """
    checked = {name: _check(name) for name in robots or shipped_robots()}
    reports = {name: found for name, found in checked.items() if isinstance(found, Report)}
    if len(checked) == 1:
        _show(*next(iter(checked.items())))
    elif reports:
        console.print(_overview(reports))
    for found in checked.values() if len(checked) > 1 else ():
        _complain(found)
    sys.exit(not all(isinstance(found, Report) and found.ok for found in checked.values()))


def _check(name: str) -> Report | list[ConfigError]:
    problems, robot = examine_robot(name)
    return problems if robot is None else report(robot)


def _show(name: str, found: Report | list[ConfigError]) -> None:
    said = _judged(name, found)
    show_verdict(said)
    if isinstance(found, Report):
        console.print(_summary(found))
    _complain(found)
    print_next(said)


def _judged(name: str, found: Report | list[ConfigError]) -> dict[str, Any]:
    if not isinstance(found, Report):
        return verdict("bad", f"{name} cannot be read.")
    level = _level(found)
    text = "describes a possible robot" if level != "bad" else "describes no possible robot"
    file = word(name)
    use = f"excite --robot {file} --out excitation.csv" if found.robot.friction is None else f"up --robot {file}"
    then = f"robot-dynamics {f'check {file}' if level == 'bad' else use}"
    return verdict(level, f"{found.robot.name} {text}.", then=then)


def _level(found: Report) -> str:
    return "bad" if not found.ok else "fair" if found.findings else "good"


def _complain(found: Report | list[ConfigError]) -> None:
    if isinstance(found, Report):
        for f in found.findings:
            click.echo(printable(f"{f.level}: {found.robot.file}: {f.field}: {f.text}"), err=True)
    else:
        for problem in found:
            click.echo(f"error: {problem}", err=True)


def _summary(result: Report) -> Table:
    robot = result.robot
    table = Table(title=f"{robot.name}: {robot.model}", title_justify="left", show_header=False, box=None)
    table.add_column(style="bold")
    table.add_column(overflow="fold")
    rows = {"file": robot.file, "joints": ", ".join(robot.joint_names)}
    rows |= {label: _number(value) for label, value in result.numbers.items()}
    rows |= {label: str(capability) for label, capability in capabilities(robot).items()}
    rows["unknown"] = ", ".join(unknown_numbers(robot)) or "nothing"
    rows["estimated"] = ", ".join(estimates(robot)) or "nothing"
    rows["one recording gives"] = ", ".join(one_recording_gives(robot)) or "nothing that is missing"
    for label, value in rows.items():
        table.add_row(label, value)
    return table


def _overview(reports: dict[str, Report]) -> Table:
    names = short_names(list(reports))  # of the files, which may name the same robot
    heads = ("joints", "moving mass", "smallest eig(M)", "gravity / limit", "unknown", "estimated", "")
    table: Table = joint_table(names, *heads, first="robot")
    for name, result in zip(names, reports.values(), strict=True):
        robot, numbers = result.robot, result.numbers
        cells = [numbers.get("moving mass [kg]"), numbers.get("smallest eigenvalue of M [kg m2]")]
        cells.append(numbers.get("largest gravity torque over limit"))
        texts = ["-" if cell is None else _number(cell) for cell in cells]
        counts = [str(len(unknown_numbers(robot))), str(len(estimates(robot)))]
        table.add_row(name, str(robot.n_joints), *texts, *counts, GRADES[_level(result)])
    return table


def _number(value: Any) -> str:
    return " ".join("0" if abs(v) < 1e-9 else f"{v:.3g}" for v in np.atleast_1d(value))
