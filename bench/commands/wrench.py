"""`python -m bench wrench`: the open benchmark, recorded, entered and scored."""

from __future__ import annotations

from pathlib import Path

import click

from bench.force import PLANTS
from bench.page import json_option, report, save_option
from bench.wrench import NAMES
from robot_dynamics_ros.cli.options import NewPath, robot_option_with
from robot_dynamics_ros.cli.printed import stderr, write_json


@click.command("wrench")
@robot_option_with("Shipped robot's name, or robot file with masses.", default="ur5e")
@click.option(
    "--plants",
    default=",".join(PLANTS),
    show_default=True,
    help="Plants, by commas; elastic-EFFECT-.. without effects.",
)
@click.option("--robots", "count", type=click.IntRange(1, 10), default=1, show_default=True, help="Individuals.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="Seed of the draw.")
@click.option("--families", default="tuning", show_default=True, help="Friction of the elastic plant, as for `force`.")
@click.option("--pushes", type=click.IntRange(0, 1000), default=2, show_default=True, help="Minutes with pushes, each.")
@click.option("--collisions", type=click.IntRange(0, 1000), default=1, show_default=True, help="Minutes with them.")
@click.option("--free", type=click.IntRange(0, 1000), default=1, show_default=True, help="Minutes without contact.")
@click.option("--presses", type=click.IntRange(0, 1000), default=0, help="Presses of ball, plate, peg (MuJoCo), each.")
@click.option("--mjcf", type=click.Path(exists=True, path_type=Path), help="Mechanics of `mujoco` for an individual's.")
@click.option(
    "--rate", type=click.FloatRange(0.01, 1000), default=1.0, show_default=True, help="False alarms per hour."
)
@click.option(
    "--entries", type=click.Choice(NAMES), multiple=True, default=NAMES, help="One that is entered; default: all."
)
@click.option("--out", type=NewPath(directory=True), default="wrench_benchmark", show_default=True, help="Directory.")
@click.option("--jobs", type=click.IntRange(1, 64), default=1, show_default=True, help="Individuals at a time.")
@json_option
@save_option
def command(
    robot: str,
    plants: str,
    count: int,
    seed: int,
    families: str,
    pushes: int,
    collisions: int,
    free: int,
    presses: int,
    mjcf: Path | None,
    rate: float,
    entries: tuple[str, ...],
    out: Path,
    jobs: int,
    json_file: Path | None,
    save: bool,
) -> None:
    """Record plants with hidden truth, enter our estimate and the usual ones, and score them all.

    Example: python -m bench wrench --pushes 1 --out wrench_benchmark
    """
    from bench.force.zoo import families as named
    from bench.mujoco_model import TOOLS
    from bench.wrench import run, table
    from bench.wrench.score import score
    from robot_dynamics_ros.robot_file import load_robot

    if presses and plants != "mujoco":
        raise click.UsageError("--presses: only --plants mujoco has tools")
    drawn = run.people(load_robot(robot), plants.split(","), count, seed, named(families), mjcf)
    trials = {"pushes": pushes, "collisions": collisions, "free": free}
    trials |= {f"{tool}_presses": presses for tool in TOOLS}
    with stderr.status(f"recording and estimating, {len(drawn)} individuals"):
        entered = run.enter_all(robot, drawn, trials, rate, entries, out, jobs)
    scores = {name: score(out / "truth", out / "submissions" / name, rate, entered) for name in sorted(entries)}
    write_json(json_file, scores)
    for name, rows in table.tables(scores).items():
        if "-" not in plants:
            report(rows, save, "wrench", name if "," in plants else f"{name} {plants}")
        else:  # which effect of the plant costs what
            rows = [row for row in rows if row[0].endswith((": ours", "entry"))]
            report(rows, save and name == "wrench", "wrench", "effects")
