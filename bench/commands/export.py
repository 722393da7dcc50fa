"""`python -m bench export`: exported MuJoCo models under recorded torque."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import click

from bench.page import json_option, report, save_option
from robot_dynamics_ros.cli.options import robot_option_with
from robot_dynamics_ros.cli.printed import stderr, write_json


@click.command("export")
@robot_option_with("Shipped robot with a demo.", default="ur5e")
@click.option("--seed", type=click.IntRange(0), default=77, show_default=True, help="Seed of the held-out motion.")
@json_option
@save_option
def command(robot: str, seed: int, json_file: Path | None, save: bool) -> None:
    """Roll out exported MuJoCo models under the recorded torque of a simulated robot, and compare the motions.

    The robot is identified from one simulated recording; errors are of another motion. Needs MuJoCo.

    Example: python -m bench export --json rollouts.json
    """
    from bench.evidence import export_rollouts as rollouts
    from robot_dynamics_ros.cli.demo_robots import SEEDS, demo_robot, excitation, identified_model
    from robot_dynamics_ros.robot_file import load_robot
    from robot_dynamics_ros.simulation.robot import SimulatedRobot

    if seed in SEEDS.values():
        raise click.UsageError(f"--seed {seed}: the robot is identified from this motion")
    given, demo = load_robot(robot), demo_robot(robot)

    def record(number: int) -> Any:
        motion = excitation(given, demo, number)
        simulated = SimulatedRobot(given, seed=number, rate=500.0)
        simulated.reset(motion[0][0])
        return simulated.run(*motion)

    with tempfile.TemporaryDirectory() as directory:
        found = load_robot(str(identified_model(robot, demo, Path(directory), stderr.print)))
    log, truth = record(seed)
    friction = "link_friction_torque" if given.drives.torque_side == "link" else "friction_torque"  # what it measures
    found_rollouts = rollouts.compare(found, given, record(11)[0], log, truth[friction])
    report(rollouts.table(found_rollouts), save, "export", f"rollouts {robot}")
    write_json(json_file, {"robot": robot, "seed": seed, "models": found_rollouts})
