"""`robot-dynamics experiment`: make the motion that shows a joint's property, run it, record the bag."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import numpy as np
from rich.progress import Progress

from robot_dynamics_ros.bags import write_bag
from robot_dynamics_ros.cli.demo_robots import working_pose
from robot_dynamics_ros.cli.options import NewPath, console, joint_index, robot_option, stderr
from robot_dynamics_ros.drivers.factory import driver_of, make_driver
from robot_dynamics_ros.errors import CapabilityError, ConfigError
from robot_dynamics_ros.identification.experiments.plan import EXPERIMENTS, Plan, check_steps, joined
from robot_dynamics_ros.identification.experiments.run import ExperimentFailed, run_driver, run_simulated
from robot_dynamics_ros.outputs import refuse_bag
from robot_dynamics_ros.robot_file import RobotFile, load_robot
from robot_dynamics_ros.signals import Log

SIZES = {  # option -> argument of the experiment's function
    "velocity-steps": {"travel": "travel", "count": "count"},
    "reversals": {"travel": "turn", "count": "count"},
    "duty-cycles": {"travel": "amplitude", "duration": "minutes"},
    "stiffness": {"travel": "travel", "duration": "duration"},
}


@click.command("experiment")
@click.argument("name", type=click.Choice(list(EXPERIMENTS)), metavar="|".join(EXPERIMENTS))
@robot_option
@click.option("--ip", help="Address of the robot's controller.")
@click.option("--simulated", is_flag=True, help="Run on the simulated robot, faster than real time.")
@click.option("--joint", "joints", multiple=True, help="Name or number (from 1); may be repeated. Default: the first.")
@click.option(
    "--start",
    help="Joint positions to start from [rad], a,b,...; default: present position, with --simulated a working pose.",
)
@click.option("--travel", type=float, help="Travel of the joint [rad].")
@click.option("--count", type=click.IntRange(1, 1000), help="Number of speeds, or of reversing cycles.")
@click.option("--duration", type=click.FloatRange(1, 36000), help="Length [s] of the stiffness motion or a duty cycle.")
@click.option("--preview", type=NewPath(), help="Plot the motion into a PNG first.")
@click.option("--out", type=NewPath(directory=True), help="Bag to write; without it the robot does not move.")
@click.option("--yes", is_flag=True, help="Move a real robot without confirmation.")
def command(name: str, robot: str, joints: tuple[str, ...], out: Path | None, preview: Path | None, **o: Any) -> None:
    """Generate an identification motion, check it against the limits of the robot file, run it and record a bag.

    Ctrl-C stops the robot and keeps the recorded data. With --preview alone the robot does not move.

    Example: robot-dynamics experiment velocity-steps --robot ur5e --simulated --joint 2 --out sweeps
    """
    known = load_robot(robot)
    if out is not None and (o["ip"] is None) != o["simulated"]:
        raise ConfigError("experiment", "", "choose one of --ip ADDRESS and --simulated")
    if out is None and preview is None:
        raise ConfigError("experiment", "", "choose --out BAG to run it, or --preview PNG to look at it")
    if out is not None:
        refuse_bag(out)
    driver = None
    if out is not None and o["ip"]:
        driver = make_driver(driver_of(known), known, o["ip"])
        driver.connect()
    try:
        plan = _plan(name, known, joints, _start(known, o["start"], driver), o)
        console.print(f"{name}: {', '.join(plan.joints)}, {plan.duration:.0f} s, within all limits")
        if preview is not None:
            from robot_dynamics_ros.identification.experiments.preview import write_preview

            write_preview(plan, known, preview)
            console.print(f"preview: {preview}")
        if out is not None:
            if driver is not None and not o["yes"]:
                click.confirm(f"The robot at {o['ip']} will move. Is the space around it free?", abort=True)
            _run(plan, known, driver, out)
    finally:
        if driver is not None:
            driver.disconnect()


def _plan(name: str, robot: RobotFile, joints: tuple[str, ...], start: np.ndarray, o: dict[str, Any]) -> Plan:
    options: dict[str, Any] = {to: o[option] for option, to in SIZES[name].items() if o[option] is not None}
    if "minutes" in options:
        options["minutes"] /= 60.0
    options["rate"] = robot.sensing.sample_rate or 500.0
    indices = [joint_index(robot, j, "experiment", "--joint") for j in joints] or [0]
    plans = [EXPERIMENTS[name](robot, j, start, **options) for j in indices]
    if name == "velocity-steps":
        for j, plan in zip(indices, plans, strict=True):
            check_steps(plan, j)
    return joined(plans)


def _start(robot: RobotFile, text: str | None, driver: Any) -> np.ndarray:
    if text is None and driver is not None:
        sample = driver.read(5.0)
        if sample is None:
            raise CapabilityError("the robot sends no samples, so its position is unknown: give --start")
        return sample.q.copy()
    if text is None:
        return working_pose(robot)
    try:
        q = np.array(json.loads(f"[{text}]"), dtype=float)
    except (ValueError, TypeError):
        q = np.empty(0)
    if q.shape != (robot.n_joints,) or not np.isfinite(q).all():
        raise ConfigError("experiment", "--start", f"{text!r} is not {robot.n_joints} numbers separated by commas")
    return q


def _run(plan: Plan, robot: RobotFile, driver: Any, out: Path) -> None:
    from robot_dynamics_ros.simulation.robot import SimulatedRobot

    failure: ExperimentFailed | None = None
    with Progress(console=stderr, transient=True, disable=not stderr.is_terminal) as bar:
        task = bar.add_task(plan.name, total=1.0)

        def report(share: float) -> None:
            bar.update(task, completed=share)

        try:
            log: Log | None
            if driver is None:
                log = run_simulated(plan, SimulatedRobot(robot), report)
            else:
                log = run_driver(plan, driver, report)
        except ExperimentFailed as error:
            failure, log = error, error.log
    if log is not None and len(log):
        about = {"experiment": plan.name, "joints": ",".join(plan.joints), "robot": robot.name}
        write_bag(log, out, about=about)
        share = min(1.0, float(log.time[-1]) / max(plan.duration, 1e-9))
        console.print(f"bag: {out}, {len(log)} samples, {100 * share:.0f} % of the motion")
    if failure is not None:
        raise failure
