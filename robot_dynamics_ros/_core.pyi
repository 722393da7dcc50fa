"""C++ core of robot_dynamics_ros: equations, observers, controllers and the simulated plant."""

from __future__ import annotations
import collections.abc
import enum
import numpy
import numpy.typing
import typing
from typing import Any

Real: typing.TypeAlias = typing.SupportsFloat | typing.SupportsIndex
Integer: typing.TypeAlias = typing.SupportsInt | typing.SupportsIndex
Reals: typing.TypeAlias = typing.Annotated[numpy.typing.ArrayLike, numpy.float64]
Integers: typing.TypeAlias = typing.Annotated[numpy.typing.ArrayLike, numpy.int64]
RealArray: typing.TypeAlias = numpy.typing.NDArray[numpy.float64]
Codes: typing.TypeAlias = numpy.typing.NDArray[numpy.int32]

class Status(enum.IntEnum):
    """Result of one step of a stage."""

    degraded = 4
    dropped = 2
    fault = 7
    ok = 0
    reset = 3
    saturated = 5
    unavailable = 6
    warming_up = 1

class Chain:
    """Serial chain of revolute joints turning about the z axis of their link frames."""
    def __init__(
        self, placements: Reals, inertia: Reals, tool: Reals, gravity: Reals, frames: Reals | None = None
    ) -> None: ...
    def with_payload(
        self,
        mass: Real,
        com: typing.Annotated[collections.abc.Sequence[Real], "FixedSize(3)"],
        inertia: typing.Annotated[collections.abc.Sequence[Real], "FixedSize(6)"],
    ) -> Chain:
        """
        The chain with a payload on its last link: mass [kg], com (3,) [m] in the frame of the last link, inertia (6,)
        XX XY XZ YY YZ ZZ [kg m2] about the centre of mass.
        """
    @property
    def framed(self) -> bool:
        """True when parameters are reported in frames other than the link frames."""
    @property
    def frames(self) -> RealArray:
        """(n, 3, 3) reporting frame <- link frame"""
    @property
    def gravity(self) -> typing.Annotated[list[float], "FixedSize(3)"]:
        """Gravity (3,) in the base frame [m/s2]."""
    @property
    def inertia(self) -> RealArray:
        """(n, 10) in the link frames, which turn about z"""
    @property
    def inertial_parameters(self) -> RealArray:
        """(10 n,) in the reporting frames"""
    @property
    def n_joints(self) -> int:
        """Number of joints n."""
    @property
    def placements(self) -> RealArray:
        """(n, 4, 4) link i-1 -> joint i at zero"""
    @property
    def tool(self) -> RealArray:
        """(4, 4) last link -> TCP"""

class FrictionMap:
    """Static friction of n joints by one law (see docs/friction.md)."""
    def __init__(self, law: str, parameters: Reals, reference: Reals, range: Reals | None = None) -> None: ...
    def coulomb(self, arg0: Integer, arg1: Real, arg2: Real) -> float:
        """Coulomb level without load [Nm] of one joint at temperature T [deg C]; s: direction of motion."""
    def torque(
        self, v: Reals, load: Reals | None = None, temperature: Reals | None = None, out: Reals | None = None
    ) -> RealArray:
        """Friction torque [Nm] of v (N, n) [rad/s] under load (N, n) [Nm] at temperature (N, n) [deg C]."""
    def viscous(self, arg0: Integer, arg1: Real, arg2: Real) -> float:
        """Friction beyond the Coulomb level [Nm] of one joint at velocity v [rad/s] and temperature T [deg C]."""

class RigidBody:
    """Rigid-body functions of a Chain for one sample (n,) or a batch (N, n)."""
    def __init__(self, chain: Chain) -> None: ...
    def coriolis(self, q: Reals, qd: Reals, out: Reals | None = None) -> RealArray:
        """C(q, qd) qd [Nm], (n,) or (N, n)."""
    def fk(self, q: Reals, out: Reals | None = None) -> RealArray:
        """Poses (n + 1, 4, 4) or (N, n + 1, 4, 4) of the links, then the TCP, in the base frame [m]."""
    def gravity(self, q: Reals, out: Reals | None = None, gravity: Reals | None = None) -> RealArray:
        """Gravity torque g(q) [Nm], (n,) or (N, n)."""
    def jacobian(self, q: Reals, out: Reals | None = None) -> RealArray:
        """Geometric Jacobian of the TCP (6, n) or (N, 6, n): linear velocity, then angular velocity."""
    def mass_matrix(self, q: Reals, out: Reals | None = None) -> RealArray:
        """M(q) [kg m2], (n, n) or (N, n, n)."""
    def regressor(
        self, q: Reals, qd: Reals, qdd: Reals, out: Reals | None = None, gravity: Reals | None = None
    ) -> RealArray:
        """Y (n, 10 n) or (N, n, 10 n) with Y phi = rnea; phi per link XX XY XZ YY YZ ZZ mX mY mZ m [Liu2020 8]."""
    def regressor_gradient(
        self,
        q: Reals,
        qd: Reals,
        qdd: Reals,
        weights: Any,
        columns: collections.abc.Sequence[Integer] | None = None,
        gravity: Reals | None = None,
    ) -> tuple:
        """Gradients (N, n) of sum(weights * W) with respect to q, qd, qdd; weights (n N, p) column-major, as W."""
    def rnea(
        self, q: Reals, qd: Reals, qdd: Reals, out: Reals | None = None, gravity: Reals | None = None
    ) -> RealArray:
        """Joint torque M(q) qdd + C(q, qd) qd + g(q) [Nm], (n,) or (N, n); gravity (3,) [m/s2] replaces the chain's."""
    def stacked_regressor(
        self,
        q: Reals,
        qd: Reals,
        qdd: Reals,
        columns: collections.abc.Sequence[Integer] | None = None,
        out: Any | None = None,
        gravity: Reals | None = None,
        keep_zeros: bool = False,
    ) -> RealArray:
        """
        W (n N, p), column-major, the rows of joint 0 first, of the chosen columns of the regressor. keep_zeros: `out` holds
        zeros already where W is zero by structure.
        """
    def torque_gradient(self, q: Reals, qd: Reals, qdd: Reals, weights: Reals, gravity: Reals | None = None) -> tuple:
        """Gradients (N, n) of sum(weights * rnea) with respect to q, qd, qdd; weights (N, n)."""
    @property
    def chain(self) -> Chain:
        """The chain."""

