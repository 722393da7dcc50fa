"""`python -m bench learning-scale`: bytes, seconds and memory of learning."""

from __future__ import annotations

from pathlib import Path

import click

from bench.page import json_option, save_option, written_by
from bench.page import save as write
from bench.running import command_line
from robot_dynamics_ros.cli.options import console, robot_option_with, stderr, write_json


@click.command("learning-scale")
@robot_option_with("Shipped robot's name, or robot file with masses.", default="ur5e")
@click.option("--robots", type=click.IntRange(1, 1_000_000), default=10_000, show_default=True, help="Synthetic ones.")
@json_option
@save_option
def command(robot: str, robots: int, json_file: Path | None, save: bool) -> None:
    """Measure bytes, seconds and memory of learning, and of merging the triangles of many synthetic robots.

    Example: python -m bench learning-scale --robots 10000
    """
    from bench.learning import scale

    with stderr.status("measuring"):
        cost = scale.measure(robot, robots)
    text = scale.page(cost, written_by(command_line()), robot)
    console.print(text)
    write_json(json_file, scale.as_dict(cost))
    if save:
        write("scale", "scale", text)
