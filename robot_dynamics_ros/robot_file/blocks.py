"""Blocks of the robot file: one frozen model each; `source` names the source of the numbers of a block."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from robot_dynamics_ros.robot_file import numbers as n

NAME = r"^[A-Za-z][A-Za-z0-9_]*$"
Name = Annotated[str, StringConstraints(pattern=NAME, max_length=100)]
Text = Annotated[str, StringConstraints(max_length=4000)]


class Block(BaseModel):
    """Base of all blocks: immutable, unknown keys refused, no coercion of strings to numbers."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class SourcedBlock(Block):
    """A block with numbers: `source` is one key of `sources`, or a mapping from field to key."""

    source: n.Source = Field(description="key into sources, or a mapping field -> key covering every known field")

    def sources_with(self, fields: Iterable[str], key: str) -> dict[str, str]:
        """`source` by field, that of `fields` being `key`."""
        return self.source | dict.fromkeys(fields, key)


class Frame(Block):
    """A constant placement: rotation Rz(yaw) Ry(pitch) Rx(roll), then the translation, both in the parent frame."""

    xyz: n.Vector3 = Field(default=(0.0, 0.0, 0.0), description="translation")
    rpy: n.Rotation3 = Field(default=(0.0, 0.0, 0.0), description="roll, pitch, yaw")


class Tool(Frame):
    """Where the tool touches, and how."""

    expected_moment: n.Moment | None = Field(
        default=None, description="moments about the TCP (each axis) to expect; 0: none, as of a suction cup or a ball"
    )


class Joint(Block):
    """One revolute joint about the z axis of its own frame."""

    name: Name = Field(description="name in ROS messages and in the URDF")
    aliases: tuple[Text, ...] = Field(default=(), description="other names of this joint in bags and drivers")
    a: n.Length | None = Field(
        default=None, description="modified_dh: a_(i-1), distance of axes i-1 and i along x_(i-1)"
    )
    alpha: n.Angle | None = Field(
        default=None, description="modified_dh: alpha_(i-1), angle between axes i-1 and i about x_(i-1)"
    )
    d: n.Length | None = Field(default=None, description="modified_dh: d_i, offset along z_i")
    theta: n.Angle = Field(default=0.0, description="modified_dh: constant added to q_i")
    xyz: n.Vector3 | None = Field(default=None, description="placements: joint origin in the parent link frame")
    rpy: n.Rotation3 | None = Field(default=None, description="placements: joint orientation in the parent link frame")


class Kinematics(SourcedBlock):
    """Serial chain. modified_dh (Craig): T_(i-1,i) = Rx(alpha_(i-1)) Tx(a_(i-1)) Rz(theta_i + q_i) Tz(d_i)."""

    convention: Literal["modified_dh", "placements"]
    joints: tuple[Joint, ...] = Field(min_length=1, max_length=16, description="from base to tip")
    tool: Tool = Field(default=Tool(), description="TCP in the frame of the last link")
    gravity: tuple[n.Acceleration3, n.Acceleration3, n.Acceleration3] = Field(
        default=(0.0, 0.0, -9.80665), description="gravity in the base frame: how the robot is mounted"
    )
    base_frame: Text = Field(default="base", description="frame_id of the chain's base in ROS messages")
    tip_frame: Text = Field(
        default="tool0", description="frame_id of the TCP, the frame placed by tool: a new tool needs a new name"
    )
    urdf: Text | None = Field(default=None, description="path of a URDF whose meshes the viewer draws")


class LinkInertia(Block):
    """Mass, centre of mass and inertia about the centre of mass, in the axes of the link frame."""

    mass: n.Mass
    com: n.Vector3 = Field(description="centre of mass in the link frame")
    inertia: n.Inertia6 = Field(description="XX XY XZ YY YZ ZZ about the centre of mass")


class Links(SourcedBlock):
    """Inertial parameters of the moving links: exactly one of values or parameters; both null means unknown."""

    values: tuple[LinkInertia, ...] | None = Field(default=None, description="one entry per joint")
    parameters: tuple[tuple[n.LinkParameter, ...], ...] | None = Field(
        default=None, description="n x 10 about the link frame origin: XX XY XZ YY YZ ZZ mX mY mZ m"
    )


