"""Building the simulated machine from a plant file, a robot file and a seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.config import RobotFile, load_robot
from robot_dynamics_ros.config.geometry import inertia_about_origin
from robot_dynamics_ros.errors import CapabilityError, ConfigError
from robot_dynamics_ros.simulation.plant_file import JointType, PlantFile, load_plant_file

# Overrides for hours-long protocols: one implicit step per control cycle instead of sixteen. The elastic modes and the
# torque ripple are then not resolved; friction, heat, gravity and what moves slower than the cycle are (tested).
FAST: dict[str, float] = {"integration.inner_rate": 500.0, "integration.refresh": 1, "integration.implicitness": 0.75}

# Overrides that switch one phenomenon off, for tests that need the rest of the machine.
WITHOUT: dict[str, dict[str, float]] = {
    "friction": {
        "friction.coulomb": 0.0,
        "friction.stribeck": 0.0,
        "friction.load": 0.0,
        "friction.viscous": 0.0,
        "transmission.bearing_friction": 0.0,
    },
    "bearing_friction": {"transmission.bearing_friction": 0.0},
    "load_friction": {"friction.load": 0.0},
    "temperature": {"friction.viscosity_rate": 0.0, "friction.boundary_rate": 0.0},
    "backlash": {"transmission.backlash": 0.0},
    "kinematic_error": {"transmission.error_amplitude": 0.0},
    "hardening": {"transmission.hardening": 0.0},
    "elasticity": {"transmission.stiffness": 1e8, "transmission.hardening": 0.0, "transmission.backlash": 0.0},
    "ripple": {"drive.ripple_amplitude": 0.0, "sensing.current_ripple": 0.0},
    "noise": {
        "sensing.current_noise": 0.0,
        "sensing.current_offset": 0.0,
        "sensing.temperature_noise": 0.0,
        "sensing.torque_noise": 0.0,
    },
    "quantisation": {"sensing.link_quantum": 0.0, "sensing.rotor_quantum": 0.0, "sensing.temperature_quantum": 0.0},
    "deviation": {
        "deviation.mass": 0.0,
        "deviation.com": 0.0,
        "deviation.inertia": 0.0,
        "deviation.torque_constant": 0.0,
        "deviation.joint": 0.0,
    },
}
_SCATTERED = (  # differ from joint to joint of one type, by one factor per group
    ("friction.coulomb", "friction.stribeck"),
    ("friction.viscous",),
    ("friction.load",),
    ("friction.presliding",),
    ("transmission.stiffness", "transmission.hardening"),
    ("transmission.backlash",),
    ("transmission.error_amplitude",),
    ("thermal.inner_conductance", "thermal.outer_conductance"),
)


@dataclass(frozen=True)
class Machine:
    """The core's plant with everything that was drawn for it: `true` numbers by name, the true link parameters."""

    core: Any
    robot: RobotFile
    file: PlantFile
    true: Mapping[str, np.ndarray]
    link_parameters: np.ndarray  # (n, 10) about the link origins, without payload


def load_plant(
    robot: str | RobotFile,
    overrides: Mapping[str, Any] | None = None,
    seed: int = 0,
    without: Sequence[str] = (),
) -> Machine:
    """The simulated machine of a robot.

    overrides: dotted name -> number, (n,) or (n, k): `friction.coulomb`, `deviation.mass`, `integration.inner_rate`,
    `outputs.rotor_encoder`; without: names of WITHOUT; seed: noise (the individual is `deviation.individual`).
    Raises ConfigError for an unknown name or a number out of range.
    """
    robot = load_robot(robot) if isinstance(robot, str) else robot
    file = load_plant_file(robot.name)
    given = dict(overrides or {})
    for name in without:
        if name not in WITHOUT:
            raise ConfigError(robot.name, "without", f"unknown {name!r}; known: {', '.join(WITHOUT)}")
        given = {**WITHOUT[name], **given}
    file, given = _apply_to_file(file, given)
    if len(file.joints) != robot.n_joints:
        raise ConfigError(robot.name, "joints", f"{len(file.joints)} types for {robot.n_joints} joints")
    draw = _core.PlantRandom(file.deviation.individual)
    nominal = nominal_links(robot, file)
    links = perturbed_links(nominal, file, draw)
    true = _true_numbers(robot, file, draw)
    _override(robot.name, true, given)
    payload = robot.payload
    nominal, actual = (
        robot._chain(x, None).with_payload(payload.mass, payload.com, payload.inertia) for x in (nominal, links)
    )
    try:
        core = _core.Plant(actual, nominal, true, seed=int(seed), **file.integration.model_dump())
    except ValueError as error:
        raise ConfigError(robot.name, "plant", str(error)) from None
    return Machine(core, robot, file, true, links)


def _apply_to_file(file: PlantFile, given: dict[str, Any]) -> tuple[PlantFile, dict[str, Any]]:
    """Overrides of deviation, integration and outputs go into the file; the per-joint rest is returned."""
    rest: dict[str, Any] = {}
    changed: dict[str, dict[str, Any]] = {}
    for name, value in given.items():
        block, _, field = name.partition(".")
        if block in ("deviation", "integration", "outputs"):
            changed.setdefault(block, {})[field] = value
        else:
            rest[name] = value
    for block, values in changed.items():
        old = getattr(file, block)
        unknown = set(values) - set(type(old).model_fields)
        if unknown:
            raise ConfigError(file.robot, block, f"unknown {', '.join(sorted(unknown))}")
        file = file.model_copy(update={block: type(old)(**{**old.model_dump(), **values})})
    return file, rest


