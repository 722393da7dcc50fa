"""
C++ core of robot_dynamics_ros: equations, observers, controllers and the simulated plant.
"""

from __future__ import annotations
import collections.abc
import numpy
import numpy.typing
import typing

__all__: list[str] = [
    "AdaptiveFriction",
    "AdaptiveParameters",
    "Chain",
    "ClockMap",
    "ComputedTorque",
    "EGms",
    "EnableResult",
    "EstimatorCycle",
    "ExternalForce",
    "FlexibleFeedforward",
    "FourierTable",
    "FreezeReason",
    "FrictionFeedforward",
    "FrictionHealth",
    "FrictionMap",
    "FrictionStage",
    "FusedQR",
    "Gms",
    "Guard",
    "GuardLimits",
    "GuardReason",
    "GuardState",
    "HandGuiding",
    "JointTorqueFeedback",
    "JointTorqueSource",
    "LearningLaw",
    "LinkFlag",
    "LuGre",
    "MotionState",
    "PayloadVerdict",
    "PeriodicTable",
    "Plant",
    "PlantRandom",
    "PowerMeter",
    "Presliding",
    "RTDE_LAYOUT",
    "RTDE_WIDTH",
    "RateStateGms",
    "RigidBody",
    "RlsDf",
    "RlsFriction",
    "RlsJoints",
    "RotorFrictionObserver",
    "RtdeConnectionError",
    "RtdeReader",
    "SampleFlag",
    "SavitzkyGolay",
    "Status",
    "StiffnessEstimator",
    "StiffnessOptions",
    "StreamMonitor",
    "StreamState",
    "TareResult",
    "TemperatureObserver",
    "TemperatureOptions",
    "TorqueLink",
    "TorqueLoop",
    "TorqueMode",
    "TorqueTrajectory",
    "Wear",
    "WearMonitor",
    "available_isas",
    "friction_laws",
    "friction_parameters",
    "generalised_momentum",
    "gms_spacing",
    "heat_balance",
    "invert_wrench",
    "isa",
    "joint_torque",
    "lock_memory",
    "multiply_add",
    "presliding_elements",
    "repeat_rnea",
    "rnea_operations",
    "savitzky_golay_weights",
    "select_isa",
]

class Status:
    """
    Result of one step of a stage.

    Members:

      ok

      warming_up

      dropped

      reset

      degraded

      saturated

      unavailable

      fault
    """

    __members__: typing.ClassVar[dict[str, Status]]
    degraded: typing.ClassVar[Status]
    dropped: typing.ClassVar[Status]
    fault: typing.ClassVar[Status]
    ok: typing.ClassVar[Status]
    reset: typing.ClassVar[Status]
    saturated: typing.ClassVar[Status]
    unavailable: typing.ClassVar[Status]
    warming_up: typing.ClassVar[Status]
    @typing.overload
    def __eq__(self, other: Status) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool: ...
    @typing.overload
    def __ge__(self, other: Status) -> bool: ...
    @typing.overload
    def __ge__(self, other: typing.Any) -> None: ...
    def __getstate__(self) -> int: ...
    @typing.overload
    def __gt__(self, other: Status) -> bool: ...
    @typing.overload
    def __gt__(self, other: typing.Any) -> None: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    @typing.overload
    def __le__(self, other: Status) -> bool: ...
    @typing.overload
    def __le__(self, other: typing.Any) -> None: ...
    @typing.overload
    def __lt__(self, other: Status) -> bool: ...
    @typing.overload
    def __lt__(self, other: typing.Any) -> None: ...
    @typing.overload
    def __ne__(self, other: Status) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __str__(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class Chain:
    """
    Serial chain of revolute joints turning about the z axis of their link frames.
    """
    def __init__(
        self,
        placements: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        inertia: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        tool: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        gravity: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        frames: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    ) -> None: ...
    def with_payload(
        self,
        mass: typing.SupportsFloat | typing.SupportsIndex,
        com: typing.Annotated[collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], "FixedSize(3)"],
        inertia: typing.Annotated[
            collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], "FixedSize(6)"
        ],
    ) -> Chain: ...
    @property
    def framed(self) -> bool: ...
    @property
    def frames(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        (n, 3, 3) reporting frame <- link frame
        """
    @property
    def gravity(self) -> typing.Annotated[list[float], "FixedSize(3)"]: ...
    @property
    def inertia(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        (n, 10) in the link frames, which turn about z
        """
    @property
    def inertial_parameters(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        (10 n,) in the reporting frames
        """
    @property
    def n_joints(self) -> int: ...
    @property
    def placements(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        (n, 4, 4) link i-1 -> joint i at zero
        """
    @property
    def tool(self) -> numpy.typing.NDArray[numpy.float64]:
        """
        (4, 4) last link -> TCP
        """

class FrictionMap:
    """
    Static friction of n joints by one law (see docs/friction.md).
    """
    def __init__(
        self,
        law: str,
        parameters: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        reference: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        range: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    ) -> None: ...
    def coulomb(
        self,
        arg0: typing.SupportsInt | typing.SupportsIndex,
        arg1: typing.SupportsFloat | typing.SupportsIndex,
        arg2: typing.SupportsFloat | typing.SupportsIndex,
    ) -> float: ...
    def slope(
        self,
        v: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        load: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
        temperature: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
        out: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def torque(
        self,
        v: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        load: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
        temperature: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
        out: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def viscous(
        self,
        arg0: typing.SupportsInt | typing.SupportsIndex,
        arg1: typing.SupportsFloat | typing.SupportsIndex,
        arg2: typing.SupportsFloat | typing.SupportsIndex,
    ) -> float: ...
    @property
    def n_joints(self) -> int: ...

class LuGre:
    """
    LuGre friction with temperature-dependent coefficients.
    """
    def __init__(self, map: FrictionMap, max_gap: typing.SupportsFloat | typing.SupportsIndex = 0.1) -> None: ...
    def reset(self) -> None: ...
    def run(
        self,
        stamp_ns: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
        v: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        temperature: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
        out: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    ) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int32]]: ...
    def step(
        self,
        stamp_ns: typing.SupportsInt | typing.SupportsIndex,
        v: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        temperature: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None,
        friction: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    ) -> Status: ...

class RigidBody:
    """
    Rigid-body functions of a Chain for one sample (n,) or a batch (N, n).
    """
    def __init__(self, chain: Chain) -> None: ...
    def coriolis(self, q: typing.Any, qd: typing.Any, out: typing.Any | None = None) -> typing.Any: ...
    def fk(self, q: typing.Any, out: typing.Any | None = None) -> typing.Any: ...
    def gravity(
        self, q: typing.Any, out: typing.Any | None = None, gravity: typing.Any | None = None
    ) -> typing.Any: ...
    def jacobian(self, q: typing.Any, out: typing.Any | None = None) -> typing.Any: ...
    def mass_matrix(self, q: typing.Any, out: typing.Any | None = None) -> typing.Any: ...
    def regressor(
        self,
        q: typing.Any,
        qd: typing.Any,
        qdd: typing.Any,
        out: typing.Any | None = None,
        gravity: typing.Any | None = None,
    ) -> typing.Any: ...
    def regressor_gradient(
        self,
        q: typing.Any,
        qd: typing.Any,
        qdd: typing.Any,
        weights: typing.Any,
        columns: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] | None = None,
        gravity: typing.Any | None = None,
    ) -> tuple:
        """
        Slopes (N, n) of sum(weights * W) with respect to q, qd, qdd; weights (n N, p) column-major, as W.
        """
    def rnea(
        self,
        q: typing.Any,
        qd: typing.Any,
        qdd: typing.Any,
        out: typing.Any | None = None,
        gravity: typing.Any | None = None,
    ) -> typing.Any: ...
    def stacked_regressor(
        self,
        q: typing.Any,
        qd: typing.Any,
        qdd: typing.Any,
        columns: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] | None = None,
        out: typing.Any | None = None,
        gravity: typing.Any | None = None,
        keep_zeros: bool = False,
    ) -> typing.Any: ...
    def torque_gradient(
        self, q: typing.Any, qd: typing.Any, qdd: typing.Any, weights: typing.Any, gravity: typing.Any | None = None
    ) -> tuple:
        """
        Slopes (N, n) of sum(weights * rnea) with respect to q, qd, qdd; weights (N, n).
        """
    @property
    def chain(self) -> Chain: ...

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
        columns: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] | None = None,
        extra_columns: typing.SupportsInt
        | typing.SupportsIndex
        | collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] = 0,
        gravity: typing.Any | None = None,
    ) -> None: ...
    def absorb(
        self,
        joint: typing.SupportsInt | typing.SupportsIndex,
        rows: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        weights: typing.Any | None = None,
    ) -> None:
        """
        Take in ready rows (N, width of the joint's triangle) of one joint, target last, times weights (N,).
        """
    def fold(self, weights: typing.Any | None = None) -> numpy.typing.NDArray[numpy.float64]:
        """
        One triangle (P + 1, P + 1) of all joints, joint j's rows times weights[j].
        """
    def parameters_of(self, joint: typing.SupportsInt | typing.SupportsIndex) -> list[int]:
        """
        Parameter of each column of the joint's triangle, without the target.
        """
    def residual_squares(self, x: typing.Any) -> numpy.typing.NDArray[numpy.float64]:
        """
        Sum of squared residuals of every joint at parameters x, unweighted, without another pass over data.
        """
    def triangle(self, joint: typing.SupportsInt | typing.SupportsIndex) -> numpy.typing.NDArray[numpy.float64]:
        """
        Upper triangle [R z; 0 rho] of one joint; the target is last.
        """
    def update(
        self,
        q: typing.Any,
        qd: typing.Any,
        qdd: typing.Any,
        tau: typing.Any | None = None,
        extra: typing.Any | None = None,
        weights: typing.Any | None = None,
        joints: collections.abc.Sequence[typing.SupportsInt | typing.SupportsIndex] | None = None,
    ) -> None:
        """
        Take in samples: q, qd, qdd, tau (N, n), extra (N, n, extra_columns) or (N, all extra columns), weights
        (N, n) of the rows. joints: only these take in their rows; others may get theirs from `absorb`.
        """
    @property
    def n_parameters(self) -> int: ...
    @property
    def n_samples(self) -> int: ...

