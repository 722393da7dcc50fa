"""Building the simulated machine from a plant file, a robot file and a seed."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.robot_file import RobotFile, load_robot
from robot_dynamics_ros.robot_file.problems import validated
from robot_dynamics_ros.simulation.plant.any_plant import plant_of
from robot_dynamics_ros.simulation.plant.individual import (
    controller_numbers,
    nominal_links,
    perturbed_links,
    true_numbers,
)
from robot_dynamics_ros.simulation.plant.interface import ELASTIC, Plant
from robot_dynamics_ros.simulation.plant.plant_file import PlantFile

# Overrides for hours-long protocols: one implicit step per control cycle instead of sixteen. The elastic modes and the
# torque ripple are then not resolved; friction, heat, gravity and what moves slower than the cycle are (tested).
FAST: dict[str, float] = {"integration.inner_rate": 500.0, "integration.refresh": 1, "integration.implicitness": 0.75}

# Overrides that switch one phenomenon off (see `without`).
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
    "elasticity": {
        "transmission.stiffness": 1e8,
        "transmission.hardening": 0.0,
        "transmission.backlash": 0.0,
        "control.transmission_stiffness": 1e8,
    },
    "presliding_variation": {"transmission.backlash_variation": 0.0},
    "additive_stribeck": {"friction.additive_stribeck": 0.0},
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


def without(*phenomena: str) -> dict[str, Any]:
    """Overrides for a machine without some phenomena of WITHOUT. Raises ConfigError for another name."""
    if unknown := set(phenomena) - set(WITHOUT):
        raise ConfigError("plant", "without", f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(WITHOUT)}")
    return {name: value for phenomenon in phenomena for name, value in WITHOUT[phenomenon].items()}


@dataclass(frozen=True)
class Machine:
    """A plant with everything that was drawn for it: `true` numbers by name, the true link parameters."""

    core: Plant
    robot: RobotFile  # model of the controller
    file: PlantFile
    true: Mapping[str, np.ndarray]
    link_parameters: np.ndarray  # (n, 10) about the link origins, without payload
    nominal: _core.Chain  # what the controller takes for true, payload included


def load_plant(
    robot: str | RobotFile,
    overrides: Mapping[str, Any] | None = None,
    seed: int = 0,
    controller_model: RobotFile | None = None,
    plant: str = ELASTIC,
) -> Machine:
    """The simulated machine of a robot.

    overrides: dotted name -> number, (n,) or (n, k): `friction.coulomb`, `deviation.mass`, `integration.inner_rate`,
    `outputs.rotor_encoder`, see also `without`; seed: noise (the individual is `deviation.individual`);
    controller_model: the robot file its controller uses, e.g. an identified one; the machine stays that of `robot`;
    plant: ELASTIC, or `module:class` of another (see interface.py), made as class(robot, true chain, the controller's
    chain, true numbers, seed), or `module:class:FILE`, FILE the last argument. Raises ConfigError for an unknown name
    or a number out of range.
    """
    robot = load_robot(robot) if isinstance(robot, str) else robot
    controller_model = robot if controller_model is None else controller_model
    file, given = _apply_to_file(plant_of(robot), overrides or {})
    if len(file.joints) != robot.n_joints or controller_model.n_joints != robot.n_joints:
        raise ConfigError(
            robot.name,
            "joints",
            f"{len(file.joints)} types, {controller_model.n_joints} joints of the controller, "
            f"{robot.n_joints} joints: they must be as many",
        )
    draw = _core.PlantRandom(file.deviation.individual)
    links = perturbed_links(nominal_links(robot, file), file, draw)
    true = {**true_numbers(robot, file, draw), **controller_numbers(controller_model, file)}
    _override(robot.name, true, given)
    actual, nominal = _chain(robot, links), _chain(controller_model, nominal_links(controller_model, file))
    core: Plant
    try:
        if plant == ELASTIC:
            core = _core.Plant(actual, nominal, true, seed=int(seed), **file.integration.model_dump())
        else:
            core = _named(robot.name, plant)(robot, actual, nominal, true, int(seed), *plant.split(":", 2)[2:])
    except (TypeError, ValueError) as error:  # TypeError: what `plant` names is no such class
        raise ConfigError(robot.name, "plant", f"{plant}: {error}") from None
    return Machine(core, controller_model, file, true, links, nominal)


def _named(robot: str, plant: str) -> Any:
    module, name = f"{plant}:".split(":")[:2]
    try:
        return getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(robot, "plant", f"{plant!r} is neither {ELASTIC!r} nor module:class ({error})") from None


def _chain(robot: RobotFile, links: np.ndarray) -> _core.Chain:
    payload = robot.payload
    return robot.chain_with_links(links).with_payload(payload.mass, payload.com, payload.inertia)


def _apply_to_file(file: PlantFile, given: Mapping[str, Any]) -> tuple[PlantFile, dict[str, Any]]:
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
        new = validated(type(old), {**old.model_dump(), **values}, f"{file.robot}: {block}")
        file = file.model_copy(update={block: new})
    return file, rest


def _override(robot: str, true: dict[str, np.ndarray], given: Mapping[str, Any]) -> None:
    widths = _core.Plant.parameter_widths()
    for name, value in given.items():
        if name not in widths:
            raise ConfigError(robot, f"overrides.{name}", f"unknown; known: {', '.join(sorted(widths))}")
        try:
            true[name] = np.broadcast_to(np.asarray(value, dtype=float), true[name].shape).copy()
        except (TypeError, ValueError):
            raise ConfigError(robot, f"overrides.{name}", f"does not fit {true[name].shape}") from None
