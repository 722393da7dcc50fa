"""`robot-dynamics identify`: bags in, a robot file with what was identified out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from robot_dynamics_ros.cli.options import (
    SENSOR,
    SensorType,
    bags_argument,
    effort_option,
    out_option,
    refuse_options,
    robot_option_with,
    topic_option,
    verbose_option,
)
from robot_dynamics_ros.errors import ConfigError, DataError

PATH = click.Path(path_type=Path)
SIGNS = {"auto": 0, "environment": 1, "robot": -1}
JOINTS = ("friction", "hysteresis", "kinematic-error", "thermal", "stiffness")  # of joint.fits
COMMON = {"bags", "robot", "topic", "out"}
ARM = {"validate", "payload_from", "effort", "wrench", "known_rotor"}
ARM |= {"excluded", "contact", "verbose", "vendor"}
TAKEN = {  # options that each kind of identification takes besides the common ones
    "arm": ARM,
    "compare": {"effort", "jobs"},
    "drives": {"validate"},
    **dict.fromkeys(JOINTS, {"joints"}),
}


@click.command("identify")
@bags_argument
@robot_option_with("Shipped robot's name, robot file, or URDF (6, 7 axes, any).")
@click.option(
    "--what",
    type=click.Choice(list(TAKEN)),
    default="arm",
    show_default=True,
    help="Masses, rotors and friction of the arm; a property of its joints; its drives from currents; or the arm from "
    "each bag, compared.",
)
@click.option(
    "--joint",
    "joints",
    multiple=True,
    help="Of a property of the joints: name, alias or number (from 1); may be repeated. Default: all.",
)
@click.option("--validate", multiple=True, type=PATH, help="Bag to validate the result; may be repeated.")
@click.option(
    "--payload-from",
    multiple=True,
    metavar="BAG[,mass=KG]",
    help="Bag of a run with payload: its mass, centre, inertia. A known mass finds the torque constant of every joint, "
    "and everything is identified with these.",
)
@effort_option
@topic_option
@click.option(
    "--wrench",
    type=SensorType(sign=tuple(SIGNS)),
    metavar="TOPIC[,KEY=VALUE]...",
    help=f"WrenchStamped topic of a force sensor: contact is a known input. The base has to stand. {SENSOR}; "
    "sign: the sensor measures the force of the environment on the robot, or of the robot; auto: from the data.",
)
@click.option(
    "--vendor",
    type=SensorType(),
    metavar="TOPIC[,KEY=VALUE]...",
    help="Estimate of the robot's own software (WrenchStamped topic, or six columns of a table), of a recording that "
    f"nothing touches: its force at rest beside ours before and after. {SENSOR}.",
)
@click.option("--known-rotor", is_flag=True, help="Rotor inertias are those of the robot file, not identified.")
@click.option(
    "--exclude",
    "excluded",
    multiple=True,
    metavar="FROM:TO",
    help="Seconds of every bag to leave out; may be repeated.",
)
@click.option(
    "--contact",
    type=click.Choice(["auto", "ignore"]),
    default="auto",
    show_default=True,
    help="auto: contact is left out, hand guiding and turned joints refused; ignore: identify from all recorded.",
)
@click.option(
    "--jobs", type=click.IntRange(1, 64), default=2, show_default=True, help="Of --what compare: bags at a time."
)
@out_option
@verbose_option
def command(what: str, **o: Any) -> None:
    """Identify a robot from BAGS and write a robot file with the result.

    The default: masses, rotor inertia and friction of the arm, validated, made physically consistent; robot file, URDF
    and report. The figures are of the robot file that is written. Exit status 3: it is written, but the verdict is "not
    usable".

    --what friction, hysteresis, kinematic-error, thermal, stiffness: a property of the joints; the
    usable segments (constant velocity, reversals, duty cycles) are found in the motion. --what drives: torque
    constants, rotor inertia and losses from motor currents. --what compare: the arm from each bag, and what differs.

    Example: robot-dynamics identify run1 --robot ur5e --validate run2 --out identified
    """
    refuse_options(o.keys() - COMMON - TAKEN[what], f"--what {what}")
    for bag in o["validate"]:
        if bag.resolve() in [used.resolve() for used in o["bags"]]:
            raise ConfigError("identify", "--validate", f"{bag} is identified from: give another recording")
    common = {name: o[name] for name in COMMON}
    if what in JOINTS:
        from robot_dynamics_ros.cli.identify_joint import identify_property

        identify_property(what, joints=o["joints"], **common)
    elif what == "drives":
        from robot_dynamics_ros.cli.identify_drive import identify_drive

        identify_drive(validate=o["validate"], **common)
    elif what == "compare":
        from robot_dynamics_ros.cli.identify_each import compare

        compare(effort=o["effort"], jobs=o["jobs"], **common)
    else:
        _arm(o, common)


def _arm(o: dict[str, Any], common: dict[str, Any]) -> None:
    from robot_dynamics_ros.cli.identify_arm import identify_arm
    from robot_dynamics_ros.identification.arm.state import Options

    sensor, sign = o["wrench"] or (None, {"sign": "auto"})
    options = Options(
        effort=o["effort"],
        topic=common.pop("topic"),
        exclude=tuple(map(_interval, o["excluded"])),
        contact=o["contact"],
        wrench=sensor,
        wrench_sign=SIGNS[sign.get("sign", "auto")],
        known_rotor=o["known_rotor"],
    )
    names = ("validate", "payload_from", "verbose")
    vendor = None if o["vendor"] is None else o["vendor"][0]
    identify_arm(options=options, vendor=vendor, **common, **{name: o[name] for name in names})


def _interval(text: str) -> tuple[float, float]:
    """(begin, end) [s] of FROM:TO; an empty TO is the end of the bag. Raises DataError."""
    begin, colon, end = text.partition(":")
    try:
        interval = float(begin or 0.0), float(end or "inf")
    except ValueError:
        interval = (1.0, 0.0)
    if not (colon and 0 <= interval[0] < interval[1]):
        raise DataError(f"--exclude {text!r} is not FROM:TO in seconds, FROM below TO")
    return interval
