"""`robot-dynamics validate`: force errors and coverage on many simulated robots."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from robot_dynamics_ros.cli.options import (
    NewPath,
    console,
    json_option,
    markdown_option,
    progress,
    robot_option_with,
    stderr,
    write_json,
)


@click.group("validate")
def command() -> None:
    """Judge estimates on simulated robots of many kinds.

    Example: robot-dynamics validate force --robots 6
    """


@command.command("force")
@robot_option_with("Shipped robot's name, or robot file with masses.", default="ur5e")
@click.option("--robots", "count", type=click.IntRange(1, 1000), default=6, show_default=True, help="How many.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Of the draw.")
@click.option(
    "--families",
    default="tuning",
    show_default=True,
    help="tuning, held-out, all, or some of lugre, dahl, gms, drift, maxwell, by commas.",
)
@click.option("--bags", type=click.IntRange(1, 3), help="Recordings to identify from; default: 1, 2, 3 in turn.")
@click.option("--work", type=NewPath(directory=True), help="Keep the identified robot files in this directory.")
@click.option("--jobs", type=click.IntRange(1, 64), default=1, show_default=True, help="Robots at a time.")
@json_option
@markdown_option
def force(
    robot: str,
    count: int,
    seed: int,
    families: str,
    bags: int | None,
    work: Path | None,
    jobs: int,
    json_file: Path | None,
    markdown: Path | None,
) -> None:
    """Identify simulated robots from 1 to 3 recordings of 60 s, replay others with pushes, and judge the contact force.

    Half of the kinds of friction are held out: leave them alone while you tune.

    Example: robot-dynamics validate force --robots 8 --families tuning --json zoo.json
    """
    from robot_dynamics_ros.pages import write_between, written_by
    from robot_dynamics_ros.robot_file import load_robot
    from robot_dynamics_ros.validation.force import table, zoo
    from robot_dynamics_ros.validation.force.judge import judge_all

    people = zoo.individuals(load_robot(robot), count, seed, zoo.families(families))
    verdicts = list(progress(judge_all(robot, people, bags, work, jobs), f"{count} robots", count))
    _print(table.cells(verdicts))
    console.print(table.by_axis(verdicts), highlight=False)
    _print(table.robots(verdicts))
    for v in verdicts:
        if v.refused:
            console.print(f"robot {v.index} was refused at first: {v.refused}", highlight=False, markup=False)
    seconds = {part: sum(v.seconds[part] for v in verdicts) / count for part in verdicts[0].seconds}
    console.print(
        "processor seconds per robot: " + ", ".join(f"{k} {s:.1f}" for k, s in seconds.items()), highlight=False
    )
    setup = {"robot": robot, "robots": count, "seed": seed, "families": families, "bags": bags or "1, 2, 3 in turn"}
    write_json(json_file, table.as_json(verdicts, setup))
    if markdown is not None:
        said = written_by(f"robot-dynamics validate force {_arguments(setup, bags)}")
        given = f"each identified from {bags or '1, 2 or 3'} recordings of 60 s"
        words = f"{count} simulated {robot}, seed {seed}, families {families}, {given}."
        write_between(markdown, "zoo", table.page(verdicts, said, words), "Contact force")


@command.command("export")
@robot_option_with("Shipped robot with a demo.", default="ur5e")
@click.option("--seed", type=click.IntRange(0), default=77, show_default=True, help="Of the held-out motion.")
@click.option("--work", type=NewPath(directory=True), help="Keep recordings and the identified robot file here.")
@json_option
@markdown_option
def export(robot: str, seed: int, work: Path | None, json_file: Path | None, markdown: Path | None) -> None:
    """Roll out exported MuJoCo models under the recorded torque of a simulated robot, and compare the motions.

    The robot is identified from one simulated recording; errors are of another motion. Needs MuJoCo.

    Example: robot-dynamics validate export --json rollouts.json
    """
    from robot_dynamics_ros.cli.demo_model import excitation, identified_model
    from robot_dynamics_ros.cli.demo_robots import demo_robot
    from robot_dynamics_ros.pages import write_between, written_by
    from robot_dynamics_ros.robot_file import load_robot
    from robot_dynamics_ros.simulation.robot import SimulatedRobot
    from robot_dynamics_ros.validation import export_rollouts as rollouts

    given, demo = load_robot(robot), demo_robot(robot)

    def record(number: int) -> Any:
        motion = excitation(given, demo, number)
        simulated = SimulatedRobot(given, seed=number, rate=500.0)
        simulated.reset(motion[0][0])
        return simulated.run(*motion)[0]

    with tempfile.TemporaryDirectory() as directory:
        found = load_robot(str(identified_model(robot, demo, work or Path(directory), stderr.print)))
    found_rollouts = rollouts.compare(found, given, record(11), record(seed))
    rows = rollouts.table(found_rollouts)
    _print(rows)
    write_json(json_file, {"robot": robot, "seed": seed, "models": [vars(r) for r in found_rollouts]})
    if markdown is not None:
        said = written_by(f"robot-dynamics validate export --robot {shlex.quote(robot)} --seed {seed}")
        text = "\n".join("| " + " | ".join(row) + " |" for row in (rows[0], ["---"] * len(rows[0]), *rows[1:]))
        write_between(markdown, "rollouts", f"{said}\n\n{text}\n", "Export")


def _arguments(setup: dict[str, Any], bags: int | None) -> str:
    names = [name for name in ("robot", "robots", "seed", "families") if name in setup]
    given = [f"--{name} {shlex.quote(str(setup[name]))}" for name in names]
    return " ".join([*given, *([f"--bags {bags}"] if bags else [])])


def _print(rows: Sequence[Sequence[str]]) -> None:
    from rich.table import Table

    shown = Table(*(text.replace("\\|", "|") for text in rows[0]))
    for row in rows[1:]:
        shown.add_row(*row)
    console.print(shown)