class FusedQR:
    """
    Least squares of tau = Y phi + extra psi without storing Y: one triangle per joint.

    FusedQR(chain, columns, extra_columns, gravity) picks `columns` (below 10 n) of the regressor
    and `extra_columns` user columns per joint, one number or one for each (friction, rotor
    inertia, offsets). Parameters: the columns in the order given, then joint 0's extra columns,
    joint 1's, ...
    """
    def __init__(
        self,
        chain: Chain,
        columns: collections.abc.Sequence[Integer] | None = None,
        extra_columns: Integer | collections.abc.Sequence[Integer] = 0,
        gravity: Reals | None = None,
    ) -> None: ...
    def absorb(self, joint: Integer, rows: Reals, weights: Reals | None = None) -> None:
        """Take in ready rows (N, width of the joint's triangle) of one joint, target last, times weights (N,)."""
    def fold(self, weights: Reals | None = None) -> RealArray:
        """One triangle (P + 1, P + 1) of all joints, joint j's rows times weights[j]."""
    def parameters_of(self, joint: Integer) -> list[int]:
        """Parameter of each column of the joint's triangle, without the target."""
    def triangle(self, joint: Integer) -> RealArray:
        """Upper triangle [R z; 0 rho] of one joint; the target is last."""
    def update(
        self,
        q: Reals,
        qd: Reals,
        qdd: Reals,
        tau: Reals | None = None,
        extra: Reals | None = None,
        weights: Reals | None = None,
        joints: collections.abc.Sequence[Integer] | None = None,
    ) -> None:
        """
        Take in samples: q, qd, qdd, tau (N, n), extra (N, n, extra_columns) or (N, all extra columns), weights
        (N, n) of the rows. joints: only these take in their rows; others may get theirs from `absorb`.
        """

class SavitzkyGolay:
    """Equal-delay smoothing and differentiation of several signals [Madsen2020 ch6 6.1]."""
    def __init__(self, signals: Integer, window: Integer = 101, order: Integer = 2) -> None: ...
    def first(self, dt: Real) -> RealArray:
        """First derivative (signals,) per second at the same instant; dt [s] is the sampling time."""
    def push(self, x: RealArray) -> bool:
        """Take in one sample x (signals,); True when a full window is there."""
    def reset(self) -> None:
        """Forget all samples; parameters stay."""
    def second(self, dt: Real) -> RealArray:
        """Second derivative (signals,) per second squared at the same instant; dt [s]."""
    def value(self) -> RealArray:
        """Smoothed signals (signals,), `delay` samples ago."""
    @property
    def delay(self) -> int:
        """Delay of all results in samples."""
    @property
    def ready(self) -> bool:
        """True when a full window is there."""

class PlantRandom:
    """Random numbers of the plant: the same on every platform and in every release."""
    def __init__(self, seed: Integer) -> None: ...
    def normal(self, arg0: Integer) -> RealArray:
        """n numbers of the standard normal distribution."""
    def uniform(self, arg0: Integer) -> RealArray:
        """n numbers, uniform in [0, 1)."""

class Plant:
    """Simulated robot: flexible joints, friction, heat, sensors and inner controller."""
    @staticmethod
    def output_widths() -> dict[str, int]:
        """Width of each signal, 0 = joints."""
    @staticmethod
    def parameter_widths() -> dict[str, int]:
        """Numbers per joint of each parameter."""
    def __init__(
        self,
        chain: Chain,
        nominal: Chain,
        parameters: collections.abc.Mapping[str, Reals],
        inner_rate: Real = 8000.0,
        refresh: Integer = 4,
        implicitness: Real = 0.5,
        seed: Integer = 0,
    ) -> None: ...
    def clear_wall(self) -> None:
        """Remove the wall."""
    def cycle_position(self, q_d: Reals, qd_d: Reals, qdd_d: Reals, dt: Real) -> Status:
        """One position-controlled cycle of dt [s]: q_d, qd_d, qdd_d (n,) [rad, rad/s, rad/s2]. Returns a Status."""
    def cycle_torque(self, torque: Reals, viscous_scale: Reals, coulomb_scale: Reals, dt: Real) -> Status:
        """
        One torque-controlled cycle of dt [s]: torque (n,) [Nm], scales of the friction compensation (n,). Returns a Status.
        """
    def energy(self) -> float:
        """Kinetic and potential energy [J], without what the friction elements store."""
    def get(self, name: str) -> RealArray:
        """Present value of the signal of this name (output_widths)."""
    def reset(self, q: Reals) -> None:
        """At rest at link positions q (n,) [rad]."""
    def run(
        self,
        q_d: Reals,
        qd_d: Reals,
        qdd_d: Reals,
        dt: Real,
        out: collections.abc.Mapping[str, numpy.ndarray],
        wrench: Reals | None = None,
        ambient: Reals | None = None,
        keep: Integer = 1,
    ) -> Codes:
        """
        A batch of position-controlled cycles of dt [s]: q_d, qd_d, qdd_d (N, n) [rad, rad/s, rad/s2];
        `out` names the signals to write, every `keep`-th cycle; wrench (N, 6) [N, Nm], ambient (N,) [deg C]. Status codes (N,).
        """
    def set_ambient(self, celsius: Real) -> None:
        """Ambient temperature [deg C]."""
    def set_nominal_payload(
        self,
        mass: Real,
        com: typing.Annotated[collections.abc.Sequence[Real], "FixedSize(3)"],
        inertia: typing.Annotated[collections.abc.Sequence[Real], "FixedSize(6)"],
    ) -> None:
        """Payload the inner controller assumes: mass [kg], com (3,) [m], inertia (6,) [kg m2]."""
    def set_payload(
        self,
        mass: Real,
        com: typing.Annotated[collections.abc.Sequence[Real], "FixedSize(3)"],
        inertia: typing.Annotated[collections.abc.Sequence[Real], "FixedSize(6)"],
    ) -> None:
        """Payload the arm carries: mass [kg], com (3,) [m], inertia (6,) [kg m2]."""
    def set_temperatures(self, lubricant: Reals, housing: Reals) -> None:
        """Temperatures of lubricant and housing (n,) [deg C]."""
    def set_wall(
        self,
        point: typing.Annotated[collections.abc.Sequence[Real], "FixedSize(3)"],
        normal: typing.Annotated[collections.abc.Sequence[Real], "FixedSize(3)"],
        stiffness: Real = 20000.0,
        damping: Real = 100.0,
        friction: Real = 0.0,
    ) -> None:
        """
        Wall through point (3,) [m] with outward normal (3,): stiffness [N/m], damping [N s/m], friction coefficient.
        """
    def set_wrench(self, wrench: Reals) -> None:
        """External wrench at the TCP (6,) in the base frame [N, Nm]."""
    @property
    def n_joints(self) -> int:
        """Number of joints n."""

