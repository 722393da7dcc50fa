"""Joints that count otherwise than in the robot file, seen by what bodies of any mass leave of the effort."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import product

import numpy as np

from robot_dynamics_ros.effort.joint_order import OTHER_WAYS, V0
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.arm.contact import OVERRULE
from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.identification.dataset.stretches import thinned
from robot_dynamics_ros.signals.speeds import MOVING

WAYS = {text: (sign, zero) for text, (sign, zero, before) in OTHER_WAYS.items() if not before}
WAYS["counting from a zero 180 deg away"] = 1.0, np.pi
# Hz; samples that are compared at most, a minute: what friction leaves grows as work repeats itself; least of a joint
RATE, ROWS, SAMPLES = 25.0, 1500, 200
WIDE = 0.2  # rad/s, width of a second friction step
# of a way that is better than the robot file's: the logarithm of what it leaves less of each joint (RMS), times the
# seconds that the joint moves, summed; and the share that it leaves of some joint. In the right way the largest sum was
# 2.3 s (140 recordings of seven arms, half with 0.8 kg beside the axis), 3 s pushed with 40 N (48), 1 s on public logs
# of a UR3 and a UR10. The first axis of a wrist reversed: in all of 42 `excite`, in 35 of 42 minutes of moves
SURE, SMALLER = 10.0, 0.85
ALIKE = 0.1  # share between ways that may be the same: j4 half a turn off is j5 reversed at many arms
RIDGE, ROUNDS, TURNS = 1e-8, 3, 30


def refuse_turned(rigid: RigidModel, motion: Motion, name: str) -> None:
    """Raise DataError where one joint, counting otherwise, lets bodies of any mass explain far more of the effort.

    Friction is odd: it fits a turned joint as well, and the masses of a file leave more of a wrist than this does. The
    effort [Nm] of each joint has either sign. What no weight off the axis shows, as the last joint without a tool, is
    not seen. name: of the recordings.
    """
    better = {text: s for text, (s, share) in ways(rigid, motion).items() if s > SURE and share < SMALLER}
    if not better:
        return
    if own_units(rigid, motion) > max(better.values()):
        raise DataError(
            f"{name}: the efforts of the joints have different units (a percentage of each joint's rating?): name the "
            "columns [%] or A, or identify with --effort current"
        )
    likely = " or ".join(text for text, s in better.items() if s > (1.0 - ALIKE) * max(better.values()))
    raise DataError(
        f"{name}: bodies of any mass explain the effort far better with {likely}: turn this axis or move this zero in "
        f"the robot file, or correct the columns of this joint; {OVERRULE}"
    )


def ways(rigid: RigidModel, motion: Motion) -> dict[str, tuple[float, float]]:
    """By how much one joint that counts otherwise explains more, see SURE [s], and the smallest share left of a joint;
    in words that name joint and way. The bodies beyond a joint load it and those before, and the next one shows its
    zero: what is gained in others alone, as of friction that repeats itself from pick to place, is none of the way.
    """
    motion, moving, joints = _moving(rigid, motion)
    n, names = rigid.n, rigid.robot.joint_names
    if n < 2 or not len(joints) or not rigid.gravity.any():
        return {}
    count, found = moving.sum(axis=1)[joints], {}
    given = _grams(rigid, motion, joints, moving, np.ones(n), np.zeros(n))
    usual = min((_left(one, count) for one in _signed(given, range(len(joints)))), key=lambda x: float(count @ x))
    for j, (text, (sign, zero)) in product(range(n), WAYS.items()):
        way, farther = np.ones(n), np.zeros(n)
        way[j], farther[j] = sign, zero
        grams = _signed(_grams(rigid, motion, joints, moving, way, farther), np.flatnonzero(joints == j))
        gain = max((usual - _left(one, count) for one in grams), key=lambda x: float(count @ x))
        near = joints <= j + (zero != 0.0)
        if near.any():
            sums = float(count @ gain), float(count[near] @ gain[near])
            found[f"{names[j]} {text}"] = min(sums) / motion.rate, float(np.exp(-gain[near].max()))
    return found


def own_units(rigid: RigidModel, motion: Motion) -> float:
    """By how much bodies explain more where the effort of each joint has a unit of its own, see SURE [s]: turns of the
    bodies that explain the torques, and of the torques per unit.
    """
    motion, moving, joints = _moving(rigid, motion)
    count, n = moving.sum(axis=1)[joints], rigid.n
    given = _grams(rigid, motion, joints, moving, np.ones(n), np.zeros(n))
    unit, grams = np.ones(len(joints)), given
    for _ in range(TURNS):
        x = -_bodies(grams, count)[0][:-1]
        unit = (given[:, -1, :-1] @ x) / np.einsum("i,kij,j->k", x, given[:, :-1, :-1], x)
        scale = np.ones_like(given[:, 0])
        scale[:, :-1] = (unit / np.median(np.abs(unit)))[:, None]
        grams = given * scale[:, :, None] * scale[:, None, :]
    return float(count @ (_left(given, count) - _left(grams, count))) / motion.rate


def _moving(rigid: RigidModel, motion: Motion) -> tuple[Motion, np.ndarray, np.ndarray]:
    """Samples that are compared, where each joint moves (n, N), and the joints that move enough."""
    motion = thinned(motion.every(max(1, int(motion.rate / RATE))), ROWS)
    moving = np.abs(motion.qd).T > MOVING
    return motion, moving, np.flatnonzero(moving.sum(axis=1) >= SAMPLES)


def _grams(
    rigid: RigidModel, motion: Motion, joints: np.ndarray, moving: np.ndarray, way: np.ndarray, farther: np.ndarray
) -> np.ndarray:
    """Gram matrices (k, b + 1, b + 1) of base columns and effort of some joints (k,) where they move (n, N), less their
    friction and rotor, with positions `way` q + `farther`, both (n,).
    """
    W = rigid.base_regressor(motion.q * way + farther, motion.qd * way, motion.qdd * way)
    found = []
    for j in joints:
        v, a = motion.qd[moving[j], j], motion.qdd[moving[j], j]
        own = np.linalg.qr(np.c_[np.ones(len(v)), np.tanh(v / V0), np.tanh(v / WIDE), v, v * np.abs(v), a])[0]
        columns = np.c_[way[j] * W[j][moving[j]], motion.effort[moving[j], j]]
        columns -= own @ (own.T @ columns)
        found.append(columns.T @ columns)
    return np.array(found)


def _signed(grams: np.ndarray, turned: Iterable[int]) -> Iterator[np.ndarray]:
    """The same, and with the effort of each `turned` place reversed."""
    yield grams
    for k in turned:
        other = grams.copy()
        other[k, -1, :-1] *= -1
        other[k, :-1, -1] *= -1
        yield other


def _left(grams: np.ndarray, count: np.ndarray) -> np.ndarray:
    """Logarithm (k,) of the RMS that the best bodies leave of each joint."""
    return np.asarray(0.5 * np.log(_bodies(grams, count)[1]))


def _bodies(grams: np.ndarray, count: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(-x, 1) (b + 1,) of the best bodies x, and the mean square that they leave of each joint (k,), each weighted by
    what is left of it.
    """
    left = grams[:, -1, -1] / count
    for _ in range(ROUNDS):
        H = (grams / left[:, None, None]).sum(axis=0)
        size = np.sqrt(np.maximum(np.diag(H)[:-1], 1e-12))
        scaled = H[:-1, :-1] / np.outer(size, size) + RIDGE * np.eye(len(size))
        e = np.append(-np.linalg.solve(scaled, H[:-1, -1] / size) / size, 1.0)
        left = np.maximum(np.einsum("i,kij,j->k", e, grams, e) / count, 1e-12)
    return e, left
