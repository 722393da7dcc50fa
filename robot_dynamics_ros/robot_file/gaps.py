"""Unknown and estimated fields of a robot file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from robot_dynamics_ros.robot_file import blocks as b
from robot_dynamics_ros.verdict import GRADES

if TYPE_CHECKING:
    from robot_dynamics_ros.robot_file.schema import RobotFile

_JOINT_DH, _JOINT_XYZ = ("a", "alpha", "d"), ("xyz", "rpy")


def unknown_numbers(robot: RobotFile) -> list[str]:
    """Dotted names of everything that is null, joints in brackets."""
    found = list(_kinematics(robot))
    for name in type(robot).model_fields:
        block = getattr(robot, name)
        if block is None:
            found.append(name)
        elif isinstance(block, b.SourcedBlock):
            found += _block(robot, name, block)
    return found


def one_recording_gives(robot: RobotFile) -> list[str]:
    """What of unknown_numbers and estimates `identify` writes from one excitation recording, with what it needs."""
    needs = {"links": "", "friction": "", "hysteresis": "where friction follows the position", "residuals": ""}
    if robot.drives.torque_side == "motor":
        needs["drives.rotor_inertia"] = ""
    if robot.drives.effort.unit == "A":
        needs["drives.torque_constant"] = "if the masses of the links or of a payload are right"
    names = (name.split(" [")[0] for name in (*unknown_numbers(robot), *estimates(robot)))
    open_numbers = [name for name in names if not name.endswith(".reference_temperature")]
    found = {top for top in needs for name in open_numbers if name == top or name.startswith(f"{top}.")}
    return [f"{name} ({needs[name]})" if needs[name] else name for name in needs if name in found]


def _kinematics(robot: RobotFile) -> Iterator[str]:
    fields = _JOINT_DH if robot.is_dh else _JOINT_XYZ
    for joint in robot.kinematics.joints:
        missing = [f for f in fields if getattr(joint, f) is None]
        if missing:
            yield f"kinematics.joints {', '.join(missing)} [{joint.name}]"


def _block(robot: RobotFile, name: str, block: b.SourcedBlock) -> Iterator[str]:
    either = {"values", "parameters"} if isinstance(block, b.Links) else set()  # one of them is enough
    if either and all(getattr(block, f) is None for f in either):
        yield name
    for field in type(block).model_fields:
        value = getattr(block, field)
        if field in either or (field == "coupling" and not robot.drives.coupled_motors):
            continue
        if field in ("torque_constant_std", "acceleration_cutoff"):  # no gap: live stages do without
            continue
        if field == "temperature_place" and not robot.sensing.temperature:
            continue
        if field == "parameters" and isinstance(block, b.ModelBlock):
            for parameter, values in block.parameters.items():
                yield from _value(robot, f"{name}.parameters.{parameter}", values)
        else:
            yield from _value(robot, f"{name}.{field}", value)


def _value(robot: RobotFile, field: str, value: Any) -> Iterator[str]:
    if value is None:
        yield field
    elif isinstance(value, tuple):
        missing = [i for i, v in enumerate(value) if v is None or (isinstance(v, tuple) and None in v)]
        if missing and len(value) == 1:
            yield field
        elif missing:
            yield f"{field} [{', '.join(robot.joint_names[i] for i in missing)}]"


def identified(block: b.SourcedBlock | None) -> bool:
    """True when a block of a robot file is there and none of its numbers is an estimate."""
    return block is not None and not any(map(_is_estimate, block.source.values()))


AMPERE = "estimate_ampere"  # key of the source of torque constants of 1 Nm/A, written where nobody knows them


def in_ampere(robot: RobotFile) -> bool:
    """Whether a file was identified without torque constants: its torques and masses are in the unit of the effort."""
    return robot.drives.source.get("torque_constant") == AMPERE


def called_unusable(robot: RobotFile) -> str:
    """A sentence where the last run that judged the file called it not usable; else ""."""
    judged = [entry for entry in robot.provenance if entry.verdict]
    if not judged or judged[-1].verdict != GRADES["bad"]:
        return ""
    return f"The run that identified {robot.name} on {judged[-1].date[:10]} called the file not usable."


def _is_estimate(key: str) -> bool:
    """Whether a key of sources marks an estimate, by its prefix."""
    return key.startswith("estimate")


def estimates(robot: RobotFile) -> list[str]:
    """Dotted names of fields whose source is an estimate (a key of sources that starts with `estimate`)."""
    found = []
    for name in type(robot).model_fields:
        block = getattr(robot, name)
        if isinstance(block, b.SourcedBlock):
            keys = {f: k for f, k in block.source.items() if _is_estimate(k)}
            found += [name if field == "*" else f"{name}.{field}" for field in keys]
    return found
