"""The torque loop of a robot file: friction that learns, computed torque, hand guiding, with parameters named once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import CapabilityError, ConfigError
from robot_dynamics_ros.estimators.stiffness import elastic_coefficients, transmission_damping
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.models.hysteresis import hysteresis_from_robot, kinematic_error, maxwell_slip, presliding_motors
from robot_dynamics_ros.parameters import Parameter, resolve
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.robot_file.gaps import identified

LAWS = ("fixed", "scales", "rls")
FEEDBACK = ("none", "deflection", "sensor")
FEEDFORWARD = ("rigid", "flexible")
_CONTROL = (
    Parameter("law", "scales", "how friction is learned while the robot moves", choices=LAWS),
    Parameter("memory", True, "hysteretic (presliding) friction; false: sgn(w) F(tau)"),
    Parameter("adaptation_time", 4.0, "time in which the scales of friction settle in motion", "s", 0.1, 600.0),
    Parameter("bandwidth", 12.0, "natural frequency of the position feedback, critically damped", "rad/s", 0.5, 60.0),
    Parameter("integral_gain", 0.0, "its integral action, 1/s3", "1/s3", 0.0, 1e5),
    Parameter(
        "feedback",
        "none",
        "tracking: torque behind the transmission fed back, from its deflection (rotor encoders) or from a sensor",
        choices=FEEDBACK,
    ),
    Parameter(
        "feedback_gain", 0.7, "its proportional gain; joints of a UR's size ring near 1.8 at 500 Hz", "", 0.0, 1.5
    ),
    Parameter("feedback_integral", 0.0, "its integral gain", "1/s", 0.0, 50.0),
    Parameter("feedback_share", 0.15, "share of the joint torque limit it may add", "", 0.01, 0.5),
    Parameter(
        "feedforward",
        "rigid",
        "tracking: flexible also moves the rotors ahead by the transmission's deflection (jerk and snap)",
        choices=FEEDFORWARD,
    ),
    Parameter("guide_damping", 1.0, "hand guiding: damping, times 2 Nm s/rad per 28 Nm of joint", "", 0.0, 50.0),
    Parameter(
        "guide_share",
        0.0,
        "hand guiding: share of the friction compensated in motion; 0: 0.8, or 0.4 of friction marked as an estimate",
        "",
        0.0,
        0.95,
    ),
    Parameter("torque_share", 1.0, "share of the joint torque limits the guard lets pass", "", 0.01, 1.0),
    Parameter(
        "enable_timeout", 0.0, "dead-man switch: seconds an enable lasts without refresh, 0: no switch", "s", 0.0, 10.0
    ),
    Parameter("time_scale", 1.0, "controller time per wall time of a simulated robot, at least", "", 0.001, 1000.0),
)
CONTROL = tuple(replace(p, read_only=True) for p in _CONTROL)  # the loop is built once
GUIDE_DAMPING = 2.0 / 28.0  # Nm s/rad per Nm of joint torque limit
GUIDE_AT_REST = 0.4  # of the share at rest, where presliding is identified: spans may be half of the joint's
GUIDE_SPEED = 1.0  # rad/s of a joint, above which its damping grows tenfold
NO_FRICTION = 1e-3  # Nm, Coulomb level of a joint whose friction is not ours to compensate
WALL = 1.0  # Nm/rad of virtual wall per Nm of joint torque limit


def friction_core(robot: RobotFile) -> _core.FrictionStage:
    """Friction of a robot file as its observers evaluate it, coupled motors included; over a static law without
    hysteretic friction the spacing laws of the source [Madsen2020, ch6 eq. 17-18].

    Nothing to compensate where the file knows none and the robot compensates its friction itself. Raises
    CapabilityError where it does not, ConfigError for values that do not fit together.
    """
    friction, n = _friction(robot), robot.n_joints
    if robot.hysteresis is not None:
        memory = hysteresis_from_robot(robot, friction)
    else:
        memory = _core.Friction.egms(
            friction.core, maxwell_slip(n), friction.coulomb_level(), np.zeros(n), np.zeros((n, 1))
        )
    return _core.FrictionStage(friction.core, memory, **presliding_motors(robot))


def _friction(robot: RobotFile) -> FrictionModel:
    if robot.friction is None and robot.drives.torque_command.friction_compensated:
        return FrictionModel("viscous_coulomb", {"fc": NO_FRICTION, "fv": 0.0}, robot.n_joints)
    return FrictionModel.from_robot(robot)


def commanded_inertia(robot: RobotFile) -> np.ndarray:
    """Reflected rotor inertia (n,) [kg m2] that a torque command moves; zero where it acts on the link side."""
    if robot.drives.torque_side == "link":
        return np.zeros(robot.n_joints)
    return robot.array("drives.rotor_inertia")


def coulomb_level(robot: RobotFile) -> np.ndarray:
    """Coulomb level F(0) of each joint (n,) [Nm]."""
    law, block = _friction(robot).coulomb_level(), robot.hysteresis
    if block is None or block.model != "egms":
        return law
    level = np.broadcast_to(robot.array("hysteresis.parameters.fc0"), robot.n_joints)
    return np.where(level > 0, level, law)  # 0: this joint has no hysteretic friction


def friction_feedforward(robot: RobotFile, parameters: Mapping[str, Any] | None = None) -> _core.FrictionFeedforward:
    """Friction feedforward that learns [Madsen2020, ch6 eq. 23-29]. Raises CapabilityError, ConfigError."""
    p = resolve(CONTROL, parameters, "control")
    return _core.FrictionFeedforward(
        robot.chain(),
        friction_core(robot),
        adaptation_time=p["adaptation_time"],
        rotor_inertia=commanded_inertia(robot),
        contact_margin=np.maximum(0.08 * robot.array("limits.torque"), coulomb_level(robot)),
        law=getattr(_core.LearningLaw, p["law"]),
        memory=p["memory"],
        rate=robot.rate,
        window=odd(0.1 * robot.rate),
        payload=robot.payload.mass,
    )


def odd(samples: float) -> int:
    """The nearest odd number of samples, at least 5."""
    return max(5, 2 * int(samples // 2) + 1)


def tracking(robot: RobotFile, parameters: Mapping[str, Any] | None = None) -> _core.ComputedTorque:
    """Computed torque [Madsen2020, ch6 eq. 29-30] with Kp = w^2, Kd = 2 w.

    Behind a robot's own joint-torque loop the rotor is still there, as light as that loop makes it: a wrist whose links
    weigh nothing would otherwise have no stiffness. Its inertia is used where the file has one.
    """
    p = resolve(CONTROL, parameters, "control")
    one, w = np.ones(robot.n_joints), p["bandwidth"]
    return _core.ComputedTorque(
        robot.chain(),
        kp=w * w * one,
        kd=2 * w * one,
        ki=p["integral_gain"] * one,
        rotor_inertia=robot.array_or("drives.rotor_inertia", 0.0),
        includes_gravity=not robot.drives.torque_command.gravity_compensated,
    )


def guiding(robot: RobotFile, parameters: Mapping[str, Any] | None = None) -> _core.HandGuiding:
    """Hand guiding [Liu2020, eq. 31] with limits of the robot file."""
    p = resolve(CONTROL, parameters, "control")
    torque = robot.array("limits.torque")
    return _core.HandGuiding(
        robot.chain(),
        damping=p["guide_damping"] * GUIDE_DAMPING * torque,
        speed_limit=np.minimum(GUIDE_SPEED, 0.8 * robot.array("limits.velocity")),  # the guard cuts at 0.9
        torque_limit=torque,
        position_lower=robot.array("limits.position_lower"),
        position_upper=robot.array("limits.position_upper"),
        wall_stiffness=WALL * torque,
        # too much compensation would move the arm by itself
        friction_share=p["guide_share"] or (0.8 if identified(robot.friction) else 0.4),
        rest_share=GUIDE_AT_REST if p["memory"] and p["law"] != "rls" and identified(robot.hysteresis) else 0.0,
        includes_gravity=not robot.drives.torque_command.gravity_compensated,
    )


def transmission(robot: RobotFile) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """a1 [Nm/rad], a2 [Nm/rad3] and damping [Nm s/rad] of tau_J = a1 phi + a2 phi^3 + D phid, each (n,).

    Raises CapabilityError where the robot file has no stiffness.
    """
    if robot.stiffness is None:
        raise CapabilityError(f"{robot.name}: stiffness is null in {robot.file}; identify it first")
    a = elastic_coefficients(robot)
    a2 = a[:, 1] if a.shape[1] > 1 else np.zeros(len(a))
    return a[:, 0].copy(), a2.copy(), transmission_damping(robot)


def _beyond(robot: RobotFile, p: Mapping[str, Any]) -> dict[str, Any]:
    """What tracking does beyond computed torque, as arguments of the loop; refused where the robot cannot."""
    more: dict[str, Any] = {}
    if robot.drives.torque_side == "link" and (p["feedback"], p["feedforward"]) != ("none", "rigid"):
        raise CapabilityError(
            f"{robot.name}: takes torque behind the transmission (drives.torque_side: link) and controls it itself; "
            "feedback must be none and feedforward rigid"
        )
    if p["feedback"] != "none":
        more |= _feedback(robot, p)
    if p["feedforward"] == "flexible":
        a1, a2, _ = transmission(robot)
        inertia = robot.array("drives.rotor_inertia")
        more["flexible"] = _core.FlexibleFeedforward(robot.chain(), a1=a1, a2=a2, rotor_inertia=inertia)
    return more


def _feedback(robot: RobotFile, p: Mapping[str, Any]) -> dict[str, Any]:
    """Joint-torque feedback [Madsen2020 appB] from deflection or sensor."""
    one, sensing = np.ones(robot.n_joints), robot.sensing
    more: dict[str, Any] = {"source": getattr(_core.JointTorqueSource, p["feedback"])}
    if p["feedback"] == "deflection":
        if not sensing.rotor_encoder:
            raise CapabilityError(
                f"{robot.name}: has no rotor encoder (sensing.rotor_encoder in {robot.file}): "
                "the deflection of its transmissions is not measured"
            )
        more["a1"], more["a2"], more["damping"] = transmission(robot)
        more["kinematic_error"] = _core.PeriodicTable(kinematic_error(robot))
    elif not sensing.joint_torque_sensor:
        raise CapabilityError(f"{robot.name}: has no joint torque sensor (sensing.joint_torque_sensor in {robot.file})")
    more["feedback"] = _core.JointTorqueFeedback(
        kp=p["feedback_gain"] * one,
        ki=p["feedback_integral"] * one,
        correction_limit=p["feedback_share"] * robot.array("limits.torque"),
    )
    return more


def torque_loop(
    robot: RobotFile, limits: _core.GuardLimits, parameters: Mapping[str, Any] | None = None
) -> _core.TorqueLoop:
    """All of it behind the guard with these limits. Raises CapabilityError, ConfigError."""
    p = resolve(CONTROL, parameters, "control")
    try:
        parts = tracking(robot, p), guiding(robot, p), friction_feedforward(robot, p)
        return _core.TorqueLoop(*parts, limits, time_scale=p["time_scale"], **_beyond(robot, p))
    except ValueError as error:
        raise ConfigError(robot.file, "torque loop", str(error)) from None