class SavitzkyGolay:
    """
    Equal-delay smoothing and differentiation of several signals [Madsen2020 ch6 6.1].
    """
    def __init__(
        self,
        signals: typing.SupportsInt | typing.SupportsIndex,
        window: typing.SupportsInt | typing.SupportsIndex = 101,
        order: typing.SupportsInt | typing.SupportsIndex = 2,
    ) -> None: ...
    def first(self, dt: typing.SupportsFloat | typing.SupportsIndex) -> numpy.typing.NDArray[numpy.float64]: ...
    def push(self, x: numpy.typing.NDArray[numpy.float64]) -> bool: ...
    def reset(self) -> None: ...
    def second(self, dt: typing.SupportsFloat | typing.SupportsIndex) -> numpy.typing.NDArray[numpy.float64]: ...
    def value(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def delay(self) -> int: ...
    @property
    def ready(self) -> bool: ...

class AdaptiveParameters:
    """
    Gains, bounds and gates of the adaptive friction law.
    """
    def __init__(
        self,
        *,
        gamma_coulomb: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        gamma_viscous: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        coulomb_lower: typing.SupportsFloat | typing.SupportsIndex = 0.4,
        coulomb_upper: typing.SupportsFloat | typing.SupportsIndex = 1.5,
        viscous_lower: typing.SupportsFloat | typing.SupportsIndex = -0.05,
        viscous_upper: typing.SupportsFloat | typing.SupportsIndex = 0.05,
        omega_min: typing.SupportsFloat | typing.SupportsIndex = 0.01,
        omega_time: typing.SupportsFloat | typing.SupportsIndex = 0.05,
        max_dt: typing.SupportsFloat | typing.SupportsIndex = 0.05,
        snapshot_period: typing.SupportsFloat | typing.SupportsIndex = 0.25,
    ) -> None: ...

class AdaptiveFriction:
    """
    Normalised gradient law of the friction feedforward [Madsen2020 ch6 24-28].
    """
    def __init__(self, parameters: AdaptiveParameters) -> None: ...
    def friction(
        self, Y1: numpy.typing.NDArray[numpy.float64], omega: numpy.typing.NDArray[numpy.float64]
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def reset(self) -> None: ...
    def restore(self) -> None: ...
    def set(
        self, coulomb: numpy.typing.NDArray[numpy.float64], viscous: numpy.typing.NDArray[numpy.float64]
    ) -> bool: ...
    def step(
        self,
        dt: typing.SupportsFloat | typing.SupportsIndex,
        Y1: numpy.typing.NDArray[numpy.float64],
        omega: numpy.typing.NDArray[numpy.float64],
        f_meas: numpy.typing.NDArray[numpy.float64],
        frozen: bool = False,
    ) -> Status: ...
    @property
    def coulomb(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def viscous(self) -> numpy.typing.NDArray[numpy.float64]: ...

class PlantRandom:
    """
    Random numbers of the plant: the same on every platform and in every release.
    """
    def __init__(self, seed: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def normal(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> numpy.typing.NDArray[numpy.float64]: ...
    def uniform(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> numpy.typing.NDArray[numpy.float64]: ...

class Plant:
    """
    Simulated robot: flexible joints, friction, heat, sensors and inner controller.
    """
    @staticmethod
    def output_widths() -> dict[str, int]:
        """
        Width of each signal, 0 = joints.
        """
    @staticmethod
    def parameter_widths() -> dict[str, int]:
        """
        Numbers per joint of each parameter.
        """
    def __init__(
        self,
        chain: Chain,
        nominal: Chain,
        parameters: collections.abc.Mapping[str, typing.Annotated[numpy.typing.ArrayLike, numpy.float64]],
        inner_rate: typing.SupportsFloat | typing.SupportsIndex = 8000.0,
        refresh: typing.SupportsInt | typing.SupportsIndex = 4,
        implicitness: typing.SupportsFloat | typing.SupportsIndex = 0.5,
        seed: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> None: ...
    def clear_wall(self) -> None: ...
    def cycle_position(
        self,
        q_d: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        qd_d: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        qdd_d: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        dt: typing.SupportsFloat | typing.SupportsIndex,
    ) -> Status: ...
    def cycle_torque(
        self,
        torque: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        viscous_scale: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        coulomb_scale: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        dt: typing.SupportsFloat | typing.SupportsIndex,
    ) -> Status: ...
    def energy(self) -> float: ...
    def get(self, name: str) -> numpy.typing.NDArray[numpy.float64]: ...
    def reset(self, q: typing.Annotated[numpy.typing.ArrayLike, numpy.float64]) -> None: ...
    def run(
        self,
        mode: str,
        a: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        b: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        c: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        dt: typing.SupportsFloat | typing.SupportsIndex,
        out: collections.abc.Mapping[str, numpy.ndarray],
        wrench: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
        ambient: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
        keep: typing.SupportsInt | typing.SupportsIndex = 1,
    ) -> numpy.typing.NDArray[numpy.int32]: ...
    def scale_stiffness(
        self, joint: typing.SupportsInt | typing.SupportsIndex, factor: typing.SupportsFloat | typing.SupportsIndex
    ) -> None: ...
    def set_ambient(self, celsius: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    def set_nominal_payload(
        self,
        mass: typing.SupportsFloat | typing.SupportsIndex,
        com: typing.Annotated[collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], "FixedSize(3)"],
        inertia: typing.Annotated[
            collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], "FixedSize(6)"
        ],
    ) -> None: ...
    def set_payload(
        self,
        mass: typing.SupportsFloat | typing.SupportsIndex,
        com: typing.Annotated[collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], "FixedSize(3)"],
        inertia: typing.Annotated[
            collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], "FixedSize(6)"
        ],
    ) -> None: ...
    def set_temperatures(
        self,
        lubricant: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        housing: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    ) -> None: ...
    def set_wall(
        self,
        point: typing.Annotated[collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], "FixedSize(3)"],
        normal: typing.Annotated[collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex], "FixedSize(3)"],
        stiffness: typing.SupportsFloat | typing.SupportsIndex = 20000.0,
        damping: typing.SupportsFloat | typing.SupportsIndex = 100.0,
        friction: typing.SupportsFloat | typing.SupportsIndex = 0.0,
    ) -> None: ...
    def set_wrench(self, wrench: typing.Annotated[numpy.typing.ArrayLike, numpy.float64]) -> None: ...
    @property
    def n_joints(self) -> int: ...

class ComputedTorque:
    """
    u = f^ + M (qdd_d + v) + B (qdd_d + v) + C qd_d + g, v = -Kd e' - Kp e - Ki int e.
    """
    def __init__(
        self,
        chain: Chain,
        *,
        kp: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        kd: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        ki: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        rotor_inertia: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        integral_limit: typing.SupportsFloat | typing.SupportsIndex = 0.05,
        includes_gravity: bool = False,
    ) -> None: ...
    def reset(self) -> None: ...
    def step(
        self,
        dt: typing.SupportsFloat | typing.SupportsIndex,
        q: numpy.typing.NDArray[numpy.float64],
        qd: numpy.typing.NDArray[numpy.float64],
        q_d: numpy.typing.NDArray[numpy.float64],
        qd_d: numpy.typing.NDArray[numpy.float64],
        qdd_d: numpy.typing.NDArray[numpy.float64],
        friction: numpy.typing.NDArray[numpy.float64],
        u: numpy.typing.NDArray[numpy.float64],
        tau_d: numpy.typing.NDArray[numpy.float64],
    ) -> Status: ...

class FlexibleFeedforward:
    """
    Motor torque and rotor position of a flexible-joint robot on a smooth trajectory.
    """
    def __init__(
        self,
        chain: Chain,
        *,
        a1: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        a2: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        rotor_inertia: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    ) -> None: ...
    def step(
        self,
        q: numpy.typing.NDArray[numpy.float64],
        qd: numpy.typing.NDArray[numpy.float64],
        qdd: numpy.typing.NDArray[numpy.float64],
        jerk: numpy.typing.NDArray[numpy.float64],
        snap: numpy.typing.NDArray[numpy.float64],
    ) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]: ...

class JointTorqueSource:
    """
    Where the torque behind the transmission comes from.

    Members:

      none

      deflection

      sensor
    """

    __members__: typing.ClassVar[dict[str, JointTorqueSource]]
    deflection: typing.ClassVar[JointTorqueSource]
    none: typing.ClassVar[JointTorqueSource]
    sensor: typing.ClassVar[JointTorqueSource]
    @typing.overload
    def __eq__(self, other: JointTorqueSource) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool: ...
    def __getstate__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    @typing.overload
    def __ne__(self, other: JointTorqueSource) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __str__(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class JointTorqueFeedback:
    """
    K_P (tau_Jd - tau_J) + K_I int (tau_Jd - tau_J) dt, bounded [Madsen2020 appB].
    """
    def __init__(
        self,
        *,
        kp: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        ki: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        correction_limit: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    ) -> None: ...
    def reset(self) -> None: ...
    def step(
        self,
        dt: typing.SupportsFloat | typing.SupportsIndex,
        tau_Jd: numpy.typing.NDArray[numpy.float64],
        tau_J: numpy.typing.NDArray[numpy.float64],
        correction: numpy.typing.NDArray[numpy.float64],
    ) -> Status: ...

class HandGuiding:
    """
    tau = C qd + g + s tau_f - Kd qd with speed damping and virtual walls [Liu2020 31].
    """
    def __init__(
        self,
        chain: Chain,
        *,
        damping: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        speed_limit: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        torque_limit: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        position_lower: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        position_upper: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        wall_stiffness: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        wall_margin: typing.SupportsFloat | typing.SupportsIndex = 0.1,
        friction_share: typing.SupportsFloat | typing.SupportsIndex = 0.8,
        includes_gravity: bool = False,
    ) -> None: ...
    def step(
        self,
        q: numpy.typing.NDArray[numpy.float64],
        qd: numpy.typing.NDArray[numpy.float64],
        friction: numpy.typing.NDArray[numpy.float64],
        tau: numpy.typing.NDArray[numpy.float64],
    ) -> Status: ...

class RlsFriction:
    """
    Coulomb and viscous friction by RLS with forgetting [Madsen2020 appB].
    """
    def __init__(
        self,
        n_joints: typing.SupportsInt | typing.SupportsIndex,
        *,
        time_constant: typing.SupportsFloat | typing.SupportsIndex = 20.0,
        omega_min: typing.SupportsFloat | typing.SupportsIndex = 0.01,
        P0: typing.SupportsFloat | typing.SupportsIndex = 1000.0,
    ) -> None: ...
    def friction(self, omega: numpy.typing.NDArray[numpy.float64]) -> numpy.typing.NDArray[numpy.float64]: ...
    def parameters(self) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]: ...
    def reset(self) -> None: ...
    def restore(self) -> None: ...
    def set(
        self, coulomb: numpy.typing.NDArray[numpy.float64], viscous: numpy.typing.NDArray[numpy.float64]
    ) -> bool: ...
    def step(
        self,
        dt: typing.SupportsFloat | typing.SupportsIndex,
        omega: numpy.typing.NDArray[numpy.float64],
        f_meas: numpy.typing.NDArray[numpy.float64],
        frozen: bool = False,
    ) -> Status: ...

class GuardState:
    """
    State of the torque guard; safe and fault are latched.

    Members:

      idle

      ok

      degraded

      safe

      fault
    """

    __members__: typing.ClassVar[dict[str, GuardState]]
    degraded: typing.ClassVar[GuardState]
    fault: typing.ClassVar[GuardState]
    idle: typing.ClassVar[GuardState]
    ok: typing.ClassVar[GuardState]
    safe: typing.ClassVar[GuardState]
    @typing.overload
    def __eq__(self, other: GuardState) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool: ...
    def __getstate__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    @typing.overload
    def __ne__(self, other: GuardState) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __str__(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class GuardReason:
    """
    Why the guard last acted.

    Members:

      none

      command_not_finite

      semantics

      magnitude

      rate

      command_age

      state_not_finite

      state_gap

      state_frozen

      state_clock

      velocity

      position

      publisher

      robot_stopped

      enable_lost

      external

      program_ended
    """

    __members__: typing.ClassVar[dict[str, GuardReason]]
    command_age: typing.ClassVar[GuardReason]
    command_not_finite: typing.ClassVar[GuardReason]
    enable_lost: typing.ClassVar[GuardReason]
    external: typing.ClassVar[GuardReason]
    magnitude: typing.ClassVar[GuardReason]
    none: typing.ClassVar[GuardReason]
    position: typing.ClassVar[GuardReason]
    program_ended: typing.ClassVar[GuardReason]
    publisher: typing.ClassVar[GuardReason]
    rate: typing.ClassVar[GuardReason]
    robot_stopped: typing.ClassVar[GuardReason]
    semantics: typing.ClassVar[GuardReason]
    state_clock: typing.ClassVar[GuardReason]
    state_frozen: typing.ClassVar[GuardReason]
    state_gap: typing.ClassVar[GuardReason]
    state_not_finite: typing.ClassVar[GuardReason]
    velocity: typing.ClassVar[GuardReason]
    @typing.overload
    def __eq__(self, other: GuardReason) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool: ...
    def __getstate__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    @typing.overload
    def __ne__(self, other: GuardReason) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __str__(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class GuardLimits:
    """
    Limits of the torque guard, SI units, per joint.
    """
    def __init__(
        self,
        *,
        torque: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        torque_rate: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        velocity: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        position_lower: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        position_upper: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        deceleration: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        includes_gravity: bool = False,
        link_side: bool = False,
        cycle: typing.SupportsFloat | typing.SupportsIndex = 0.002,
        degraded_gap: typing.SupportsFloat | typing.SupportsIndex = 0.02,
        safe_gap: typing.SupportsFloat | typing.SupportsIndex = 0.04,
        ramp: typing.SupportsFloat | typing.SupportsIndex = 0.1,
        enable_timeout: typing.SupportsFloat | typing.SupportsIndex = 0.0,
        hold_cycles: typing.SupportsInt | typing.SupportsIndex = 3,
        frozen_cycles: typing.SupportsInt | typing.SupportsIndex = 10,
        sustained_cycles: typing.SupportsInt | typing.SupportsIndex = 50,
    ) -> None: ...
    @property
    def cycle(self) -> float: ...
    @property
    def n_joints(self) -> int: ...
    @property
    def ramp(self) -> float: ...
    @property
    def torque(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def torque_rate(self) -> numpy.typing.NDArray[numpy.float64]: ...

class Guard:
    """
    The only way a torque leaves for a robot: finite, semantics, magnitude, rate, age.
    """
    def __init__(self, limits: GuardLimits) -> None: ...
    def command(
        self,
        stamp_ns: typing.SupportsInt | typing.SupportsIndex,
        torque: numpy.typing.NDArray[numpy.float64],
        includes_gravity: bool,
        link_side: bool,
    ) -> None: ...
    def count(self, reason: GuardReason) -> int: ...
    def disable(self) -> None: ...
    def enable(self, now_ns: typing.SupportsInt | typing.SupportsIndex) -> bool: ...
    def observe(
        self,
        stamp_ns: typing.SupportsInt | typing.SupportsIndex,
        q: numpy.typing.NDArray[numpy.float64],
        qd: numpy.typing.NDArray[numpy.float64],
    ) -> None: ...
    def rearm(self) -> bool: ...
    def refresh(self, now_ns: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def step(
        self,
        now_ns: typing.SupportsInt | typing.SupportsIndex,
        out: numpy.typing.NDArray[numpy.float64],
        host_seconds: typing.SupportsFloat | typing.SupportsIndex = 0.0,
    ) -> GuardState: ...
    def trip(self, reason: GuardReason, hard: bool = False) -> None: ...
    @property
    def command_age(self) -> float: ...
    @property
    def reason(self) -> GuardReason: ...
    @property
    def state(self) -> GuardState: ...

class PeriodicTable:
    def __init__(self, values: typing.Annotated[numpy.typing.ArrayLike, numpy.float64]) -> None: ...
    def value(
        self,
        theta: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        out: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    ) -> numpy.typing.NDArray[numpy.float64]: ...

class FourierTable:
    def __init__(self, arg0: typing.Annotated[numpy.typing.ArrayLike, numpy.float64]) -> None: ...
    def value(
        self,
        theta: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        out: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    ) -> numpy.typing.NDArray[numpy.float64]: ...

class Gms:
    """
    Discrete Maxwell-slip hysteresis H in [-1, 1] of n joints.
    """
    def __init__(
        self,
        D: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        k: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        backlash: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        max_gap: typing.SupportsFloat | typing.SupportsIndex = 0.1,
    ) -> None: ...
    def deflections(
        self, theta: typing.Annotated[numpy.typing.ArrayLike, numpy.float64]
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def reset(self) -> None: ...
    def run(
        self,
        stamp_ns: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
        theta: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        out: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    ) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int32]]: ...
    def step(
        self,
        stamp_ns: typing.SupportsInt | typing.SupportsIndex,
        theta: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        H: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    ) -> Status: ...
    @property
    def state(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def valid(self) -> list[bool]: ...

class RateStateGms:
    """
    Rate-state Maxwell-slip friction with frictional lag.
    """
    def __init__(
        self,
        map: FrictionMap,
        k: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        nu: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        attraction: typing.SupportsFloat | typing.SupportsIndex,
        floor: typing.SupportsFloat | typing.SupportsIndex = 0.001,
        max_gap: typing.SupportsFloat | typing.SupportsIndex = 0.1,
    ) -> None: ...
    def reset(self) -> None: ...
    def run(
        self,
        stamp_ns: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
        v: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        temperature: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
        out: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    ) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int32]]: ...
    def step(
        self,
        stamp_ns: typing.SupportsInt | typing.SupportsIndex,
        v: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        temperature: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None,
        friction: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    ) -> Status: ...
    @property
    def valid(self) -> list[bool]: ...

class EGms:
    """
    Extended GMS friction: load-dependent level, position-dependent backlash.
    """
    def __init__(
        self,
        map: FrictionMap,
        gms: Gms,
        fc0: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        fc1: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        kinematic_error: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    ) -> None: ...
    def reset(self) -> None: ...
    def run(
        self,
        stamp_ns: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
        theta: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        v: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        load: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
        temperature: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
        out: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    ) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int32]]:
        """
        The same over (N, n): (friction, status codes (N,)).
        """
    def step(
        self,
        stamp_ns: typing.SupportsInt | typing.SupportsIndex,
        theta: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        v: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        load: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None,
        temperature: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None,
        friction: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    ) -> Status:
        """
        One sample: theta [rad], v [rad/s], load [Nm] or None, temperature [deg C] or None -> friction [Nm], all (n,).
        """
    @property
    def valid(self) -> list[bool]: ...

class Presliding:
    """
    Presliding friction: Maxwell-slip elements with free spans, load per element, Stribeck.
    """
    def __init__(
        self,
        map: FrictionMap,
        span: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        level: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        load: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        parameters: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        max_gap: typing.SupportsFloat | typing.SupportsIndex = 0.1,
    ) -> None: ...
    def reset(self) -> None: ...
    def run(
        self,
        stamp_ns: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
        theta: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        v: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        load: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
        temperature: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
        out: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    ) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int32]]:
        """
        The same over (N, n): (friction, status codes (N,)).
        """
    def step(
        self,
        stamp_ns: typing.SupportsInt | typing.SupportsIndex,
        theta: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        v: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        load: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None,
        temperature: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None,
        friction: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    ) -> Status:
        """
        One sample: theta [rad], v [rad/s], load [Nm] or None, temperature [deg C] or None -> friction [Nm], all (n,).
        """
    @property
    def valid(self) -> list[bool]: ...

