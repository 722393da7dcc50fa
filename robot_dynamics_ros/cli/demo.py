"""`robot-dynamics demo`: a simulated robot, the whole graph, and the estimated contact force vs. ground truth."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.live import Live

from robot_dynamics_ros.bags import load_bag, write_bag
from robot_dynamics_ros.bringup import describe, environment
from robot_dynamics_ros.cli.demo_robots import base_file, circles, demo_robot, parameter_file, touched
from robot_dynamics_ros.cli.demo_summary import (
    PHASES,
    SETTLE,
    TruthRecorder,
    agreement,
    align,
    force_errors,
    judged,
    pace,
)
from robot_dynamics_ros.cli.options import NewPath, refuse_options, robot_option_with, view_option
from robot_dynamics_ros.cli.printed import (
    console,
    print_files,
    print_next,
    show_verdict,
    stderr,
    wrench_table,
    write_json,
)
from robot_dynamics_ros.errors import ConnectionFailed
from robot_dynamics_ros.estimators.replay import replay
from robot_dynamics_ros.nodes.executables import require_ros
from robot_dynamics_ros.outputs import remove_bag
from robot_dynamics_ros.plots import plot_against_truth, plotting_available
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.signals import WRENCH_AXES, Log
from robot_dynamics_ros.simulation.plant.interface import ELASTIC
from robot_dynamics_ros.simulation.server.launcher import SimulatedController
from robot_dynamics_ros.supervisor import Supervisor
from robot_dynamics_ros.topics import MAIN
from robot_dynamics_ros.waiting import interrupted

MOTION_RATE = 100.0  # Hz of the trajectory that is sent; the hardware node resamples it
START_TIMEOUT = 30.0  # s
SLOWEST = 8  # a robot whose controller gets little processor time is waited for by this factor
TRUTH_PERIOD = 5  # cycles: a push of the scenario rises in 0.2 s
# what a replay of the force reads, and what it is compared with; all of the topics would occupy most of a core
RECORDED = (MAIN, "motor_states", "joint_temperatures/*", "external_wrench_base*", "joint_contact")
BAGS = ("bag", "identification_bag", "validation_bag")  # replaced by every run, where an earlier one wrote them
PICTURES = ("demo.png", "demo.rrd")


@click.command()
@robot_option_with("Robot to simulate and to observe.", default="ur5e")
@click.option(
    "--plant", default=ELASTIC, show_default=True, help="Machine behind the controller; module:class names another."
)
@click.option("--as-shipped", is_flag=True, help="Use the shipped robot file; skip the identification.")
@click.option("--offline", is_flag=True, help="Without nodes and not in real time: a simulated bag, replayed. No ROS.")
@click.option("--duration", default=50.0, show_default=True, type=click.FloatRange(15, 3600), help="Seconds of motion.")
@click.option(
    "--out",
    default="demo_output",
    show_default=True,
    type=NewPath(directory=True),
    help="Directory for bag, picture, robot file and numbers.",
)
@view_option
def command(robot: str, plant: str, as_shipped: bool, offline: bool, duration: float, out: Path, view: bool) -> None:
    """Estimate the contact force of a simulated robot: polishing circles, free and with a known contact force.

    The demo first identifies a robot file from a recording, then runs all nodes live with it.

    Example: robot-dynamics demo --duration 30
    """
    if offline:
        refuse_options(("view",), "--offline")
    else:
        require_ros()
    load_robot(robot)
    os.environ.update(environment())
    signal.signal(signal.SIGTERM, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt()))
    out.mkdir(parents=True, exist_ok=True)
    for name in BAGS:
        remove_bag(out / name)
    for name in PICTURES:
        (out / name).unlink(missing_ok=True)
    demo_robot(robot)
    base = base_file(robot, out)
    model = base if as_shipped else _identified(robot, base, out, plant)
    if offline:
        console.print(f"simulating {duration:.0f} s of {robot} and replaying them ...")
        log, truth = run_offline(base, model, robot, duration, out, plant)
        live: dict[str, Any] = {}
    else:
        console.print(f"starting a simulated {robot} and the graph, then {duration:.0f} s of motion ...")
        log, truth, live = _recorded(robot, model, out, *_run(robot, model, duration, out, view, plant))
    result = _summarise(robot, base, model, out, log, truth) | live
    _print(result)
    write_json(out / "demo.json", result)


def _identified(robot: str, base: str, out: Path, plant: str) -> str:
    from robot_dynamics_ros.cli.demo_robots import identified_model

    console.print("from one recording to a robot file, about 10 s ...")
    with stderr.status("recording") as status:
        model = identified_model(base, demo_robot(robot), out, status.update, plant)
    console.print(f"identified {model}")
    return str(model)


def _run(
    robot: str, model: str, duration: float, out: Path, view: bool, plant: str
) -> tuple[TruthRecorder, Mapping[str, Mapping[str, str]]]:
    """The live part; returns the ground truth and the last diagnostics."""
    from robot_dynamics_ros.nodes.topics.monitor import Monitor

    recording = str(out / "demo.rrd") if view else ""
    parameters, supervisor = parameter_file(robot, out), Supervisor(_pass_on)
    controller = SimulatedController(robot, plant=plant, truth_period=TRUTH_PERIOD)
    with controller, controller.client() as client, Monitor() as monitor:
        graph = describe(model, ip=controller.host, params_file=parameters, view=view, view_file=recording)
        for note in graph.notes:
            console.print(note)
        truth = TruthRecorder(client.truth())
        try:
            for node in graph.nodes:
                supervisor.start(node.name, graph.command(node), graph.environment)
            supervisor.start("recorder", _recorder(out / "bag"), graph.environment)
            end = time.monotonic() + START_TIMEOUT
            supervisor.wait(lambda: monitor.newest("external_wrench_base") or time.monotonic() > end)
            if monitor.newest("external_wrench_base") is None:
                raise ConnectionFailed("the graph publishes no external_wrench_base; see the messages above")
            _move(monitor, robot, model, duration)
            client.command("scenario", name=demo_robot(robot).scenario)
            diagnostics = _watch(monitor, truth, duration, robot)
        finally:
            supervisor.stop()
    return truth, diagnostics


def _pass_on(line: str) -> None:
    """Print a line of a node or of the recorder, but not its advice what to do next."""
    if not line.startswith("next: "):
        stderr.print(line)


def _recorder(bag: Path) -> list[str]:
    """What is recorded waits in queues: the robot and its observer do not wait for the recorder."""
    record = ["-m", "robot_dynamics_ros.cli.main", "record", "--out", str(bag), "--topics", ",".join(RECORDED)]
    return ["nice", "-n", "5", sys.executable, *record]


def _move(monitor: Any, name: str, model: str, duration: float) -> None:
    robot = load_robot(model)
    q, qd, _ = circles(robot, demo_robot(name), duration, MOTION_RATE)
    monitor.play(robot.joint_names, np.arange(len(q)) / MOTION_RATE, q, qd)
    if not monitor.wait_for_motion("moving", START_TIMEOUT):
        raise ConnectionFailed(f"the robot does not move: {monitor.snapshot().motion or 'no answer'}")


def _watch(monitor: Any, truth: TruthRecorder, duration: float, robot: str) -> Mapping[str, Mapping[str, str]]:
    """Show the live picture until the robot's time is over or Ctrl-C; returns the last diagnostics."""
    from robot_dynamics_ros.cli.demo_view import picture

    start, end = truth.seconds, time.monotonic() + SLOWEST * duration
    with Live(console=stderr, transient=True, auto_refresh=False) as live, interrupted() as stop:
        view = monitor.snapshot()
        while (elapsed := truth.seconds - start) < duration and time.monotonic() < end and not stop.is_set():
            if truth.ended:
                raise ConnectionFailed(f"the simulated controller ended after {elapsed:.0f} of {duration:.0f} s")
            view = monitor.snapshot()
            if stderr.is_terminal:
                live.update(picture(view, truth.newest, elapsed, duration, robot), refresh=True)
            time.sleep(0.2)
    if stop.is_set():
        console.print("interrupted: summary of what was recorded")
    if view.motion.startswith("failed"):
        console.print(f"the motion did not reach its end, and the arm stood from then on: {view.motion}")
    return view.diagnostics