class ComputedTorque:
    """u = f^ + M (qdd_d + v) + B (qdd_d + v) + C qd_d + g, v = -Kd e' - Kp e - Ki int e."""
    def __init__(self, chain: Chain, **kwargs) -> None:
        """Gains (n,) by name: kp, kd, ki, rotor_inertia; integral_limit, includes_gravity."""
    def step(
        self,
        dt: Real,
        q: RealArray,
        qd: RealArray,
        q_d: RealArray,
        qd_d: RealArray,
        qdd_d: RealArray,
        friction: RealArray,
        u: RealArray,
        tau_d: RealArray,
    ) -> Status:
        """
        Torque command of one cycle: states and references (n,) [rad, rad/s, rad/s2], friction (n,) [Nm], dt [s]; writes
        u and tau_d (n,) [Nm]. Returns a Status.
        """

class FlexibleFeedforward:
    """Motor torque and rotor position of a flexible-joint robot on a smooth trajectory."""
    def __init__(self, chain: Chain, **kwargs) -> None:
        """Arrays (n,) by name: a1 [Nm/rad], a2 [Nm/rad3], rotor_inertia [kg m2]."""
    def step(
        self, q: RealArray, qd: RealArray, qdd: RealArray, jerk: RealArray, snap: RealArray
    ) -> tuple[RealArray, RealArray]:
        """(motor torque [Nm], rotor position [rad]), (n,) each, of q, qd, qdd, jerk and snap (n,)."""

class JointTorqueSource(enum.IntEnum):
    """Where the torque behind the transmission comes from."""

    deflection = 1
    none = 0
    sensor = 2

class JointTorqueFeedback:
    """K_P (tau_Jd - tau_J) + K_I int (tau_Jd - tau_J) dt, bounded [Madsen2020 appB]."""
    def __init__(self, **kwargs) -> None:
        """Arrays (n,) by name: kp, ki [1/s], correction_limit [Nm]."""
    def step(self, dt: Real, tau_Jd: RealArray, tau_J: RealArray, correction: RealArray) -> Status:
        """One cycle of dt [s]: wanted and present joint torque (n,) [Nm]; writes correction (n,) [Nm]."""

class HandGuiding:
    """tau = C qd + g + s tau_f - Kd qd with speed damping and virtual walls [Liu2020 31]."""
    def __init__(self, chain: Chain, **kwargs) -> None:
        """Members of HandGuidingParameters of the core by name, arrays (n,)."""
    def step(self, q: RealArray, qd: RealArray, friction: RealArray, tau: RealArray) -> Status:
        """Torque (n,) [Nm] into tau of q, qd (n,) [rad, rad/s] and friction (n,) [Nm]."""

class GuardState(enum.IntEnum):
    """State of the torque guard; safe and fault are latched."""

    degraded = 2
    fault = 4
    idle = 0
    ok = 1
    safe = 3

class GuardReason(enum.IntEnum):
    """Why the guard last acted."""

    command_age = 5
    command_not_finite = 1
    enable_lost = 14
    external = 15
    magnitude = 3
    none = 0
    position = 11
    program_ended = 16
    publisher = 12
    rate = 4
    robot_stopped = 13
    semantics = 2
    state_clock = 9
    state_frozen = 8
    state_gap = 7
    state_inconsistent = 18
    state_not_finite = 6
    tracking = 17
    velocity = 10

class GuardLimits:
    """Limits of the torque guard, SI units, per joint."""
    def __init__(self, **kwargs) -> None:
        """Members of GuardLimits of the core by name: the arrays (n,), and what differs."""
    @property
    def cycle(self) -> float:
        """Cycle time of the robot [s]."""
    @property
    def torque(self) -> RealArray:
        """Largest torque (n,) [Nm]."""
    @property
    def torque_rate(self) -> RealArray:
        """Largest change of torque (n,) [Nm/s]."""

class Guard:
    """The only way a torque leaves for a robot: finite, semantics, magnitude, rate, age."""
    def __init__(self, limits: GuardLimits) -> None: ...
    def command(self, stamp_ns: Integer, torque: RealArray, includes_gravity: bool, link_side: bool) -> None:
        """Torque command (n,) [Nm] with its stamp [ns] and semantics."""
    def count(self, reason: GuardReason) -> int:
        """How often the guard acted for this reason."""
    def disable(self) -> None:
        """Ramp the torque out, then idle."""
    def enable(self, now_ns: Integer) -> bool:
        """Start passing torques; refused while latched."""
    def observe(self, stamp_ns: Integer, q: RealArray, qd: RealArray) -> None:
        """State of the robot: stamp [ns], q, qd (n,) [rad, rad/s]."""
    def pass_time(self, host_seconds: Real) -> None:
        """Seconds of the host's clock since the last call."""
    def rearm(self) -> bool:
        """Lead a latched safe or fault state back to idle; False when nothing is latched or the ramp still runs."""
    def refresh(self, now_ns: Integer) -> None:
        """The enable device is still held at now_ns."""
    def step(self, now_ns: Integer, out: RealArray) -> GuardState:
        """Writes the torque that may leave at now_ns into out (n,) [Nm]; returns the state."""
    def trip(self, reason: GuardReason, hard: bool = False) -> None:
        """Report a fault found elsewhere; hard: without a ramp."""
    @property
    def command_age(self) -> float:
        """Age of the last command [s]; negative: none."""
    @property
    def reason(self) -> GuardReason:
        """Reason of the last action."""
    @property
    def state(self) -> GuardState:
        """State of the guard."""

class PeriodicTable:
    """Periodic curves of n joints over one turn, samples (n, K), interpolated linearly."""
    def __init__(self, values: Reals) -> None: ...
    def value(self, theta: Reals, out: Reals | None = None) -> RealArray:
        """Values (N, n) of the joints' curves at theta (N, n) [rad]."""

class Gms:
    """Discrete Maxwell-slip hysteresis H in [-1, 1] of n joints."""
    def __init__(self, D: Reals, k: Reals, backlash: Reals, max_gap: Real = 0.1) -> None: ...
    def deflections(self, theta: Reals) -> RealArray:
        """
        Deflections over backlash (N, elements) of one joint along theta (N,) [rad]: the regressor of the identification.
        """
    def reset(self) -> None:
        """Elements return to rest."""
    def run(self, stamp_ns: Integers, theta: Reals, out: Reals | None = None) -> tuple[RealArray, Codes]:
        """(H (N, n), status codes (N,)) of stamps (N,) [ns] and theta (N, n) [rad]."""
    @property
    def state(self) -> RealArray:
        """Deflections of the elements (n, elements) [rad]."""
    @property
    def valid(self) -> list[bool]:
        """True for each joint (n,) whose state is known since the last reset or gap."""

