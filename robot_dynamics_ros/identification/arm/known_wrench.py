"""A measured wrench as a known input of the identification: effort = model - s J'F, s the sign of the sensor.

The sign is decided from the data. The share a of the sensor's torque that the effort takes up, effort = X x - a J'F, is
near 1 where the sensor measures environment on robot and near -1 where it measures the opposite: it is the work that
the drives save over the work that the sensor says. With the right sign rotor inertia is positive and friction
dissipates. The time offset of the sensor is the one with the smallest residual.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from robot_dynamics_ros.effort.decision import SIGNIFICANCE
from robot_dynamics_ros.effort.meaning import declared
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.arm.contact import looked_at
from robot_dynamics_ros.identification.arm.friction_columns import simple_friction
from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.identification.arm.state import Identification, note
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.identification.dataset.recording import Piece, Recording
from robot_dynamics_ros.identification.metrics import jackknife_std
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.signals.interpolation import interpolated
from robot_dynamics_ros.signals.speeds import MOVING

OFFSETS = np.arange(-0.2, 0.2001, 0.005)  # s
PARTS = 12  # stretches of time, each left out once: the spread is the deviation of the share
OWN = 0.05  # of the acceleration that the links' columns leave, from which on a rotor is identified separately
FOUND = 0.3  # share of the sensor's torque in the effort below which it is another force
WORDS = {1: "environment on robot", -1: "robot on environment"}
SIGNAL = "measured_wrench"


@dataclass(frozen=True)
class KnownWrench:
    """sign: 1 environment on robot. offset [s]: how much later the sensor is than the effort. share, std: of its torque
    in the effort. negative: joints with negative rotor inertia and with friction that creates energy, by sign.
    """

    sign: int
    offset: float
    share: float
    std: float
    negative: dict[int, tuple[int, int]]

    def reason(self) -> str:
        """What decided, as a sentence."""
        counts = {s: f"{r} rotor inertias and friction of {f} joints" for s, (r, f) in self.negative.items()}
        return (
            f"the wrench is {WORDS[self.sign]}: effort takes up {self.sign * self.share:.2f} +- {self.std:.2f} of its "
            f"work; {counts[self.sign]} come out negative, with the opposite sign {counts[-self.sign]}; the sensor is "
            f"{1e3 * self.offset:.0f} ms late"
        )


def untouched(state: Identification) -> list[Recording]:
    """The recordings as if nobody had touched the arm, by the effort that its file declares and the measured wrench:
    the meaning of the effort is judged on them. As they are without a wrench, or where it does not fit that effort.
    """
    robot, given = state.robot, declared(state.robot)
    if state.options.wrench is None or not given.has_gain(robot):
        return state.training
    gain = given.sign * given.gain(robot)
    rigid = RigidModel(robot, None if given.includes_gravity else np.zeros(3))
    model = RobotModel(robot.kinematic_chain(), robot.joint_names)
    torques = [rec.with_effort(lambda e: e / gain) for rec in state.training]
    try:
        known = known_wrench(rigid, model, torques, state.options.wrench_sign)
    except DataError:
        return state.training
    return [with_wrench(model, rec, known).with_effort(lambda e: e * gain) for rec in torques]


def use_wrench(state: Identification) -> None:
    """The torque of a measured wrench is taken off the effort; its sign and time offset come from the data.

    Raises DataError where the sign is a tie.
    """
    if state.options.wrench is None:
        return
    model = RobotModel(state.robot.kinematic_chain(), state.robot.joint_names)
    known = known_wrench(state.rigid, model, state.training, state.options.wrench_sign)
    state.change(lambda r: with_wrench(model, r, known))
    note(
        state.statements,
        known.reason(),
        "figures are of the effort without the torque of the measured wrench, for a base that stands",
    )


def known_wrench(rigid: RigidModel, model: RobotModel, recordings: Sequence[Recording], sign: int = 0) -> KnownWrench:
    """Sign and time offset of the wrench in recordings whose effort is in Nm; sign 1 or -1: as the user says.

    Raises DataError for a tie: the effort shows no such torque, or shows it with a sign that physics contradicts.
    """
    looked = looked_at(recordings)
    joined = [np.concatenate([getattr(m, k) for _, m in looked]) for k in ("q", "qd", "qdd", "effort")]
    columns = _columns(rigid, *joined[:3])
    bases = [np.linalg.qr(A)[0] for A in columns]
    J, effort = model.jacobian(joined[0]), joined[3]
    free = np.column_stack([y - Q @ (Q.T @ y) for Q, y in zip(bases, effort.T, strict=True)])
    weight = 1.0 / np.maximum(free.std(axis=0), 1e-9)
    torques = [_torque(J, looked, offset) for offset in OFFSETS]
    sums = np.array([_sums(bases, free, tau, weight).sum(axis=0) for tau in torques])
    best = int(np.argmax(sums[:, 1] ** 2 / np.maximum(sums[:, 0], 1e-30)))
    share, std = _share(_sums(bases, free, torques[best], weight))
    negative = {s: _negative(columns, joined[1], effort + s * torques[best]) for s in (1, -1)}
    found = KnownWrench(sign or (1 if share > 0 else -1), float(OFFSETS[best]), share, std, negative)
    if not sign:
        _refuse_tie(found)
    return found


def _refuse_tie(found: KnownWrench) -> None:
    hint = "check frame, point and tare of --wrench, or add sign=environment or sign=robot to it"
    if abs(found.share) < max(SIGNIFICANCE * found.std, FOUND):
        raise DataError(
            f"the sign of the wrench is a tie: effort takes up {found.share:.2f} +- {found.std:.2f} of its work; {hint}"
        )
    if sum(found.negative[found.sign]) > sum(found.negative[-found.sign]):
        raise DataError(f"the sign of the wrench is a tie: {found.reason()}; {hint}")


def with_wrench(model: RobotModel, rec: Recording, known: KnownWrench) -> Recording:
    """The recording as if nobody had touched the arm: effort + s J'F. One without a wrench is returned as it is."""
    return replace(rec, pieces=[_freed(model, piece, known) for piece in rec.pieces])


