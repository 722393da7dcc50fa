"""`robot-dynamics rehearse`: a motion on the simulated arm, as a bag or as topics."""

from __future__ import annotations

import os
import re
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import click
import numpy as np

from robot_dynamics_ros.cli.options import NewPath, joint_index, numbers, payload_of, robot_option_with
from robot_dynamics_ros.cli.printed import console, print_identify, stderr
from robot_dynamics_ros.errors import ConfigError, nearest
from robot_dynamics_ros.verdict import word

SETTING = re.compile(r"([a-z_.]+)(?:\[(\w+)\])?=(x?)([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)")

WARM, COLDEST, HOTTEST = 40.0, -20.0, 90.0  # deg C
STRONGEST = 1e4  # N along an axis
MOVES = 1e-3  # rad/s of a joint that moves
OVERLAP = 0.01  # share of a motion


@click.command("rehearse")
@click.argument("motion", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@robot_option_with("Shipped robot's name, robot file, or URDF with masses.")
@click.option("--out", type=NewPath(directory=True, fresh=True), help="Bag to write, faster than real time.")
@click.option("--live", is_flag=True, help="Publish joint_states in real time instead, back and forth until Ctrl-C.")
@click.option("--push", metavar="X,Y,Z[,AT,FOR]", help="Force on the TCP [N], base axes; from 5 s on for 5 s.")
@click.option("--payload", metavar="KG[,X,Y,Z]", help="Payload and its centre of mass [m] in the last link's frame.")
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME[JOINT]=VALUE",
    help="Number of the simulated joints, e.g. friction.coulomb[2]=x1.4 (x: factor; joint by name or number), or "
    "their temperature=40 [deg C].",
)
@click.option("--date", type=click.DateTime(), help="Date of the first sample (UTC), seed of the noise; default: now.")
def command(motion: Path, robot: str, out: Path | None, live: bool, **o: Any) -> None:
    """Run MOTION (a CSV of `excite`) on the simulated arm: any robot file with masses, shipped or your own.

    Without a plant file, joint parameters are assumed: drives sized for the masses, friction, stiffness, noise. The
    simulated arm differs from the robot file, as a real robot does.

    With --set and --date, recordings of a robot that wears can be made, e.g. for `health`. The breakaway level
    friction.stribeck changes with friction.coulomb unless it is set itself.

    Example: robot-dynamics rehearse excitation.csv --robot my_arm.yaml --out rehearsal
    """
    if live == (out is not None):
        raise ConfigError("rehearse", "", "choose one of --out BAG and --live")
    from robot_dynamics_ros.identification.dataset.initial_model import any_robot
    from robot_dynamics_ros.simulation.rehearsal import through
    from robot_dynamics_ros.simulation.robot import SimulatedRobot
    from robot_dynamics_ros.trajectories.files import load_trajectory
    from robot_dynamics_ros.trajectories.limits import refuse_outside_limits

    arm = any_robot(robot)
    begin = int((o["date"] or datetime.now(timezone.utc)).replace(tzinfo=timezone.utc).timestamp())
    if abs(begin) * 10**9 >= 2**63:
        raise ConfigError("rehearse", f"--date {o['date'].date()}", "is outside 1678..2261")
    machine = SimulatedRobot(arm, seed=abs(begin))
    changed = _overrides(machine, o["settings"])
    warm = changed.pop("temperature", np.full(arm.n_joints, WARM))
    if not (COLDEST <= warm.min() and warm.max() <= HOTTEST):
        raise ConfigError("rehearse", "--set temperature", f"{warm} is outside {COLDEST}..{HOTTEST} deg C")
    if changed:
        machine = SimulatedRobot(arm, abs(begin), changed)
    machine.stamp_ns = begin * 10**9
    wanted = through(load_trajectory(motion, arm), machine.rate)
    refuse_outside_limits(arm, wanted[0], machine.rate)
    machine.set_ambient(float(np.median(warm)))
    machine.set_temperatures(warm)
    if o["payload"]:
        machine.set_payload(*payload_of(o["payload"]), configured=False)
    push = _push(o, len(wanted[0]) / machine.rate)
    if out is None:
        _publish(machine, wanted, push)
    else:
        _record(machine, wanted, push, out, robot, {"rehearsal": motion.name, "robot": arm.name})