class Friction:
    """Friction of n joints: sliding level, Maxwell-slip elements, viscous terms."""
    @staticmethod
    def egms(map: FrictionMap, gms: Gms, fc0: Reals, fc1: Reals, kinematic_error: Reals) -> Friction:
        """E-GMS: level fc0 + fc1 tau^2 (n,) times H, and all but the Coulomb level of the map."""
    def __init__(
        self,
        map: FrictionMap,
        span: Reals,
        level: Reals,
        load: Reals,
        parameters: Reals,
        max_gap: Real = 0.1,
        widening: Reals | None = None,
    ) -> None: ...
    def reset(self) -> None:
        """Elements return to rest."""
    def run(
        self,
        stamp_ns: Integers,
        theta: Reals,
        v: Reals,
        load: Reals | None = None,
        temperature: Reals | None = None,
        out: Reals | None = None,
        rotor: Reals | None = None,
    ) -> tuple[RealArray, Codes]:
        """The same over (N, n): (friction, status codes (N,))."""
    def step(
        self, stamp_ns: Integer, theta: Reals, v: Reals, load: Reals | None, temperature: Reals | None, friction: Reals
    ) -> Status:
        """
        One sample: theta, v, load, temperature (n,) [rad, rad/s, Nm, deg C]; writes friction (n,) [Nm]. Returns a Status.
        """
    @property
    def valid(self) -> list[bool]:
        """True for each joint (n,) whose state is known since the last reset or gap."""

class TemperatureObserver:
    """Lubricant temperature of n joints: heat balance, corrected by friction."""
    def __init__(self, map: FrictionMap, heat: Reals, gain: Reals, **kwargs) -> None:
        """Options by name, as in TemperatureOptions of the core."""
    def reset(self) -> None:
        """Return to the initial state."""
    def rows(self, N: Integer, *args) -> RowStep:
        """RowStep over N records: arrays as of step(), (N, ...) each."""
    def set_initial(self, joint: Integer, lubricant: Real, housing: Real, variance: Real) -> None:
        """State after a reset of one joint: lubricant and housing [deg C], variance of the lubricant [K2]."""
    def step(self, stamp_ns: Integer, *args) -> Status:
        """
        step(stamp_ns, v, load, friction, housing, contact, temperature, variance). One sample: v, load, friction, housing (n,) [rad/s, Nm, Nm, deg C], contact (n + 1,), or None; writes temperature [deg C]
        and variance [K2] (n,). Returns a Status.
        """
    def take_over(self, other: TemperatureObserver) -> None:
        """Start with the temperatures that another one of the same robot has learned."""
    @property
    def armed(self) -> list[bool]:
        """True for each joint (n,) whose friction may correct the temperature."""
    @property
    def housing(self) -> list[float]:
        """Housing temperature (n,) [deg C]."""

class MeasuredTemperature:
    """Measured temperature as that of the lubricant, without a thermal model."""
    def __init__(self, joints: Integer) -> None: ...
    def reset(self) -> None:
        """Nothing: it has no state."""
    def rows(self, N: Integer, *args) -> RowStep:
        """RowStep over N records: arrays as of step(), (N, ...) each."""
    def step(self, stamp_ns: Integer, *args) -> Status:
        """
        step(stamp_ns, v, load, friction, housing, contact, temperature, variance). One sample as of TemperatureObserver, of which only the housing counts; Status ok, or unavailable where it is outside -20..120 deg C, or 0.
        """

class Wear(enum.IntEnum):
    """Wear status of a transmission."""

    error = 3
    ok = 1
    unknown = 0
    warn = 2

class StiffnessEstimator:
    """Transmission stiffness of n joints while they work."""
    def __init__(self, joints: Reals, kinematic_error: Reals, **kwargs) -> None:
        """
        joints (n, 3): rotor inertia, damping, skew; kinematic_error (n, points) [rad]. Options by name: those of
        StiffnessOptions of the core, and time_constant [s].
        """
    def covariance(self, arg0: Integer) -> RealArray:
        """Covariance of a joint's coefficients (2, 2)."""
    def reset(self) -> None:
        """Forget all samples; parameters stay."""
    def rows(self, N: Integer, *args) -> RowStep:
        """RowStep over N records: arrays as of step(), (N, ...) each."""
    def set_baseline(self, a: Reals, temperature: Real, warn: Real, error: Real, hold: Real) -> None:
        """
        Baseline of the wear status: coefficients (n, 2) at temperature [deg C]; relative drops warn and error, hold [s].
        """
    def step(self, stamp_ns: Integer, *args) -> Status:
        """
        step(stamp_ns, theta, q, omega, motor_torque, friction, link_torque, sensor_torque, temperature, stiffness, stiffness_std). One sample: theta, q, omega (n,) [rad, rad, rad/s], torques (n,) [Nm], temperature (n,) [deg C]; absent ones are None;
        writes stiffness and its standard deviation (n,) [Nm/rad]. Returns a Status.
        """
    def take_over(self, other: StiffnessEstimator) -> None:
        """Start with the stiffness and wear that another one of the same robot has learned."""
    @property
    def coefficients(self) -> RealArray:
        """Coefficients (n, 2) of phi and phi^3 [Nm/rad, Nm/rad3]."""
    @property
    def confidence(self) -> list[float]:
        """Confidence of the stiffness (n,): 1 certain, 0 unknown."""
    @property
    def foreign(self) -> list[bool]:
        """Whether theta - q is no deflection of a spring (n,)."""
    @property
    def wear(self) -> list[Wear]:
        """Wear status of each joint (n,)."""
    @property
    def wear_drop(self) -> list[float]:
        """Relative drop of stiffness against the baseline (n,)."""

class RotorFrictionObserver:
    """Friction from both encoders [Madsen2020 appB]."""
    def __init__(self, B: Reals, L: Reals, max_gap: Real = 0.1) -> None: ...
    def reset(self) -> None:
        """Start again at the next sample."""
    def rows(self, N: Integer, *args) -> RowStep:
        """RowStep over N records: arrays as of step(), (N, ...) each."""
    def step(self, stamp_ns: Integer, *args) -> Status:
        """
        step(stamp_ns, omega, tau_m, tau_J, friction, friction_std). One sample: rotor velocity (n,) [rad/s], motor and joint torque (n,) [Nm], or None; writes friction and its standard deviation (n,) [Nm]. Returns a Status.
        """

