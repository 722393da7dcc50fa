"""What a JointState may be: by these sentences recordings are refused and live estimates withheld (live_gate.py)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros.bags.rows import fastest, possible_speed
from robot_dynamics_ros.effort.joint_order import TRAVEL, exchanged
from robot_dynamics_ros.effort.meaning import declared, thousandth
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.models.hysteresis import coarse_positions
from robot_dynamics_ros.robot_file.capabilities import follows_velocity, unseen_rotors
from robot_dynamics_ros.signals import Log
from robot_dynamics_ros.signals.runs import runs
from robot_dynamics_ros.signals.speeds import SLIDING

if TYPE_CHECKING:
    from robot_dynamics_ros.robot_file import RobotFile

MAX_ANGLE = 12 * np.pi  # rad; six turns, of a joint without limits
BEYOND, MARGIN = 1.5, 1.0  # times a joint's limit, and rad: positions beyond are not radians
MOST = 0.9  # quantile of |q| that is compared: spikes are dropped elsewhere
BLOCK = 0.1  # s over which travel and velocity are compared
STEPS = (0.005, 2.0)  # rad of travel in such a block; less is noise, more is a wrapped or wrong angle
MIN_BLOCKS = 5
RATIO = (0.2, 5.0)  # velocity over travel per time; 9.5 for rpm, 6 for rpm beside degrees, 57 for degrees
JUMP = 3.0  # times the travel that the largest velocity makes in a step
MIXED = 50  # steps, most of which go to and fro where two recordings lie between each other
ALIKE = 0.5  # of velocity and travel of a joint: 0.5 where one is 3.7 times the other, 0 where one is zero
TOUCH = 0.1  # of its RMS: the smallest absolute value of an effort that changes its sign is below
LOAD = 3.0  # times the torque limit: the median effort of no joint
MIN_RATE = 10.0  # Hz
MOST_STEPS, BURST = 0.6, 1 / 3  # quantile of the steps of a second, and below which share of their mean it has bursts
BURSTS = 0.1  # share of the seconds: a network that stops once in a while spoils those seconds alone
# Rows at one extreme value of an effort in motion, and how often any other value may be among them: a current in coarse
# steps is most often at a middle one
CLIPPED, OTHERS = 100, 0.1
# s in which no joint changes by a digit (three real arms: at most 7 ms); rad, times, share: steps of no encoder
STOOD, FINE, FEW, MULTIPLE = 0.3, 5e-7, 8.0, 0.1
NO_EFFORT = "effort{} is absent: the driver must fill the effort of every joint"


def findings(
    robot: RobotFile, time: np.ndarray, q: np.ndarray, qd: np.ndarray | None, effort: np.ndarray | None
) -> dict[str, str]:
    """Question -> why the samples cannot be used, "" where they can; a question without an answer is left out.

    time (N,) [s]; q, qd, effort (N, n) [rad, rad/s, effort of the robot file], None where absent.
    """
    found = {"position": _position(robot, q), "rate": _rate(time), "bursts": bursts(time, 1.0 / robot.rate)}
    if effort is None:
        found["effort"] = NO_EFFORT.format("")
    else:
        found |= _effort(robot, q, effort)
    if qd is not None:
        found["stuck"] = _stuck(q, qd)
        found["speed"] = _speed(robot, time, q, qd)
        found |= _velocity(robot.joint_names, time, q, qd)
    return found


def coarse(robot: RobotFile, log: Log) -> str:
    """A sentence about positions that are commanded, about velocities that friction at rest follows, which are missing
    or come in coarse steps, or about positions in steps too coarse for the robot file, which no velocities of their
    motors put right; "" without any.
    """
    if found := commanded(log):
        return found
    if follows_velocity(robot):
        steps = _core.within_steps(log.time, log.q, log.qd)[3] if log.has("qd") else None
        return unseen_rotors(log.joint_names, steps)
    if log.has("qd") and robot.drives.torque_side == "motor":
        return ""
    return coarse_positions(robot, _core.within_steps(log.time, log.q, np.zeros_like(log.q))[2])


def clipped(log: Log, least: int = CLIPPED) -> str:
    """A sentence about joints whose effort in motion is at its largest or smallest value in `least` rows and far more
    often than at any other; "" without any.
    """
    found = []
    for j, name in enumerate(log.joint_names if log.has("effort") and len(log) > least else ()):
        effort = log.effort[np.abs(np.gradient(log.q[:, j], log.time)) > SLIDING, j]
        value, rows = np.unique(effort[np.isfinite(effort)], return_counts=True)
        found += [
            f"{name} {value[end]:.3g}"
            for end, others in ((0, rows[1:]), (-1, rows[:-1]))
            if len(others) and rows[end] >= least and others.max() < OTHERS * rows[end]
        ]
    if not found:
        return ""
    return (
        f"the effort stays at an extreme value while the joint moves ({', '.join(found)}): clipped, please check: "
        "what is beyond shows as contact; record it unclipped, or let the robot accelerate less"
    )


def commanded(log: Log) -> str:
    """A sentence about positions that stay to the last digit while the arm stands and the effort changes, although no
    step of an encoder divides their changes in motion: what was commanded; "" elsewhere.
    """
    if not log.has("effort"):
        return ""
    change, moves = np.abs(np.diff(log.q, axis=0)), np.ptp(log.q, axis=0) > TRAVEL
    works = np.abs(np.diff(log.effort, axis=0)).max(axis=1) > 0
    stands = [(a, b) for a, b in runs((change == 0).all(axis=1)) if log.time[b] - log.time[a] > STOOD]
    held = any(works[a:b].mean() > 0.5 for a, b in stands)
    if not held or not moves.any() or not all(_stepless(x) for x in change[:, moves].T):
        return ""
    return (
        "positions stay to the last digit while the arm stands: commanded ones, or a simulator's, please check; "
        "friction at rest follows the measured ones: publish and record these"
    )


def _stepless(change: np.ndarray) -> bool:
    """Whether the small ones of a joint's changes (N,) >= 0 [rad] are not multiples of the smallest, as counts are."""
    smallest = change[change > 0].min()
    times = change[(change > 0) & (change < FEW * smallest)] / smallest
    return bool(smallest < FINE or np.abs(times - np.round(times)).mean() > MULTIPLE)


