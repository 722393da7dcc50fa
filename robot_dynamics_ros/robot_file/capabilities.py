"""What a robot can do, derived from its file: asked by nodes before they start and printed as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.robot_file.gaps import identified
from robot_dynamics_ros.signals.table import shown

if TYPE_CHECKING:
    from robot_dynamics_ros.robot_file.schema import RobotFile


SPARSE = 0.75  # share of the controller's samples: of a simulated arm half of them left five times the force at rest


@dataclass(frozen=True)
class Capability:
    """Whether a robot can do something, and why or how in a few words."""

    ok: bool
    text: str

    def __str__(self) -> str:
        return self.text if self.ok else f"no: {self.text}"


def _sampling(robot: RobotFile) -> Capability:
    rate = robot.sensing.sample_rate
    return Capability(rate is not None, f"{rate:.0f} Hz" if rate else "sensing.sample_rate is null")


def least_rate(robot: RobotFile) -> float:
    """Rate [Hz] of samples that friction at rest needs, 0: any.

    Between two samples a velocity does not show how the rotor moved, which friction at rest follows.
    """
    return 0.0 if robot.drives.torque_side == "link" else SPARSE * (robot.sensing.sample_rate or 0.0)


def missing_samples(robot: RobotFile, rate: float) -> str:
    """What is wrong and what to do where samples of the controller are missing at `rate` [Hz]; "" where none are."""
    whole = robot.sensing.sample_rate
    if rate > least_rate(robot):
        return ""
    return (
        f"samples come at {rate:.0f} Hz, the controller has {whole:.0f} (sensing.sample_rate): record and publish "
        "every sample, or forces at rest may be wrong several times as much"
    )


def follows_velocity(robot: RobotFile) -> bool:
    """Whether identified friction at rest follows the integrated velocity."""
    law = robot.hysteresis
    return law is not None and identified(law) and any(law.parameters.get("rotor_time") or ())


def unseen_rotors(joint_names: Sequence[str], steps: np.ndarray | None) -> str:
    """What is wrong and what to do where velocities are missing (None) or come in steps (n,) [rad/s], 0: fine; "" where
    all are fine.
    """
    what, remedy = "no velocity is reported", "let the driver report velocities"
    if steps is not None:
        if not steps.any():
            return ""
        coarse = shown([name for name, step in zip(joint_names, steps, strict=True) if step], 1)
        what = f"velocities ({coarse}) come in steps of up to {1e3 * steps.max():.2g} mrad/s"
        remedy = "let the driver report steps below 3 mrad/s"
    return (
        f"{what}: where gears are elastic, rotors turn under a push unseen, so that weak contacts are missed, or free "
        f"motion shows contact where the robot file was identified from better velocities; {remedy}"
    )


def _torque(robot: RobotFile) -> Capability:
    if robot.drives.torque_side == "link":
        return Capability(robot.sensing.joint_torque_sensor, "link side, torque sensor")
    return Capability(robot.sensing.motor_torque, f"motor side, effort in {robot.drives.effort.unit}")


def _friction(robot: RobotFile) -> Capability:
    side = f"{robot.drives.torque_side} side"
    if robot.friction is None:
        return Capability(True, f"{side}, after identification (friction is null)")
    return Capability(True, f"{side}, {robot.friction.model}")


def _stiffness(robot: RobotFile) -> Capability:
    if not robot.sensing.rotor_encoder:
        return Capability(False, "sensing.rotor_encoder is false, q and theta are not both reported")
    return Capability(True, "theta - q and " + ("tau_J" if robot.sensing.joint_torque_sensor else "motor torque"))


def _temperature(robot: RobotFile) -> Capability:
    if robot.sensing.temperature:
        return Capability(True, f"measured ({robot.sensing.temperature_place or 'place unknown'})")
    if robot.heat_balance is not None:
        return Capability(True, f"estimated ({robot.heat_balance.model})")
    return Capability(False, "sensing.temperature is false and thermal is null")


def _contact_force(robot: RobotFile) -> Capability:
    missing = [f for f in ("kinematics", "links") if not _known(robot, f)]
    if robot.drives.effort.unit == "A" and not robot.has("drives.torque_constant"):
        missing.append("drives.torque_constant")
    if missing:
        return Capability(False, f"{', '.join(missing)} unknown")
    source = "joint torque" if robot.drives.torque_side == "link" else "motor torque"
    why = no_moments(robot)
    return Capability(True, f"from {source}" + (f", without moments ({why})" if why else ""))


def no_moments(robot: RobotFile) -> str:
    """Why moments at the TCP are not estimated; empty where they are."""
    if robot.n_joints < 6:
        return "there are fewer than six joints"
    return "kinematics.tool.expected_moment is 0" if robot.kinematics.tool.expected_moment == 0.0 else ""


def _known(robot: RobotFile, what: str) -> bool:
    try:
        _ = robot.kinematic_chain() if what == "kinematics" else robot.link_parameters
    except CapabilityError:
        return False
    return True


def _torque_mode(robot: RobotFile) -> Capability:
    command = robot.drives.torque_command
    needs = f" ({command.requires})" if command.requires else ""
    if not command.available:
        return Capability(False, "drives.torque_command.available is false" + needs)
    added = ["gravity"] * command.gravity_compensated + ["friction"] * command.friction_compensated
    rate = f"{command.rate:.0f} Hz" if command.rate else "rate unknown"
    return Capability(True, rate + (f", robot adds {' and '.join(added)}" if added else "") + needs)


CAPABILITIES = {
    "sampling": _sampling,
    "torque sensing": _torque,
    "contact force": _contact_force,
    "friction": _friction,
    "temperature": _temperature,
    "stiffness": _stiffness,
    "torque mode": _torque_mode,
}


def capabilities(robot: RobotFile) -> dict[str, Capability]:
    """Every capability of a robot by name, in the order of the table."""
    return {name: rule(robot) for name, rule in CAPABILITIES.items()}


def require_capability(robot: RobotFile, name: str) -> Capability:
    """The capability called `name`; CapabilityError with the reason where the robot lacks it."""
    found = CAPABILITIES[name](robot)
    if not found.ok:
        raise CapabilityError(f"{robot.name} cannot do {name}: {found.text} (in {robot.file})")
    return found


def capability_table(robots: list[RobotFile]) -> str:
    """Markdown table robot x capability."""
    rows = [["robot", *CAPABILITIES], ["---"] * (len(CAPABILITIES) + 1)]
    rows += [[robot.name, *(str(c) for c in capabilities(robot).values())] for robot in robots]
    return "\n".join("| " + " | ".join(row) + " |" for row in rows) + "\n"
