"""Hysteretic (presliding) friction of a robot file: generalized Maxwell-slip, with spacing laws or free spans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import CapabilityError, ConfigError
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals.table import shown

DEFAULT_ELEMENTS, DEFAULT_R_D, DEFAULT_R_K = 4, 4.0, 2.0  # [Madsen2020 ch6 17-18]
DEFAULT_BACKLASH = 1e-3  # rad, UR5e joint 1 [Madsen2020 ch6 5.2]
MAX_GAP = 0.1  # s after which elements begin anew
DRY_SHARE = 0.75  # of a dry joint's breakaway is of elements that give way within _core.DRY_SPAN
# Share of residuals.rest that a step of the positions may move: on a simulated arm 0.12 cost nothing, 0.25 and 1.2
# contact for 4 and 13 % of the free rest
FELT = 0.2
UNIFORM = 12.0**-0.5  # standard deviation of a reading over the step in which it is reported


def spacing(
    elements: int = DEFAULT_ELEMENTS, r_D: float = DEFAULT_R_D, r_k: float = DEFAULT_R_K
) -> tuple[np.ndarray, np.ndarray]:
    """Spans D (M,) and stiffnesses k (M,): D_i = (i/M)^r_D, k_i = (M+1-i)^r_k / (D_i sum_j j^r_k), so sum k D = 1.

    Raises ValueError outside M 1..16, r_D > 0. [Madsen2020, ch6 eq. 17-18]
    """
    return _core.gms_spacing(elements, r_D, r_k)


def maxwell_slip(n_joints: int, elements: int = DEFAULT_ELEMENTS, max_gap: float = MAX_GAP) -> _core.Gms:
    """Hysteresis by the spacing laws, of the usual backlash."""
    D, k = (np.tile(x, (n_joints, 1)) for x in spacing(elements))
    return _core.Gms(D, k, np.full((n_joints, 1), DEFAULT_BACKLASH), max_gap)


def _optional_rows(robot: RobotFile, name: str) -> np.ndarray | None:
    if name not in (robot.hysteresis.parameters if robot.hysteresis else {}):
        return None
    return robot.array(f"hysteresis.parameters.{name}")


def elements(robot: RobotFile) -> tuple[np.ndarray, np.ndarray]:
    """Spans D and stiffnesses k (n, M) of the elements of a robot file, by the spacing laws where it has none.

    Raises ConfigError for one of both, or numbers of the laws that are not those of all joints.
    """
    D, k = _optional_rows(robot, "d"), _optional_rows(robot, "k")
    if D is not None and k is not None:
        return D, k
    given = robot.hysteresis.parameters if robot.hysteresis else {}
    laws = {
        name: robot.array(f"hysteresis.parameters.{name}") if name in given else np.array([default])
        for name, default in (("m", DEFAULT_ELEMENTS), ("r_d", DEFAULT_R_D), ("r_k", DEFAULT_R_K))
    }
    if D is not None or k is not None or any(np.ptp(law) for law in laws.values()) or laws["m"][0] % 1:
        text = "needs both d and k, or one number of all joints for m, a whole one, r_d and r_k"
        raise ConfigError(robot.file, "hysteresis.parameters", text)
    one = spacing(*(kind(law[0]) for kind, law in zip((int, float, float), laws.values(), strict=True)))
    return np.tile(one[0], (robot.n_joints, 1)), np.tile(one[1], (robot.n_joints, 1))


def hysteresis_from_robot(robot: RobotFile, friction: FrictionModel | None = None) -> _core.Friction:
    """The hysteretic friction model of a robot file, on top of its static law.

    egms: F = fc0 + fc1 tau_J^2 [Madsen2020, ch6 eq. 20]. Raises CapabilityError where
    the file holds no hysteresis or does not know its numbers, ConfigError for values that do not fit together.
    """
    block = robot.hysteresis
    if block is None:
        raise CapabilityError(f"{robot.name}: hysteresis is null in {robot.file}; identify it first")
    friction = friction or FrictionModel.from_robot(robot)
    try:
        if block.model == "presliding":
            known = {name: robot.array(f"hysteresis.parameters.{name}") for name in block.parameters}
            return presliding_core(known, friction)
        D, k = elements(robot)
        b, fc0, fc1 = (robot.array(f"hysteresis.parameters.{name}") for name in ("b", "fc0", "fc1"))
        gms = _core.Gms(D, k, b[:, None].copy(), MAX_GAP)
        return _core.Friction.egms(friction.core, gms, fc0, fc1, kinematic_error(robot))
    except ValueError as problem:
        raise ConfigError(robot.file, "hysteresis.parameters", str(problem)) from None


PRESLIDING = (
    *("load_limit", "load_power", "sliding_ratio", "stribeck_velocity", "fv1", "fv2", "fv0", "v0", "fo"),
    *("fs", "eps", "rotor_time", "viscous_slope", "dahl_step", "bearing", "bearing_span"),
)
ABSENT = {"eps": 2e-3, "bearing_span": 1e-4}  # of an optional parameter that the block lacks; 0 for the others


def presliding_core(parameters: Mapping[str, Any], friction: FrictionModel, max_gap: float = MAX_GAP) -> _core.Friction:
    """Presliding friction over a static map from a block's parameters by name. Raises ValueError outside bounds."""
    n = friction.n_joints
    span, level, load = (np.array(parameters[name], dtype=float) for name in ("span", "level", "load"))
    columns = [
        np.broadcast_to(np.asarray(parameters.get(name, ABSENT.get(name, 0.0)), dtype=float), n) for name in PRESLIDING
    ]
    widening = np.array(parameters.get("widening", np.zeros((n, 2))), dtype=float)
    return _core.Friction(friction.core, span, level, load, np.column_stack(columns), max_gap, widening)