def refuse(log: Log, robot: RobotFile, name: str, but: str = "") -> None:
    """Raises DataError with the first finding about a recording; but: the question that is asked elsewhere."""
    found = findings(robot, log.time, log.q, log.get("qd"), log.get("effort")) | {but: ""}
    why = next(filter(None, found.values()), "")
    if why := why or exchanged(robot, log.time, log.q, log.get("qd"), log.effort):
        raise DataError(f"{name}: {why}")


# -- questions --------------------------------------------------------------------------------------------------------
def _position(robot: RobotFile, q: np.ndarray) -> str:
    """Two joints (of one: this one) far outside of their limits are degrees, milliradians or ticks."""
    low, high = (np.abs(robot.array_or(f"limits.position_{side}", np.inf)) for side in ("lower", "upper"))
    limit = np.maximum(low, high) * np.ones(robot.n_joints)
    limit = np.where(np.isfinite(limit), BEYOND * limit + MARGIN, MAX_ANGLE)
    size = np.quantile(np.abs(q), MOST, axis=0)
    beyond = np.flatnonzero(size > limit)
    if len(beyond) < min(2, robot.n_joints):
        return ""
    j = beyond[np.argmax(size[beyond])]
    return f"positions of {robot.joint_names[j]} reach {size[j]:.4g}: they are not radians (degrees? milliradians?)"


def _rate(time: np.ndarray) -> str:
    step = np.diff(time)
    rate = 1.0 / float(np.median(step[step > 0])) if (step > 0).any() else np.inf
    return "" if rate >= MIN_RATE else f"{rate:.2g} samples per second: at least {MIN_RATE:g} are needed, 100 are good"


