"""`python -m bench latency`: how fast the live chain is on this machine, from a simulated controller to the wrench."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import click

from bench.page import json_option, show
from bench.running import cpu_seconds, measure_apart
from robot_dynamics_ros.bringup import describe
from robot_dynamics_ros.cli.options import robot_option_with
from robot_dynamics_ros.cli.printed import console, stderr, write_json
from robot_dynamics_ros.nodes.executables import require_ros
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.server.launcher import SimulatedController
from robot_dynamics_ros.supervisor import Supervisor

HEADINGS = ("p50 [us]", "p99 [us]", "max [us]")
STEPS = {  # diagnostic value -> row
    "receive to wrench": "bytes received to external_wrench published",
    "receive to published": "bytes received to all topics published",
}


@click.command()
@robot_option_with("Robot to simulate.", default="ur5e")
@click.option("--duration", default=10.0, show_default=True, type=click.FloatRange(1.0, 3600.0), help="Duration [s].")
@click.option("--composed/--separate", default=True, show_default=True, help="One process, or one per node.")
@click.option("--torque", is_flag=True, help="Measure the torque loop in the receiving thread instead; no ROS.")
@json_option
def command(robot: str, duration: float, composed: bool, torque: bool, json_file: Path | None) -> None:
    """Start a simulated controller and the nodes, subscribe in a third process, print rate, latency, losses and CPU.

    --torque: hand guiding through the torque script; at most the last 16 s.

    Losses are counted by controller time; a delayed sample is not a loss. For a robot file without masses, which has no
    wrench, joint_states is measured.

    Example: python -m bench latency --duration 10
    """
    if torque:
        write_json(json_file, {"robot": robot, "duration": duration, "runs": _torque(robot, min(duration, 16.0))})
        return
    require_ros()
    measure_apart()
    supervisor, topic = Supervisor(), "external_wrench" if load_robot(robot).links is not None else "joint_states"
    with SimulatedController(robot) as controller, stderr.status(f"measuring for {duration:g} s"):
        graph = describe(robot, ip=controller.host, composed=composed)
        try:
            for node in graph.nodes:
                supervisor.start(node.name, graph.command(node), graph.environment)
            result = _measured(supervisor, duration, topic) | {"composed": composed}
        finally:
            supervisor.stop()
    _print(result, f"live chain, simulated controller to {topic}")
    write_json(json_file, result | {"robot": robot, "duration": duration})


def _torque(robot: str, duration: float) -> list[dict[str, Any]]:
    """Without and with SCHED_FIFO, one after the other."""
    from bench.speed.torque_latency import PRIORITY, torque_latency

    rows, runs = [["scheduling", "from", *HEADINGS]], []
    for priority in (0, PRIORITY):
        with stderr.status(f"measuring for {duration:g} s"):
            runs.append(torque_latency(load_robot(robot), duration, priority))
        for name, label in (("arrival", "arrival on this machine"), ("reading", "reading by the thread")):
            figures = [f"{runs[-1][name][which]:.0f}" for which in ("p50", "p99", "max")]
            rows.append(["normal" if priority == 0 else runs[-1]["scheduling"], label, *figures])
    console.print("torque loop of the receiving thread, state in to command out")
    show(rows)
    console.print(f"{runs[0]['states']} and {runs[1]['states']} states, machine load {os.getloadavg()[0]:.1f}")
    for run in runs:
        if run["ended"]:
            console.print(f"torque mode ended early ({run['scheduling']}): {run['ended']}", style="bold yellow")
    return runs


def _measured(supervisor: Supervisor, duration: float, topic: str) -> dict[str, Any]:
    """What the probe sees, CPU of the nodes, samples that the driver missed, machine load."""
    from bench.speed.latency_probe import probe

    probe(0.5, warm_up=2.0, topic=topic)  # until everything has loaded
    pids = [child.pid for child in supervisor.children.values()]
    before, began = cpu_seconds(pids), time.monotonic()
    result = probe(duration, warm_up=0.5, topic=topic)
    result["cpu"] = (cpu_seconds(pids) - before) / (time.monotonic() - began)
    stream = next(values for name, values in result["diagnostics"].items() if name.endswith(": stream"))
    result["missed"] = int(stream["missed"])
    return result | {"stream": stream, "load": os.getloadavg()[0]}


def _print(result: dict[str, Any], title: str) -> None:
    stream, rows = result["stream"], [[title, *HEADINGS]]
    for name, label in STEPS.items():
        if f"{name} p50 [us]" in stream:
            rows.append([label, *(stream[f"{name} {heading}"] for heading in HEADINGS)])
    ages = (f"{result[key]:.0f}" for key in ("age_p50", "age_p99", "age_max"))
    show([*rows, ["controller's stamp to another process", *ages]])
    console.print(
        f"{result['rate']:.1f} Hz, {result['missing']} missing at the subscriber, {result['missed']} at the driver, "
        f"CPU {100 * result['cpu']:.0f} % of a core, machine load {result['load']:.1f}"
    )
