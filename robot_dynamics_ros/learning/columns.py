"""The columns that recordings of one robot are folded into: base parameters and the linear numbers of a friction law.

tau_j = W_j beta + sum_k (c_k + d_k g + (l_k + e_k g) L) H_k(q) + fv1 v + fv2 |v|v + fv0 v/(1 + |v|/v0)
        + (T - T0) (tc median_k H_k + tv v) + fo + B qdd
g = 1/(1 + (v/vs)^2), L = min(|tau_J|, limit)^p, T0 = 35 deg C; without a temperature T = T0. The presliding law of a
robot file [Madsen2020 ch4 35-37] with levels C_k, loads K_k and sliding ratio r is the case c = r C, d = (1 - r) C,
l = r K, e = (1 - r) K. Spans, vs, p and v0 are those of the first robot file and stay, so that triangles of any day and
of any robot of the model, can be stacked.
"""

from __future__ import annotations

import hashlib
import json
from functools import cached_property

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.identification.arm.friction_columns import JointFriction, Shape
from robot_dynamics_ros.identification.arm.friction_samples import bearing_element, friction_of
from robot_dynamics_ros.identification.arm.model import signals_of
from robot_dynamics_ros.identification.arm.rigid import RigidModel, base_names
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.models.friction import FrictionModel
from robot_dynamics_ros.models.hysteresis import presliding_motors
from robot_dynamics_ros.models.sliding_friction import typical_load
from robot_dynamics_ros.robot_file import RobotFile

STRIBECK_VELOCITY = 0.1  # rad/s, of a robot file without presliding
LOAD_LIMIT = 1.5  # times the torque limit
GROUPS = ("h", "hg", "hl", "hgl")  # level, its Stribeck part, load, its Stribeck part
VISCOUS = ("fv1", "fv2", "fv0")
PLAIN = (*VISCOUS, "tc", "tv", "fo", "ia")
WARM = 35.0  # deg C, T0: of a joint at work
UNUSED = "share", "bearing"  # of a Shape: no column depends on them
LAYOUT = 4  # changes when the meaning of a column changes


