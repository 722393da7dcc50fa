"""Direction of gravity in the base frame: a robot on a wall, a ceiling or a tilted base whose file says upright."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.effort.meaning import Meaning
from robot_dynamics_ros.identification.arm.effort_meaning import dissipation_signs, has_masses
from robot_dynamics_ros.identification.arm.friction_columns import REMEMBERING, SIMPLE, JointFriction, Shape
from robot_dynamics_ros.identification.arm.model import signals_of
from robot_dynamics_ros.identification.arm.weight import (
    BODIES,
    SAMPLES,
    Normal,
    deviation,
    explained,
    gravity_columns,
    jackknife,
    normal_equations,
    signed,
    weight_of,
)
from robot_dynamics_ros.identification.dataset.motion import Motion
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals.speeds import MOVING

STANDARD = 9.80665  # m/s2
PLAUSIBLE = (0.3, 4.0)  # estimated over standard gravity: masses may be off, units may not
EXPLAINED = 0.1  # of the variance of currents, in the sum over the joints: 0.37 and more; without gravity 0.03 at most
TILT = np.deg2rad(0.3)  # deviation of the direction at best; few joints may agree by chance
SURE = 5.0  # deviations: 0.4 % of a t distribution with the five degrees of freedom of six joints
JOINTS = 3  # that the direction is taken from at least
SOURCE = "identified_gravity"  # key of the robot file
STEEP = np.sin(np.deg2rad(15.0))  # beyond it all joints show the direction
SEEN = np.sin(np.deg2rad(3.0))  # of a tilt that the other joints tell from none: they are off by 1 to 2 degrees
CURVE = 5  # degree of the torque of a hose over the angle
PARTS = 12  # in the order of time, for the deviation of what the first joint shows
FRICTION = JointFriction((*SIMPLE, *REMEMBERING, "fs", "fv0"), Shape(1.0, 1.0, 0.1, rotor=True))
WORSE = 1.05  # squared error by a hose over that by a tilt: 1.08 and more where there is a tilt, up to 1.01 with a hose
RIDGE = 1e-7  # of columns of unit length: elements of neighbouring spans are alike

HOSE = (
    "torque of {} changes with its angle, as of a hose or of a base that leans by {:.1f} degrees, which these "
    "recordings do not tell apart: record other reaches of the arm, or measure the base and write kinematics.gravity"
)


def mounted(robot: RobotFile, motion: Motion, meaning: Meaning) -> tuple[RobotFile, str]:
    """The robot with the gravity that its effort shows, and a sentence; unchanged where the file's direction fits.

    meaning: what the effort is taken as. Of a current each joint has an effort per Nm of its own, found with the
    direction: torque constants that are 10 % off would turn it by several degrees.

    The direction is the least-squares one of all joints with the masses of the robot file and any mass at the flange,
    as of a tool that no file names. Its deviation is the jackknife over the joints (Efron & Stein 1981): their masses
    are wrong independently. Another direction than the file's must be SURE deviations from it; an axis of the base
    frame within them is taken instead. Effort of the other sign turns it round: another direction is only taken with
    the sign that each joint's dissipation shows.

    A slight tilt, which wrong masses hide from that, is seen by the first joint of an upright or hanging robot.
    """
    declared = robot.gravity
    size = float(np.linalg.norm(declared))
    if size < 1e-6 or not has_masses(robot):
        return robot, ""
    free = meaning.unit == "A"
    columns, friction = gravity_columns(robot, motion), _friction(motion)  # (n, N, 1 + 3 BODIES), n of (N, k)
    equations = normal_equations(motion, columns, friction)
    found = _another(signed(equations, np.full(motion.n, float(robot.drives.effort.sign))), declared / size, free)
    signs = _signs(robot, motion, columns)
    joints = signed(equations, signs)
    found = found and _another(joints, declared / size, free)
    if found is None and meaning.has_gain(robot):
        torque = (signs * motion.effort / meaning.gain(robot))[:, 0]
        leaning = _leaning(motion, _loaded(columns[0], joints, free), friction[0], torque, declared / size)
        if leaning and not leaning[1] and not _agree(joints[1:], leaning[0], declared / size, free):
            angle = np.rad2deg(np.arccos(leaning[0] @ declared / size))
            return robot, HOSE.format(robot.joint_names[0], angle)
        found = leaning and (leaning[0], 1.0)
    if found is None:
        return robot, ""
    return acting(robot, *found)


def acting(robot: RobotFile, direction: np.ndarray, same: float) -> tuple[RobotFile, str]:
    """The robot in gravity along a direction (3,), or along the axis of the base frame that it may be, and a sentence;
    unchanged where the file's direction may be that one. same: the cosine between directions that may be one.
    """
    if direction @ robot.gravity >= same * np.linalg.norm(robot.gravity):
        return robot, ""
    axis = np.eye(3)[np.argmax(np.abs(direction))] * np.sign(direction[np.argmax(np.abs(direction))])
    direction = axis if direction @ axis >= same else direction
    gravity = np.round(STANDARD * direction, 6) + 0.0  # no -0
    shown = ", ".join(f"{x:.2f}" for x in gravity)
    text = f"gravity acts along [{shown}] m/s2 in the base frame, not as the robot file says: used"
    sources = robot.kinematics.sources_with(["gravity"], SOURCE)
    updates = {"kinematics.gravity": gravity, "kinematics.source": sources}
    return robot.with_updates(updates, {SOURCE: "direction that the effort of the recordings shows"}), text


def _another(joints: list[Normal], declared: np.ndarray, free: bool) -> tuple[np.ndarray, float] | None:
    """Direction (3,) of gravity, and the cosine between directions that may be one; None where it may be the declared
    one (3,), or does not show. free: each joint's effort per Nm is unknown.
    """
    if len(joints) < JOINTS:
        return None
    weight = weight_of(joints, free)
    found = weight[:3]
    strength = float(np.linalg.norm(found))
    plausible = PLAUSIBLE[0] * STANDARD < strength < PLAUSIBLE[1] * STANDARD
    if not (explained(joints, weight) > EXPLAINED if free else plausible):
        return None
    same = float(np.cos(min(SURE * np.hypot(TILT, deviation(joints, free)), np.pi)))
    return None if found @ declared / strength >= same else (found / strength, same)


def _leaning(
    motion: Motion, columns: np.ndarray, friction: np.ndarray, torque: np.ndarray, declared: np.ndarray
) -> tuple[np.ndarray, bool] | None:
    """Direction (3,) of a slight tilt by the first joint alone, with its columns (N, 4), friction (N, k) and torque
    (N,), where the declared direction is that of its axis: it gives this joint no torque, so that wrong masses only
    scale what a tilt gives. None where it shows none; False: the torque of a hose may be what is seen.

    The torque of a hose is a curve of the angle, that of a tilt depends on the reach as well: where a curve explains
    more, it is one. The deviation is the jackknife over PARTS of the samples: errors of friction last.
    """
    q, rows, gravity = motion.q[:, 0], np.abs(motion.qd[:, 0]) > MOVING, columns[:, 1:]
    if rows.sum() < SAMPLES or np.linalg.norm(gravity @ declared) > TILT * np.linalg.norm(gravity):
        return None
    across = np.linalg.svd(declared[None])[2][1:].T
    curve = np.polynomial.legendre.legvander((q - q[rows].mean()) / np.ptp(q[rows]), CURVE)[:, 1:]
    own = np.column_stack([columns[:, 0], friction, curve, STANDARD * gravity @ across, torque])[rows]
    size = np.maximum(np.linalg.norm(own, axis=0), 1e-9)
    parts = np.array([part.T @ part for part in np.array_split(own / size, PARTS)])
    whole, both = parts.sum(axis=0), np.arange(own.shape[1] - 1)
    hose, tilt = both[:-2], np.delete(both, np.arange(-2 - CURVE, -2))
    by_tilt, by_hose = _solved(whole, tilt)[1], _solved(whole, hose)[1]
    if by_tilt > WORSE * by_hose:
        return None

    def shown(normal: np.ndarray) -> np.ndarray:
        return _solved(normal, tilt)[0][-2:] * size[-1] / size[-3:-1]

    found, others = shown(whole), np.array([shown(whole - part) for part in parts])
    variance = jackknife(others) + TILT**2 * np.eye(2)
    if found @ np.linalg.solve(variance, found) < SURE**2 or np.linalg.norm(found) > STEEP:
        return None
    direction = declared + across @ found
    return direction / np.linalg.norm(direction), by_hose > WORSE * by_tilt


def _agree(joints: list[Normal], leaning: np.ndarray, declared: np.ndarray, free: bool) -> bool:
    """Whether the joints behind the first show a direction nearer to the leaning one (3,) than to the declared one."""
    lean = leaning - declared
    if len(joints) < JOINTS or np.linalg.norm(lean) < SEEN:
        return False
    shown = weight_of(joints, free)[:3]
    return bool((shown / np.linalg.norm(shown) - declared) @ lean > 0.5 * lean @ lean)


def _loaded(columns: np.ndarray, joints: list[Normal], free: bool) -> np.ndarray:
    """Columns (N, 4) of one joint, of its (N, 16): with the mass at the flange that all joints show."""
    if len(joints) < JOINTS:
        return columns[:, :4]
    bodies = weight_of(joints, free).reshape(BODIES, 3)
    bodies = bodies @ bodies[0] / max(float(bodies[0] @ bodies[0]), 1e-12)
    return np.column_stack([columns[:, 0], np.einsum("b,nbk->nk", bodies, columns[:, 1:].reshape(-1, BODIES, 3))])


def _solved(normal: np.ndarray, used: np.ndarray) -> tuple[np.ndarray, float]:
    """Coefficients of the `used` columns of a Gram matrix whose last column is the target, and the squared error."""
    h = normal[used, -1]
    x = np.linalg.solve(normal[np.ix_(used, used)] + RIDGE * np.eye(len(used)), h)
    return x, float(normal[-1, -1] - h @ x)


def _friction(motion: Motion) -> list[np.ndarray]:
    """Columns (N, k) of friction and rotor of every joint, with presliding elements of all spans."""
    return [signals.matrix(FRICTION) for signals in signals_of(motion, np.zeros_like(motion.q))]


def _signs(robot: RobotFile, motion: Motion, columns: np.ndarray) -> np.ndarray:
    """Sign of each joint's effort (n,) by its friction; where that does not show, of most, or the robot file's."""
    motor = robot.drives.torque_side == "motor"
    found = dissipation_signs(robot, motion, columns[..., :4]) if motor else np.zeros(motion.n)
    return np.where(found == 0, np.sign(found.sum()) or float(robot.drives.effort.sign), found)
