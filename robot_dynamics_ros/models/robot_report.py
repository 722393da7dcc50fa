"""Is a robot file plausible? Checks derived from the dynamics it describes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from robot_dynamics_ros.errors import CapabilityError, ConfigError
from robot_dynamics_ros.models.friction import FrictionModel, created_energy
from robot_dynamics_ros.models.hysteresis import friction_level, hysteresis_from_robot, presliding_motors
from robot_dynamics_ros.models.inertia import consistency_margin
from robot_dynamics_ros.models.robot_model import RobotModel
from robot_dynamics_ros.robot_file import Payload, RobotFile
from robot_dynamics_ros.robot_file.gaps import called_unusable
from robot_dynamics_ros.robot_file.geometry import inertia_about_origin

POSES = 500  # random poses of every derived check, seeded
HEAVY = 2000.0  # kg per cubed metre of reach; arms have 10 to 200
LIGHT = 100.0  # kg up to which nothing is too heavy: of a single joint the reach is 0
MANY = 50.0  # rad: no joint with a limit turns that far
REACH_RATIO = (0.7, 1.6)  # shoulder-to-TCP distance over the data sheet's reach (which is to the wrist on some arms)


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong (error) or strange (warning) and the field it concerns."""

    level: str
    field: str
    text: str


@dataclass
class Report:
    """Summary of a loaded robot: derived numbers, findings, what is unknown and what is only estimated."""

    robot: RobotFile
    numbers: dict[str, Any] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    @property
    def ok(self) -> bool:
        """True without errors; warnings are allowed."""
        return all(f.level != "error" for f in self.findings)


def refuse_implausible(robot: RobotFile) -> None:
    """Raise ConfigError with the first error that report() finds: what `check` refuses is started by nothing."""
    for found in report(robot).findings:
        if found.level == "error":
            raise ConfigError(robot.file, found.field, found.text)


def report(robot: RobotFile) -> Report:
    """All derived checks of a robot file; checks whose numbers are unknown are left out."""
    result = Report(robot)
    checks = (_inertias, _masses, _mass_matrix, _reach, _gravity, _rotors, _friction, _level, _hysteresis)
    for check in (*checks, _turns, _payload, _judged):
        _run(check, result)
    return result


def _judged(result: Report) -> Iterator[Finding]:
    if text := called_unusable(result.robot):
        yield Finding("warning", "provenance", text)


def _run(check: Callable[[Report], Iterator[Finding]], result: Report) -> None:
    try:
        found = list(check(result))
    except CapabilityError:  # unknown numbers are listed by unknown_numbers
        return
    except ConfigError as problem:  # several checks may meet it
        owner = "" if problem.file == result.robot.file else f"{problem.file}."
        found = [Finding("error", f"{owner}{problem.field}", problem.args[2])]
    result.findings += [one for one in found if one not in result.findings]


def _model(robot: RobotFile) -> RobotModel:
    return RobotModel(robot.chain(payload=Payload()), robot.joint_names)


def _inertias(result: Report) -> Iterator[Finding]:
    margins = [consistency_margin(ten) for ten in result.robot.link_parameters]
    result.numbers["smallest inertia margin"] = min(margins)
    for name, margin in zip(result.robot.joint_names, margins, strict=True):
        if not margin >= -1e-9:
            text = f"no body can have these parameters: pseudo-inertia eigenvalue {margin:.3g} must be >= 0"
            yield Finding("error", f"links [{name}]", text)


def _masses(result: Report) -> Iterator[Finding]:
    moving = float(result.robot.link_parameters[:, 9].sum())
    whole = result.robot.limits.robot_mass
    for name in _massless(result.robot):
        yield Finding("warning", f"links [{name}]", "no mass: the URDF left it out; identify will find it")
    result.numbers["moving mass [kg]"] = moving
    if whole is not None and not moving <= 1.02 * whole:
        yield Finding("warning", "links", f"moving links weigh {moving:.1f} kg, the whole robot {whole:.1f} kg")


def _massless(robot: RobotFile) -> list[str]:
    """Joints whose link has no mass in the file."""
    return [n for n, ten in zip(robot.joint_names, robot.link_parameters, strict=True) if not ten[9] > 0]


def _mass_matrix(result: Report) -> Iterator[Finding]:
    M = _model(result.robot).mass_matrix(result.robot.random_poses(POSES))
    smallest = float(np.linalg.eigvalsh(M).min())
    result.numbers["smallest eigenvalue of M [kg m2]"] = smallest
    if not smallest > 0.0:
        text = f"mass matrix not positive definite: smallest eigenvalue {smallest:.3g} of {POSES} poses must be > 0"
        missing = _massless(result.robot)
        hint = f"; no masses of {', '.join(missing)}: identify will find them" if missing else ""
        yield Finding("warning" if missing else "error", "links", text + hint)