class Columns:
    """Columns of a robot by name, and their values on a motion.

    base b, terms k_j per joint: global parameters are the b base parameters, then joint 1's terms, joint 2's, ...
    Raises CapabilityError for a robot without link parameters, which the load of a gear needs.
    """

    def __init__(self, robot: RobotFile) -> None:
        self.robot = robot
        gravity = None if robot.drives.effort.includes_gravity else np.zeros(3)
        self.rigid = RigidModel(robot, gravity)
        self.body = RobotModel(robot.chain(), robot.joint_names).with_gravity(self.rigid.gravity)
        self.motor_side = robot.drives.torque_side == "motor"
        self.shapes = [shape_of(robot, j) for j in range(robot.n_joints)]
        self.laws = [self._law(shape) for shape in self.shapes]
        self.n, self.base = robot.n_joints, self.rigid.base.size

    def __reduce__(self) -> tuple[type[Columns], tuple[RobotFile]]:
        """To another process goes the robot file: models of the core stay in theirs."""
        return Columns, (self.robot,)

    def _law(self, shape: Shape) -> JointFriction:
        """Columns of a joint; behind the gear the effort does not hold the rotor."""
        own = (*(f"{g}@{k}" for g in GROUPS for k in range(len(shape.spans))), *PLAIN)
        return JointFriction(own if self.motor_side else own[:-1], shape)

    @property
    def terms(self) -> list[tuple[str, ...]]:
        """Names of every joint's own columns."""
        return [law.terms for law in self.laws]

    @cached_property
    def names(self) -> list[str]:
        """All p parameters: base parameters, then "joint: term"."""
        own = [f"{name}: {t}" for name, terms in zip(self.robot.joint_names, self.terms, strict=True) for t in terms]
        return [*base_names(self.rigid.base), *own]

    @property
    def size(self) -> int:
        """Number of parameters p."""
        return len(self.names)

    def own(self, j: int) -> slice:
        """Places of joint j's own terms among all parameters."""
        first = self.base + sum(len(t) for t in self.terms[:j])
        return slice(first, first + len(self.terms[j]))

    def place(self, j: int, term: str) -> int:
        """Place of one term of joint j among all parameters."""
        return self.own(j).start + self.terms[j].index(term)

    @cached_property
    def index(self) -> list[np.ndarray]:
        """Parameters (k_j,) of the columns of every joint's triangle."""
        qr = self.qr()
        return [np.array(qr.parameters_of(j)) for j in range(self.n)]

    def wide(self, j: int, rows: np.ndarray) -> np.ndarray:
        """Rows (m, p + 1) of all parameters and a target, from rows (m, k_j + 1) of joint j's triangle."""
        out = np.zeros((len(rows), self.size + 1))
        out[:, self.index[j]], out[:, -1] = rows[:, :-1], rows[:, -1]
        return out

    @cached_property
    def typical_load(self) -> np.ndarray:
        """Torque (n,) [Nm] at which a gear's friction over its load is stated."""
        return typical_load(self.robot) * self.robot.drives.effort.includes_gravity

    @cached_property
    def robot_id(self) -> str:
        """What triangles of one model share: 16 hexadecimal digits of kinematics and columns.

        Angles and lengths count to 1e-6, so that a calibrated tool or a rounded angle makes no other robot.
        """
        rows = [np.round(self.robot._placements(), 6).ravel().tolist(), np.round(self.rigid.gravity, 4).tolist()]
        shapes = [{name: x for name, x in vars(shape).items() if name not in UNUSED} for shape in self.shapes]
        text = json.dumps([LAYOUT, self.robot.joint_names, rows, self.names, shapes, self.motor_side])
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def qr(self) -> _core.FusedQR:
        """An empty triangle of every joint."""
        columns = self.rigid.base.independent.tolist()
        return _core.FusedQR(self.rigid.model.chain, columns, [len(t) for t in self.terms])

    def load(self, motion: Motion) -> np.ndarray:
        """Torque (N, n) [Nm] of the links and the payload of the robot file, which load-dependent columns take."""
        return self.body.rnea(motion.q, motion.qd, motion.qdd)

    def known_torque(self, motion: Motion) -> np.ndarray:
        """Torque (N, n) [Nm] in the effort and in no column: payload, coupled motors with their rotors, bearings."""
        out = np.zeros_like(motion.q)
        if self.robot.payload.mass > 0:
            links = self.rigid.torque(self.robot.inertial_parameters, motion.q, motion.qd, motion.qdd)
            out += self.load(motion) - links
        return out + self._of_motors(motion) + motion.qdd @ self.robot.coupled_inertia

    def _of_motors(self, motion: Motion) -> np.ndarray:
        """Friction (N, n) [Nm] of bearings, and of motors that turn with two joints by the live friction stage."""
        stage = _core.FrictionStage(FrictionModel.none(self.n).core, **presliding_motors(self.robot))
        out = friction_of(stage, motion, None)
        level, span = (self.robot.array_or(f"hysteresis.parameters.bearing{x}", 0.0) for x in ("", "_span"))
        for j in np.flatnonzero(level):
            out[:, j] += level[j] * bearing_element(motion.position[:, j], span[j], motion.start)
        return out

    def friction(self, motion: Motion, load: np.ndarray, warmer: np.ndarray | None = None) -> list[np.ndarray]:
        """Own columns (N, k_j) of every joint; load (N, n) [Nm], warmer (N, n): T - T0 [K]."""
        joints = signals_of(motion, load)
        for j, signals in enumerate(joints):
            signals.warmer = 0.0 if warmer is None else warmer[:, j]
        return [signals.matrix(law) for signals, law in zip(joints, self.laws, strict=True)]


def shape_of(robot: RobotFile, j: int) -> Shape:
    """Shape of joint j: of the robot file's presliding law where it has one, else the defaults."""
    limit = LOAD_LIMIT * float(robot.array_or("limits.torque", 1e3)[j])
    block = robot.presliding
    if block is None:
        return Shape(1.0, 1.0, STRIBECK_VELOCITY, load_limit=limit, rotor=robot.drives.torque_side == "motor")
    value = {name: robot.array(f"hysteresis.parameters.{name}")[j] for name in block.parameters}
    spans = tuple(float(x) for x in np.atleast_1d(value["span"]))
    vs, v0, power, limit = (float(value[k]) for k in ("stribeck_velocity", "v0", "load_power", "load_limit"))
    a, b = (float(x) for x in value.get("widening", (0.0, 0.0)))
    rotor, step = (float(value.get(name, 0.0)) for name in ("rotor_time", "dahl_step"))
    return Shape(power, 1.0, vs, limit, rotor > 0, spans, v0, (a, b), step)
