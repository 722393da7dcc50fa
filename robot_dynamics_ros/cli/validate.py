"""`robot-dynamics validate`: force errors, coverage and learning on many simulated robots."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from robot_dynamics_ros.cli.options import (
    NewPath,
    command_line,
    console,
    given_options,
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
@click.option("--robots", "count", type=click.IntRange(1, 1000), default=6, show_default=True, help="Number of robots.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the drawn robots.")
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
    console.print(table.TRADE_OFF, highlight=False)
    _print(table.trade_off(verdicts))
    _print(table.robots(verdicts))
    for v in verdicts:
        if v.refused:
            console.print(f"robot {v.index} was refused at first: {v.refused}", highlight=False, markup=False)
    seconds = {part: sum(v.seconds[part] for v in verdicts) / count for part in verdicts[0].seconds}
    parts = ", ".join(f"{k} {s:.1f}" for k, s in seconds.items())
    console.print(f"processor seconds per robot: {parts}", highlight=False)
    write_json(json_file, table.as_json(verdicts, given_options()))
    if markdown is not None:
        each = f"each identified from {bags or '1, 2 or 3'} recordings of 60 s"
        words = f"{count} simulated {robot}, seed {seed}, families {families}, {each}."
        write_between(markdown, "zoo", table.page(verdicts, written_by(command_line()), words), "Contact force")


@command.command("learning")
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
@click.option("--families", default="tuning", show_default=True, help="Friction families, see `validate force`.")
@click.option("--jobs", type=click.IntRange(1, 64), default=1, show_default=True, help="Robots at a time.")
@click.option("--dask", metavar="ADDRESS", help="Compute on this Dask cluster instead.")
@click.option(
    "--work",
    type=NewPath(directory=True),
    help="Keep recordings (3.6 MB each) and results there; a run that was cut goes on from them.",
)
@click.option("--picture", type=NewPath(), help="Draw force error by the number of recordings (PNG).")
@json_option
@markdown_option
def learning(
    robot: str,
    count: int,
    tasks: int,
    recordings: str,
    seconds: float,
    seed: int,
    families: str,
    jobs: int,
    dask: str | None,
    work: Path | None,
    picture: Path | None,
    json_file: Path | None,
    markdown: Path | None,
) -> None:
    """Let simulated robots work, learn from it alone and as a fleet, and judge the contact force.

    Example: robot-dynamics validate learning --individuals 50 --tasks 10 --jobs 4
    """
    from robot_dynamics_ros.identification.fleet import executor
    from robot_dynamics_ros.pages import write_between, written_by
    from robot_dynamics_ros.robot_file import load_robot
    from robot_dynamics_ros.validation.force import zoo
    from robot_dynamics_ros.validation.learning import table
    from robot_dynamics_ros.validation.learning.study import GROUPS, Setup, study

    people = zoo.individuals(load_robot(robot), count, seed, zoo.families(families))
    with tempfile.TemporaryDirectory() as temporary, stderr.status("working") as status:
        setup = Setup(robot, families, tasks, _counts(recordings), seconds, work or Path(temporary))
        with executor(jobs, dask) if jobs > 1 or dask else nullcontext() as pool:
            robots, judged = study(setup, people, pool, status.update)
    _print(table.cells(judged))
    console.print(table.facts(robots), highlight=False)
    for text in (text for r in robots for text in r.left_out):
        console.print(f"- {text}", highlight=False, markup=False)
    if picture is not None:
        table.draw(judged, picture)
    write_json(json_file, table.as_json(robots, judged, given_options()))
    if markdown is not None:
        words = (
            f"{count} simulated {robot}, {tasks} tasks, recordings of {seconds:g} s, seed {seed}, families {families}. "
            f"The fleet's prior of a robot is that of {count - -(-count // min(GROUPS, count))} others. "
            "Force RMS per axis, median / mean of the worst quarter of the robots."
        )
        page = table.page(robots, judged, written_by(command_line()), words)
        write_between(markdown, "learning", page, "Learning from ordinary work")


@command.command("learning-week")
@robot_option_with("Shipped robot's name, or robot file with masses.", default="ur5e")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the drawn robots.")
@click.option("--out", type=NewPath(), required=True, help="Picture to write (PNG).")
def learning_week(robot: str, seed: int, out: Path) -> None:
    """Draw a week of one simulated robot that learns every evening and carries a payload on day 5.

    Example: robot-dynamics validate learning-week --out week.png
    """
    from robot_dynamics_ros.validation.learning.week import draw, week

    with stderr.status("working") as status:
        found = week(robot, seed, status.update)
    draw(found, out)
    for day, (task, force, version) in enumerate(zip(found.tasks, found.force[1:], found.versions[1:], strict=True), 1):
        shown = ", ".join(f"{state.replace('_', ' at ')} {value:.1f} N" for state, value in force.items())
        console.print(f"day {day}: {task}; version {version}; {shown}", highlight=False)
    for _, text in found.held:
        console.print(f"held back: {text}", highlight=False, markup=False)
    console.print(f"picture: {out}", highlight=False, markup=False)


@command.command("learning-scale")
@robot_option_with("Shipped robot's name, or robot file with masses.", default="ur5e")
@click.option("--robots", type=click.IntRange(1, 1_000_000), default=10_000, show_default=True, help="Synthetic ones.")
@json_option
@markdown_option
def learning_scale(robot: str, robots: int, json_file: Path | None, markdown: Path | None) -> None:
    """Measure bytes, seconds and memory of learning, and of merging the triangles of many synthetic robots.

    Example: robot-dynamics validate learning-scale --robots 10000
    """
    from robot_dynamics_ros.pages import write_between, written_by
    from robot_dynamics_ros.validation.learning import scale

    with stderr.status("measuring"):
        cost = scale.measure(robot, robots)
    text = scale.page(cost, written_by(command_line()), robot)
    console.print(text, highlight=False, markup=False)
    write_json(json_file, scale.as_dict(cost))
    if markdown is not None:
        write_between(markdown, "scale", text, "Scale")


@command.command("compare-scale")
@robot_option_with("Shipped robot's name, or robot file with masses.", default="ur5e")
@click.option("--recordings", default="1,10,100", show_default=True, help="Numbers of recordings, by commas.")
@click.option("--processes", type=click.IntRange(1, 64), default=2, show_default=True, help="Workers of the cluster.")
@json_option
@markdown_option
def compare_scale(robot: str, recordings: str, processes: int, json_file: Path | None, markdown: Path | None) -> None:
    """Measure `compare` of many simulated recordings on a Dask cluster of this machine.

    Example: robot-dynamics validate compare-scale --recordings 1,10
    """
    from robot_dynamics_ros.pages import write_between, written_by
    from robot_dynamics_ros.validation import fleet_scale

    counts = tuple(filter(None, _counts(recordings)))
    with tempfile.TemporaryDirectory() as directory, stderr.status("recording") as status:
        runs = fleet_scale.measure(robot, counts, processes, Path(directory), status.update)
    text = fleet_scale.page(runs, written_by(command_line()), processes)
    console.print(text, highlight=False, markup=False)
    write_json(json_file, {"runs": [vars(run) for run in runs]})
    if markdown is not None:
        write_between(markdown, "compare-scale", text, "Scale")


def _counts(text: str) -> tuple[int, ...]:
    """Rising numbers of recordings of a list by commas. Raises ConfigError."""
    from robot_dynamics_ros.errors import ConfigError

    try:
        counts = tuple(int(part) for part in text.split(","))
    except ValueError:
        counts = (-1,)
    if list(counts) != sorted(set(counts)) or not 0 <= counts[0] or not 1 <= counts[-1] <= 1000:
        raise ConfigError("validate", "--recordings", f"{text!r} is no list of rising numbers up to 1000")
    return counts


@command.command("export")
@robot_option_with("Shipped robot with a demo.", default="ur5e")
@click.option("--seed", type=click.IntRange(0), default=77, show_default=True, help="Seed of the held-out motion.")
@click.option("--work", type=NewPath(directory=True), help="Keep recordings and the identified robot file here.")
@json_option
@markdown_option
def export(robot: str, seed: int, work: Path | None, json_file: Path | None, markdown: Path | None) -> None:
    """Roll out exported MuJoCo models under the recorded torque of a simulated robot, and compare the motions.

    The robot is identified from one simulated recording; errors are of another motion. Needs MuJoCo.

    Example: robot-dynamics validate export --json rollouts.json
    """
    from robot_dynamics_ros.cli.demo_robots import demo_robot, excitation, identified_model
    from robot_dynamics_ros.pages import markdown_table, write_between
    from robot_dynamics_ros.robot_file import load_robot
    from robot_dynamics_ros.simulation.robot import SimulatedRobot
    from robot_dynamics_ros.validation import export_rollouts as rollouts

    given, demo = load_robot(robot), demo_robot(robot)

    def record(number: int) -> Any:
        motion = excitation(given, demo, number)
        simulated = SimulatedRobot(given, seed=number, rate=500.0)
        simulated.reset(motion[0][0])
        return simulated.run(*motion)

    with tempfile.TemporaryDirectory() as directory:
        found = load_robot(str(identified_model(robot, demo, work or Path(directory), stderr.print)))
    log, truth = record(seed)
    found_rollouts = rollouts.compare(found, given, record(11)[0], log, truth["friction_torque"])
    rows = rollouts.table(found_rollouts)
    _print(rows)
    write_json(json_file, {"robot": robot, "seed": seed, "models": [vars(r) for r in found_rollouts]})
    if markdown is not None:
        write_between(markdown, "rollouts", markdown_table(rows[0], rows[1:], command_line()), "Export")


def _print(rows: Sequence[Sequence[str]]) -> None:
    from rich.table import Column, Table

    head, *others = (text.replace("\\|", "|") for text in rows[0])
    shown = Table(Column(head, no_wrap=True), *others, box=None, pad_edge=False)
    for row in rows[1:]:
        shown.add_row(*row)
    console.print(shown)
