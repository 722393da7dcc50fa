"""`robot-dynamics replay`: all estimators over a recording, far faster than real time."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

from robot_dynamics_ros.bags.tables import is_dataset
from robot_dynamics_ros.cli.options import (
    SENSOR,
    SensorType,
    bags_argument,
    effort_option,
    out_option,
    payload_of,
    robot_option,
    topic_option,
    view_file_option,
)
from robot_dynamics_ros.cli.printed import console, end_with, progress, show_verdict, wrench_table, write_json
from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.estimators.collision import CollisionDetector
from robot_dynamics_ros.estimators.contact_limits import ContactPeak, largest
from robot_dynamics_ros.estimators.reference import Comparison, compare
from robot_dynamics_ros.estimators.replay import Replay, replay, write_replay
from robot_dynamics_ros.estimators.replay_verdict import judged
from robot_dynamics_ros.estimators.wrench_metrics import SETTLED
from robot_dynamics_ros.outputs import refuse_bag
from robot_dynamics_ros.plots import plot_against_truth, plotting_available
from robot_dynamics_ros.robot_file import RobotFile, load_robot
from robot_dynamics_ros.signals import WRENCH_AXES

SHOWN = 10  # collisions that are printed; replay.json has all
ROWS = (  # state of wrench_metrics -> word
    ("moving", "RMS moving"),
    ("rest", "RMS at rest"),
    ("contact", "RMS in contact"),
    ("contact_rest", "RMS in contact at rest"),
)


@click.command()
@bags_argument
@robot_option
@out_option
@topic_option
@effort_option
@click.option("--payload", metavar="KG[,X,Y,Z]", help="Payload and its centre of mass [m] in the last link's frame.")
@click.option(
    "--set", "settings", multiple=True, metavar="STAGE.NAME=VALUE", help="Parameter, e.g. force.bandwidth=40."
)
@click.option(
    "--params", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="ROS parameter file, as of `up`."
)
@view_file_option
@click.option(
    "--reference",
    type=SensorType(touch=None),
    metavar="TOPIC[,KEY=VALUE]...",
    help=f"Compare with a force sensor: its WrenchStamped topic. {SENSOR}; touch: contact on the sensor [N], default "
    "5.",
)
@click.option(
    "--collisions",
    type=(click.Path(exists=True, path_type=Path), click.FloatRange(min=0.0, min_open=True)),
    metavar="FREE PER_HOUR",
    help="Also list collisions, at PER_HOUR false alarms: FREE is a recording in which nothing touched the robot.",
)
def command(
    bags: tuple[Path, ...],
    robot: str,
    out: Path,
    topic: str,
    effort: str,
    payload: str | None,
    settings: tuple[str, ...],
    params: Path | None,
    view_file: Path | None,
    reference: Any,
    collisions: tuple[Path, float] | None,
) -> None:
    """Estimate friction and contact force over BAGS (parts of one recording: ROS 1, sqlite3 or mcap).

    Writes OUT/estimates (a bag), OUT/force.png, with --reference OUT/reference.png, and prints a summary. A
    verdict "not usable" has exit status 3.
    Of a LeRobot data set it writes OUT/dataset, a copy with columns observation.external_wrench, ..._std and contact.

    Example: robot-dynamics replay run1 --robot ur5e --out result
    """
    for bag in map(Path, bags):
        if is_dataset(bag) and bag.resolve() in (out.resolve(), *out.resolve().parents):
            raise ConfigError("--out", str(out), f"is in the data set {bag}, which is copied; choose another directory")
    for name in ("estimates", "dataset"):
        refuse_bag(out / name, inputs=bags)
    replayed = partial(
        replay,
        robot=carrying(load_robot(robot), payload),
        topic=topic,
        effort=effort,
        parameters=with_file(params, parse_settings(settings)),
        progress=progress,
    )
    detector = collisions and CollisionDetector.fitted([replayed([collisions[0]]).log], collisions[1])
    result = replayed(bags)
    against = None if reference is None else compare(result, bags, reference[0], **reference[1])
    written = write_replay(result, out, progress, inputs=bags)
    summary = result.summary()
    summary |= judged(result, summary, against, robot)
    show_verdict(summary)
    show(result, summary["verdict"])
    if detector is not None and collisions is not None:
        summary["collisions"] = detector.collisions(result.log)
        begins = ", ".join(f"{c['begin']:.2f} s" for c in summary["collisions"][:SHOWN]) or "none"
        more = f" and {len(summary['collisions']) - SHOWN} more" if len(summary["collisions"]) > SHOWN else ""
        console.print(f"collisions, at {collisions[1]:g} false alarms per hour: {begins}{more}")
    if against is not None:
        written += draw_comparison(result, out / "reference.png", reference[0].topic)
        show_comparison(against)
        summary["reference"] = against.to_dict()
    if view_file is not None:
        from robot_dynamics_ros.viewer.files import write_rrd

        written.append(write_rrd(result.log, result.robot, view_file))
    for path in written:
        console.print(f"wrote {path}")
    write_json(out / "replay.json", summary)
    end_with(summary)


def with_file(path: Path | None, settings: dict[str, dict[str, object]]) -> dict[str, dict[str, object]]:
    """Settings of the command line over those of a ROS parameter file. Raises ConfigError."""
    if path is None:
        return settings
    from robot_dynamics_ros.bringup import stage_parameters

    found = stage_parameters(path)
    return {stage: {**found.get(stage, {}), **settings.get(stage, {})} for stage in {*found, *settings}}


def carrying(robot: RobotFile, payload: str | None) -> RobotFile:
    """The robot with a payload given as KG or KG,X,Y,Z. Raises ConfigError."""
    if payload is None:
        return robot
    mass, com = payload_of(payload)
    return robot.with_updates({"payload": {"mass": mass, "com": com}})  # not with the inertia of another one


def parse_settings(settings: tuple[str, ...]) -> dict[str, dict[str, object]]:
    """stage -> name -> value from STAGE.NAME=VALUE texts. Raises ConfigError."""
    parsed: dict[str, dict[str, object]] = {}
    for text in settings:
        key, equals, value = text.partition("=")
        stage, dot, name = key.partition(".")
        if not (equals and dot and stage and name):
            raise ConfigError("--set", text, "is not STAGE.NAME=VALUE")
        parsed.setdefault(stage.strip(), {})[name.strip()] = _value(value.strip())
    return parsed


def _value(text: str) -> object:
    if text in ("true", "false"):
        return text == "true"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def show(result: Replay, said: list[str]) -> None:
    """Print the summary for people, without the notes that the verdict has said."""
    s = result.summary()
    for line in (*result.report.lines(), *(note for note in result.notes if note not in said)):
        console.print(line)
    rows = {"median of |wrench|": s["wrench_median"], "median std": s["wrench_std_median"]}
    if s["contact_share"]:
        rows["median in contact"] = s["wrench_in_contact"]
    console.print(wrench_table(rows))
    status = ", ".join(f"{count} {name}" for name, count in s["status"].items() if count)
    left_out = " (warming_up is not in the table)" if s["status"]["warming_up"] else ""
    console.print(f"{s['samples']} samples: {status}{left_out}")
    if s["degraded"]:
        shares = {why: 100 * count / s["samples"] for why, count in s["degraded"].items()}
        reasons = ", ".join(f"{share:{'.0f' if share >= 9.95 else '.2g'}} % {why}" for why, share in shares.items())
        console.print(f"degraded: {reasons} (of all samples)")
    if s["contacts"]:
        for line in largest([ContactPeak(**peak) for peak in s["contacts"]]):
            console.print(line)
    if beside := s["contacts_beside_tcp"]:
        console.print(
            f"{beside} of {len(s['contacts'])} contacts look like a push on a link before the wrist, or like none "
            "(a jump of a torque), rather than like one at the TCP: their force is another one"
        )
    if s["recorded_difference"]:
        worst = max(s["recorded_difference"].values())
        console.print(f"largest difference from the recorded estimates: {worst:g}")
    speed = f"{s['times_real_time']:.0f} times real time, {s['microseconds_per_sample']:.1f} us per sample"
    console.print(f"{s['seconds_of_data']:.1f} s of data in {s['seconds_of_work']:.3f} s: {speed}")


def show_comparison(c: Comparison) -> None:
    """Print estimate against sensor: errors, correlation, gain, bias per axis; coverage, detection, delay."""
    from rich.table import Table

    for note in c.notes:
        console.print(note)
    table = Table(f"estimate - sensor, from {SETTLED:g} s on", *WRENCH_AXES)
    for state, word in ROWS:
        table.add_row(word, *map(_number, c.figures[f"axes_{state}"]))
    for word, values in (("correlation", c.correlation), ("gain", c.gain), ("bias", c.bias)):
        table.add_row(word, *map(_number, values))
    console.print(table)
    covered = ", ".join(
        f"{word.removeprefix('RMS ')} {_percent(c.figures[f'within_1_{state}'])} / "
        f"{_percent(c.figures[f'within_2_{state}'])}"
        for state, word in ROWS
    )
    console.print(f"within 1 / 2 standard deviations (68 / 95 %): {covered}")
    flagged = f"precision {_percent(c.precision)}, recall {_percent(c.recall)}"
    delay = "unknown" if np.isnan(c.delay) else f"{1e3 * c.delay:.0f} ms"
    false = f"false alarms {_percent(c.figures['false_share'])} of the free time"
    console.print(f"contact: {flagged}, {false}; delay {delay}")


def draw_comparison(result: Replay, path: Path, topic: str) -> list[Path]:
    """The picture of estimate and sensor; nothing, with a note of the replay, without matplotlib."""
    if plotting_available():
        return []
    title = f"{result.robot.name}: {topic}"
    return [plot_against_truth(result.log, result.log.measured_wrench, path, title, label="sensor")]


def _number(value: float) -> str:
    return "-" if np.isnan(value) else f"{value:.2f}"


def _percent(share: float) -> str:
    return "-" if np.isnan(share) else f"{100 * share:.3g} %"
