"""`robot-dynamics health`: how a robot's joints changed over many recordings."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from robot_dynamics_ros.cli.options import bags_argument, out_option, robot_option, topic_option
from robot_dynamics_ros.cli.printed import console, print_next, progress, show_verdict, stderr, write_json
from robot_dynamics_ros.errors import DataError, printable
from robot_dynamics_ros.outputs import refuse_existing
from robot_dynamics_ros.robot_file import load_robot


@click.command("health")
@bags_argument
@robot_option
@out_option
@topic_option
@click.option(
    "--state",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="State of `learn`: its history is included.",
)
@click.option("--fleet", is_flag=True, help="BAGS of several robots of one type, one directory per robot.")
def command(bags: tuple[Path, ...], robot: str, out: Path, topic: str, state: Path | None, fleet: bool) -> None:
    """Compare many recordings of a robot: Coulomb level, stiffness, warming, residuals, with trend and change points.

    Friction and stiffness are compared at equal load and temperature. Writes OUT/health.html; with --fleet a page per
    robot, and OUT/health.html compares the robots. The exit status is 0 also when wear is detected: see the page, or
    `level` in OUT/health.json.

    Example: robot-dynamics health january february march --robot ur5e --out health
    """
    from robot_dynamics_ros.health.fleet import fleet_sentences, standings, write_fleet_page
    from robot_dynamics_ros.health.measure import Measurement, measure
    from robot_dynamics_ros.health.report import as_dict, trends, write_page
    from robot_dynamics_ros.learning.session import history_lines
    from robot_dynamics_ros.learning.store import Store

    refuse_existing("--out", out / "health.html", out / "health.json")
    if fleet:
        _refuse_namesakes(bags)
    arm = load_robot(robot)
    groups: dict[str, list[Measurement]] = {}
    for bag in progress(bags, "recordings", len(bags)):
        try:
            found = measure(bag, arm, topic)
        except DataError as error:
            stderr.print(f"left out: {error}")
            continue
        group = groups.setdefault(printable(bag.resolve().parent.name) if fleet else arm.name, [])
        if same := next((other.bag for other in group if other.time == found.time), ""):
            stderr.print(f"left out: {bag}: began at the same time as {same}: one recording counts once")
            continue
        group.append(found)
    if not groups:
        raise DataError("no recording can be used")
    groups = {name: sorted(group, key=lambda m: m.time) for name, group in sorted(groups.items())}
    learned = [] if state is None else [f"learned: {line}" for line in history_lines(Store(state))]
    results, pages = {}, {}
    for name, measured in groups.items():
        over_time = trends(measured, arm.joint_names)
        results[name] = as_dict(name, measured, over_time, arm.joint_names, learned, robot)
        page = write_page(results[name], measured, over_time, out / (f"health_{name}.html" if fleet else "health.html"))
        pages[name] = page.name
        if fleet:
            console.print(f"{name}:", style="bold")
        show_verdict(results[name])
    rows = standings(groups, arm.joint_names) if fleet else []
    if fleet:
        page = write_fleet_page(rows, pages, arm.joint_names, out / "health.html")
        console.print("\n".join(["", *fleet_sentences(rows)]))
    console.print(f"page: {page}")
    write_json(out / "health.json", {"robots": results} | ({"fleet": rows} if fleet else {}))
    if not fleet:
        print_next(results[name])


def _refuse_namesakes(bags: Iterable[Path]) -> None:
    """Raises DataError for two directories of a fleet with one name: their robots would be one."""
    found: dict[str, Path] = {}
    for place in (bag.resolve().parent for bag in bags):
        if (other := found.setdefault(place.name, place)) != place:
            raise DataError(f"{other} and {place}: two robots with one name; rename one of the directories")
