"""Limits of the torque guard, and the checks before torque mode: limits, version, payload, meaning of effort."""

import numpy as np

from robot_dynamics_ros._core import GuardLimits, same_payload
from robot_dynamics_ros.drivers.interface import DriverInfo, RobotStatus
from robot_dynamics_ros.effort.rest import contradiction_at_rest
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.robot_file import RobotFile

REQUIRED = ("torque", "velocity", "position_lower", "position_upper", "acceleration")
LOWEST_RATE = 10.0  # Hz, of the torque loop
RAMP = 0.1  # s from any torque to none; sets the default rate limit too


def guard_limits(
    robot: RobotFile,
    torque_share: float = 1.0,
    velocity_share: float = 0.9,
    enable_timeout: float = 0.0,
    rate: float | None = None,
) -> GuardLimits:
    """Limits of the guard from the robot file, with shares of its limits of torque and speed.

    enable_timeout [s]: of the dead-man switch, 0: none; rate [Hz]: of the torques, None: the robot's. Raises
    CapabilityError naming what the robot file lacks.
    """
    rate = rate or robot.rate
    missing = [f"limits.{name}" for name in REQUIRED if getattr(robot.limits, name) is None]
    if missing:
        raise CapabilityError(f"{robot.name}: torque mode needs {', '.join(missing)} in {robot.file}")
    if not 0 < torque_share <= 1 or not 0 < velocity_share <= 1:
        raise CapabilityError(f"torque_share {torque_share} and velocity_share {velocity_share} must be in (0, 1]")
    if not rate >= LOWEST_RATE:
        raise CapabilityError(f"{robot.name}: torque mode needs {LOWEST_RATE:g} states per second, not {rate:g}")
    torque = torque_share * robot.array("limits.torque")
    command = robot.drives.torque_command
    return GuardLimits(
        torque=torque,
        torque_rate=_torque_rate(robot, torque),
        velocity=velocity_share * robot.array("limits.velocity"),
        position_lower=robot.array("limits.position_lower"),
        position_upper=robot.array("limits.position_upper"),
        deceleration=robot.array("limits.acceleration"),
        includes_gravity=not command.gravity_compensated,
        link_side=robot.drives.torque_side == "link",
        cycle=1.0 / rate,
        ramp=RAMP,
        enable_timeout=enable_timeout,
    )


def _torque_rate(robot: RobotFile, torque: np.ndarray) -> np.ndarray:
    """Limit of the robot file [Nm/s]; without one, from one torque limit to the opposite one within RAMP."""
    if robot.limits.torque_rate is None:
        return 2.0 * torque / RAMP
    return robot.array("limits.torque_rate")


def refuse_torque(robot: RobotFile, info: DriverInfo, status: RobotStatus) -> None:
    """Raises CapabilityError with the reason where this robot must not be commanded torques now."""
    command = robot.drives.torque_command
    if not command.available:
        raise CapabilityError(f"{robot.name}: takes no torque commands (drives.torque_command in {robot.file})")
    if "torque" not in info.capabilities:
        needs = command.requires or "another controller version"
        raise CapabilityError(
            f"torque mode needs {needs}; this controller is {info.version or 'unknown'}, where commands are ignored"
        )
    if not status.safety_normal:
        raise CapabilityError(f"no torque: safety mode is {status.safety_text}")
    if not status.drives_hold:  # an effort of zero would be taken for a wrong robot file
        raise CapabilityError(f"no torque: robot mode is {status.mode_text}")
    _refuse_payload(robot, status)


def same_mass(robot: RobotFile, status: RobotStatus) -> bool:
    """Whether the controller's payload setting has the mass of the robot file's payload."""
    return same_payload(robot.payload.mass, status.payload)


def _refuse_payload(robot: RobotFile, status: RobotStatus) -> None:
    """The controller compensates gravity with its payload setting, which must agree with the robot file."""
    mass = robot.payload.mass
    if not np.isfinite(status.payload):
        raise CapabilityError("no torque: the payload is unset; state in the robot file what is mounted")
    if not same_mass(robot, status):
        raise CapabilityError(
            f"no torque: the payload is {status.payload:g} kg on the controller and {mass:g} kg in the robot file; "
            "set one of them"
        )
    com, reported = np.asarray(robot.payload.com, float), np.asarray(status.payload_com, float)
    if mass > 0 and len(reported) == 3 and not float(np.abs(com - reported).max()) <= 0.02:
        raise CapabilityError(
            f"no torque: the controller's payload centre {reported.tolist()} m is not {com.tolist()} m"
        )


def refuse_semantics(robot: RobotFile, effort: np.ndarray, gravity: np.ndarray, friction: np.ndarray) -> None:
    """Measured torque at rest (n,) against the model's gravity torque [Nm]: unit, sign and gravity must be as declared.

    friction: level of friction at rest (n,) [Nm]. Raises CapabilityError naming the joint.
    """
    why = contradiction_at_rest(robot, effort, gravity, friction)
    if why:
        raise CapabilityError(f"no torque: {why}")