class Effort(Block):
    """What the `effort` field of this robot's joint states means."""

    unit: Literal["Nm", "A"]
    includes_gravity: bool = Field(description="false when the reported torque already excludes gravity")
    includes_rotor_inertia: bool = Field(
        default=True, description="false when the torque that accelerates the rotor is not in the reported effort"
    )
    residual_inertia: n.SignedInertias = Field(
        default=None,
        description="inertia beside the links that an effort without the rotors' torque still holds; below 0 where the "
        "controller takes off too much",
    )
    sign: Literal[1, -1] = Field(default=1, description="-1 when positive effort drives the joint negative")
    delay: n.Delay = Field(
        default=0.0, description="time by which effort comes later than the positions it belongs to, below 0: earlier"
    )
    delay_std: n.DelayStd | None = Field(default=None, description="standard deviation of delay")


class Velocity(Block):
    """The `velocity` field of this robot's joint states: qd(t) = gain v(t - delay) + bias for the true velocity v."""

    delay: n.Delay = Field(
        default=0.0, description="time by which velocity comes later than the positions, below 0: earlier"
    )
    delay_std: n.DelayStd | None = Field(default=None, description="standard deviation of delay")
    gain: n.VelocityGains = Field(default=None, description="reported over true velocity")
    gain_std: n.GainStds = Field(default=None, description="standard deviation of gain")
    bias: n.VelocityBiases = Field(default=None, description="reported velocity at rest")
    bias_std: n.VelocityBiases = Field(default=None, description="standard deviation of bias")
    window: n.DelayStd = Field(
        default=0.0, description="half of the time over which the slope of the positions is taken instead; 0: reported"
    )


class TorqueCommand(Block):
    """How the robot takes torque commands."""

    available: bool = Field(description="whether there is a torque interface at all")
    gravity_compensated: bool = Field(
        default=False, description="true: the robot adds gravity itself, commands exclude it"
    )
    friction_compensated: bool = Field(
        default=False, description="true: the robot also compensates joint friction itself"
    )
    rate: n.Rate | None = Field(default=None, description="rate at which commands must arrive")
    requires: Text | None = Field(default=None, description="controller version or option it needs")


class Drives(SourcedBlock):
    """Motors and transmissions, everything reflected to the output (link) side except where motor side is stated."""

    torque_side: Literal["motor", "link"] = Field(description="where torque is sensed: motor, or behind the gear")
    effort: Effort
    velocity: Velocity | None = Field(
        default=None, description="delay, gain and bias of the reported velocity; null: it agrees with the positions"
    )
    acceleration_cutoff: n.Cutoff | None = Field(
        default=None, description="low-pass of the live acceleration, the difference of velocities; null: 150"
    )
    torque_constant: n.TorqueConstants = Field(default=None, description="K_tau, output torque per ampere")
    torque_constant_std: n.TorqueConstants = Field(default=None, description="standard deviation of torque_constant")
    gear_ratio: n.GearRatios = Field(default=None, description="motor turns per joint turn, signed")
    rotor_inertia: n.RotorInertias = Field(default=None, description="rotor and gear inertia, reflected: r^2 J")
    motor_constant: n.MotorConstants = Field(default=None, description="k_m, motor side")
    back_emf_ratio: n.Ratios = Field(default=None, description="k_t / k_b")
    coupled_motors: bool = Field(default=False, description="a motor moves more than one joint (Comau wrists)")
    coupling: tuple[tuple[n.Coupling, ...], ...] | None = Field(
        default=None, description="n x n where motors are coupled: q = coupling * (motor angle / gear_ratio)"
    )
    torque_command: TorqueCommand = Field(default=TorqueCommand(available=False), description="torque interface")


class Limits(SourcedBlock):
    """Limits of the manufacturer; +-.inf in a position limit means the joint turns without end."""

    position_lower: n.Positions = Field(default=None, description="lower joint limit")
    position_upper: n.Positions = Field(default=None, description="upper joint limit")
    velocity: n.Velocities = Field(default=None, description="largest |qd|")
    acceleration: n.Accelerations = Field(default=None, description="largest |qdd|")
    torque: n.Torques = Field(default=None, description="largest output torque")
    torque_rate: n.TorqueRates = Field(default=None, description="largest change of commanded torque")
    tcp_speed: n.Speed | None = Field(default=None, description="largest TCP speed")
    payload: n.Mass | None = Field(default=None, description="largest payload")
    reach: n.Distance | None = Field(default=None, description="reach of the data sheet")
    robot_mass: n.Mass | None = Field(default=None, description="mass of the whole arm with base, of the data sheet")


