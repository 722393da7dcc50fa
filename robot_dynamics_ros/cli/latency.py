"""`robot-dynamics latency`: how fast the live chain is on this machine, from a simulated controller to the wrench."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click
from rich.table import Table

from robot_dynamics_ros.bringup import describe, environment
from robot_dynamics_ros.cli.options import console, json_option, robot_option_with, stderr, write_json
from robot_dynamics_ros.nodes.executables import require_ros
from robot_dynamics_ros.simulation.controllers import SimulatedController
from robot_dynamics_ros.supervisor import Supervisor


@click.command()
@robot_option_with("Robot to simulate.", default="ur5e")
@click.option("--duration", default=10.0, show_default=True, type=click.FloatRange(1.0, 3600.0), help="Seconds.")
@click.option("--composed/--separate", default=True, show_default=True, help="One process, or one per node.")
@json_option
def command(robot: str, duration: float, composed: bool, json_file: Path | None) -> None:
    """Start a simulated controller and the graph, listen in a third process, print rate, latency, losses and CPU.

    Example: robot-dynamics latency --duration 10
    """
    require_ros()
    os.environ.update(environment())
    os.environ.setdefault("ROS_DOMAIN_ID", str(1 + os.getpid() % 100))
    from robot_dynamics_ros.nodes.probe import probe

    supervisor = Supervisor()
    with SimulatedController(robot) as controller, stderr.status(f"measuring for {duration:g} s"):
        graph = describe(robot, ip=controller.host, composed=composed)
        try:
            for node in graph.nodes:
                python = [sys.executable, "-m", node.module]
                supervisor.start(node.name, [*python, *graph.arguments(node)], graph.environment)
            before = _cpu_seconds(supervisor)
            result = probe(duration)
            cpu = _cpu_seconds(supervisor) - before
        finally:
            supervisor.stop()
    stream = next(values for name, values in result["diagnostics"].items() if name.endswith(": stream"))
    result |= {"cpu": cpu / (duration + 2.0), "load": os.getloadavg()[0], "composed": composed}
    _print(result, stream)
    write_json(json_file, result | {"robot": robot, "duration": duration})


def _cpu_seconds(supervisor: Supervisor) -> float:
    """CPU time of the nodes so far [s] (Linux; 0 elsewhere)."""
    total = 0
    for child in supervisor.children.values():
        try:
            fields = Path(f"/proc/{child.pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            return 0.0
        total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def _print(result: dict, stream: dict[str, str]) -> None:
    table = Table(title="live chain, simulated controller to external_wrench")
    for heading, justify in (("", "left"), ("p50 [us]", "right"), ("p99 [us]", "right"), ("max [us]", "right")):
        table.add_column(heading, justify=justify)
    for name, label in (("receive to published", "bytes received to all topics published"),):
        table.add_row(label, *(stream[f"{name} {which} [us]"] for which in ("p50", "p99", "max")))
    ages = (f"{result[key]:.0f}" for key in ("age_p50", "age_p99", "age_max"))
    table.add_row("controller's stamp to another process", *ages)
    console.print(table)
    console.print(
        f"{result['rate']:.1f} Hz, {result['missing']} missing at the subscriber, {stream['missed']} at the driver, "
        f"CPU {100 * result['cpu']:.0f} % of a core, machine load {result['load']:.1f}"
    )