class RowStep:
    """A stage bound to the arrays of a log, for run_in_turn()."""
    @typing.overload
    def __init__(self, codes: typing.Annotated[numpy.typing.ArrayLike, numpy.int32]) -> None:
        """A stage that has been run already: its status codes (N,)."""
    @typing.overload
    def __init__(self, step: collections.abc.Callable, N: Integer) -> None:
        """A stage written in Python: step(k) advances it by record k of N."""

class FrictionStage:
    """Friction with its standard deviation: a static law, or one with memory."""
    def __init__(
        self,
        map: FrictionMap,
        memory: Any | None = None,
        motors: Any | None = None,
        turns: Reals | None = None,
        **kwargs,
    ) -> None: ...
    def reset(self) -> None:
        """Elements return to rest."""
    def rows(self, arg0: Integer, *args) -> RowStep:
        """
        RowStep over N records: rows(N, q, theta, v, load, contact_load, temperature, temperature_variance, rotor, friction, friction_std), (N, n) each, inputs may be None.
        """
    def step(self, stamp_ns: Integer, *args) -> Status:
        """
        step(stamp_ns, position, v, load, contact_load, temperature, temperature_variance, rotor, friction, friction_std). One sample: position, v, load, contact load, temperature and its variance, rotor (n,) [rad, rad/s, Nm, Nm, deg C, K2, rad] or None;
        writes friction and its standard deviation (n,) [Nm]. Returns a Status.
        """

class MotionState:
    """Velocity, acceleration, model torque and drive torque [Simoni2017 V, 16, 20]."""
    def __init__(self, chain: Chain, **kwargs) -> None: ...
    def reset(self) -> None:
        """Forget all samples; parameters stay."""
    def rows(self, N: Integer, *args) -> RowStep:
        """RowStep over N records: arrays as of step(), (N, ...) each."""
    def step(self, stamp_ns: Integer, *args) -> Status:
        """
        step(stamp_ns, q, qd, effort, payload, qd_out, qdd, model_torque, drive_torque). One sample: q, qd, effort (n,), payload (4,): m, x, y, z, or None; writes velocity, acceleration [rad/s, rad/s2], model torque and drive torque [Nm]
        (n,). Returns a Status.
        """
    @property
    def frozen(self) -> bool:
        """True when positions repeat without change."""
    @property
    def missed(self) -> int:
        """Number of missed samples."""
    @property
    def period(self) -> float:
        """Typical sampling time [s]."""

class SignalAlignment:
    """Signals of one instant from signals with delays [s], velocity gain and bias [rad/s]."""
    def __init__(self, joints: Integer, **kwargs) -> None: ...
    def reset(self) -> None:
        """Forget all samples; parameters stay."""
    def rows(self, N: Integer, *args) -> RowStep:
        """RowStep over N records: arrays as of step(), (N, ...) each."""
    def step(self, stamp_ns: Integer, *args) -> Status:
        """
        step(stamp_ns, q, theta, qd, effort, current, late). One sample, in place: arrays (n,) or None; writes how late its stamp is (1,) [ns].
        """
    @property
    def latency(self) -> float:
        """Age of the estimates [s]."""

class TareResult(enum.IntEnum):
    """Why a tare was refused, or that it was accepted."""

    accepted = 0
    in_contact = 2
    too_early = 1
    unexplained = 4
    unsteady = 3

class PayloadVerdict(enum.IntEnum):
    """What explains a lasting external torque."""

    bias = 2
    none = 0
    payload = 1

class PayloadAnswer(enum.IntEnum):
    """What the user says of a payload."""

    judge = 0
    keep = 1
    refuse = 2

class ExternalForce:
    """External joint torque, wrench at the TCP and contact (see docs/force.md)."""
    def __init__(self, chain: Chain, **kwargs) -> None: ...
    def answer_payload(self, answer: PayloadAnswer) -> bool:
        """Keep or refuse a payload until `judge`, which starts anew; False: there is none to keep."""
    def reset(self) -> None:
        """Start again at the next sample; the bias stays."""
    def rows(self, N: Integer, *args) -> RowStep:
        """RowStep over N records: arrays as of step(), (N, ...) each."""
    def step(self, stamp_ns: Integer, *args) -> Status:
        """
        step(stamp_ns, q, qd, model_torque, drive_torque, qdd, friction, friction_std, payload, torque, torque_std, wrench, wrench_std, singular_value, contact, payload_or_bias, contact_load, framed_wrench, framed_wrench_std). One sample: seven inputs (n,) and payload (4,) or None, ten outputs written in place. Returns a Status.
        """
    def take_over(self, other: ExternalForce) -> None:
        """Start with what another one of the same robot has learned: tare, payload, changes of friction."""
    def tare(self) -> TareResult:
        """Take the present external torque as bias; says why it was refused."""
    @property
    def bias(self) -> RealArray:
        """Bias of the external torque (n,) [Nm]."""
    @bias.setter
    def bias(self, arg1: Reals) -> None: ...
    @property
    def friction_drift(self) -> tuple[RealArray, RealArray]:
        """Beyond the robot file: viscosity [Nm s/rad], shares of friction and drive torque (n, 3), covariance."""
    @property
    def isolated(self) -> list[bool]:
        """True for each joint (n,) whose sensor is not trusted."""
    @property
    def moved_zero(self) -> RealArray:
        """What motion has shown that the zero of each torque is off (n,) [Nm]: a tare takes it off."""
    @property
    def payload_error(self) -> RealArray:
        """Excess payload (4,): m [kg], mX, mY, mZ [kg m]."""
    @property
    def payload_held(self) -> bool:
        """Whether the excess payload is taken off the external torque."""
    @property
    def payload_mass_std(self) -> float:
        """Standard deviation of its mass [kg]."""
    @property
    def payload_verdict(self) -> PayloadVerdict:
        """What explains a lasting external torque."""
    @property
    def period(self) -> float:
        """Typical sampling time [s]."""

