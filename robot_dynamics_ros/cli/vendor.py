"""The estimate of the robot's own software at rest beside ours, before and after an identification."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from robot_dynamics_ros.bags import load_bag
from robot_dynamics_ros.cli.printed import console
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.estimators.at_rest import Stop, at_rest, stops
from robot_dynamics_ros.estimators.force_sensor import SensorOptions, add_force_sensor
from robot_dynamics_ros.estimators.replay import replay
from robot_dynamics_ros.robot_file import RobotFile, load_robot

if TYPE_CHECKING:
    from robot_dynamics_ros.identification.arm.state import Identification


def beside_vendor(
    found: Identification, before: RobotFile, after: str, bags: Sequence[Path], held: bool, vendor: SensorOptions
) -> dict[str, Any]:
    """Figures at rest of vendor, robot file before and after; bags: to judge on; held: none was identified from.

    Raises DataError without the topic or without stops, ConfigError for a frame whose place is unknown.
    """
    run = partial(replay, bags, topic=found.options.topic, effort=found.options.effort)
    result = run(load_robot(after))
    notes = add_force_sensor(result.log, result.robot, bags, vendor, result.report.stamps)
    every = stops(result.log)
    judged, text = _judged(found, every, held or len(bags) > 1)
    rows = [at_rest(f"vendor's {vendor.topic}", result.log.measured_wrench, None, judged, every)]
    others = {
        f"ours, {before.name} as given": lambda: run(before),
        "ours, identified": lambda: result,
        "ours, identified, rest_bias 0": lambda: run(load_robot(after), parameters={"force": {"rest_bias": 0.0}}),
    }
    for name, replayed in others.items():
        try:
            log = replayed().log
        except CapabilityError as error:
            notes.append(f"{name}: {error}")
            continue
        rows.append(at_rest(name, log.external_wrench, log.external_wrench_std, judged, every))
    poses = len({stop.pose for stop in judged})
    text = f"at rest, nothing touching: {len(judged)} stops at {poses} poses, {text}"
    return {"what": text, "rows": [row.to_dict() for row in rows], "notes": notes}


def refuse_without(bags: Sequence[Path], robot: RobotFile, topic: str, vendor: SensorOptions) -> None:
    """Raises, before minutes of work, DataError without the vendor's estimate, ConfigError for an unknown frame."""
    log, report = load_bag(bags, robot, topic=topic)
    add_force_sensor(log, robot, bags, vendor, report.stamps)


def _judged(found: Identification, every: list[Stop], held: bool) -> tuple[list[Stop], str]:
    """Stops that the identification has not seen, and how they were chosen."""
    if held:
        return every, "of the bags that were judged"
    spans = [(p.begin + p.t[0], p.begin + p.t[-1]) for r in found.validation for p in r.pieces]
    unseen = [stop for stop in every if any(a <= stop.time <= b for a, b in spans)]
    return (unseen, "not identified from") if unseen else (every, "identified from them, too")


def table(result: dict[str, Any]) -> list[list[str]]:
    """Head and rows of text."""
    head = ["force [N]", "RMS", "largest", "its std", "within 2 std", "growth"]
    rows = []
    for row in result["rows"]:
        share = "-" if row["within_2"] is None else f"{100 * row['within_2']:.0f} %"
        rms, largest, std, growth = (
            "-" if row[k] is None else f"{row[k]:.2f}" for k in ("rms", "largest", "std", "growth")
        )
        rows.append([row["name"], rms, largest, std, share, growth])
    return [head, *rows]


def show_vendor(result: dict[str, Any]) -> None:
    """Print the figures."""
    from rich.table import Table

    for note in result["notes"]:
        console.print(note)
    console.print(result["what"])
    head, *rows = table(result)
    shown = Table(*head, box=None)
    for row in rows:
        shown.add_row(*row)
    console.print(shown)
