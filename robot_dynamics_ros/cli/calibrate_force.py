"""`robot-dynamics calibrate-force`: parameters of the force stage from a recording with a force sensor."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from robot_dynamics_ros.cli.options import (
    NewPath,
    bags_argument,
    console,
    effort_option,
    progress,
    reference_option,
    robot_option,
    topic_option,
)
from robot_dynamics_ros.cli.reference import show_comparison
from robot_dynamics_ros.estimators.calibration import calibrate, write_parameters
from robot_dynamics_ros.estimators.reference import compare
from robot_dynamics_ros.estimators.replay import replay


@click.command("calibrate-force")
@bags_argument
@robot_option
@reference_option("WrenchStamped topic of the force sensor.", required=True)
@topic_option
@effort_option
@click.option("--out", type=NewPath(), required=True, help="ROS parameter file to write.")
def command(
    bags: tuple[Path, ...],
    robot: str,
    reference: Any,
    topic: str,
    effort: str,
    out: Path,
) -> None:
    """Set noise, band and contact threshold of the force estimate from BAGS (one recording) with a force sensor.

    OUT is read by `up --params` and `replay --params`. Record rests, motion and contact, a minute or more.

    Example: robot-dynamics calibrate-force run1 --robot ur5e --reference /wrench,tare=2 --out force.yaml
    """
    from robot_dynamics_ros.robot_file import load_robot

    result = replay(bags, load_robot(robot), topic=topic, effort=effort, progress=progress)
    for note in result.notes:
        console.print(note)
    sensor, contact = reference
    found = calibrate(result, compare(result, bags, sensor, **contact), **contact)
    console.print("with the default parameters")
    show_comparison(found.before)
    console.print("with the calibrated parameters")
    show_comparison(found.after)
    write_parameters(found.settings, out)
    for stage, values in found.settings.items():
        console.print(", ".join(f"{stage}.{name} {value:g}" for name, value in values.items()))
    console.print(f"wrote {out}")
