"""Plant files: the numbers of a simulated robot, validated like robot files (config/plants/<robot>.yaml)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.robot_file import config_directories
from robot_dynamics_ros.robot_file.blocks import Block, Links, Name, Text
from robot_dynamics_ros.robot_file.problems import validated
from robot_dynamics_ros.robot_file.yaml_text import read_yaml

Number = Annotated[float, Field(strict=True, allow_inf_nan=False, ge=-1e12, le=1e12)]
Positive = Annotated[Number, Field(gt=0)]
NonNegative = Annotated[Number, Field(ge=0)]
Share = Annotated[Number, Field(ge=0, lt=1)]
Unit = Annotated[Number, Field(gt=0, le=1)]
Unit0 = Annotated[Number, Field(ge=0, le=1)]
Source = str | dict[str, str]
Eight = Annotated[tuple[NonNegative, ...], Field(min_length=8, max_length=8)]


class Drive(Block):
    """Rotor, motor and current loop; the true values, which differ from the model of the controller."""

    source: Source
    rotor_inertia: Positive = Field(description="B [kg m2], reflected; that of the robot file where it has one")
    torque_constant: Positive = Field(description="K_tau [Nm/A], output side; that of the robot file where it has one")
    torque_limit: Positive = Field(description="[Nm]")
    current_lag: NonNegative = Field(description="time constant of the current loop [s]")
    ripple_amplitude: tuple[NonNegative, NonNegative, NonNegative] = Field(
        description="torque ripple [Nm] at 1, 2 and 6 cycles per electrical turn"
    )
    pole_pairs: Positive = Field(description="electrical turns per motor turn")


class Friction(Block):
    """Presliding of one of six families with Stribeck, load and temperature."""

    source: Source
    coulomb: NonNegative = Field(description="Fc [Nm]")
    stribeck: NonNegative = Field(description="Fs >= Fc [Nm]")
    stribeck_velocity: Positive = Field(description="vs [rad/s]")
    load: NonNegative = Field(description="Fl: strength gains Fl tau_J^2/(|tau_J| + load_torque)")
    load_torque: Positive = Field(description="[Nm]")
    attraction: Positive = Field(description="C [Nm/s]: lag of slipping elements s/C")
    presliding: Positive = Field(description="largest element span [rad]")
    viscous: NonNegative = Field(description="eta [Nm s/rad] at the reference temperature")
    shear_velocity: Positive = Field(description="speed that halves the viscosity [rad/s]")
    viscosity_rate: NonNegative = Field(description="[1/K]: eta exp(-rate (T - T0))")
    boundary_rate: NonNegative = Field(description="[1/K]: Stribeck excess exp(rate (T - T0))")
    reference_temperature: Number = Field(description="T0 [deg C]")
    span: Eight = Field(description="element spans as fractions of presliding")
    share: Eight = Field(description="element strengths, sum 1")
    family: Literal[0, 1, 2, 3, 4, 5] = Field(
        default=0, description="0 Maxwell slip, 1 LuGre, 2 Dahl, 3 Maxwell slip, drift, 4 Bouc-Wen, 5 elasto-plastic"
    )
    load_saturation: NonNegative = Field(default=0.0, description="most that load can add [Nm], 0 = no limit")
    load_on_stiffness: Unit0 = Field(default=1.0, description="1: load stiffens presliding, 0: it widens the spans")
    additive_stribeck: Unit0 = Field(
        default=0.0, description="share of Fs - Fc that is a term of speed, not of the presliding elements"
    )
    viscous_exponent: Annotated[Number, Field(ge=0.2, le=1)] = Field(
        default=1.0, description="alpha of eta abs(omega)^alpha, beside the shear velocity"
    )
    micro_damping: NonNegative = Field(
        default=0.0, description="LuGre sigma_1 [Nm s/rad], fades with exp(-(omega/vs)^2)"
    )
    dahl_exponent: Annotated[Number, Field(ge=0.5, le=3)] = Field(default=1.0, description="Dahl delta")
    creep_velocity: NonNegative = Field(default=0.0, description="drift: elements yield at v_c F/limit [rad/s]")
    elastic_share: Annotated[Number, Field(ge=0, le=0.95)] = Field(default=0.5, description="elasto-plastic z_ba/z_ss")


class Transmission(Block):
    """Spring, backlash and kinematic error between rotor and link."""

    source: Source
    stiffness: Positive = Field(description="a1 [Nm/rad]")
    hardening: NonNegative = Field(description="a2 [Nm/rad3]")
    damping: NonNegative = Field(description="D [Nm s/rad]")
    backlash: NonNegative = Field(description="mean half width [rad]")
    backlash_variation: Share = Field(description="relative amplitude over one output turn")
    soft_windup: Unit = Field(description="share of the stiffness left inside the backlash")
    gear_ratio: Number = Field(description="motor turns per output turn, signed; the robot file's where it has one")
    bearing_friction: NonNegative = Field(description="Coulomb friction of bearing and seals on the link [Nm]")
    bearing_presliding: Positive = Field(description="its elastic range [rad]")
    error_amplitude: Eight = Field(
        description="kinematic error [rad] at 1..6 cycles per output turn, then 1 and 2 cycles per motor turn"
    )


class Thermal(Block):
    """Lubricant and housing."""

    source: Source
    lubricant_capacity: Positive = Field(description="C_l [J/K]")
    housing_capacity: Positive = Field(description="C_h [J/K]")
    inner_conductance: NonNegative = Field(description="G_lh [W/K]")
    outer_conductance: NonNegative = Field(description="G_ha [W/K]")
    copper_loss: NonNegative = Field(description="[W/Nm2]")
    idle_power: NonNegative = Field(description="electronics and brake, on the housing [W]")


class Sensing(Block):
    """Imperfections of what is measured."""

    source: Source
    link_quantum: NonNegative = Field(description="[rad], 0 = none")
    rotor_quantum: NonNegative = Field(description="[rad], reflected")
    link_offset: Number = Field(description="calibration error of the link encoder [rad]")
    velocity_bandwidth: Positive = Field(description="[rad/s], filter of the differenced rotor encoder")
    encoder_skew: Number = Field(description="[s], the link encoder is read this much earlier")
    current_noise: NonNegative = Field(description="[A], standard deviation")
    current_offset: Number = Field(description="[A], largest; each joint draws its own")
    current_ripple: NonNegative = Field(description="[A], measured, 6 cycles per electrical turn")
    temperature_quantum: NonNegative = Field(description="[K]")
    temperature_noise: NonNegative = Field(description="[K], standard deviation")
    torque_noise: NonNegative = Field(description="joint torque sensor [Nm], standard deviation")
    torque_gain: Positive = Field(description="joint torque sensor, scale error")
    torque_offset: Number = Field(description="joint torque sensor [Nm]")
    torque_delay: Annotated[Number, Field(ge=0, le=0.01)] = Field(
        default=0.0, description="[s], current and torque sensor are of so much earlier than the encoders"
    )


class Control(Block):
    """Gains of the controller inside the robot."""

    source: Source
    stiffness_gain: NonNegative = Field(description="kp [Nm/rad], rotor encoder")
    damping_gain: NonNegative = Field(description="kd [Nm s/rad]")
    integral_gain: NonNegative = Field(description="ki [Nm/(rad s)], link encoder")
    integral_limit: NonNegative = Field(description="[Nm]")
    torque_feedback: NonNegative = Field(description="gain on the joint torque sensor in torque mode")


class JointType(Block):
    """One kind of joint."""

    drive: Drive
    friction: Friction
    transmission: Transmission
    thermal: Thermal
    sensing: Sensing
    control: Control


class Deviation(Block):
    """How far an individual is from its file, drawn once from the seed `individual`; all 0 = exact."""

    individual: Annotated[int, Field(strict=True, ge=0, lt=2**63)] = Field(default=0, description="seed of the draw")
    mass: Annotated[Number, Field(ge=0, le=0.3)] = Field(default=0.0, description="relative standard deviation")
    com: Annotated[Number, Field(ge=0, le=0.05)] = Field(default=0.0, description="standard deviation [m]")
    inertia: Annotated[Number, Field(ge=0, le=0.5)] = Field(default=0.0, description="relative standard deviation")
    torque_constant: Annotated[Number, Field(ge=0, le=0.3)] = Field(default=0.0, description="relative")
    joint: Annotated[Number, Field(ge=0, le=0.5)] = Field(
        default=0.0, description="relative, friction and transmission"
    )


class Integration(Block):
    """Inner loop."""

    inner_rate: Annotated[Number, Field(ge=100, le=1e5)] = Field(default=8000.0, description="steps per second")
    refresh: Annotated[int, Field(strict=True, ge=1, le=64)] = Field(
        default=4, description="steps per rigid-body update"
    )
    implicitness: Annotated[Number, Field(ge=0.5, le=1)] = Field(
        default=0.5, description="0.5 midpoint .. 1 implicit Euler"
    )


class Outputs(Block):
    """Signals beyond q, qd, current and temperature that the controller of this robot reports."""

    rotor_encoder: bool = Field(default=False, description="theta, omega and motor_torque are in the log")


class PlantFile(Block):
    """One simulated robot."""

    schema_version: Literal[1] = Field(alias="schema")
    robot: Name = Field(description="the robot file it goes with")
    include: Name | None = Field(None, description="another file of config/plants whose `types` and `sources` are used")
    sources: dict[str, Text] = {}
    types: dict[Name, JointType] = {}
    links: Links | None = Field(None, description="assumed links of a robot whose file does not know them")
    joints: tuple[Name, ...] = Field(min_length=1, max_length=16, description="type of each joint")
    deviation: Deviation = Deviation()
    integration: Integration = Integration()
    outputs: Outputs = Outputs()


def find_plant(name: str) -> Path:
    """File of a shipped plant. Raises ConfigError listing the known ones."""
    known = {p.stem: p for d in reversed(config_directories()) for p in (d / "plants").glob("*.yaml")}
    if name in known:
        return known[name]
    names = sorted(k for k in known if not k.endswith("_joints"))
    raise ConfigError(name, "", f"no simulated robot of this name; known: {', '.join(names)}")


def load_plant_file(name_or_path: str | Path) -> PlantFile:
    """Plant file of a robot name or a path. Raises ConfigError naming file, field, value and bound."""
    path = Path(name_or_path)
    path = path if path.suffix else find_plant(str(name_or_path))
    raw: Any = read_yaml(path)
    if isinstance(raw, dict) and isinstance(raw.get("include"), str):
        common: Any = read_yaml(path.with_name(f"{raw['include']}.yaml"))
        for key in ("types", "sources"):
            raw[key] = {**(common.get(key) or {}), **(raw.get(key) or {})}
    plant = validated(PlantFile, raw, str(path))
    for i, joint in enumerate(plant.joints):
        if joint not in plant.types:
            raise ConfigError(str(path), f"joints[{i}]", f"no such type {joint!r}; known: {', '.join(plant.types)}")
    _check_sources(plant, str(path))
    return plant


def _check_sources(plant: PlantFile, file: str) -> None:
    for name, joint in plant.types.items():
        for block in JointType.model_fields:
            source = getattr(joint, block).source
            keys = source.values() if isinstance(source, dict) else [source]
            unknown = [key for key in keys if key not in plant.sources]
            if unknown:
                raise ConfigError(file, f"types.{name}.{block}.source", f"{unknown[0]!r} is not in sources")