def _freed(model: RobotModel, piece: Piece, known: KnownWrench) -> Piece:
    if SIGNAL not in piece.extra:
        return piece
    J = model.jacobian(piece.q)
    torque = np.einsum("kij,ki->kj", J, interpolated(piece.t + known.offset, piece.t, piece.extra[SIGNAL]))
    extra = {k: v for k, v in piece.extra.items() if k != SIGNAL}
    return replace(piece, effort=piece.effort + known.sign * torque, extra=extra)


def _torque(J: np.ndarray, looked: Sequence[tuple[Piece, Motion]], offset: float) -> np.ndarray:
    F = np.concatenate([interpolated(motion.t + offset, piece.time, piece.extra[SIGNAL]) for piece, motion in looked])
    return np.einsum("kij,ki->kj", J, F)


def _columns(rigid: RigidModel, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> list[np.ndarray]:
    """Rigid body, then rotor inertia, Coulomb, viscous friction and offset of every joint: n times (N, b + 4)."""
    W = rigid.base_regressor(q, qd, qdd)
    found = [np.column_stack([W[j], qdd[:, j], simple_friction(v)]) for j, v in enumerate(qd.T)]
    return [A[:, np.linalg.norm(A, axis=0) > 1e-9] for A in found]


def _sums(bases: list[np.ndarray], free: np.ndarray, torque: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Per part of the time (PARTS, 2): sum c c and sum c y over joints, c = -J'F and y the effort, both beside X."""
    result = np.zeros((PARTS, 2))
    for j, Q in enumerate(bases):
        c = -torque[:, j]
        c = weight[j] * (c - Q @ (Q.T @ c))
        for k, rows in enumerate(np.array_split(np.arange(len(c)), PARTS)):
            result[k] += c[rows] @ c[rows], weight[j] * (c[rows] @ free[rows, j])
    return result


def _share(sums: np.ndarray) -> tuple[float, float]:
    """sum c y / sum c c and its deviation by leaving out one part of the time."""
    total = sums.sum(axis=0)
    left = total - sums
    shares = left[:, 1] / np.maximum(left[:, 0], 1e-30)
    return float(total[1] / max(total[0], 1e-30)), float(jackknife_std(shares))


def _negative(columns: list[np.ndarray], qd: np.ndarray, effort: np.ndarray) -> tuple[int, int]:
    """How many joints have a negative rotor inertia (where the links' inertia does not hold it) and friction that
    creates energy, of an effort without contact.
    """
    rotor = friction = 0
    for A, v, y in zip(columns, qd.T, effort.T, strict=True):
        if not (np.abs(v) > MOVING).any():  # it shows neither, and may have no columns of its own
            continue
        x, qdd = np.linalg.lstsq(A, y, rcond=1e-8)[0], A[:, -4]
        others = np.linalg.qr(np.delete(A, -4 % A.shape[1], axis=1))[0]
        own = np.linalg.norm(qdd - others @ (others.T @ qdd)) > OWN * np.linalg.norm(qdd)
        rotor += bool(own and x[-4] < 0)
        friction += bool(((A[:, -3:-1] @ x[-3:-1]) * v).sum() < 0)
    return rotor, friction