def bursts(time: np.ndarray, period: float = np.inf) -> str:
    """Why stamps (N,) [s] are those of arrivals, several at once: observers take the rest for missing samples. Judged
    in every second, as a recording may have two rates; "" where it is so in less than BURSTS of them. period: of the
    controller [s]; samples that are as far apart between long gaps are those that were not lost.
    """
    parts = np.split(np.diff(time), np.flatnonzero(np.diff(np.floor(time[1:]))) + 1)
    parts = [part for part in (part[part > 0] for part in parts) if len(part) >= MIN_RATE]
    steps = [(np.quantile(part, MOST_STEPS), np.minimum(part, 1.0 / MIN_RATE).mean()) for part in parts]
    found = [(most, mean) for most, mean in steps if most < BURST * min(mean, period)]
    if not found or len(found) < BURSTS * len(parts):
        return ""
    most, mean = 1e3 * np.median(found, axis=0)
    return (
        f"stamps come in bursts, most {most:.2g} ms after the one before, of {mean:.2g} ms in the mean: a sample needs "
        "the time at which it was taken, not that of its arrival"
    )


def _effort(robot: RobotFile, q: np.ndarray, effort: np.ndarray) -> dict[str, str]:
    names, unit = robot.joint_names, declared(robot)
    constant, moves = np.ptp(effort, axis=0) == 0, np.ptp(q, axis=0) > TRAVEL
    advice = "the driver does not fill it, or another topic has it"
    if constant.all() and (moves.any() or not effort.any()):
        off = "" if moves.any() else "power is off, or "
        return {"effort": f"the effort never changes: {off}{advice}"}
    if still := [names[j] for j in np.flatnonzero(constant & moves)]:
        return {"effort": f"the effort of {', '.join(still)} never changes while the joint moves: {advice}"}
    if text := unsigned(names, q, effort):
        return {"effort": text}
    if not unit.has_gain(robot):
        return {"effort": ""}
    gain = unit.gain(robot)
    limit, size = robot.array_or("limits.torque", np.inf) * gain, np.median(np.abs(effort), axis=0)
    if not (size > LOAD * limit).any():
        return {"effort": ""}
    j = int(np.argmax(size / limit))
    return {
        "effort": f"the effort of {names[j]} is {size[j]:.3g} in the median, its limit {limit[j]:.3g} {unit.unit}: "
        f"wrong unit ({thousandth(robot)}?), or the file of another robot; convert it to Nm or A, or correct the file"
    }


def unsigned(names: Sequence[str], q: np.ndarray, effort: np.ndarray) -> str:
    """A sentence about efforts (N, n) of which none is below zero, and which touch zero where two joints or more turn
    both ways; "" without. q (N, n) [rad].
    """
    back = np.minimum((q - np.minimum.accumulate(q)).max(axis=0), (np.maximum.accumulate(q) - q).max(axis=0)) > TRAVEL
    touch = effort.min(axis=0) < TOUCH * np.sqrt((effort**2).mean(axis=0))
    both = np.flatnonzero(back).tolist()
    if len(both) < 2 or not ((effort >= 0).all() and touch[both].all()):
        return ""
    turn = f"although {', '.join(names[j] for j in both)} turn both ways"
    return f"no effort is below zero {turn}: absolute values; the driver must give the effort its sign"


def _stuck(q: np.ndarray, qd: np.ndarray) -> str:
    if len(q) < MIN_BLOCKS or np.ptp(q, axis=0).any() or not (np.abs(qd).min(axis=0) > SLIDING).any():
        return ""
    return "joints stand still to the last digit while their velocity is not zero: the driver repeats its last message"


def _speed(robot: RobotFile, time: np.ndarray, q: np.ndarray, qd: np.ndarray) -> str:
    """Velocities that no arm has, and that positions show, too; those of single rows the reader drops."""
    step, possible = np.maximum(np.diff(time), 1e-9)[:, None], possible_speed(robot)
    speed = np.minimum(np.abs(np.diff(q, axis=0)) / step, np.abs(qd[1:]))
    if not fastest(speed, possible) > possible:
        return ""
    j, at = int(np.argmax(speed.max(axis=0))), time[1:][(speed > possible).any(axis=1)]
    return (
        f"velocity of {robot.joint_names[j]} reaches {np.abs(qd[:, j]).max():.3g} rad/s, beyond {possible:g} between "
        f"{at[0]:.4g} and {at[-1]:.4g} s: the arm is unstable there (or the unit is degrees); leave these seconds out, "
        "or record again"
    )