class PowerMeter:
    """Electric and mechanical power and energy, per joint and total [Clochiatti2024, eq. 19-26]."""
    def __init__(self, n: Integer, **kwargs) -> None: ...
    def reset(self) -> None:
        """Set the energies to zero."""
    def rows(self, N: Integer, *args) -> RowStep:
        """RowStep over N records: arrays as of step(), (N, ...) each."""
    def step(self, stamp_ns: Integer, *args) -> Status:
        """
        step(stamp_ns, torque, velocity, electrical_power, mechanical_power, electrical_energy, electrical_energy_clamped, mechanical_energy, efficiency). One sample: torque (n,) [Nm], velocity (n,) [rad/s]; writes powers [W], energies [J] and efficiency (n + 1,), the robot last.
        Returns a Status.
        """

class LearningLaw(enum.IntEnum):
    """How the friction feedforward learns."""

    fixed = 0
    rls = 2
    scales = 1

class FreezeReason(enum.IntFlag):
    """Why learning rests; bits."""

    asked = 16
    contact = 1
    payload = 4
    saturation = 2
    thermal = 8

class FrictionFeedforward:
    """Friction feedforward that learns [Madsen2020 ch6]."""
    def __init__(self, chain: Chain, model: FrictionStage, law: LearningLaw = LearningLaw.scales, **kwargs) -> None:
        """
        Options by name: adaptation_time [s], rotor_inertia, contact_margin (n,), memory, rate, window, payload [kg].
        """
    def learn(
        self, stamp_ns: Integer, q: RealArray, tau: RealArray, temperature: Reals | None = None, saturated: bool = False
    ) -> Status:
        """
        Learn from one measured sample: q [rad], tau [Nm] (n,), temperature (n,) [deg C] or None. Returns a Status.
        """
    def predict(
        self, stamp_ns: Integer, q_d: RealArray, qd_d: RealArray, tau_d: RealArray, temperature: Reals | None = None
    ) -> RealArray:
        """Friction torque (n,) [Nm] along the reference q_d, qd_d, tau_d (n,)."""
    def restore(self, coulomb: RealArray, viscous: RealArray) -> bool:
        """Set coulomb and viscous (n,) as learned in an earlier run; False when not finite."""
    @property
    def coulomb(self) -> RealArray:
        """Scale of the Coulomb part (n,); with the RLS law its level [Nm]."""
    @property
    def viscous(self) -> RealArray:
        """Scale of the viscous part (n,); with the RLS law its coefficient [Nm s/rad]."""

class TorqueMode(enum.IntEnum):
    """Mode of the torque loop."""

    external = 3
    guide = 2
    rest = 0
    track = 1

class EnableResult(enum.IntEnum):
    """Result of an enable request."""

    done = 0
    latched = 1
    no_program = 7
    no_state = 2
    not_held = 9
    not_smooth = 4
    pending = -1
    ramping = 5
    start_mismatch = 3
    stopped = 6
    withdrawn = 8

class TorqueRecord:
    """One cycle of the torque loop; record[name] is the same as the attribute."""
    def __getitem__(self, arg0: str) -> Any: ...
    @property
    def age(self) -> float:
        """Age of the command when it left [s]; negative: none."""
    @property
    def correction(self) -> RealArray:
        """Correction of the joint torque feedback (n,) [Nm]."""
    @property
    def coulomb(self) -> RealArray:
        """Learned scale of the Coulomb part (n,)."""
    @property
    def friction(self) -> RealArray:
        """Friction feedforward (n,) [Nm]."""
    @property
    def frozen(self) -> int:
        """Bits of FreezeReason."""
    @property
    def joint_torque(self) -> RealArray:
        """Torque behind the transmission (n,) [Nm]."""
    @property
    def mode(self) -> TorqueMode:
        """Mode of the loop."""
    @property
    def q(self) -> RealArray:
        """Position (n,) [rad]."""
    @property
    def q_d(self) -> RealArray:
        """Desired position (n,) [rad]."""
    @property
    def qd(self) -> RealArray:
        """Velocity (n,) [rad/s]."""
    @property
    def qd_d(self) -> RealArray:
        """Desired velocity (n,) [rad/s]."""
    @property
    def reason(self) -> GuardReason:
        """Reason of the guard's last action."""
    @property
    def run(self) -> bool:
        """True while torque mode must go on."""
    @property
    def stamp_ns(self) -> int:
        """Stamp of the state [ns]."""
    @property
    def state(self) -> GuardState:
        """State of the guard."""
    @property
    def status(self) -> Status:
        """Status of the controller."""
    @property
    def tau(self) -> RealArray:
        """Measured torque (n,) [Nm]."""
    @property
    def tau_d(self) -> RealArray:
        """Torque of the model along the reference (n,) [Nm]."""
    @property
    def torque(self) -> RealArray:
        """Torque that left, after the guard (n,) [Nm]."""
    @property
    def viscous(self) -> RealArray:
        """Learned viscous coefficient (n,) [Nm s/rad]."""
    @property
    def wanted(self) -> RealArray:
        """Torque of the controller, before the guard (n,) [Nm]."""

class TorqueTrajectory:
    """q, qd, qdd, maybe jerk and snap (N, n) at a rate."""
    def __init__(
        self,
        q: RealArray,
        qd: RealArray,
        qdd: RealArray,
        rate: Real = 500.0,
        periodic: bool = False,
        jerk: Reals | None = None,
        snap: Reals | None = None,
    ) -> None: ...
    def __len__(self) -> int: ...