def _overrides(machine: Any, settings: tuple[str, ...]) -> dict[str, np.ndarray]:
    """name -> numbers of all joints, from NAME[JOINT]=VALUE or =xFACTOR; without [JOINT] all joints.

    The breakaway level friction.stribeck grows and falls with friction.coulomb unless it is set itself.
    Raises ConfigError for a text, parameter or joint that is not known.
    """
    robot = machine.robot
    true = machine.machine.true | {"temperature": np.full(robot.n_joints, WARM)}
    changed: dict[str, np.ndarray] = {}
    for text in settings:
        match = SETTING.fullmatch(text.replace(" ", ""))
        if match is None:
            raise ConfigError(
                "rehearse", "--set", f"{text!r} is not NAME=VALUE, NAME[JOINT]=VALUE or NAME[JOINT]=xFACTOR"
            )
        name, joint, factor, value = match.groups()
        if name not in true:
            hint = nearest(name, sorted(true))
            raise ConfigError("rehearse", f"--set {name}", f"is no parameter of a simulated joint{hint}")
        numbers = changed.setdefault(name, np.array(true[name], dtype=float))
        place = slice(None) if joint is None else joint_index(robot, joint, f"--set {name}")
        numbers[place] = numbers[place] * float(value) if factor else float(value)
    if "friction.coulomb" in changed and "friction.stribeck" not in changed:
        level, new = np.array(true["friction.coulomb"], dtype=float), changed["friction.coulomb"]
        ratio = np.divide(new, level, out=np.ones_like(new), where=level > 0)
        changed["friction.stribeck"] = ratio * np.array(true["friction.stribeck"], dtype=float)
    return changed


def _push(o: dict[str, Any], end: float) -> Any:
    """None without --push. end [s]: of the motion. Raises ConfigError."""
    from robot_dynamics_ros.simulation.rehearsal import Push

    if not o["push"]:
        return None
    x, y, z, *when = numbers("--push", o["push"], 3, 5)
    begin, length = when or (5.0, 5.0)
    if not (begin >= 0 and length > 0):
        raise ConfigError("rehearse", "--push", f"begins at {begin:g} s for {length:g} s, expected >= 0 and > 0")
    if begin >= end:
        raise ConfigError("rehearse", "--push", f"begins at {begin:g} s, the motion ends at {end:g} s")
    if (most := max(x, y, z, -x, -y, -z)) > STRONGEST:
        raise ConfigError("rehearse", "--push", f"{most:g} N is more than {STRONGEST:g} N")
    return Push((x, y, z), begin, length)


def _record(machine: Any, motion: Any, push: Any, out: Path, robot: str, about: dict[str, str]) -> None:
    from robot_dynamics_ros.bags import write_bag
    from robot_dynamics_ros.simulation.rehearsal import rehearse

    with stderr.status("running the motion"):
        log = rehearse(machine, motion, push)
        write_bag(log, out, about=about)
    console.print(f"bag: {out}, {len(log)} samples, {log.time[-1]:.1f} s")
    if push is not None:  # to identify from it would fit the push, too
        file = "ROBOT" if robot.lower().endswith(".urdf") else word(robot)  # replay takes no URDF
        console.print(f"next: robot-dynamics replay {word(out)} --robot {file} --out result")
        return
    several = (np.abs(motion[1]) > MOVES).sum(axis=1) > 1
    # a motion for a property of joints, one after another; where one follows another their speeds overlap for a sample
    single = machine.robot.n_joints > 1 and several.mean() < OVERLAP
    what = " --what friction" if single else ""
    print_identify(out, robot, what)
    if single:
        console.print("      (or --what hysteresis, thermal, stiffness: what the motion was designed for)")


def _publish(machine: Any, motion: Any, push: Any) -> None:
    from robot_dynamics_ros.bringup import environment

    os.environ.update(environment())
    from robot_dynamics_ros.nodes.simulated_arm import publish  # needs ROS, the rest does not
    from robot_dynamics_ros.simulation.rehearsal import cycles

    records = cycles(machine, motion, push)
    console.print(f"joint_states of {machine.robot.name} at {machine.rate:g} Hz; Ctrl-C ends")
    late = publish(machine, records)
    if late:
        console.print(f"{late} cycles were late: this machine does not keep {machine.rate:g} Hz")
