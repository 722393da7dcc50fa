"""Joints that count otherwise than in the robot file, efforts in another order than the positions, by the masses."""

from __future__ import annotations

from itertools import combinations, product
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np
from scipy.optimize import linear_sum_assignment

from robot_dynamics_ros.effort.meaning import declared
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.models.robot_model import RobotModel

if TYPE_CHECKING:
    from robot_dynamics_ros.robot_file import RobotFile

TRAVEL = 0.1  # rad, of a joint that moves
SECONDS = 5.0  # of a recording that shows exchanged joints
# of what the named order leaves with any mount: what two exchanged joints may leave. In the right order none left
# less than 1.0 (126 recordings of 14 arms, pushed, with a payload, on a wall)
EXPLAINED = 0.6
# the same for efforts alone, of the joints that it is about, in twice the SECONDS: 0.7 in the right order (recordings
# of five arms), 0.3 in the median of exchanged ones of 30 s
OF_OTHERS = 0.5
# how a joint may count otherwise than in the robot file: sign, rad from its zero, turns of the joint before for one of
# its own. EXPLAINED holds: in the right way none left less than 0.92 (900 pieces of ten arms), of joints that carry
# weight 0.2 to 0.6; half a turn is a reversed effort, too
OTHER_WAYS = {
    "counting against its axis": (-1.0, 0.0, 0.0),
    "counting from a zero 90 deg behind its own": (1.0, np.pi / 2, 0.0),
    "counting from a zero 90 deg before its own": (1.0, -np.pi / 2, 0.0),
    "less the angle of the joint before (as J3 of a Fanuc)": (1.0, 0.0, -1.0),
    "plus the angle of the joint before": (1.0, 0.0, 1.0),
}
SAMPLES = 200  # of a recording that are compared
V0 = 0.03  # rad/s, width of the friction step


def exchanged(robot: RobotFile, time: np.ndarray, q: np.ndarray, qd: np.ndarray | None, effort: np.ndarray) -> str:
    """A sentence naming two joints which, exchanged, or one that, reversed or a right angle farther, make the links
    explain the effort, or the efforts that are of other joints; "" where there are none.

    Compared is what the torque of the links leaves of the effort, less offset, friction step, viscous term and inertia
    of each column, and in the named order less gravity and accelerations of any direction and size (another mount,
    payload, or sign).
    time (N,) [s]; q, qd, effort (N, n) [rad, rad/s, effort of the robot file].
    """
    meaning = declared(robot)
    try:
        gain = meaning.gain(robot)
        model = RobotModel(robot.chain(), robot.joint_names)
    except CapabilityError:
        return ""
    if robot.n_joints < 2 or len(time) < 2 or time[-1] - time[0] < SECONDS or not meaning.includes_gravity:
        return ""
    if np.ptp(q, axis=0).max() < TRAVEL:
        return ""
    speed = np.gradient(q, time, axis=0) if qd is None else qd
    some = np.arange(1, len(q) - 1, -(-len(q) // SAMPLES))
    a = (speed[some + 1] - speed[some - 1]) / (time[some + 1] - time[some - 1])[:, None]
    q, v = q[some], speed[some]
    torque, n = meaning.sign * effort[some] / gain, robot.n_joints
    spans = [np.linalg.qr(np.c_[np.ones(len(q)), np.tanh(v[:, j] / V0), v[:, j], a[:, j]])[0] for j in range(n)]

    def free(rest: np.ndarray) -> np.ndarray:
        return np.concatenate([rest[:, j] - span @ (span.T @ rest[:, j]) for j, span in enumerate(spans)])

    def left(way: np.ndarray, back: np.ndarray, farther: np.ndarray | float = 0.0) -> float:
        links = model.rnea(q @ way.T + farther, v @ way.T, a @ way.T)
        return float(np.linalg.norm(free(torque - links @ back)))

    def swapped(i: int, j: int) -> float:
        way = np.eye(n)
        way[[i, j]] = way[[j, i]]
        return left(way, way)

    def turned(j: int, sign: float, zero: float, before: float) -> float:
        way, farther = np.eye(n), np.zeros(n)
        way[j, max(j - 1, 0)], way[j, j], farther[j] = before, sign, zero
        return left(way, np.diag(np.diag(way)), farther)

    fall = model.with_gravity(np.zeros(3)).rnea(q, v, a)
    seen, parts = free(torque), [model.with_gravity(axis).gravity(q) for axis in np.eye(3)]
    mounts = np.column_stack([free(part) for part in (*parts, fall)])
    mounted = seen - mounts @ np.linalg.lstsq(mounts, seen, rcond=None)[0]
    usual, long = EXPLAINED * float(np.linalg.norm(mounted)), time[-1] - time[0] > 2 * SECONDS
    least, pair = min(((swapped(*pair), pair) for pair in combinations(range(n), 2)), key=itemgetter(0))
    ways = [(turned(j, *OTHER_WAYS[text]), j, text) for j, text in product(range(n), OTHER_WAYS) if long]
    turn, j, text = min(ways, key=itemgetter(0), default=(np.inf, 0, ""))
    if turn < min(least, usual):
        name = robot.joint_names[j]
        return f"the masses explain the effort only with {name} {text}: correct the numbers or the robot file"
    if least > usual:
        rest = torque[:, :, None] - model.rnea(q, v, a)[:, None]
        return _of_others(robot.joint_names, rest, spans, mounted.reshape(n, -1)) if long else ""
    names = " and ".join(robot.joint_names[j] for j in pair)
    return f"the masses explain the effort only with {names} exchanged: names in another order than the numbers"


def _of_others(names: list[str], rest: np.ndarray, spans: list[np.ndarray], named: np.ndarray) -> str:
    """The same for efforts alone that are in another order than the positions. rest (N, n, n): of each effort less the
    links of each joint, of whose span there may be more; named (n, N): what is left in the named order.
    """
    shown = [span.T @ rest[:, :, j] for j, span in enumerate(spans)]  # (term, effort) of each joint
    cost = (rest**2).sum(axis=0) - np.transpose([(x**2).sum(axis=0) for x in shown])
    columns, of = linear_sum_assignment(cost)
    moved = columns != of
    if not cost[columns, of][moved].sum() < OF_OTHERS**2 * (named[moved] ** 2).sum():
        return ""
    found = ", ".join(f"{names[i]}'s is that of {names[of[i]]}" for i in np.flatnonzero(moved))
    return f"the masses explain the efforts only in another order than the positions: {found}"