class TorqueLoop:
    """State -> learning friction -> controller -> guard -> torque."""
    def __init__(
        self,
        tracking: ComputedTorque,
        guiding: HandGuiding,
        friction: FrictionFeedforward,
        limits: GuardLimits,
        *,
        time_scale: Real = 1.0,
        ring: Integer = 4096,
        source: JointTorqueSource = JointTorqueSource.none,
        a1: Reals | None = None,
        a2: Reals | None = None,
        damping: Reals | None = None,
        feedback: JointTorqueFeedback | None = None,
        kinematic_error: PeriodicTable | None = None,
        flexible: FlexibleFeedforward | None = None,
    ) -> None: ...
    def command(self, stamp_ns: Integer, torque: RealArray, includes_gravity: bool, link_side: bool) -> bool:
        """Torque (n,) [Nm] of an external controller, with its stamp [ns] and semantics."""
    def contact(self) -> bool:
        """Report a contact: learning is held."""
    def count(self, reason: GuardReason) -> int:
        """How often the guard acted for this reason."""
    def cycle(
        self,
        stamp_ns: Integer,
        steady_ns: Integer,
        q: RealArray,
        qd: RealArray,
        tau: Reals | None = None,
        temperature: Reals | None = None,
        *,
        payload: Real = ...,
        stopped: bool = False,
        gap: bool = False,
        backwards: bool = False,
        program: bool = True,
        theta: Reals | None = None,
        omega: Reals | None = None,
        joint_torque: Reals | None = None,
    ) -> TorqueRecord:
        """One state of the robot (n,) at stamp_ns, received at steady_ns; returns the record of the cycle."""
    def disable(self) -> None:
        """Ramp torque out, past all requests that wait."""
    def enable(
        self, mode: TorqueMode, trajectory: TorqueTrajectory | None = None, since: Integer | None = None
    ) -> bool:
        """
        Ask for a mode, with a trajectory to track; withdrawn when torque was ended after `ends` had the value `since`; False when the queue is full.
        """
    def freeze(self, on: bool) -> bool:
        """Freeze learning, or release it."""
    def idle(self, steady_ns: Integer) -> TorqueRecord:
        """A cycle without a new state at steady_ns; returns its record."""
    def lost(self) -> None:
        """The connection to the robot was lost."""
    def pop(self) -> TorqueRecord | None:
        """Oldest waiting record, None when there is none."""
    def rearm(self) -> bool:
        """Ask to clear a latched state."""
    def refresh(self) -> bool:
        """Renew the enable before its timeout."""
    def restore(self, coulomb: RealArray, viscous: RealArray) -> bool:
        """Set the learned friction: coulomb and viscous (n,)."""
    def run(self, stamp_ns: Integers, q: RealArray, qd: RealArray, tau: RealArray) -> RealArray:
        """Torques (N, n) [Nm] of recorded states (N, n), one cycle each."""
    def trip(self, reason: GuardReason) -> None:
        """Stop for this reason, past all requests that wait."""
    @property
    def cycles(self) -> int:
        """Number of cycles."""
    @property
    def enabled(self) -> EnableResult:
        """Result of the last enable request."""
    @property
    def ends(self) -> int:
        """How often torque was ended: disabled, tripped, robot stopped."""
    @property
    def finished(self) -> bool:
        """True when the trajectory has been completed."""
    @property
    def held(self) -> bool:
        """True while the dead-man switch is held; always without one."""
    @property
    def lost_records(self) -> int:
        """Records that found no room."""
    @property
    def n_joints(self) -> int:
        """Number of joints n."""
    @property
    def reason(self) -> GuardReason:
        """Reason of the guard's last action."""
    @property
    def running(self) -> bool:
        """True while torque mode must go on, the ramp to zero included."""
    @property
    def state(self) -> GuardState:
        """State of the guard."""

class LinkFlag(enum.IntFlag):
    """What is special about one state sent to a torque link; bits."""

    backwards = 4
    effort = 8
    gap = 2
    stopped = 1

class TorqueLink:
    """Torque loop that answers states arriving on a socket, in its own thread."""
    def __init__(
        self, loop: TorqueLoop, socket: Integer, *, follow_host_clock: bool = True, realtime_priority: Integer = 0
    ) -> None: ...
    def stop(self) -> None:
        """End the thread."""
    @property
    def malformed(self) -> int:
        """States that could not be read."""
    @property
    def realtime(self) -> bool:
        """Whether real-time scheduling was permitted."""
    @property
    def unsent(self) -> int:
        """Torques that could not be sent."""

class RtdeConnectionError(ConnectionError):
    """No RTDE connection to the robot."""

class StreamState(enum.IntEnum):
    """How far the robot's state stream can be trusted."""

    degraded = 1
    fault = 3
    ok = 0
    safe = 2

class SampleFlag(enum.IntFlag):
    """What is special about one received sample."""

    clock_backwards = 4
    first_after_connect = 1
    frozen = 2
    late = 8

class StreamMonitor:
    """The rules that judge a state stream, with the clock as argument."""
    def __init__(self, **kwargs) -> None:
        """Options by name: rate [Hz], degraded_gap, safe_gap [s], frozen_repeats."""
    def condition(self, now_ns: Integer) -> StreamState:
        """State of the stream at now_ns."""
    def judge(self, time: Real, measured: RealArray, moving: bool, safety_mode: Integer, now_ns: Integer) -> Any:
        """(flags, missed) of a sample of any robot, None: drop it; time [s] by its own clock."""
    def latched(self, now_ns: Integer) -> StreamState:
        """Worst state since rearm(), or at now_ns: safe and fault stay until then."""
    def rearm(self) -> None:
        """Clear a latched state."""
    def restart(self) -> None:
        """A new connection: forget the last sample."""
    def set_connected(self, connected: bool) -> None:
        """Set whether the robot is connected."""
    @property
    def counts(self) -> dict:
        """Counts of samples and faults."""

class ClockMap:
    """Controller time to host time by the least delayed package."""
    def __init__(self, follow: bool = True) -> None: ...
    def anchor(self) -> None:
        """Forget the offset: a new connection, or the controller restarted."""
    def observe(self, controller_ns: Integer, receive_ns: Integer) -> bool:
        """Take in a pair of controller time and receive time [ns]; False while the offset is still being found."""
    def stamp(self, controller_ns: Integer) -> int:
        """Host time [ns] of a controller time [ns]."""
    @property
    def reanchored(self) -> bool:
        """True when the last pair renewed the offset."""

class RtdeReader:
    """RTDE state reader with a receiving thread of its own."""
    def __init__(self, **kwargs) -> None:
        """
        Options by name: those of StreamMonitor; host, port, timeout [s], minimum_major, torque_inputs,
        ring [samples], silence [s], follow_host_clock, realtime_priority.
        """
    def pop(self, values: RealArray, meta: numpy.typing.NDArray[numpy.int64]) -> bool:
        """
        Oldest waiting sample into values (width,) and meta (4,): stamp, receive time [ns], flags, missed; False when none.
        """
    def rearm(self) -> None:
        """Clear a latched state."""
    def set_torque_loop(self, loop: TorqueLoop, torque_constant: RealArray) -> None:
        """Run this torque loop in the receiving thread; torque_constant (6,) [Nm/A]."""
    def start(self) -> None:
        """Connect and start the thread."""
    def statistics(self) -> dict:
        """Counts of samples, faults and reconnections."""
    def stop(self) -> None:
        """End the thread."""
    def wait(self, timeout: Real) -> bool:
        """Wait for a sample, at most timeout [s]; True when there is one."""
    @property
    def answered(self) -> RealArray:
        """
        Of the last states (N, 2) [s], N <= 8192: from arrival on this machine, and from reading in the thread, until the torque was sent.
        """
    @property
    def available(self) -> list[str]:
        """Names of the outputs that the controller offers, of those that were asked for."""
    @property
    def condition(self) -> StreamState:
        """State of the stream."""
    @property
    def connected(self) -> bool:
        """True while connected."""
    @property
    def last_error(self) -> str:
        """Text of the last error, empty when none."""
    @property
    def latched(self) -> StreamState:
        """Worst state since rearm(), or now."""
    @property
    def rate(self) -> float:
        """Sampling rate [Hz]."""
    @property
    def realtime(self) -> bool:
        """Whether real-time scheduling was permitted."""
    @property
    def realtime_text(self) -> str:
        """The scheduling of the thread in words."""
    @property
    def silence(self) -> float:
        """Time since the last accepted sample [s]."""
    @property
    def version(self) -> tuple:
        """(major, minor, bugfix, build) of the controller."""