def _reach(result: Report) -> Iterator[Finding]:
    robot = result.robot
    frames = RobotModel(robot.kinematic_chain()).fk(robot.random_poses(20 * POSES))
    first, axes = min(1, robot.n_joints - 1), frames[0, :2, :3, 2]
    parallel = abs(axes[0] @ axes[first]) > 0.999  # SCARA: the arm turns about the first axis
    away = frames[:, -1, :3, 3] - frames[:, 0 if parallel else first, :3, 3]
    away -= parallel * np.outer(away @ axes[0], axes[0])
    distance = float(np.linalg.norm(away, axis=1).max())
    result.numbers["shoulder to TCP, longest [m]"] = distance
    mass, reach = result.numbers.get("moving mass [kg]", 0.0), robot.limits.reach
    if mass > max(LIGHT, HEAVY * distance**3):
        text = f"{mass:.0f} kg with a reach of {distance:.2f} m: masses in g? A URDF has kg and m"
        yield Finding("warning", "links", text)
    if reach is not None and not REACH_RATIO[0] <= distance / reach <= REACH_RATIO[1]:
        yield Finding("warning", "limits.reach", f"{reach} m, but the kinematics reach {distance:.3f} m")


def _gravity(result: Report) -> Iterator[Finding]:
    robot, q = result.robot, result.robot.random_poses(POSES)
    worst = np.abs(_model(robot).gravity(q)).max(axis=0)
    result.numbers["largest gravity torque [Nm]"] = worst.tolist()
    limit = robot.array_or("limits.torque", np.inf)
    if np.isfinite(limit).any():
        result.numbers["largest gravity torque over limit"] = float((worst / limit).max())
    for name, torque, bound in zip(robot.joint_names, worst, limit, strict=True):
        if not torque <= bound:
            yield Finding("error", f"limits.torque [{name}]", f"{bound} Nm cannot hold the arm: {torque:.1f} Nm")


def _rotors(result: Report) -> Iterator[Finding]:
    B = result.robot.array("drives.rotor_inertia")
    diagonal = np.diagonal(_model(result.robot).mass_matrix(result.robot.random_poses(POSES)), axis1=1, axis2=2)
    share = B / (B + diagonal.max(axis=0))
    result.numbers["share of the rotor in the joint inertia"] = share.tolist()
    for name, inertia in zip(result.robot.joint_names, B, strict=True):
        if not inertia > 0.0:
            yield Finding("warning", f"drives.rotor_inertia [{name}]", "0 is not the inertia of a motor")


def _friction(result: Report) -> Iterator[Finding]:
    """What the live stages refuse."""
    for name, text in created_energy(result.robot).items():
        yield Finding("error", f"friction.parameters [{name}]", text)


def _level(result: Report) -> Iterator[Finding]:
    robot = result.robot
    sizes = {"friction.parameters": (FrictionModel.from_robot(robot).coulomb_level(), "Coulomb friction")}
    if robot.presliding is not None:
        sizes["hysteresis.parameters"] = friction_level(robot), "friction"
    for name in ("moving", "rest"):
        sizes[f"residuals.{name}"] = robot.array_or(f"residuals.{name}", 0.0), "an error of the free arm"
    for where, (size, what) in sizes.items():
        for name, value, limit in zip(robot.joint_names, size, robot.array_or("limits.torque", np.inf), strict=True):
            if not value <= limit:
                text = f"{what} of {value:g} Nm is beyond the torque limit of {limit:g} Nm: mNm?"
                yield Finding("warning", f"{where} [{name}]", text)


def _turns(result: Report) -> Iterator[Finding]:
    for limit in ("limits.position_lower", "limits.position_upper"):
        for name, end in zip(result.robot.joint_names, result.robot.array_or(limit, np.inf), strict=True):
            if MANY < abs(end) < np.inf:
                text = f"{end:g} rad are {abs(end) / (2 * np.pi):.0f} turns: degrees? (.inf: turns without end)"
                yield Finding("warning", f"{limit} [{name}]", text)


def _payload(result: Report) -> Iterator[Finding]:
    body, most = result.robot.payload, result.robot.limits.payload
    margin = consistency_margin(inertia_about_origin(body.mass, body.com, body.inertia))
    if not margin >= -1e-6:  # a rod has a moment of 0, which is rounded
        yield Finding("warning", "payload.inertia", f"no body can have it: pseudo-inertia eigenvalue {margin:.3g}")
    if most is not None and not body.mass <= most:
        yield Finding("warning", "payload.mass", f"{body.mass:g} kg, but limits.payload is {most:g} kg")


def _hysteresis(result: Report) -> Iterator[Finding]:
    """What the friction stage refuses."""
    hysteresis_from_robot(result.robot)
    presliding_motors(result.robot)
    yield from ()
