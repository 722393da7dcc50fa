"""Arguments of the C++ force stage: its parameters, and values of the robot file where a parameter has its default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.estimators.motion import effort_inertia
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.models.hysteresis import dry_joints, friction_level, hidden_level, viscosity
from robot_dynamics_ros.parameters import Parameter
from robot_dynamics_ros.robot_file import RobotFile

PAYLOAD = 0.5  # of the mass of the links, where limits.payload is unknown
KEPT = 0.06  # of the level at breakaway: deviation at rest that a law with a memory leaves at least (identify)
HIDDEN = 0.3  # uniform friction has 0.58, but more than 0.4 took pushes of 10 N for it
SPEEDS = 0.05, 1.0  # rad/s between which friction grows by viscosity
MOMENT = 1.5  # Nm, of moments about the TCP: contact acts through small areas
CONTACT = 5.25  # standard deviations at which contact begins, with residuals that the recordings did not exceed
AT_REST = 0.7  # of it while a robot stands: errors at rest are absorbed, 0.5 claims five times as much
NOISE = 0.01  # of the torque, as share of its limit, where nothing is known about it
# share by which friction differs on another day, its deviation: more of motors hides payloads
CHANGED = {"motor": _core.SHARE_STD, "link": 0.2}
# of joint torque sensors: gains that are off by 0 to 1 % leave 94 to 91 % of a contact's force within two deviations,
# 89 to 71 % without (three simulated Gen3)
SENSOR_GAIN = 0.01
# How well the torque of each joint is scaled, relative, one deviation: torque constants of a series scatter by one
# to three percent. Assumed where they have no deviation of their own (a known mass finds them): nothing but that
# distinguishes a heavy payload from a torque constant that is too small.
TORQUE_SCALE = 0.02
UNKNOWN_FRICTION = 0.1  # of the limit of the torque: deviation of friction of which nothing is known


# Numbers of the force stage that users leave alone, and why they are what they are. Nodes do not declare them; the
# laboratory and tests may give others to ForceStage.configure.
CONSTANTS = (
    # how large a contact is, and its moment, is unknown (bench/results/force_choices.md)
    Parameter("expected_force", 80.0, "standard deviation of each force axis before measuring", "N", 1e-3, 1e6),
    Parameter("small_contact", 0.25, "share of both expected values of a small contact; 1: none", "", 0.001, 1.0),
    # a payload turns with gravity, a bias does not
    Parameter("payload_pieces", 3, "pieces of 0.6 s before a lasting force is called payload or bias", "", 2, 11),
    # errors of friction last for tenths of a second (bench/results/force_choices.md); 0: never
    Parameter("recent_error", 0.25, "time over which errors of a free robot scale the deviations", "s", 0.0, 2.0),
    # a lubricant warms within minutes; its viscosity differs by a third over 15 to 20 K
    Parameter("friction_drift", 300.0, "time over which friction may change; 0: never", "s", 0.0, 1e6),
)


def torque_scale(robot: RobotFile) -> np.ndarray:
    """Torque (n,) [Nm] that uncertainties are shares of: the limits, or 100 Nm for a joint whose limit is unknown."""
    return robot.array_or("limits.torque", 100.0)


def drift_deviation(robot: RobotFile) -> np.ndarray:
    """Standard deviation (n,) [Nm s/rad] of viscous friction at another temperature: a share of what grows with v."""
    if robot.friction is None:
        return np.zeros(robot.n_joints)
    slow, fast = (FrictionModel.from_robot(robot).torque(np.full(robot.n_joints, v)) for v in SPEEDS)
    growth = np.abs(fast - slow)
    if robot.presliding is not None:
        law = {name: robot.array_or(f"hysteresis.parameters.{name}", 0.0) for name in ("fv1", "fv2", "fv0")}
        slow, fast = (v * viscosity(law, robot.array("hysteresis.parameters.v0"), v) for v in SPEEDS)
        growth = np.maximum(growth, fast - slow)  # in the static law, what falls with speed hides what grows
    return _core.VISCOUS_STD * growth / (SPEEDS[1] - SPEEDS[0])


def expected_moment(robot: RobotFile, given: float = 0.0) -> float:
    """Standard deviation [Nm] of each moment axis before measuring: what is given, else the tool's, else MOMENT; 0 for
    chains of fewer than six joints.
    """
    tool = robot.kinematics.tool.expected_moment
    return (given or (MOMENT if tool is None else tool)) if robot.n_joints >= 6 else 0.0


def largest_payload(robot: RobotFile) -> float:
    """Mass [kg] of the largest payload: limits.payload, else PAYLOAD of the links'."""
    known = robot.limits.payload
    return PAYLOAD * float(robot.link_parameters[:, 9].sum()) if known is None else known