def run_offline(
    base: str, model: str, robot: str, duration: float, out: Path, plant: str = ELASTIC
) -> tuple[Log, np.ndarray]:
    """The estimates of a simulated bag, which is written, and the true wrench (N, 6)."""
    measured, truth = touched(load_robot(base), demo_robot(robot), duration, plant)
    write_bag(measured, out / "bag", overwrite=True)
    log = replay([out / "bag"], load_robot(model)).log
    return log, align(log, np.column_stack([1e-9 * measured.stamp_ns, truth]))


def _recorded(
    robot: str, model: str, out: Path, truth: TruthRecorder, diagnostics: Mapping[str, Mapping[str, str]]
) -> tuple[Log, np.ndarray, dict[str, Any]]:
    """The live estimates, the true wrench (N, 6), and how well live and replayed estimates agree and kept time."""
    console.print("replaying the bag and drawing the picture, about 5 s ...")
    identified = load_robot(model)
    log, _ = load_bag(out / "bag", identified)
    replayed = replay([out / "bag"], identified).log
    log.friction_torque = replayed.friction_torque  # is drawn
    live = {
        **agreement(log, replayed),
        "pace": pace(log, load_robot(robot).sensing.sample_rate or MOTION_RATE),
        "stream": {key: value for values in diagnostics.values() for key, value in values.items()},
    }
    return log, align(log, truth.table(log)), live


def _summarise(robot: str, base: str, model: str, out: Path, log: Log, true_wrench: np.ndarray) -> dict[str, Any]:
    result = {"robot": robot, "model": model, "samples": len(log), **force_errors(log, true_wrench)}
    if model != base:
        result["as_shipped"] = force_errors(replay([out / "bag"], load_robot(base)).log, true_wrench)
    result["bag"], missing = str(out / "bag"), plotting_available()
    result |= judged(result)
    if missing:
        console.print(missing)
    else:
        title = f"Simulated {robot}: estimated contact force and ground truth"
        result["picture"] = str(plot_against_truth(log, true_wrench, out / "demo.png", title, SETTLE))
    return result


def _print(result: Mapping[str, Any]) -> None:
    show_verdict(result)
    rows = {
        f"{name}, {result['seconds'][phase]:.0f} s": result[phase]
        for phase, name in PHASES.items()
        if result[phase] and round(result["seconds"][phase])
    }
    old = result.get("as_shipped", {})
    rows |= {f"{phase}, shipped file": old[phase] for phase in ("free", "contact") if old.get(phase)}
    table = wrench_table(rows, f"force RMS error, from {SETTLE:g} s on")
    table.add_row("within 2 std", *(f"{100 * result['within_two_std'][a]:.0f} %" for a in WRENCH_AXES))
    console.print(table)
    if busy := result.get("pace", {}).get("busy"):
        console.print(busy, style="bold yellow")
    print_files({name: result[name] for name in ("bag", "picture") if name in result})
    print_next(result)