def _velocity(names: list[str], time: np.ndarray, q: np.ndarray, qd: np.ndarray) -> dict[str, str]:
    """Travel t and integrated velocity i over blocks, of all joints together and of each that moves: 2 i t over
    i^2 + t^2 is 1 for rad/s; otherwise a wrong unit, clock, joint or sign, or one of them is stuck.
    """
    step = np.diff(time)
    if not (step > 0).any():
        return {}
    period = float(np.median(step[step > 0]))
    k = max(1, round(BLOCK / period))
    good = np.concatenate([[0], np.cumsum((step <= 0) | (step > 10 * period))])[::k]
    path = np.vstack([np.zeros(q.shape[1]), np.cumsum(0.5 * (qd[1:] + qd[:-1]) * step[:, None], axis=0)])[::k]
    travel, integral = np.diff(q[::k], axis=0), np.diff(path, axis=0)
    most, least = (size(np.abs(travel), np.abs(integral)) for size in (np.maximum, np.minimum))
    use = (np.diff(good) == 0)[:, None] & (most > STEPS[0]) & (np.abs(travel) < STEPS[1])
    enough = np.flatnonzero(use.sum(axis=0) >= MIN_BLOCKS)
    at, mixed = _jumps(time, q, qd, period)
    why = "the clock of the recorder stepped back, or two sources share the topic; leave these seconds out"
    jumps = f"positions jump between {at[0]:.4g} and {at[-1]:.4g} s: {why}, or record again" if len(at) else ""
    if mixed or not len(enough):
        return {"velocity": jumps} if mixed else {}
    travel, integral = (np.where(use, x, 0.0)[:, enough] for x in (travel, integral))
    both = np.where(use & (least > 0), 1.0, 0.0)[:, enough]
    ratio = float(np.sqrt(((both * integral) ** 2).sum() / max(((both * travel) ** 2).sum(), 1e-300)))
    if not integral.any():
        return {"velocity": "the velocity is zero while joints move: leave it empty where the driver does not know it"}
    if both.any() and not RATIO[0] < ratio < RATIO[1]:
        wrong = "wrong unit of velocity or of the stamps" + ", or two sources share the topic" * bool(len(at))
        return {"velocity": f"reported velocity is {ratio:.3g} times the travel per time: {wrong}"}
    alike = 2 * (travel * integral).sum(axis=0) / (travel**2 + integral**2).sum(axis=0)
    odd = ", ".join(names[j] for j in enough[alike < ALIKE])
    wrong = f"velocity of {odd} does not fit its position: one is stuck, names in another order, or a sign"
    text = f"{wrong}; or {jumps}" if jumps else wrong
    each = {f"velocity of {names[j]}": text * bool(fits < ALIKE) for j, fits in zip(enough, alike, strict=True)}
    return {"velocity": ""} | each


def _jumps(time: np.ndarray, q: np.ndarray, qd: np.ndarray, period: float) -> tuple[np.ndarray, bool]:
    """Times [s] of steps that are no motion, and whether they go to and fro for a while: rows of two times, or of two
    robots, lie between each other.
    """
    step = np.diff(q, axis=0)
    reach = STEPS[0] + JUMP * np.abs(qd).max() * np.maximum(np.diff(time), period)[:, None]
    jump = np.where((np.abs(step) > reach) & (np.abs(step) < STEPS[1]), np.sign(step), 0.0)
    back = np.append(False, (jump[1:] * jump[:-1] < 0).any(axis=1))  # never empty, as of two samples
    return time[1:][jump.any(axis=1)], bool(np.convolve(back, np.ones(MIXED)).max() > 0.5 * MIXED)
