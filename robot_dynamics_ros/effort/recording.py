"""Evidence about the effort of a recording, from arrays, and what a decision changes in a robot file."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from robot_dynamics_ros.effort.decision import Decision, decide
from robot_dynamics_ros.effort.evidence import EffortEvidence, resting_stretches
from robot_dynamics_ros.effort.meaning import Meaning, declared, printed_unit
from robot_dynamics_ros.effort.rest import stuck_friction
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.robot_file import RobotFile

MIN_ROWS = 10
STRETCHES = 5  # of a recording, which must agree on a doubt about signs


def recorded_meaning(
    robot: RobotFile,
    q: np.ndarray,
    qd: np.ndarray,
    qdd: np.ndarray,
    gravity: np.ndarray,
    inertial: np.ndarray,
    effort: np.ndarray,
    meaning: Meaning | None = None,
) -> Decision:
    """Decision about a recorded effort; all (N, n), samples in order, without gaps in the rows kept.

    gravity, inertial: gravity torque and the rest of the rigid-body torque [Nm] of the robot file. meaning: unit and
    gravity, where the user chose them. A doubt about a sign that most of STRETCHES parts contradict is dropped: a
    contact leans on some of them, a reversed sensor is reversed in all. Raises DataError with fewer than 10 rows.
    """
    if len(effort) < MIN_ROWS:
        raise DataError(f"{len(effort)} usable samples with effort; its meaning cannot be checked")

    def decided(rows: slice) -> Decision:
        evidence = EffortEvidence(stuck_friction(robot))
        evidence.add_motion(gravity[rows], inertial[rows], qd[rows], qdd[rows], effort[rows])
        for still in resting_stretches(qd[rows]):
            pose, load, held = (x[rows][still].mean(axis=0) for x in (q, gravity, effort))
            evidence.add_rest(pose, load, held)
        return decide(evidence.evidence(), robot, meaning)

    whole = decided(slice(None))
    if not whole.refused or len(effort) < MIN_ROWS * STRETCHES:
        return whole
    edges = np.linspace(0, len(effort), STRETCHES + 1).astype(int)
    parts = [decided(slice(a, b)) for a, b in zip(edges[:-1], edges[1:], strict=True)]
    confirming = np.sum([part.confirms(whole.signs, robot) for part in parts], axis=0)
    doubting = np.array([sum(name in part.doubtful for part in parts) for name in robot.joint_names])
    contradicted = {name for name, c, d in zip(robot.joint_names, confirming, doubting, strict=True) if c > d}
    return replace(whole, doubtful=tuple(name for name in whole.doubtful if name not in contradicted))


def contradictions(decision: Decision, robot: RobotFile, stated: str = "") -> list[str]:
    """Where the data contradict the robot file, as sentences; empty where they agree or decide nothing.

    stated: the unit that a table says (`stating`).
    """
    effort, found = robot.drives.effort, []
    if decision.sign != effort.sign:
        found.append(f"effort has sign {decision.sign:+d}, {robot.name} declares {effort.sign:+d}")
    found += [f"{j}: effort has the opposite sign of the other joints" for j in decision.flipped]
    found += [text for text in (decision.warning, decision.refused) if text]
    found += [decision.ambiguity(robot)] * decision.ambiguous
    meaning = decision.meaning
    if meaning is not None and meaning.unit != effort.unit:
        says = f"its columns say {stated}" if stated else f"{robot.name} declares {effort.unit}"
        found.append(f"effort looks like {meaning.unit}, {says}")
    if meaning is not None and meaning.includes_gravity != effort.includes_gravity:
        words = ("without", "with")
        has, file = words[meaning.includes_gravity], words[effort.includes_gravity]
        found.append(f"effort is {has} gravity, {robot.name} declares {file}")
    return found


def adopted(decision: Decision, robot: RobotFile) -> tuple[RobotFile, np.ndarray]:
    """The robot with effort declared as decided, and factors (n,) that give its effort one sign for all joints.

    Raises DataError where the decision refuses the effort (several doubtful signs, or a unit that is off by 1000), or
    where a current has no torque constants.
    """
    if decision.refused:
        raise DataError(decision.refused)
    meaning = decision.meaning or declared(robot)
    robot = robot.with_updates({**meaning.updates, "drives.effort.sign": decision.sign})
    return with_constants(decision, robot), decision.signs * decision.sign


def with_constants(decision: Decision, robot: RobotFile) -> RobotFile:
    """The robot with the torque constants of the masses where it has none for its effort. Raises DataError where
    gravity does not show them.
    """
    if not decision.of_masses and declared(robot).has_gain(robot):
        return robot
    if not decision.of_masses or not np.isfinite(decision.gain).all():
        raise DataError(
            "effort is a current without visible gravity, which would give the torque constants: record a motion "
            "between more poses (excite designs one), fill in drives.torque_constant of "
            f"{robot.name}, or pass --effort torque where it is in Nm"
        )
    found = {"torque_constant": 1 / decision.gain, "torque_constant_std": decision.gain_std / decision.gain**2}
    updates = {f"drives.{name}": value for name, value in found.items()}
    updates["drives.source"] = robot.drives.sources_with(found, "estimate_gravity")
    of = "currents over the gravity torque of the file's masses, in a recording"
    return robot.with_updates(updates, {"estimate_gravity": of})


def constants_of_masses(decision: Decision) -> list[str]:
    """A warning where torque constants are those of the masses: what nobody has measured scales every force."""
    if not decision.of_masses:
        return []
    share = 100 * decision.gain_std / decision.gain
    return [
        "torque constants come from the masses of the robot file: their deviation, and that of forces, is "
        f"{share.min():.0f} to {share.max():.0f} % if it holds all that the arm carries (of a tool that it lacks they "
        "are too small, most at the wrist); a run with a known mass finds them (--payload-from BAG,mass=KG)"
    ]


def describe(decision: Decision, stated: str) -> str:
    """The decision in one line; stated: the unit that a table says (`stating`)."""
    meaning = decision.meaning
    votes = f"from {int(decision.votes.sum())} of {len(decision.votes)} joints"
    if meaning is None:
        return f"effort: not decided ({votes})"
    signs = {1: "sign +1", -1: "sign -1"}.get(int(decision.signs[0])) if np.ptp(decision.signs) == 0 else "mixed signs"
    meaning = replace(meaning, unit=printed_unit(meaning.unit, stated))
    return f"effort: {meaning}, {signs} ({votes})"