def available_isas() -> list[str]:
    """Instruction sets this machine can run, narrowest first."""

def contact_force_text(
    joint_names: collections.abc.Sequence[str],
    motion: MotionState,
    temperature: TemperatureObserver | None,
    motor_side: bool,
    friction: FrictionStage | None,
    force: ExternalForce,
    alignment: SignalAlignment | None = None,
    least_rate: Real = 0.0,
) -> str:
    """
    Parameters of configured stages as the text that a C++ ContactForceEstimator reads; temperature, friction and alignment may be None.
    """

def friction_parameters(law: str) -> list[str]:
    """Names of the parameters of a static friction law, in the order of FrictionMap's columns."""

def generalised_momentum(chain: Chain, q: Reals, qd: Reals) -> tuple[RealArray, RealArray]:
    """p = M qd and C' qd (n), (n)."""

def gms_spacing(elements: Integer, r_D: Real = 4.0, r_k: Real = 2.0) -> tuple:
    """(D, k): slip limits and stiffnesses (elements,) in geometric spacing."""

def heat_balance(
    heat: Reals, stamp_ns: Integers, base: Reals, stribeck: Reals, factors: Reals, ambient: Reals, T: Real, Th: Real
) -> RealArray:
    """Temperatures (N, 2) of lubricant and housing [deg C] from base and Stribeck power (N,) [W] [Simoni2017 6, 8]."""

def invert_wrench(chain: Chain, q: Reals, tau: Reals, std: Reals, **kwargs) -> tuple:
    """Wrench (6), covariance (6, 6) and smallest singular value of joint torques tau with standard deviations std."""

def isa() -> str:
    """Instruction set of the kernels in use."""

def joint_torque(a1: Real, a2: Real, damping: Real, phi: Real, phid: Real) -> float:
    """tau_J = (a1 + a2 phi^2) phi + D phid, Nm."""

def lock_memory() -> tuple[bool, str]:
    """Keep all pages in memory (mlockall): whether it was permitted, and in words."""

def possible_temperature(reading: Reals) -> Any:
    """Whether readings (any shape) [deg C] can be a joint's; 0 is that of a sensor which is not ready."""

def presliding_elements(
    theta: Reals,
    span: Reals,
    start: typing.Annotated[numpy.typing.ArrayLike, numpy.bool],
    widening: typing.Annotated[collections.abc.Sequence[Real], "FixedSize(2)"] = [0.0, 0.0],
    step: Real = 0.0,
) -> RealArray:
    """
    H_k (N, elements) of elements of spans (elements,) [rad] that widen by (a, b): Maxwell slip, or Dahl's that are moved by a play of half width step > 0 [rad].
    """

def refused_payload(payload: Reals, largest: Real, held: Real) -> str:
    """
    Reason to refuse a named payload (4) [kg, m], empty where it is plausible. largest [kg]: what the arm carries; held [kg]: payload and last link, which can be put down.
    """

def rotor_positions(t: Reals, theta: Reals, v: Reals, time: Real) -> RealArray:
    """
    Positions (N, n) [rad] of the rotors that drive `Friction` with rotor_time = time [s], from the link's theta [rad] and the velocity v [rad/s] measured on the rotor (N, n) at t (N,) [s].
    """

def run_in_turn(stamp_ns: Integers, stages: collections.abc.Sequence[RowStep], fed_back: list = []) -> Codes:
    """
    Status codes (S, N) of S stages, run record by record: stamps (N,) [ns], a RowStep each; of a record that the first one refuses the others see nothing. fed_back: pairs of a signal (N, w) and its last value (w,), with which the next record begins. Writes both.
    """

def same_payload(model: Real, setting: Real) -> bool:
    """Whether a controller's payload setting [kg] is that of the model: within 50 g + 2 %; False where one is NaN."""

def select_isa(name: str) -> None:
    """Use the kernels of this instruction set from now on."""

def shorten_slice(slice: Real = 0.0001) -> bool:
    """
    Time slice [s] of the calling thread and those it starts (sched_setattr), 1e-4..0.1: a short one runs sooner after it wakes. Whether the system accepted it; Linux before 6.12 accepts it without effect.
    """

def within_steps(t: Reals, q: Reals, v: Reals) -> tuple:
    """
    Positions and velocities (N, n) [rad, rad/s] as the live nodes take them, and the steps h (n,) [rad, rad/s] in
    which q and v (N, n) are reported at t (N,) [s]: no farther than h / 2 from q and v. h = 0: fine, unchanged.
    """

def wrench_significance(chain: Chain, q: Reals, tau: Reals, std: Reals, **kwargs) -> RealArray:
    """How rare joint torques tau (N, n) are without any wrench, in standard deviations of one normal variable (N,)."""

COLDEST: float = -20.0
CONTACT_ENDS: float = 0.9
DRY_SPAN: float = 3e-05
GAIN_STD: float = 0.03
HOTTEST: float = 120.0
LEAST_SINGULAR_VALUE: float = 0.08
RTDE_LAYOUT: dict = {
    "timestamp": (0, 1),
    "actual_q": (1, 6),
    "actual_qd": (7, 6),
    "actual_current": (13, 6),
    "target_q": (19, 6),
    "target_qd": (25, 6),
    "target_qdd": (31, 6),
    "target_moment": (37, 6),
    "joint_temperatures": (43, 6),
    "robot_mode": (49, 1),
    "safety_mode": (50, 1),
    "runtime_state": (51, 1),
    "payload": (52, 1),
    "payload_cog": (53, 3),
    "actual_current_as_torque": (56, 6),
    "actual_TCP_pose": (62, 6),
    "tcp_offset": (68, 6),
}
RTDE_WIDTH: int = 74
SHARE_STD: float = 0.07
VISCOUS_STD: float = 0.3