def refuse_units(load: np.ndarray, robot: RobotFile) -> None:
    """Raise DataError for a named payload (4,), kg and m, that is not finite or that no arm carries."""
    held = robot.payload.mass + float(robot.link_parameters[-1, 9])
    if why := _core.refused_payload(load, largest_payload(robot), held):
        raise DataError(f"payload: {why}")


def _noise(robot: RobotFile) -> np.ndarray:
    """What residuals leave to the force stage (n,) [Nm]: all of them where it takes off no friction, else that carries
    them.
    """
    return robot.array("residuals.moving") * (0.1 if robot.friction is not None else 1.0)


def _rest(robot: RobotFile, usual: float) -> dict[str, np.ndarray]:
    """Error of friction at rest that is absorbed: deviation d (n,) [Nm] and time T min(1, (KEPT level / d)^2) (n,) [s].

    d is at least residuals.rest, and HIDDEN of the level of elements that give way within what a position shows: their
    friction turns round unseen. A dry joint may hold any torque within its level at breakaway: level / sqrt(3).
    Beyond KEPT of its level no memory explains friction at rest.
    """
    if robot.residuals is None:
        return {"rest_std": np.zeros(robot.n_joints), "rest_time": np.zeros(robot.n_joints)}
    level = friction_level(robot) if robot.drives.torque_side == "motor" else np.zeros(robot.n_joints)
    unseen = np.where(dry_joints(robot), level / np.sqrt(3.0), HIDDEN * hidden_level(robot))
    deviation = np.fmax(robot.array("residuals.rest"), unseen)
    kept = np.where(level > 0.0, KEPT * level / robot.array("residuals.rest"), 1.0)
    return {"rest_std": deviation, "rest_time": usual * np.minimum(kept, 1.0) ** 2}


def effort_error(robot: RobotFile) -> np.ndarray:
    """Deviation (n,) of the torque per unit of effort, as share of it: of joint torque sensors SENSOR_GAIN, of an
    effort in ampere that of the torque constant; 0 for other efforts in Nm, or where it is unknown.
    """
    if robot.drives.effort.unit != "A":
        return np.full(robot.n_joints, SENSOR_GAIN if robot.drives.torque_side == "link" else 0.0)
    return robot.array_or("drives.torque_constant_std", 0.0) / robot.array("drives.torque_constant")


def mass_error(robot: RobotFile) -> float:
    """Deviation of a payload's mass by the scale of the joints' torques, as share of it: their root mean square."""
    error = effort_error(robot)
    return float(np.sqrt(np.mean(np.where(error > 0.0, error, TORQUE_SCALE) ** 2)))


def core_arguments(robot: RobotFile, p: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments of _core.ExternalForce from resolved parameters and the robot file."""
    n, scale, side = robot.n_joints, torque_scale(robot), robot.drives.torque_side
    known = robot.residuals is not None
    onset = 0.0 if robot.residuals is None else robot.residuals.onset
    noise = p["torque_std"] * scale if p["torque_std"] > 0 else _noise(robot) if known else NOISE * scale
    share = p["torque_std"] or NOISE  # the least contact is in proportion to the noise
    contact_torque = p["contact_torque"] or (0.0 if known else 2.0 * share)
    usual = 3.5 if robot.residuals is None else max(CONTACT, robot.residuals.significance or 0.0)
    same = "expected_force small_contact contact_on_time contact_off_time payload_pieces"
    return (
        {name: p[name] for name in same.split()}
        | _rest(robot, p["rest_bias"])
        | {
            "expected_moment": expected_moment(robot, p["expected_moment"]),
            "rotor_inertia": effort_inertia(robot),
            "coupled_inertia": robot.coupled_inertia.ravel(),
            "ignore_friction": not p["subtract_friction"] or (side == "link" and robot.friction is None),
            "gain": np.full(n, p["bandwidth"]),
            "onset_gain": p["onset_bandwidth"] or onset,
            "wrench_cutoff": p["wrench_cutoff"] or np.inf,
            "torque_std": noise,
            "model_error": p["model_error"] or (0.0 if known else 0.03),
            "friction_std": p["unknown_friction"] * scale,
            "contact_on_ratio": p["contact_on_ratio"] or usual,
            "contact_rest_share": AT_REST,
            "contact_floor": contact_torque * scale,
            "contact_force": p["contact_force"] or (1.0 if known else 5.0 * share / NOISE),
            "torque_bound": 3.0 * scale,
            "tare_payload": largest_payload(robot),
            "friction_drift": p["friction_drift"] if known else 0.0,
            "drift_share": CHANGED[side],
            "drift_std": drift_deviation(robot),
            "recent_error": p["recent_error"] if known else 0.0,
            "friction_level": friction_level(robot) if known and side == "motor" else np.zeros(n),
            "effort_error": effort_error(robot),
            "dry": dry_joints(robot) * float(side == "motor"),
        }
    )