def nominal_links(robot: RobotFile, file: PlantFile) -> np.ndarray:
    """Link parameters (n, 10) the controller believes: the robot file's, or the plant file's where that knows none."""
    if robot.links is None and file.links is not None and file.links.values is not None:
        return np.array([inertia_about_origin(v.mass, v.com, v.inertia) for v in file.links.values])
    return robot.link_parameters


def perturbed_links(links: np.ndarray, file: PlantFile, draw: _core.PlantRandom) -> np.ndarray:
    """Link parameters (n, 10) of an individual: mass, centre of mass and inertia about it perturbed, still consistent.

    m' = m (1 + e_m), c' = c + e_c, I_c' = (1 + e_I) I_c (I_c scaled keeps the triangle inequality).
    """
    d, result = file.deviation, np.array(links)
    for row in result:
        e_m, e_i = draw.normal(2).clip(-3, 3)
        e_c = draw.normal(3).clip(-3, 3) * d.com
        m, c = row[9], row[6:9] / row[9] if row[9] > 0 else np.zeros(3)
        about_com = row[:6] - m * _point_inertia(c)
        m, c = m * (1 + d.mass * e_m), c + (e_c if m > 0 else 0)
        row[:6] = about_com * (1 + d.inertia * e_i) + m * _point_inertia(c)
        row[6:9], row[9] = m * c, m
    return result


def _point_inertia(c: np.ndarray) -> np.ndarray:
    x, y, z = c
    return np.array([y * y + z * z, -x * y, -x * z, x * x + z * z, -y * z, x * x + y * y])


def _true_numbers(robot: RobotFile, file: PlantFile, draw: _core.PlantRandom) -> dict[str, np.ndarray]:
    joints = [file.types[name] for name in file.joints]
    n, d = len(joints), file.deviation
    true = {name: _row(joints, name) for name in _names(joints[0])}
    true["sensing.pole_pairs"] = true.pop("drive.pole_pairs")
    true["control.transmission_stiffness"] = true["transmission.stiffness"]
    for names in _SCATTERED:
        factor = 1 + d.joint * draw.normal(n).clip(-2.5, 2.5)
        for name in names:
            true[name] = true[name] * factor.reshape((n,) + (1,) * (true[name].ndim - 1))
    for name in ("drive.ripple_phase", "transmission.error_phase"):
        width = _core.Plant.parameter_widths()[name]
        true[name] = np.pi * (2 * draw.uniform(n * width) - 1).reshape(n, width)
    true["transmission.backlash_phase"] = np.pi * (2 * draw.uniform(n) - 1)
    true["sensing.current_offset"] = true["sensing.current_offset"] * (2 * draw.uniform(n) - 1)
    believed = {k: _known(robot, f"drives.{k}", true[f"drive.{k}"]) for k in ("torque_constant", "rotor_inertia")}
    true["control.torque_constant"] = believed["torque_constant"]
    true["control.rotor_inertia"] = believed["rotor_inertia"]
    scale = 1 + d.torque_constant * draw.normal(n).clip(-2.5, 2.5)
    true["drive.torque_constant"] = believed["torque_constant"] * scale
    true["drive.rotor_inertia"] = believed["rotor_inertia"] * (1 + d.inertia * draw.normal(n).clip(-2.5, 2.5))
    true["transmission.gear_ratio"] = _known(robot, "drives.gear_ratio", true["transmission.gear_ratio"])
    true["control.viscous"] = _friction(robot, "fv")
    true["control.coulomb"] = _friction(robot, "fc")
    return {k: np.ascontiguousarray(v, dtype=float) for k, v in true.items()}


def _names(joint: JointType) -> list[str]:
    blocks = type(joint).model_fields
    return [f"{b}.{f}" for b in blocks for f in type(getattr(joint, b)).model_fields if f != "source"]


def _row(joints: Sequence[JointType], name: str) -> np.ndarray:
    block, field = name.split(".")
    return np.array([getattr(getattr(j, block), field) for j in joints], dtype=float)


def _known(robot: RobotFile, field: str, otherwise: np.ndarray) -> np.ndarray:
    try:
        return np.broadcast_to(robot.array(field), otherwise.shape).astype(float)
    except CapabilityError:
        return otherwise


def _friction(robot: RobotFile, parameter: str) -> np.ndarray:
    """Viscous and Coulomb friction the controller itself would compensate: the robot file's, 0 where unknown."""
    return _known(robot, f"friction.parameters.{parameter}", np.zeros(robot.n_joints))


def _override(robot: str, true: dict[str, np.ndarray], given: Mapping[str, Any]) -> None:
    widths = _core.Plant.parameter_widths()
    for name, value in given.items():
        if name not in widths:
            raise ConfigError(robot, f"overrides.{name}", f"unknown; known: {', '.join(sorted(widths))}")
        try:
            true[name] = np.broadcast_to(np.asarray(value, dtype=float), true[name].shape).copy()
        except (TypeError, ValueError):
            raise ConfigError(robot, f"overrides.{name}", f"does not fit {true[name].shape}") from None
