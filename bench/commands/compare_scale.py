"""`python -m bench compare-scale`: many recordings identified on a Dask cluster."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from bench.page import json_option, save_option, written_by
from bench.page import save as write
from bench.running import command_line
from bench.shown import counts
from robot_dynamics_ros.cli.options import console, robot_option_with, stderr, write_json


@click.command("compare-scale")
@robot_option_with("Shipped robot's name, or robot file with masses.", default="ur5e")
@click.option("--recordings", default="1,10,100", show_default=True, help="Numbers of recordings, by commas.")
@click.option("--processes", type=click.IntRange(1, 64), default=2, show_default=True, help="Workers of the cluster.")
@json_option
@save_option
def command(robot: str, recordings: str, processes: int, json_file: Path | None, save: bool) -> None:
    """Measure `compare` of many simulated recordings on a Dask cluster of this machine.

    Example: python -m bench compare-scale --recordings 1,10
    """
    from bench.speed import compare_scale as fleet_scale

    numbers = tuple(filter(None, counts(recordings)))
    with tempfile.TemporaryDirectory() as directory, stderr.status("recording") as status:
        runs = fleet_scale.measure(robot, numbers, processes, Path(directory), status.update)
    text = fleet_scale.page(runs, written_by(command_line()), processes)
    console.print(text)
    write_json(json_file, {"runs": [vars(run) for run in runs]})
    if save:
        write("scale", "compare-scale", text)
