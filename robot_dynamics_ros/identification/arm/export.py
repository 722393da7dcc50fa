"""Robot file and URDF of an identification."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.bags.storage import bag_files
from robot_dynamics_ros.effort.decision import OVERRULE
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.arm.friction_columns import LAW
from robot_dynamics_ros.identification.arm.state import Identification
from robot_dynamics_ros.models.friction import created_energy
from robot_dynamics_ros.models.urdf_writer import write_urdf
from robot_dynamics_ros.robot_file import RobotFile, save_robot
from robot_dynamics_ros.robot_file.blocks import Payload
from robot_dynamics_ros.robot_file.gaps import AMPERE
from robot_dynamics_ros.verdict import short_names


def identified_robot(found: Identification) -> RobotFile:
    """The robot file with identified links, drives and friction; every other number stays as it was."""
    live, robot = found.live, found.robot
    key = "identified_" + datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    bags = ", ".join(short_names([r.name for r in found.training]))
    source = {key: f"robot-dynamics identify on {bags}; {found.split}"}
    if found.effort.in_ampere:
        source[AMPERE] = "1: torque constants are unknown; torques, masses and forces are in the unit of the effort"
    held = key  # of friction: a key that begins with `estimate` is not taken for identified
    if found.friction_invalid_reason:
        held = f"estimate_{key}"
        source[held] = f"{source[key]}; {found.friction_invalid_reason}"
    updates: dict[str, Any] = {
        "links": {"source": key, "parameters": live.phi.reshape(-1, 10)},
        "friction": _friction(found, held, live.friction),
        "hysteresis": None
        if live.hysteresis is None
        else {
            "source": held,
            "model": "presliding",
            "parameters": live.hysteresis,
            "motors": [motor.block(robot.joint_names) for motor in live.motors],
        },
    }
    updates |= _drives(found, key) | _aliases(found)
    if robot.sensing.sample_rate is None:
        updates["sensing.sample_rate"] = round(max(r.rate for r in found.training))
    if robot.payload.mass > 0:  # what was mounted is in the identified links
        updates["payload"] = Payload()
    updates["residuals"] = (
        {"source": key} | found.residuals if found.residuals and not found.friction_invalid_reason else None
    )
    return robot.with_updates(updates, source)


def _aliases(found: Identification) -> dict[str, Any]:
    """Joints with the names that recordings had for them as aliases, so that every command accepts these."""
    recorded = [r.recorded_names for r in (*found.training, *found.validation) if r.recorded_names]
    if not recorded:
        return {}
    joints = found.robot.raw()["kinematics"]["joints"]
    for names in recorded:
        for joint, name in zip(joints, names, strict=True):
            if name not in (joint["name"], *joint["aliases"]):
                joint["aliases"] = [*joint["aliases"], name]
    return {"kinematics.joints": joints}


def _friction(found: Identification, key: str, parameters: dict[str, list[float]]) -> dict[str, Any]:
    """The live law; it holds at the mean temperature of the identification bags where they recorded any."""
    block = found.robot.friction
    reference = block.reference_temperature if block is not None else None
    recorded = [p.extra["temperature"] for r in found.training for p in r.pieces if "temperature" in p.extra]
    seen = np.concatenate([x[np.isfinite(x)] for x in recorded]) if recorded else np.zeros(0)
    if len(seen):
        reference = round(float(seen.mean()), 1)
    return {"source": key, "model": LAW, "parameters": parameters, "reference_temperature": reference}


def _drives(found: Identification, key: str) -> dict[str, Any]:
    """Effort semantics, torque constants and rotor inertias, each with its own source."""
    robot, effort = found.robot, found.effort
    fields: dict[str, Any] = {
        "effort": {
            "unit": effort.meaning.unit,
            "includes_gravity": effort.meaning.includes_gravity,
            "includes_rotor_inertia": found.rotor_included,
            "sign": int(np.sign(np.median(np.sign(effort.scale)))),
            "delay": robot.drives.effort.delay,
            "delay_std": robot.drives.effort.delay_std,
        }
    }
    velocity = None if found.velocity is None else found.velocity.block()
    velocity = {"window": found.velocity_window} if found.velocity_window else velocity
    if velocity is not None or robot.drives.velocity is not None:
        fields["velocity"] = velocity
    if found.acceleration_cutoff is not None or robot.drives.acceleration_cutoff is not None:
        fields["acceleration_cutoff"] = found.acceleration_cutoff
    if robot.drives.torque_side == "motor" and not found.rotor_included:
        fields["effort"]["residual_inertia"] = np.nan_to_num(found.rotor).tolist()
    if found.rotor_included and robot.drives.torque_side == "motor":
        fields["rotor_inertia"] = np.maximum(np.nan_to_num(found.rotor), 0.0)
    constants = np.abs(effort.scale)
    given = robot.has("drives.torque_constant") and np.allclose(constants, robot.array("drives.torque_constant"))
    if effort.meaning.unit == "A" and not given:
        fields["torque_constant"] = constants
        known = np.isfinite(effort.scale_std).all() and (effort.scale_std > 0).all()
        fields["torque_constant_std"] = effort.scale_std if known else None
    sources = robot.drives.sources_with(fields, key)
    if effort.in_ampere:
        sources["torque_constant"] = AMPERE
    return {f"drives.{name}": value for name, value in fields.items()} | {"drives.source": sources}


def write_outputs(found: Identification, out: Path, bags: Sequence[str | Path], verdict: str = "") -> dict[str, str]:
    """robot.yaml, with the verdict on it, and robot.urdf in `out`; returns what was written.

    Raises ConfigError or DataError when it cannot be.
    """
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{out}: cannot be created ({error.strerror})") from None
    robot = identified_robot(found)
    for joint, text in created_energy(robot).items():
        raise DataError(f"{joint}: identified {text}; nothing is written: check the sign of its effort ({OVERRULE})")
    name = f"{robot.name}_identified"
    path, urdf = out / f"{name}.yaml", out / f"{name}.urdf"
    changed = ["links", "friction", *(["hysteresis"] if robot.hysteresis is not None else []), "drives"]
    changed += ["payload"] if found.robot.payload.mass > 0 else []
    saved = save_robot(robot, path, inputs=bag_files(bags), changed=changed, verdict=verdict)
    write_urdf(saved, urdf)
    return {"robot_file": str(path), "urdf": str(urdf)}