def viscosity(law: Mapping[str, Any], v0: Any, v: float) -> Any:
    """Viscous friction over velocity [Nm s/rad] of fv1, fv2, fv0 at a speed v [rad/s]."""
    return law["fv1"] + v * law["fv2"] + law["fv0"] / (1 + v / v0)


def friction_level(robot: RobotFile, load: np.ndarray | float = 0.0) -> np.ndarray:
    """Level of friction at breakaway (n,) [Nm] under a load (n,) >= 0 [Nm]; 0 where the file holds no friction."""
    if robot.friction is None:
        return np.zeros(robot.n_joints)
    static = FrictionModel.from_robot(robot).coulomb_level()
    if robot.presliding is None:
        return static
    fs, bearing = (robot.array_or(f"hysteresis.parameters.{name}", 0.0) for name in ("fs", "bearing"))
    level, loaded, power = (robot.array(f"hysteresis.parameters.{name}") for name in ("level", "load", "load_power"))
    level = level.sum(axis=1) + loaded.sum(axis=1) * load**power
    for motor in robot.presliding.motors:  # loads two joints
        level[[robot.joint_names.index(j) for j in (motor.joint, motor.turns_with)]] += np.sum(motor.values["level"])
    return np.where(level > 0, level + fs + bearing, static)


def dry_joints(robot: RobotFile) -> np.ndarray:
    """Joints (n,) that do not move before they break away, as bool: friction is whatever balances while they stand.
    False without presliding elements.
    """
    if robot.presliding is None:
        return np.zeros(robot.n_joints, bool)
    return hidden_level(robot) > DRY_SHARE * robot.array("hysteresis.parameters.level").sum(axis=1)


def hidden_level(robot: RobotFile) -> np.ndarray:
    """Level (n,) [Nm] of presliding elements that give way within _core.DRY_SPAN, which positions hardly show."""
    if robot.presliding is None:
        return np.zeros(robot.n_joints)
    span, level = (robot.array(f"hysteresis.parameters.{name}") for name in ("span", "level"))
    return np.asarray(np.where(span <= _core.DRY_SPAN, level, 0.0).sum(axis=1))


def friction_within(robot: RobotFile, steps: np.ndarray) -> np.ndarray:
    """By how much friction at rest (n,) [Nm] changes within steps of the positions (n,) [rad]; 0 without presliding."""
    if robot.presliding is None:
        return np.zeros(robot.n_joints)
    span, level = (robot.array(f"hysteresis.parameters.{name}") for name in ("span", "level"))
    return np.asarray((level * np.minimum(steps[:, None] / span, 1.0)).sum(axis=1))


def coarse_positions(robot: RobotFile, steps: np.ndarray) -> str:
    """What is wrong and what to do where positions come in steps (n,) [rad], 0: fine, coarser than those that friction
    at rest was identified from: it changes within a step by more than FELT of what is left at rest, or behind the gear,
    where that contains the steps of the recordings, by a larger deviation; "" elsewhere.
    """
    law = robot.presliding
    if law is None or not robot.has("residuals.rest"):
        return ""
    rest, felt = robot.array("residuals.rest"), friction_within(robot, steps)
    known = robot.array_or("hysteresis.parameters.dahl_step", 0.0)
    coarser = (steps > 2 * known) & (known > 0.0) & (felt > FELT * rest)
    if robot.drives.torque_side == "link":
        coarser = UNIFORM * felt > rest
    found = np.flatnonzero(coarser)
    if not len(found):
        return ""
    return (
        f"positions ({shown([robot.joint_names[j] for j in found], 1)}) come in steps of up to "
        f"{1e3 * steps[found].max():.2g} mrad, coarser than those that the robot file was identified from, over which "
        f"friction at rest changes by up to {felt[found].max():.2g} Nm: rests may show contact; record velocities or "
        "finer positions, or identify from such ones"
    )


def motors_core(parameters: Sequence[Mapping[str, Any]]) -> _core.Friction:
    """Presliding friction of motors that turn with two joints, from the parameters of each. Raises like the above."""
    names = dict.fromkeys(name for p in parameters for name in p)
    block = {name: [p.get(name, ABSENT.get(name, 0.0)) for p in parameters] for name in names}
    return presliding_core(block, FrictionModel.none(len(parameters)))


def presliding_motors(robot: RobotFile) -> dict[str, Any]:
    """Arguments `motors` and `turns` of the friction stage: rows (m, 3) joint, other joint, sign; empty without motors.

    Raises ConfigError for values that do not fit together.
    """
    motors = () if robot.hysteresis is None else robot.hysteresis.motors
    if not motors:
        return {}
    number = robot.joint_names.index
    try:
        core = motors_core([motor.values for motor in motors])
    except ValueError as problem:
        raise ConfigError(robot.file, "hysteresis.motors", str(problem).replace("joint", "motor", 1)) from None
    turns = [(number(motor.joint), number(motor.turns_with), motor.sign) for motor in motors]
    return {"motors": core, "turns": np.array(turns, dtype=float)}


def kinematic_error(robot: RobotFile) -> np.ndarray:
    """Kinematic error of each transmission over a turn (n, points) [rad]; zero where the robot file has none."""
    error = None if robot.hysteresis is None else _optional_rows(robot, "kinematic_error")
    return np.zeros((robot.n_joints, 1)) if error is None else error
