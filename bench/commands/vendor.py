"""`python -m bench vendor`: a vendor's force at rest beside ours, on a simulated arm whose own estimate is wrong."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from bench.page import report, save_option
from robot_dynamics_ros.cli.options import robot_option_with


@click.command("vendor")
@robot_option_with("Shipped robot's name: Franka or UR.", default="fr3")
@click.option("--minutes", type=click.FloatRange(1, 60), default=10.0, show_default=True, help="Of the recording.")
@save_option
def command(robot: str, minutes: float, save: bool) -> None:
    """Record a simulated arm that warms up, identify it, and compare forces at rest, as `identify --vendor` does.

    Example: python -m bench vendor --robot ur5e
    """
    from bench.evidence import vendor
    from robot_dynamics_ros.cli.vendor import beside_vendor, table
    from robot_dynamics_ros.estimators.force_sensor import SensorOptions
    from robot_dynamics_ros.identification.arm.export import write_outputs
    from robot_dynamics_ros.identification.arm.identify import identify
    from robot_dynamics_ros.robot_file import load_robot

    with tempfile.TemporaryDirectory() as place:
        bag = vendor.record(robot, Path(place) / "bag", minutes=minutes)
        found = identify(load_robot(robot), [bag])
        file = write_outputs(found, Path(place) / "out", [bag])["robot_file"]
        sensor = SensorOptions(f"/robot_dynamics/{vendor.TOPIC}")
        result = beside_vendor(found, load_robot(robot), file, [bag], False, sensor)
    report(table(result), save, "vendor", robot, f"{robot}: {result['what']}.")