class TemperatureOptions:
    housing_sensor: bool
    def __init__(self) -> None: ...
    @property
    def ambient(self) -> float: ...
    @ambient.setter
    def ambient(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def convergence_time(self) -> float: ...
    @convergence_time.setter
    def convergence_time(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def high(self) -> float: ...
    @high.setter
    def high(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def housing_std(self) -> float: ...
    @housing_std.setter
    def housing_std(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def initial_std(self) -> float: ...
    @initial_std.setter
    def initial_std(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def low(self) -> float: ...
    @low.setter
    def low(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def max_gap(self) -> float: ...
    @max_gap.setter
    def max_gap(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def model_std(self) -> float: ...
    @model_std.setter
    def model_std(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def moving(self) -> float: ...
    @moving.setter
    def moving(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def observe_time(self) -> float: ...
    @observe_time.setter
    def observe_time(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def observed_std(self) -> float: ...
    @observed_std.setter
    def observed_std(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def rate_limit(self) -> float: ...
    @rate_limit.setter
    def rate_limit(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def rearm_time(self) -> float: ...
    @rearm_time.setter
    def rearm_time(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None: ...

class TemperatureObserver:
    """
    Lubricant temperature of n joints: heat balance, corrected by friction.
    """
    def __init__(
        self,
        map: FrictionMap,
        heat: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        gain: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        options: TemperatureOptions,
    ) -> None: ...
    def assign(self, other: TemperatureObserver) -> None: ...
    def cool_down(self, seconds: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    def copy(self) -> TemperatureObserver: ...
    def reset(self) -> None: ...
    def run(
        self,
        stamp_ns: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
        v: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        load: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
        friction: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
        housing: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
        contact: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
        temperature: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
        variance: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    ) -> tuple[
        numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int32]
    ]: ...
    def set_ambient(self, ambient: typing.SupportsFloat | typing.SupportsIndex) -> bool: ...
    def set_initial(
        self,
        joint: typing.SupportsInt | typing.SupportsIndex,
        lubricant: typing.SupportsFloat | typing.SupportsIndex,
        housing: typing.SupportsFloat | typing.SupportsIndex,
        variance: typing.SupportsFloat | typing.SupportsIndex,
    ) -> None: ...
    def step(
        self,
        stamp_ns: typing.SupportsInt | typing.SupportsIndex,
        v: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        load: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None,
        friction: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None,
        housing: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None,
        contact: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None,
        temperature: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        variance: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    ) -> Status: ...
    @property
    def armed(self) -> list[bool]: ...
    @property
    def housing(self) -> list[float]: ...
    @property
    def temperature(self) -> list[float]: ...
    @property
    def variance(self) -> list[float]: ...

class RlsDf:
    """
    RLS with directional forgetting for one joint's elastic torque.
    """
    def __init__(
        self,
        powers: typing.SupportsInt | typing.SupportsIndex = 2,
        phi_ref: typing.SupportsFloat | typing.SupportsIndex = 0.001,
        time_constant: typing.SupportsFloat | typing.SupportsIndex = 20.0,
        delta: typing.SupportsFloat | typing.SupportsIndex = 100.0,
        P0: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex] = [1000000000.0, 1e18, 1e27, 1e36],
    ) -> None: ...
    def reset(self) -> None: ...
    def run(
        self,
        phi: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        torque: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        dt: typing.SupportsFloat | typing.SupportsIndex,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def stiffness(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> float: ...
    def stiffness_std(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> float: ...
    def torque(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> float: ...
    def update(
        self,
        phi: typing.SupportsFloat | typing.SupportsIndex,
        torque: typing.SupportsFloat | typing.SupportsIndex,
        dt: typing.SupportsFloat | typing.SupportsIndex,
    ) -> float: ...
    @property
    def coefficients(self) -> list[float]: ...
    @property
    def covariance(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def explained(self) -> float: ...
    @property
    def residual_variance(self) -> float: ...

class RlsJoints:
    """
    RLS with directional forgetting of n joints side by side.
    """
    def __init__(
        self,
        n_joints: typing.SupportsInt | typing.SupportsIndex,
        powers: typing.SupportsInt | typing.SupportsIndex = 2,
        phi_ref: typing.SupportsFloat | typing.SupportsIndex = 0.001,
        time_constant: typing.SupportsFloat | typing.SupportsIndex = 20.0,
        delta: typing.SupportsFloat | typing.SupportsIndex = 100.0,
        P0: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex] = [1000000000.0, 1e18, 1e27, 1e36],
    ) -> None: ...
    def run(
        self,
        phi: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        torque: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        dt: typing.SupportsFloat | typing.SupportsIndex,
        out: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    ) -> tuple:
        """
        Errors (N, n) and coefficients (n, P) after the last sample.
        """

class Wear:
    """
    Wear status of a transmission.

    Members:

      unknown

      ok

      warn

      error
    """

    __members__: typing.ClassVar[dict[str, Wear]]
    error: typing.ClassVar[Wear]
    ok: typing.ClassVar[Wear]
    unknown: typing.ClassVar[Wear]
    warn: typing.ClassVar[Wear]
    @typing.overload
    def __eq__(self, other: Wear) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool: ...
    @typing.overload
    def __ge__(self, other: Wear) -> bool: ...
    @typing.overload
    def __ge__(self, other: typing.Any) -> None: ...
    def __getstate__(self) -> int: ...
    @typing.overload
    def __gt__(self, other: Wear) -> bool: ...
    @typing.overload
    def __gt__(self, other: typing.Any) -> None: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    @typing.overload
    def __le__(self, other: Wear) -> bool: ...
    @typing.overload
    def __le__(self, other: typing.Any) -> None: ...
    @typing.overload
    def __lt__(self, other: Wear) -> bool: ...
    @typing.overload
    def __lt__(self, other: typing.Any) -> None: ...
    @typing.overload
    def __ne__(self, other: Wear) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __str__(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class StiffnessOptions:
    def __init__(self) -> None: ...
    @property
    def cutoff(self) -> float: ...
    @cutoff.setter
    def cutoff(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def deflection_gate(self) -> float: ...
    @deflection_gate.setter
    def deflection_gate(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def explained(self) -> float: ...
    @explained.setter
    def explained(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def learn_time(self) -> float: ...
    @learn_time.setter
    def learn_time(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def link_std(self) -> float: ...
    @link_std.setter
    def link_std(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def max_gap(self) -> float: ...
    @max_gap.setter
    def max_gap(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def motor_std(self) -> float: ...
    @motor_std.setter
    def motor_std(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def moving(self) -> float: ...
    @moving.setter
    def moving(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def publish_ratio(self) -> float: ...
    @publish_ratio.setter
    def publish_ratio(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def sensor_std(self) -> float: ...
    @sensor_std.setter
    def sensor_std(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None: ...
    @property
    def torque_gate(self) -> float: ...
    @torque_gate.setter
    def torque_gate(self, arg0: typing.SupportsFloat | typing.SupportsIndex) -> None: ...

class StiffnessEstimator:
    """
    Transmission stiffness of n joints while they work.
    """
    def __init__(
        self,
        joints: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        kinematic_error: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        options: StiffnessOptions,
        powers: typing.SupportsInt | typing.SupportsIndex = 2,
        phi_ref: typing.SupportsFloat | typing.SupportsIndex = 0.001,
        time_constant: typing.SupportsFloat | typing.SupportsIndex = 20.0,
        delta: typing.SupportsFloat | typing.SupportsIndex = 100.0,
        P0: collections.abc.Sequence[typing.SupportsFloat | typing.SupportsIndex] = [1000000000.0, 1e18, 1e27, 1e36],
    ) -> None: ...
    def covariance(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> numpy.typing.NDArray[numpy.float64]: ...
    def reset(self) -> None: ...
    def run(
        self,
        stamp_ns: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
        theta: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        q: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        omega: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
        motor_torque: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
        friction: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
        link_torque: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
        sensor_torque: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
        temperature: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
        stiffness: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
        stiffness_std: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    ) -> tuple[
        numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int32]
    ]: ...
    def set_baseline(
        self,
        a: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        temperature: typing.SupportsFloat | typing.SupportsIndex,
        warn: typing.SupportsFloat | typing.SupportsIndex,
        error: typing.SupportsFloat | typing.SupportsIndex,
        hold: typing.SupportsFloat | typing.SupportsIndex,
        temperature_band: typing.SupportsFloat | typing.SupportsIndex,
    ) -> None: ...
    def set_coefficients(self, a: typing.Annotated[numpy.typing.ArrayLike, numpy.float64]) -> None: ...
    def step(
        self,
        stamp_ns: typing.SupportsInt | typing.SupportsIndex,
        theta: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        q: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        omega: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None,
        motor_torque: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None,
        friction: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None,
        link_torque: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None,
        sensor_torque: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None,
        temperature: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None,
        stiffness: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        stiffness_std: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    ) -> Status: ...
    @property
    def coefficients(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def confidence(self) -> list[float]: ...
    @property
    def deflection(self) -> list[float]: ...
    @property
    def wear(self) -> list[Wear]: ...
    @property
    def wear_drop(self) -> list[float]: ...

class WearMonitor:
    """
    Sustained relative drop of stiffness against a baseline.
    """
    def __init__(
        self,
        warn: typing.SupportsFloat | typing.SupportsIndex = 0.15,
        error: typing.SupportsFloat | typing.SupportsIndex = 0.3,
        hold: typing.SupportsFloat | typing.SupportsIndex = 60.0,
        temperature_band: typing.SupportsFloat | typing.SupportsIndex = 10.0,
        sigmas: typing.SupportsFloat | typing.SupportsIndex = 2.0,
    ) -> None: ...
    def reset(self) -> None: ...
    def update(
        self,
        k: typing.SupportsFloat | typing.SupportsIndex,
        k_std: typing.SupportsFloat | typing.SupportsIndex,
        baseline: typing.SupportsFloat | typing.SupportsIndex,
        temperature: typing.SupportsFloat | typing.SupportsIndex,
        baseline_temperature: typing.SupportsFloat | typing.SupportsIndex,
        dt: typing.SupportsFloat | typing.SupportsIndex,
    ) -> Wear: ...
    @property
    def drop(self) -> float: ...
    @property
    def level(self) -> Wear: ...

class RotorFrictionObserver:
    """
    Friction from both encoders [Madsen2020 appB].
    """
    def __init__(
        self,
        B: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        L: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        max_gap: typing.SupportsFloat | typing.SupportsIndex = 0.1,
    ) -> None: ...
    def assign(self, other: RotorFrictionObserver) -> None: ...
    def copy(self) -> RotorFrictionObserver: ...
    def reset(self) -> None: ...
    def run(
        self,
        stamp_ns: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
        omega: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        tau_m: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        tau_J: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        out: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    ) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.int32]]: ...
    def step(
        self,
        stamp_ns: typing.SupportsInt | typing.SupportsIndex,
        omega: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        tau_m: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        tau_J: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        friction: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    ) -> Status: ...

class FrictionStage:
    """
    Friction with its standard deviation: a law, or a model with memory.
    """
    def __init__(
        self,
        map: FrictionMap,
        memory: typing.Any | None = None,
        coupled: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
        **kwargs,
    ) -> None: ...
    def assign(self, other: FrictionStage) -> None: ...
    def copy(self) -> FrictionStage: ...
    def reset(self) -> None: ...
    def run(
        self,
        stamp_ns: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
        position: typing.Any,
        v: numpy.ndarray,
        load: typing.Any,
        contact_load: typing.Any,
        temperature: typing.Any,
        temperature_variance: typing.Any,
        friction: typing.Any,
        friction_std: typing.Any,
    ) -> numpy.typing.NDArray[numpy.int32]: ...
    def step(
        self,
        stamp_ns: typing.SupportsInt | typing.SupportsIndex,
        position: typing.Any,
        v: typing.Any,
        load: typing.Any,
        contact_load: typing.Any,
        temperature: typing.Any,
        temperature_variance: typing.Any,
        friction: typing.Any,
        friction_std: typing.Any,
    ) -> Status: ...
    @property
    def remembers(self) -> bool: ...

class FrictionHealth:
    """
    Drift and scatter of measured against modelled friction.
    """
    def __init__(
        self,
        n: typing.SupportsInt | typing.SupportsIndex,
        time_constant: typing.SupportsFloat | typing.SupportsIndex,
        moving: typing.SupportsFloat | typing.SupportsIndex,
    ) -> None: ...
    def drift(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> float: ...
    def reset(self) -> None: ...
    def run(
        self,
        stamp_ns: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
        v: typing.Any,
        drive_torque: typing.Any,
        model_torque: typing.Any,
        friction_torque: typing.Any,
        contact: typing.Any,
    ) -> numpy.typing.NDArray[numpy.int32]: ...
    def scatter(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> float: ...
    def seen(self, arg0: typing.SupportsInt | typing.SupportsIndex) -> float: ...
    def step(
        self,
        stamp_ns: typing.SupportsInt | typing.SupportsIndex,
        v: typing.Any,
        drive_torque: typing.Any,
        model_torque: typing.Any,
        friction_torque: typing.Any,
        contact: typing.Any,
    ) -> Status: ...

class MotionState:
    """
    Velocity, acceleration, model torque and drive torque [Simoni2017 V, 16, 20].
    """
    def __init__(self, chain: Chain, **kwargs) -> None: ...
    def reset(self) -> None: ...
    def run(
        self,
        stamp_ns: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
        q: typing.Any,
        qd: typing.Any,
        effort: typing.Any,
        qd_out: typing.Any,
        qdd: typing.Any,
        model_torque: typing.Any,
        drive_torque: typing.Any,
    ) -> numpy.typing.NDArray[numpy.int32]: ...
    def step(
        self,
        stamp_ns: typing.SupportsInt | typing.SupportsIndex,
        q: typing.Any,
        qd: typing.Any,
        effort: typing.Any,
        qd_out: typing.Any,
        qdd: typing.Any,
        model_torque: typing.Any,
        drive_torque: typing.Any,
    ) -> Status: ...
    @property
    def frozen(self) -> bool: ...
    @property
    def missed(self) -> int: ...
    @property
    def period(self) -> float: ...

class TareResult:
    """
    Why a tare was refused, or that it was accepted.

    Members:

      accepted

      too_early

      in_contact

      unsteady

      too_large
    """

    __members__: typing.ClassVar[dict[str, TareResult]]
    accepted: typing.ClassVar[TareResult]
    in_contact: typing.ClassVar[TareResult]
    too_early: typing.ClassVar[TareResult]
    too_large: typing.ClassVar[TareResult]
    unsteady: typing.ClassVar[TareResult]
    @typing.overload
    def __eq__(self, other: TareResult) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool: ...
    def __getstate__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    @typing.overload
    def __ne__(self, other: TareResult) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __str__(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class PayloadVerdict:
    """
    What explains a lasting external torque.

    Members:

      none

      payload

      bias
    """

    __members__: typing.ClassVar[dict[str, PayloadVerdict]]
    bias: typing.ClassVar[PayloadVerdict]
    none: typing.ClassVar[PayloadVerdict]
    payload: typing.ClassVar[PayloadVerdict]
    @typing.overload
    def __eq__(self, other: PayloadVerdict) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool: ...
    def __getstate__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    @typing.overload
    def __ne__(self, other: PayloadVerdict) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __str__(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class ExternalForce:
    """
    External joint torque, wrench at the TCP and contact (see docs/force.md).

    step(stamp_ns, q, qd, model_torque, drive_torque, qdd, friction, friction_std,
         torque, torque_std, wrench, wrench_std, singular_value, contact, payload_or_bias, contact_load):
    seven inputs (n) or None, eight outputs written in place; run() takes (N, ...) arrays.
    """
    def __init__(self, chain: Chain, **kwargs) -> None: ...
    def assign(self, other: ExternalForce) -> None: ...
    def copy(self) -> ExternalForce: ...
    def reset(self) -> None: ...
    def run(
        self, arg0: typing.Annotated[numpy.typing.ArrayLike, numpy.int64], *args
    ) -> numpy.typing.NDArray[numpy.int32]: ...
    def step(self, arg0: typing.SupportsInt | typing.SupportsIndex, *args) -> Status: ...
    def tare(self) -> TareResult: ...
    @property
    def bias(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @bias.setter
    def bias(self, arg1: typing.Any) -> None: ...
    @property
    def isolated(self) -> list[bool]: ...
    @property
    def length(self) -> float: ...
    @property
    def payload_error(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def payload_verdict(self) -> PayloadVerdict: ...
    @property
    def period(self) -> float: ...

class PowerMeter:
    """
    Electric and mechanical power and energy, per joint and total [Clochiatti2024, eq. 19-26].
    """
    def __init__(self, n: typing.SupportsInt | typing.SupportsIndex, **kwargs) -> None: ...
    def reset(self) -> None: ...
    def run(
        self,
        stamp_ns: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
        torque: typing.Any,
        velocity: typing.Any,
        electrical_power: typing.Any,
        mechanical_power: typing.Any,
        electrical_energy: typing.Any,
        electrical_energy_clamped: typing.Any,
        mechanical_energy: typing.Any,
        efficiency: typing.Any,
    ) -> numpy.typing.NDArray[numpy.int32]: ...
    def step(
        self,
        stamp_ns: typing.SupportsInt | typing.SupportsIndex,
        torque: typing.Any,
        velocity: typing.Any,
        electrical_power: typing.Any,
        mechanical_power: typing.Any,
        electrical_energy: typing.Any,
        electrical_energy_clamped: typing.Any,
        mechanical_energy: typing.Any,
        efficiency: typing.Any,
    ) -> Status: ...

class LearningLaw:
    """
    How the friction feedforward learns.

    Members:

      fixed

      gradient

      rls
    """

    __members__: typing.ClassVar[dict[str, LearningLaw]]
    fixed: typing.ClassVar[LearningLaw]
    gradient: typing.ClassVar[LearningLaw]
    rls: typing.ClassVar[LearningLaw]
    @typing.overload
    def __eq__(self, other: LearningLaw) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool: ...
    def __getstate__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    @typing.overload
    def __ne__(self, other: LearningLaw) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __str__(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class FreezeReason:
    """
    Why learning rests; bits.

    Members:

      contact

      saturation

      payload

      thermal

      asked
    """

    __members__: typing.ClassVar[dict[str, FreezeReason]]
    asked: typing.ClassVar[FreezeReason]
    contact: typing.ClassVar[FreezeReason]
    payload: typing.ClassVar[FreezeReason]
    saturation: typing.ClassVar[FreezeReason]
    thermal: typing.ClassVar[FreezeReason]
    @typing.overload
    def __and__(self, other: FreezeReason) -> int: ...
    @typing.overload
    def __and__(self, other: typing.SupportsInt | typing.SupportsIndex) -> int: ...
    @typing.overload
    def __eq__(self, other: FreezeReason) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.SupportsInt | typing.SupportsIndex) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool: ...
    @typing.overload
    def __ge__(self, other: FreezeReason) -> bool: ...
    @typing.overload
    def __ge__(self, other: typing.SupportsInt | typing.SupportsIndex) -> bool: ...
    def __getstate__(self) -> int: ...
    @typing.overload
    def __gt__(self, other: FreezeReason) -> bool: ...
    @typing.overload
    def __gt__(self, other: typing.SupportsInt | typing.SupportsIndex) -> bool: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    def __invert__(self) -> typing.Any: ...
    @typing.overload
    def __le__(self, other: FreezeReason) -> bool: ...
    @typing.overload
    def __le__(self, other: typing.SupportsInt | typing.SupportsIndex) -> bool: ...
    @typing.overload
    def __lt__(self, other: FreezeReason) -> bool: ...
    @typing.overload
    def __lt__(self, other: typing.SupportsInt | typing.SupportsIndex) -> bool: ...
    @typing.overload
    def __ne__(self, other: FreezeReason) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.SupportsInt | typing.SupportsIndex) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    @typing.overload
    def __or__(self, other: FreezeReason) -> int: ...
    @typing.overload
    def __or__(self, other: typing.SupportsInt | typing.SupportsIndex) -> int: ...
    @typing.overload
    def __rand__(self, other: FreezeReason) -> int: ...
    @typing.overload
    def __rand__(self, other: typing.SupportsInt | typing.SupportsIndex) -> int: ...
    def __repr__(self) -> str: ...
    @typing.overload
    def __ror__(self, other: FreezeReason) -> int: ...
    @typing.overload
    def __ror__(self, other: typing.SupportsInt | typing.SupportsIndex) -> int: ...
    @typing.overload
    def __rxor__(self, other: FreezeReason) -> int: ...
    @typing.overload
    def __rxor__(self, other: typing.SupportsInt | typing.SupportsIndex) -> int: ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __str__(self) -> str: ...
    @typing.overload
    def __xor__(self, other: FreezeReason) -> int: ...
    @typing.overload
    def __xor__(self, other: typing.SupportsInt | typing.SupportsIndex) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class FrictionFeedforward:
    """
    Friction feedforward that learns [Madsen2020 ch6].
    """
    def __init__(
        self,
        chain: Chain,
        model: EGms,
        adaptive: AdaptiveParameters,
        *,
        rotor_inertia: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        contact_margin: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        law: LearningLaw = LearningLaw.gradient,
        memory: bool = True,
        rate: typing.SupportsFloat | typing.SupportsIndex = 500.0,
        window: typing.SupportsInt | typing.SupportsIndex = 51,
        rls_time: typing.SupportsFloat | typing.SupportsIndex = 20.0,
        contact_time: typing.SupportsFloat | typing.SupportsIndex = 0.01,
        hold: typing.SupportsFloat | typing.SupportsIndex = 0.5,
        thermal_rate: typing.SupportsFloat | typing.SupportsIndex = 0.05,
    ) -> None: ...
    def ask_freeze(self, on: bool) -> None: ...
    def contact_seen(self) -> None: ...
    def learn(
        self,
        stamp_ns: typing.SupportsInt | typing.SupportsIndex,
        q: numpy.typing.NDArray[numpy.float64],
        tau: numpy.typing.NDArray[numpy.float64],
        temperature: typing.Any | None = None,
        saturated: bool = False,
    ) -> Status: ...
    def payload_changed(self) -> None: ...
    def predict(
        self,
        stamp_ns: typing.SupportsInt | typing.SupportsIndex,
        q_d: numpy.typing.NDArray[numpy.float64],
        qd_d: numpy.typing.NDArray[numpy.float64],
        tau_d: numpy.typing.NDArray[numpy.float64],
        temperature: typing.Any | None = None,
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def reset(self) -> None: ...
    def restart(self) -> None: ...
    def restore(
        self, coulomb: numpy.typing.NDArray[numpy.float64], viscous: numpy.typing.NDArray[numpy.float64]
    ) -> bool: ...
    @property
    def coulomb(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def delay(self) -> int: ...
    @property
    def frozen(self) -> int: ...
    @property
    def measure(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def n_joints(self) -> int: ...
    @property
    def regressor(self) -> numpy.typing.NDArray[numpy.float64]: ...
    @property
    def viscous(self) -> numpy.typing.NDArray[numpy.float64]: ...

class TorqueMode:
    """
    What the torque loop does with a state.

    Members:

      rest

      track

      guide

      external
    """

    __members__: typing.ClassVar[dict[str, TorqueMode]]
    external: typing.ClassVar[TorqueMode]
    guide: typing.ClassVar[TorqueMode]
    rest: typing.ClassVar[TorqueMode]
    track: typing.ClassVar[TorqueMode]
    @typing.overload
    def __eq__(self, other: TorqueMode) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool: ...
    def __getstate__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    @typing.overload
    def __ne__(self, other: TorqueMode) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __str__(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class EnableResult:
    """
    Result of an enable request.

    Members:

      pending

      done

      latched

      no_state

      start_mismatch

      not_smooth

      ramping

      stopped

      no_program

      withdrawn
    """

    __members__: typing.ClassVar[dict[str, EnableResult]]
    done: typing.ClassVar[EnableResult]
    latched: typing.ClassVar[EnableResult]
    no_program: typing.ClassVar[EnableResult]
    no_state: typing.ClassVar[EnableResult]
    not_smooth: typing.ClassVar[EnableResult]
    pending: typing.ClassVar[EnableResult]
    ramping: typing.ClassVar[EnableResult]
    start_mismatch: typing.ClassVar[EnableResult]
    stopped: typing.ClassVar[EnableResult]
    withdrawn: typing.ClassVar[EnableResult]
    @typing.overload
    def __eq__(self, other: EnableResult) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool: ...
    def __getstate__(self) -> int: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    @typing.overload
    def __ne__(self, other: EnableResult) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __str__(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class TorqueTrajectory:
    """
    q, qd, qdd, maybe jerk and snap (N, n) at a rate.
    """
    def __init__(
        self,
        q: numpy.typing.NDArray[numpy.float64],
        qd: numpy.typing.NDArray[numpy.float64],
        qdd: numpy.typing.NDArray[numpy.float64],
        rate: typing.SupportsFloat | typing.SupportsIndex = 500.0,
        periodic: bool = False,
        jerk: typing.Any | None = None,
        snap: typing.Any | None = None,
    ) -> None: ...
    def __len__(self) -> int: ...

class TorqueLoop:
    """
    State -> learning friction -> controller -> guard -> torque.
    """
    def __init__(
        self,
        tracking: ComputedTorque,
        guiding: HandGuiding,
        friction: FrictionFeedforward,
        limits: GuardLimits,
        *,
        time_scale: typing.SupportsFloat | typing.SupportsIndex = 1.0,
        ring: typing.SupportsInt | typing.SupportsIndex = 4096,
        source: JointTorqueSource = JointTorqueSource.none,
        a1: typing.Any | None = None,
        a2: typing.Any | None = None,
        damping: typing.Any | None = None,
        feedback: JointTorqueFeedback | None = None,
        kinematic_error: PeriodicTable | None = None,
        flexible: FlexibleFeedforward | None = None,
    ) -> None: ...
    def command(
        self,
        stamp_ns: typing.SupportsInt | typing.SupportsIndex,
        torque: numpy.typing.NDArray[numpy.float64],
        includes_gravity: bool,
        link_side: bool,
    ) -> bool: ...
    def contact(self) -> bool: ...
    def count(self, reason: GuardReason) -> int: ...
    def cycle(
        self,
        stamp_ns: typing.SupportsInt | typing.SupportsIndex,
        steady_ns: typing.SupportsInt | typing.SupportsIndex,
        q: numpy.typing.NDArray[numpy.float64],
        qd: numpy.typing.NDArray[numpy.float64],
        tau: typing.Any | None = None,
        temperature: typing.Any | None = None,
        *,
        payload: typing.SupportsFloat | typing.SupportsIndex = ...,
        stopped: bool = False,
        gap: bool = False,
        backwards: bool = False,
        program: bool = True,
        theta: typing.Any | None = None,
        omega: typing.Any | None = None,
        joint_torque: typing.Any | None = None,
    ) -> dict: ...
    def disable(self) -> None: ...
    def enable(self, mode: TorqueMode, trajectory: TorqueTrajectory | None = None) -> bool: ...
    def freeze(self, on: bool) -> bool: ...
    def idle(self, steady_ns: typing.SupportsInt | typing.SupportsIndex) -> dict: ...
    def lost(self) -> None: ...
    def pop(self) -> typing.Any: ...
    def rearm(self) -> bool: ...
    def refresh(self) -> bool: ...
    def restore(
        self, coulomb: numpy.typing.NDArray[numpy.float64], viscous: numpy.typing.NDArray[numpy.float64]
    ) -> bool: ...
    def run(
        self,
        stamp_ns: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
        q: numpy.typing.NDArray[numpy.float64],
        qd: numpy.typing.NDArray[numpy.float64],
        tau: numpy.typing.NDArray[numpy.float64],
    ) -> numpy.typing.NDArray[numpy.float64]: ...
    def trip(self, reason: GuardReason) -> None: ...
    @property
    def cycles(self) -> int: ...
    @property
    def enabled(self) -> EnableResult: ...
    @property
    def finished(self) -> bool: ...
    @property
    def lost_records(self) -> int: ...
    @property
    def n_joints(self) -> int: ...
    @property
    def reason(self) -> GuardReason: ...
    @property
    def state(self) -> GuardState: ...

class LinkFlag:
    """
    What is special about one state sent to a torque link; bits.

    Members:

      stopped

      gap

      backwards

      effort
    """

    __members__: typing.ClassVar[dict[str, LinkFlag]]
    backwards: typing.ClassVar[LinkFlag]
    effort: typing.ClassVar[LinkFlag]
    gap: typing.ClassVar[LinkFlag]
    stopped: typing.ClassVar[LinkFlag]
    @typing.overload
    def __and__(self, other: LinkFlag) -> int: ...
    @typing.overload
    def __and__(self, other: typing.SupportsInt | typing.SupportsIndex) -> int: ...
    @typing.overload
    def __eq__(self, other: LinkFlag) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.SupportsInt | typing.SupportsIndex) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool: ...
    @typing.overload
    def __ge__(self, other: LinkFlag) -> bool: ...
    @typing.overload
    def __ge__(self, other: typing.SupportsInt | typing.SupportsIndex) -> bool: ...
    def __getstate__(self) -> int: ...
    @typing.overload
    def __gt__(self, other: LinkFlag) -> bool: ...
    @typing.overload
    def __gt__(self, other: typing.SupportsInt | typing.SupportsIndex) -> bool: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    def __invert__(self) -> typing.Any: ...
    @typing.overload
    def __le__(self, other: LinkFlag) -> bool: ...
    @typing.overload
    def __le__(self, other: typing.SupportsInt | typing.SupportsIndex) -> bool: ...
    @typing.overload
    def __lt__(self, other: LinkFlag) -> bool: ...
    @typing.overload
    def __lt__(self, other: typing.SupportsInt | typing.SupportsIndex) -> bool: ...
    @typing.overload
    def __ne__(self, other: LinkFlag) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.SupportsInt | typing.SupportsIndex) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    @typing.overload
    def __or__(self, other: LinkFlag) -> int: ...
    @typing.overload
    def __or__(self, other: typing.SupportsInt | typing.SupportsIndex) -> int: ...
    @typing.overload
    def __rand__(self, other: LinkFlag) -> int: ...
    @typing.overload
    def __rand__(self, other: typing.SupportsInt | typing.SupportsIndex) -> int: ...
    def __repr__(self) -> str: ...
    @typing.overload
    def __ror__(self, other: LinkFlag) -> int: ...
    @typing.overload
    def __ror__(self, other: typing.SupportsInt | typing.SupportsIndex) -> int: ...
    @typing.overload
    def __rxor__(self, other: LinkFlag) -> int: ...
    @typing.overload
    def __rxor__(self, other: typing.SupportsInt | typing.SupportsIndex) -> int: ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __str__(self) -> str: ...
    @typing.overload
    def __xor__(self, other: LinkFlag) -> int: ...
    @typing.overload
    def __xor__(self, other: typing.SupportsInt | typing.SupportsIndex) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class TorqueLink:
    """
    Torque loop that answers states arriving on a socket, in its own thread.
    """
    def __init__(
        self,
        loop: TorqueLoop,
        socket: typing.SupportsInt | typing.SupportsIndex,
        *,
        follow_host_clock: bool = True,
        realtime_priority: typing.SupportsInt | typing.SupportsIndex = 0,
    ) -> None: ...
    def stop(self) -> None: ...
    @property
    def alive(self) -> bool: ...
    @property
    def malformed(self) -> int: ...
    @property
    def realtime(self) -> bool: ...
    @property
    def unsent(self) -> int: ...

class RtdeConnectionError(ConnectionError):
    pass

class StreamState:
    """
    How far the robot's state stream can be trusted.

    Members:

      ok

      degraded

      safe

      fault
    """

    __members__: typing.ClassVar[dict[str, StreamState]]
    degraded: typing.ClassVar[StreamState]
    fault: typing.ClassVar[StreamState]
    ok: typing.ClassVar[StreamState]
    safe: typing.ClassVar[StreamState]
    @typing.overload
    def __eq__(self, other: StreamState) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool: ...
    @typing.overload
    def __ge__(self, other: StreamState) -> bool: ...
    @typing.overload
    def __ge__(self, other: typing.Any) -> None: ...
    def __getstate__(self) -> int: ...
    @typing.overload
    def __gt__(self, other: StreamState) -> bool: ...
    @typing.overload
    def __gt__(self, other: typing.Any) -> None: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    @typing.overload
    def __le__(self, other: StreamState) -> bool: ...
    @typing.overload
    def __le__(self, other: typing.Any) -> None: ...
    @typing.overload
    def __lt__(self, other: StreamState) -> bool: ...
    @typing.overload
    def __lt__(self, other: typing.Any) -> None: ...
    @typing.overload
    def __ne__(self, other: StreamState) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    def __repr__(self) -> str: ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __str__(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class SampleFlag:
    """
    What is special about one received sample.

    Members:

      first_after_connect

      frozen

      clock_backwards

      late
    """

    __members__: typing.ClassVar[dict[str, SampleFlag]]
    clock_backwards: typing.ClassVar[SampleFlag]
    first_after_connect: typing.ClassVar[SampleFlag]
    frozen: typing.ClassVar[SampleFlag]
    late: typing.ClassVar[SampleFlag]
    @typing.overload
    def __and__(self, other: SampleFlag) -> int: ...
    @typing.overload
    def __and__(self, other: typing.SupportsInt | typing.SupportsIndex) -> int: ...
    @typing.overload
    def __eq__(self, other: SampleFlag) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.SupportsInt | typing.SupportsIndex) -> bool: ...
    @typing.overload
    def __eq__(self, other: typing.Any) -> bool: ...
    @typing.overload
    def __ge__(self, other: SampleFlag) -> bool: ...
    @typing.overload
    def __ge__(self, other: typing.SupportsInt | typing.SupportsIndex) -> bool: ...
    def __getstate__(self) -> int: ...
    @typing.overload
    def __gt__(self, other: SampleFlag) -> bool: ...
    @typing.overload
    def __gt__(self, other: typing.SupportsInt | typing.SupportsIndex) -> bool: ...
    def __hash__(self) -> int: ...
    def __index__(self) -> int: ...
    def __init__(self, value: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __int__(self) -> int: ...
    def __invert__(self) -> typing.Any: ...
    @typing.overload
    def __le__(self, other: SampleFlag) -> bool: ...
    @typing.overload
    def __le__(self, other: typing.SupportsInt | typing.SupportsIndex) -> bool: ...
    @typing.overload
    def __lt__(self, other: SampleFlag) -> bool: ...
    @typing.overload
    def __lt__(self, other: typing.SupportsInt | typing.SupportsIndex) -> bool: ...
    @typing.overload
    def __ne__(self, other: SampleFlag) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.SupportsInt | typing.SupportsIndex) -> bool: ...
    @typing.overload
    def __ne__(self, other: typing.Any) -> bool: ...
    @typing.overload
    def __or__(self, other: SampleFlag) -> int: ...
    @typing.overload
    def __or__(self, other: typing.SupportsInt | typing.SupportsIndex) -> int: ...
    @typing.overload
    def __rand__(self, other: SampleFlag) -> int: ...
    @typing.overload
    def __rand__(self, other: typing.SupportsInt | typing.SupportsIndex) -> int: ...
    def __repr__(self) -> str: ...
    @typing.overload
    def __ror__(self, other: SampleFlag) -> int: ...
    @typing.overload
    def __ror__(self, other: typing.SupportsInt | typing.SupportsIndex) -> int: ...
    @typing.overload
    def __rxor__(self, other: SampleFlag) -> int: ...
    @typing.overload
    def __rxor__(self, other: typing.SupportsInt | typing.SupportsIndex) -> int: ...
    def __setstate__(self, state: typing.SupportsInt | typing.SupportsIndex) -> None: ...
    def __str__(self) -> str: ...
    @typing.overload
    def __xor__(self, other: SampleFlag) -> int: ...
    @typing.overload
    def __xor__(self, other: typing.SupportsInt | typing.SupportsIndex) -> int: ...
    @property
    def name(self) -> str: ...
    @property
    def value(self) -> int: ...

class StreamMonitor:
    """
    The rules that judge a state stream, with the clock as argument.
    """
    def __init__(
        self,
        rate: typing.SupportsFloat | typing.SupportsIndex = 500.0,
        degraded_gap: typing.SupportsFloat | typing.SupportsIndex = 0.02,
        safe_gap: typing.SupportsFloat | typing.SupportsIndex = 0.04,
        frozen_repeats: typing.SupportsInt | typing.SupportsIndex = 10,
        bad_samples: typing.SupportsInt | typing.SupportsIndex = 3,
    ) -> None: ...
    def accept(
        self,
        values: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        now_ns: typing.SupportsInt | typing.SupportsIndex,
    ) -> typing.Any: ...
    def condition(self, now_ns: typing.SupportsInt | typing.SupportsIndex) -> StreamState: ...
    def judge(
        self,
        time: typing.SupportsFloat | typing.SupportsIndex,
        measured: numpy.typing.NDArray[numpy.float64],
        moving: bool,
        safety_mode: typing.SupportsInt | typing.SupportsIndex,
        now_ns: typing.SupportsInt | typing.SupportsIndex,
    ) -> typing.Any:
        """
        (flags, missed) of a sample of any robot, None: drop it; time [s] by its own clock.
        """
    def latched(self, now_ns: typing.SupportsInt | typing.SupportsIndex) -> StreamState: ...
    def rearm(self) -> None: ...
    def restart(self) -> None: ...
    def set_connected(self, connected: bool) -> None: ...
    @property
    def counts(self) -> dict: ...

class ClockMap:
    """
    Controller time to host time by the least delayed package.
    """
    def __init__(self, follow: bool = True) -> None: ...
    def anchor(self) -> None: ...
    def observe(
        self,
        controller_ns: typing.SupportsInt | typing.SupportsIndex,
        receive_ns: typing.SupportsInt | typing.SupportsIndex,
    ) -> bool: ...
    def stamp(self, controller_ns: typing.SupportsInt | typing.SupportsIndex) -> int: ...
    @property
    def reanchored(self) -> bool: ...

class RtdeReader:
    """
    RTDE state reader with a receiving thread of its own.
    """
    def __init__(
        self,
        *,
        host: str,
        port: typing.SupportsInt | typing.SupportsIndex = 30004,
        rate: typing.SupportsFloat | typing.SupportsIndex = 500.0,
        timeout: typing.SupportsFloat | typing.SupportsIndex = 2.0,
        minimum_major: typing.SupportsInt | typing.SupportsIndex = 3,
        degraded_gap: typing.SupportsFloat | typing.SupportsIndex = 0.02,
        safe_gap: typing.SupportsFloat | typing.SupportsIndex = 0.04,
        frozen_repeats: typing.SupportsInt | typing.SupportsIndex = 10,
        ring: typing.SupportsInt | typing.SupportsIndex = 8192,
        silence: typing.SupportsFloat | typing.SupportsIndex = 2.5,
        follow_host_clock: bool = True,
        realtime_priority: typing.SupportsInt | typing.SupportsIndex = 0,
        torque_inputs: bool = False,
    ) -> None: ...
    def pop(self, values: numpy.typing.NDArray[numpy.float64], meta: numpy.typing.NDArray[numpy.int64]) -> bool: ...
    def rearm(self) -> None: ...
    def set_torque_loop(self, loop: TorqueLoop, torque_constant: numpy.typing.NDArray[numpy.float64]) -> None: ...
    def start(self) -> None: ...
    def statistics(self) -> dict: ...
    def stop(self) -> None: ...
    def wait(self, timeout: typing.SupportsFloat | typing.SupportsIndex) -> bool: ...
    @property
    def available(self) -> list[str]: ...
    @property
    def condition(self) -> StreamState: ...
    @property
    def connected(self) -> bool: ...
    @property
    def last_error(self) -> str: ...
    @property
    def latched(self) -> StreamState: ...
    @property
    def rate(self) -> float: ...
    @property
    def realtime(self) -> bool: ...
    @property
    def realtime_text(self) -> str: ...
    @property
    def silence(self) -> float: ...
    @property
    def version(self) -> tuple: ...

class EstimatorCycle:
    """
    All estimators on one sample after the other, for benchmarks.
    """
    def __init__(
        self, chain: Chain, gms: Gms, window: typing.SupportsInt | typing.SupportsIndex = 51, covariance: bool = False
    ) -> None: ...
    def run(
        self,
        step_ns: typing.SupportsInt | typing.SupportsIndex,
        q: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        tau: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        theta: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
        out: typing.Annotated[numpy.typing.ArrayLike, numpy.float64] | None = None,
    ) -> numpy.typing.NDArray[numpy.float64]:
        """
        Wrenches (N, 6).
        """

def available_isas() -> list[str]:
    """
    Instruction sets this machine can run, narrowest first.
    """

def friction_parameters(law: str) -> list[str]: ...
def generalised_momentum(
    chain: Chain, q: typing.Any, qd: typing.Any
) -> tuple[numpy.typing.NDArray[numpy.float64], numpy.typing.NDArray[numpy.float64]]:
    """
    p = M qd and C' qd (n), (n).
    """

def gms_spacing(
    elements: typing.SupportsInt | typing.SupportsIndex,
    r_D: typing.SupportsFloat | typing.SupportsIndex = 4.0,
    r_k: typing.SupportsFloat | typing.SupportsIndex = 2.0,
) -> tuple: ...
def heat_balance(
    heat: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    stamp_ns: typing.Annotated[numpy.typing.ArrayLike, numpy.int64],
    base: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    stribeck: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    factors: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    ambient: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    T: typing.SupportsFloat | typing.SupportsIndex,
    Th: typing.SupportsFloat | typing.SupportsIndex,
) -> numpy.typing.NDArray[numpy.float64]: ...
def invert_wrench(chain: Chain, q: typing.Any, tau: typing.Any, std: typing.Any, **kwargs) -> tuple:
    """
    Wrench (6), covariance (6, 6) and smallest singular value of joint torques tau with standard deviations std.
    """

def isa() -> str:
    """
    Instruction set of the kernels in use.
    """

def joint_torque(
    a1: typing.SupportsFloat | typing.SupportsIndex,
    a2: typing.SupportsFloat | typing.SupportsIndex,
    damping: typing.SupportsFloat | typing.SupportsIndex,
    phi: typing.SupportsFloat | typing.SupportsIndex,
    phid: typing.SupportsFloat | typing.SupportsIndex,
) -> float:
    """
    tau_J = (a1 + a2 phi^2) phi + D phid, Nm.
    """

def lock_memory() -> tuple[bool, str]:
    """
    Keep all pages in memory (mlockall): whether it was permitted, and in words.
    """

def multiply_add(operations: typing.SupportsFloat | typing.SupportsIndex) -> float:
    """
    This many operations in independent multiply-adds of the instruction set in use: the machine's peak.
    """

def presliding_elements(
    theta: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    span: typing.Annotated[numpy.typing.ArrayLike, numpy.float64],
    start: typing.Annotated[numpy.typing.ArrayLike, numpy.bool],
) -> numpy.typing.NDArray[numpy.float64]:
    """
    H_k (N, elements) of Maxwell-slip elements of spans (elements,) [rad].
    """

def repeat_rnea(
    chain: Chain, q: typing.Any, qd: typing.Any, qdd: typing.Any, out: typing.Any | None = None
) -> typing.Any:
    """
    rnea of one sample, called N times.
    """

def rnea_operations(chain: Chain) -> int:
    """
    Additions and multiplications of one batched sample.
    """

def savitzky_golay_weights(
    window: typing.SupportsInt | typing.SupportsIndex, order: typing.SupportsInt | typing.SupportsIndex
) -> list[float]:
    """
    Centre weights of a least-squares polynomial over `window` samples.
    """

def select_isa(name: str) -> None:
    """
    Use the kernels of this instruction set from now on.
    """

RTDE_LAYOUT: dict = {
    "timestamp": (0, 1),
    "actual_q": (1, 6),
    "actual_qd": (7, 6),
    "actual_current": (13, 6),
    "target_q": (19, 6),
    "target_qd": (25, 6),
    "target_qdd": (31, 6),
    "target_moment": (37, 6),
    "target_current": (43, 6),
    "joint_temperatures": (49, 6),
    "robot_mode": (55, 1),
    "safety_mode": (56, 1),
    "runtime_state": (57, 1),
    "speed_scaling": (58, 1),
    "robot_status_bits": (59, 1),
    "safety_status_bits": (60, 1),
    "actual_TCP_force": (61, 6),
    "actual_joint_voltage": (67, 6),
    "actual_robot_voltage": (73, 1),
    "actual_robot_current": (74, 1),
    "payload": (75, 1),
    "payload_cog": (76, 3),
    "payload_inertia": (79, 6),
    "ft_raw_wrench": (85, 6),
    "actual_current_as_torque": (91, 6),
}
RTDE_WIDTH: int = 97
friction_laws: list = ["viscous_coulomb", "liu", "luo", "luo_load", "clochiatti", "simoni", "madsen", "lugre"]
