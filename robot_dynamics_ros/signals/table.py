"""The table of signals: name, width, unit and meaning of each.

SI units, output (link) side, NaN = absent. Environment acts ON the robot in `external_joint_torque` and
`external_wrench`: tau = J' F holds for both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from robot_dynamics_ros.errors import DataError


class Signal(NamedTuple):
    """One signal: its name, how wide a record of it is, its unit and what it means."""

    name: str
    width: str  # "joints" (n), "contacts" or "totals" (n + 1), "wrench" (6), "load" (4) or "scalar" (1)
    unit: str
    meaning: str


SIGNALS: dict[str, Signal] = {
    s.name: s
    for s in (
        # measured
        Signal("q", "joints", "rad", "link position"),
        Signal("qd", "joints", "rad/s", "link velocity"),
        Signal("effort", "joints", "Nm", "measured drive torque; motor or link side as declared in the robot file"),
        Signal("theta", "joints", "rad", "rotor position, reflected"),
        Signal("omega", "joints", "rad/s", "rotor velocity, reflected"),
        Signal("motor_torque", "joints", "Nm", "rotor side drive torque, reflected"),
        Signal("current", "joints", "A", "motor current"),
        Signal("temperature", "joints", "degC", "temperature reported by the joint"),
        Signal(
            "measured_wrench", "wrench", "N, Nm", "wrench of a force sensor, environment on robot at the TCP, base axes"
        ),
        Signal("payload", "load", "kg, m", "what the arm carries beside the payload of the robot file, and its centre"),
        # the controller's own estimates, environment on robot
        Signal(
            "vendor_external_joint_torque",
            "joints",
            "Nm",
            "external joint torque estimated by the robot's own software",
        ),
        Signal("vendor_external_wrench", "wrench", "N, Nm", "external wrench estimated by the robot's own software"),
        # the controller's intention
        Signal("q_d", "joints", "rad", "desired position"),
        Signal("qd_d", "joints", "rad/s", "desired velocity"),
        Signal("qdd_d", "joints", "rad/s2", "desired acceleration"),
        Signal("tau_d", "joints", "Nm", "the controller's model torque of the desired motion"),
        # estimated; everything from here on is written by stages
        Signal("qdd", "joints", "rad/s2", "link acceleration, filtered"),
        Signal("drive_torque", "joints", "Nm", "effort in its declared meaning, or K_tau times current"),
        Signal("model_torque", "joints", "Nm", "rigid body and reflected rotor inertia, without friction"),
        Signal("temperature_estimate", "joints", "degC", "lubricant temperature"),
        Signal("temperature_variance", "joints", "degC2", "its variance"),
        Signal("friction_torque", "joints", "Nm", "friction of the drive, positive with positive velocity"),
        Signal("friction_std", "joints", "Nm", "its standard deviation"),
        Signal("external_joint_torque", "joints", "Nm", "torque of the environment on the joints"),
        Signal("external_joint_torque_std", "joints", "Nm", "its standard deviation"),
        Signal("external_wrench", "wrench", "N, Nm", "environment on robot at the TCP, base orientation"),
        Signal("external_wrench_std", "wrench", "N, Nm", "its standard deviation"),
        Signal("singular_value", "scalar", "-", "smallest singular value of the length-scaled Jacobian"),
        Signal("contact", "contacts", "0/1", "contact per joint, then at the TCP"),
        Signal("payload_or_bias", "scalar", "0/1", "a constant force follows gravity: wrong payload or sensor bias"),
        Signal("contact_load", "joints", "Nm", "torque that a contact and a held payload add to the load of the gears"),
        Signal("framed_wrench", "wrench", "N, Nm", "environment on robot, axes and origin of the frame of the header"),
        Signal("framed_wrench_std", "wrench", "N, Nm", "its standard deviation, from the rotated covariance"),
        Signal("stiffness", "joints", "Nm/rad", "transmission stiffness"),
        Signal("stiffness_std", "joints", "Nm/rad", "its standard deviation"),
        Signal("electrical_power", "totals", "W", "electric power into the motors, per joint, then total"),
        Signal("mechanical_power", "totals", "W", "shaft power of the motors, per joint, then total"),
        Signal("electrical_energy", "totals", "J", "electric energy since the start, regenerated energy credited"),
        Signal("electrical_energy_clamped", "totals", "J", "electric energy since the start, regenerated energy lost"),
        Signal("mechanical_energy", "totals", "J", "mechanical energy since the start"),
        Signal("efficiency", "totals", "-", "mechanical over electric energy since the start"),
        Signal("feedforward_torque", "joints", "Nm", "torque proposed to the guard"),
    )
}


ESTIMATED = tuple(SIGNALS)[tuple(SIGNALS).index("qdd") :]  # written by stages, cleared before each step


def width(name: str, n_joints: int) -> int:
    """Numbers in one record of a signal for a robot of `n_joints` joints."""
    widths = {"joints": n_joints, "contacts": n_joints + 1, "totals": n_joints + 1, "wrench": 6, "load": 4, "scalar": 1}
    return widths[SIGNALS[name].width]


WRENCH_AXES = ("Fx", "Fy", "Fz", "Mx", "My", "Mz")  # entries of a wrench, force and moment
WRENCH_UNITS = ("N", "N", "N", "Nm", "Nm", "Nm")
LOAD = ("m", "x", "y", "z")  # entries of a payload, the centre in the frame of the last link
TCP = "tcp"  # name of the entry after the joints in `contact`
TOTAL = "total"  # name of the entry after the joints in powers and energies


def entries(name: str, joint_names: Sequence[str]) -> tuple[str, ...]:
    """Names of the numbers of a signal: axes of a wrench, "" of a scalar, or the joints, then `tcp` or `total`."""
    joints = tuple(joint_names)
    kinds = {"contacts": (*joints, TCP), "totals": (*joints, TOTAL), "wrench": WRENCH_AXES, "load": LOAD}
    return (kinds | {"scalar": ("",)}).get(SIGNALS[name].width, joints)


def shown(names: Sequence[str], most: int = 20) -> str:
    """Names out of files and messages in one line: each of at most 60 characters, the first `most` of them."""
    cut = [name if len(name) <= 60 else name[:57] + "..." for name in names[:most]]
    return ", ".join(cut + [f"and {len(names) - most} more"] * (len(names) > most))


def joint_columns(present: Sequence[str], wanted: Sequence[str], aliases: Mapping[str, str] | None = None) -> list[int]:
    """Column in `present` of each wanted joint, by name or alias (alias -> name); extra joints are ignored.

    Raises DataError naming a joint that is missing or present twice.
    """
    alias = aliases or {}
    names = [name if name in wanted else alias.get(name, name) for name in present]
    for joint in wanted:
        count = names.count(joint)
        if count != 1:
            what = "missing" if count == 0 else f"present {count} times"
            recorded = shown([repr(name) for name in present])
            other = "; kinematics.joints of a robot file takes other names as aliases" if count == 0 else ""
            raise DataError(f"joint {joint!r} is {what}; the data names {recorded}{other}")
    return [names.index(joint) for joint in wanted]
