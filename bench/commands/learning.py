"""`python -m bench learning`: what robots learn from ordinary work, alone and as a fleet."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from multiprocessing import get_context
from pathlib import Path

import click

from bench.page import json_option, report, save_option
from bench.running import given_options
from robot_dynamics_ros.cli.options import NewPath, robot_option_with
from robot_dynamics_ros.cli.printed import console, stderr, write_json
from robot_dynamics_ros.errors import ConfigError


@click.command("learning")
@robot_option_with("Shipped robot's name, or robot file with masses.", default="ur5e")
@click.option(
    "--individuals", "count", type=click.IntRange(2, 1000), default=10, show_default=True, help="Number of robots."
)
@click.option("--tasks", type=click.IntRange(1, 10), default=10, show_default=True, help="Number of tasks.")
@click.option("--recordings", default="0,1,5,30", show_default=True, help="Counts after which is judged.")
@click.option(
    "--seconds", type=click.FloatRange(15, 600), default=60.0, show_default=True, help="Length of a recording [s]."
)
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the drawn robots.")
@click.option("--families", default="tuning", show_default=True, help="Friction families, see `python -m bench force`.")
@click.option("--jobs", type=click.IntRange(1, 64), default=1, show_default=True, help="Robots at a time.")
@click.option("--picture", type=NewPath(), help="Draw force error by the number of recordings (PNG).")
@json_option
@save_option
def command(
    robot: str,
    count: int,
    tasks: int,
    recordings: str,
    seconds: float,
    seed: int,
    families: str,
    jobs: int,
    picture: Path | None,
    json_file: Path | None,
    save: bool,
) -> None:
    """Let simulated robots work, learn from it alone and as a fleet, and judge the contact force.

    Example: python -m bench learning --individuals 50 --tasks 10 --jobs 4
    """
    from bench.force import zoo
    from bench.learning import table
    from bench.learning.study import GROUPS, Setup, study
    from robot_dynamics_ros.robot_file import load_robot

    people = zoo.individuals(load_robot(robot), count, seed, zoo.families(families))
    setup = Setup(robot, tasks, counts(recordings), seconds)
    pools = ProcessPoolExecutor(jobs, get_context("spawn")) if jobs > 1 else nullcontext()
    with stderr.status("working") as status, pools as pool:
        robots, judged = study(setup, people, pool, status.update)
    words = (
        f"{table.facts(robots)} {count} simulated {robot}, {tasks} tasks, recordings of {seconds:g} s, seed {seed}, "
        f"families {families}. "
        f"The fleet's prior of a robot is that of {count - -(-count // min(GROUPS, count))} others. "
        "Force RMS per axis, median / mean of the worst quarter of the robots."
    )
    report(table.cells(judged), save, "learning", "learning", words)
    for text in (text for r in robots for text in r.left_out):
        console.print(f"- {text}")
    if picture is not None:
        table.draw(judged, picture)
    write_json(json_file, table.as_json(robots, judged, given_options()))


def counts(text: str) -> tuple[int, ...]:
    """Rising numbers of recordings of a list by commas. Raises ConfigError."""
    try:
        found = tuple(int(part) for part in text.split(","))
    except ValueError:
        found = (-1,)
    if list(found) != sorted(set(found)) or not 0 <= found[0] or not 1 <= found[-1] <= 1000:
        raise ConfigError("bench", "--recordings", f"{text!r} is no list of rising numbers up to 1000")
    return found