class ModelBlock(SourcedBlock):
    """A named joint model and its parameters: per parameter one number, one per joint, or one list per joint."""

    model: Text = Field(description="name of the model, see the tables below")
    parameters: dict[str, n.ParameterValues] = Field(description="parameter -> values")
    reference_temperature: n.Celsius | None = Field(default=None, description="temperature at which the numbers hold")


class PreslidingMotor(Block):
    """Friction f of a motor that turns with two joints, in its angle: f on `joint`, sign f on `turns_with`; rotor."""

    joint: Name = Field(description="joint that is loaded with f")
    turns_with: Name = Field(description="the other joint, loaded with sign f")
    sign: Literal[1, -1] = Field(description="1: the motor's angle is the sum of both joints', -1: the difference")
    rotor_inertia: n.RotorInertia = Field(
        default=0.0,
        description="I of its rotor, reflected: sign I times the acceleration of the other joint loads each of both; "
        "drives.rotor_inertia holds what their own accelerations load",
    )
    parameters: dict[str, n.ParameterValue] = Field(description="those of model presliding, of one joint, all known")

    @property
    def values(self) -> dict[str, Any]:
        """Parameter -> number or list."""
        return {name: value[0] for name, value in self.parameters.items()}


class Hysteresis(ModelBlock):
    """Friction with memory of every joint, and of the motors of a coupled wrist."""

    motors: tuple[PreslidingMotor, ...] = Field(default=(), description="motors that turn with two joints")


class Sensing(SourcedBlock):
    """What the controller measures and reports."""

    sample_rate: n.Rate | None = Field(description="rate of controller samples")
    temperature: bool = Field(description="joint temperatures are reported")
    temperature_place: Literal["housing", "lubricant", "motor"] | None = Field(
        default=None, description="where they are taken; those of a motor do not correct the heat balance"
    )
    rotor_encoder: bool = Field(description="rotor-side position (theta) is reported next to q")
    joint_torque_sensor: bool = Field(description="torque behind the gear is measured")
    motor_torque: bool = Field(default=False, description="drive torque or current is reported on the motor side")
    current: bool = Field(default=False, description="motor currents are reported")
    velocity: bool = Field(default=True, description="joint velocity is reported (false: derived from position)")
    desired_state: bool = Field(
        default=False, description="q_d, qd_d, qdd_d and the controller's model torque are reported"
    )
    external_wrench: bool = Field(
        default=False, description="the robot publishes a force estimate or sensor of its own"
    )


class Residuals(SourcedBlock):
    """Standard deviation of the external joint torque that the live pipeline sees of a free robot (docs/force.md)."""

    moving: n.Torques = Field(default=None, description="while the joint moves")
    rest: n.Torques = Field(default=None, description="while the joint stands still or reverses")
    speed: n.Velocities = Field(
        default=None, description="largest speed of the recordings: the deviation grows beyond it; null: unknown"
    )
    slow: n.GainStds = Field(
        default=None, description="relative error of friction at small speeds, which the recordings may not show"
    )
    onset: n.Bandwidth = Field(
        default=150.0, description="bandwidth for changes beyond a standard deviation; 0: that of all changes"
    )
    significance: n.Deviations | None = Field(
        default=None,
        description="standard deviations that the torques of all joints together exceed in 0.1 % of the time",
    )


class Payload(Block):
    """Extra body at the flange (frame of the last link, before `tool`)."""

    mass: n.Mass = Field(default=0.0, description="mass")
    com: n.Vector3 = Field(default=(0.0, 0.0, 0.0), description="centre of mass in the last link frame")
    inertia: n.Inertia6 = Field(default=(0.0,) * 6, description="XX XY XZ YY YZ ZZ about the centre of mass")


class InputFile(Block):
    """A file that numbers were computed from."""

    name: Text
    sha256: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class ProvenanceEntry(Block):
    """Who wrote the file, when, from what."""

    date: Text = Field(description="UTC, ISO 8601")
    command: Text = Field(description="the command that wrote the file")
    inputs: tuple[InputFile, ...] = Field(default=(), description="input files with their hashes")
    changed: tuple[Text, ...] = Field(default=(), description="fields that this run wrote")
    verdict: str = Field(default="", description="good, fair or not usable, where the run judged the file")
