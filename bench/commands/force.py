"""`python -m bench force`: force errors and coverage on many simulated robots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from bench.force import DRAWN, ELASTIC, EXCITE, PLANTS
from bench.page import json_option, keep, markdown_table, report, save_option, show
from bench.running import given_options
from robot_dynamics_ros.cli.options import NewPath, robot_option_with
from robot_dynamics_ros.cli.printed import console, progress, write_json


def number(name: str, low: float, high: float, text: str) -> Callable[[Any], Any]:
    """Option of a number that is 0 where nothing differs."""
    return click.option(name, type=click.FloatRange(low, high), default=0.0, show_default=True, help=text)


@click.command("force")
@robot_option_with("Shipped robot's name, arm of bench/arms, or robot file with masses.", default="ur5e")
@click.option("--robots", "count", type=click.IntRange(1, 1000), default=6, show_default=True, help="Number of robots.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the drawn robots.")
@click.option(
    "--families",
    default="tuning",
    show_default=True,
    help="tuning, held-out, all, or families of friction by commas (bench/force/zoo.py).",
)
@click.option("--recorded", help=f"Recordings to identify from: {', '.join((*DRAWN, EXCITE))}; default: 1 to 3.")
@click.option("--pushed", is_flag=True, help="The robot is pushed in these recordings, a quarter of the time.")
@click.option("--plant", type=click.Choice(list(PLANTS)), default=ELASTIC, show_default=True, help="What is simulated.")
@number("--noise", 0, 0.1, "rad/s of white noise in velocities.")
@number("--jitter", 0, 1, "sample periods by which stamps jitter (std).")
@number("--tilt", -180, 180, "deg of the base, which no file names.")
@click.option("--times", type=(str, float), multiple=True, help="Number of the plant, factor: transmission.backlash 3")
@click.option("--work", type=NewPath(directory=True), help="Keep the identified robot files in this directory.")
@number("--warmer", -40, 60, "K by which the judged recordings are warmer.")
@number("--payload", 0, 20, "kg of an undeclared payload in the judged recordings.")
@number("--parts", 0, 20, "kg of undeclared parts that the arm carries from place to place.")
@number("--worn", -90, 300, "% by which Coulomb friction is higher in the judged recordings.")
@click.option("--finger", is_flag=True, help="Pushes have no moment, and the tool of the robot file says so.")
@click.option("--hour", is_flag=True, help="Judge 60 minutes of work from a cold start instead, by the robot's age.")
@click.option("--jobs", type=click.IntRange(1, 64), default=1, show_default=True, help="Robots at a time.")
@json_option
@save_option
def command(
    robot: str,
    count: int,
    seed: int,
    families: str,
    recorded: str | None,
    pushed: bool,
    plant: str,
    noise: float,
    jitter: float,
    tilt: float,
    times: tuple[tuple[str, float], ...],
    work: Path | None,
    warmer: float,
    payload: float,
    parts: float,
    worn: float,
    finger: bool,
    hour: bool,
    jobs: int,
    json_file: Path | None,
    save: bool,
) -> None:
    """Identify simulated robots from 1 to 3 recordings of 60 s, replay others with pushes, and judge the contact force.

    Half of the kinds of friction are held out: leave them alone while you tune.

    Example: python -m bench force --robots 8 --families tuning --json zoo.json
    """
    from bench.force import hour as working
    from bench.force import table, zoo
    from bench.force.judge import each_robot, judge
    from bench.force.recordings import Since

    if plant != ELASTIC and hour:
        raise click.UsageError(f"--hour: only the {ELASTIC} plant warms up")
    since = Since(warmer, payload, 0.01 * worn, finger, parts)
    arm = since.robot(robot)
    drawn = zoo.individuals(arm, count, seed, zoo.families(families))
    drawn = zoo.on_plant(drawn, plant, recorded, noise, np.radians(tilt))
    people = [replace(who, pushed=pushed, jitter=jitter) for who in drawn]
    people = zoo.scaled(arm, people, dict(times))
    words = f"{count} simulated {robot}, seed {seed}, families {families}, each identified from"
    words += f" {recorded or '1, 2 or 3 recordings of 60 s'}."
    if hour:
        each = each_robot(working.judge, robot, people, work, jobs, since)
        rows = list(progress(each, f"{count} robots", count))
        report(working.cells(rows), save, "force", "hour", words)
        write_json(json_file, {"setup": given_options(), "robots": rows})
        return
    verdicts = list(progress(each_robot(judge, robot, people, work, jobs, since), f"{count} robots", count))
    whole, axes, robots = table.cells(verdicts), table.by_axis(verdicts), table.robots(verdicts)
    show(whole)
    console.print(axes)
    show(robots)
    for v in verdicts:
        if v.refused:
            console.print(f"robot {v.index} was refused at first: {v.refused}")
    seconds = {part: sum(v.seconds[part] for v in verdicts) / count for part in verdicts[0].seconds}
    listed = ", ".join(f"{k} {s:.1f}" for k, s in seconds.items())
    console.print(f"processor seconds per robot: {listed}")
    write_json(json_file, table.as_json(verdicts, given_options()))
    if save:
        keep(whole, "force", "zoo", "\n\n".join([axes, markdown_table(robots), words]))
