"""What the effort of a log means: unit, gravity and signs as the data show them, for a replay."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.effort.decision import Decision
from robot_dynamics_ros.effort.meaning import Meaning, chosen, declared, stating
from robot_dynamics_ros.effort.recording import (
    adopted,
    constants_of_masses,
    contradictions,
    describe,
    recorded_meaning,
    with_constants,
)
from robot_dynamics_ros.errors import CapabilityError, DataError
from robot_dynamics_ros.estimators.motion import MotionStage
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Log


def with_recorded_effort(
    log: Log, robot: RobotFile, effort: str, stated: str
) -> tuple[RobotFile, list[str], list[str]]:
    """The robot with effort as the data mean it; what was changed or remains doubtful, as sentences; the ambiguous of
    them.

    stated: the unit that a table says (`stating`). Effort of single joints with a reversed sign is corrected in the
    log. Raises DataError for an effort that is none (`chosen`), where the signs of several joints are doubtful, the
    unit is off by 1000, or a current has neither torque constants nor gravity that would show them.
    """
    if (meaning := chosen(effort, stated)) is not None:
        return *_given(log, robot, meaning), []
    robot = stating(robot, stated)
    try:
        decision = effort_decision(log, robot)
    except CapabilityError as error:
        return robot, [f"effort could not be checked: {error}"], []
    who = "its columns say" if stated else "the robot file declares"
    taken = ", as declared" if decision.meaning else f": taken as {stated or declared(robot).unit}, as {who}"
    found, constants = contradictions(decision, robot, stated), constants_of_masses(decision)
    robot, factors = adopted(decision, robot)
    if not found:
        return robot, [describe(decision, stated) + taken, *constants], []
    if (factors < 0).any():
        log.effort = log.effort * factors
    ambiguous = decision.ambiguity(robot)
    doubts = [ambiguous + taken] * decision.ambiguous + [decision.warning] * bool(decision.unseen and decision.warning)
    kept = {decision.warning: decision.warning, ambiguous: ambiguous + taken}
    said = [kept.get(text, f"{text}: taken as the data say") for text in found]
    return robot, [*said, *constants], doubts


def _given(log: Log, robot: RobotFile, meaning: Meaning) -> tuple[RobotFile, list[str]]:
    """The robot with the meaning that the user has chosen, with torque constants of a current, and whether these are of
    the masses.
    """
    chosen = robot.with_updates(meaning.updates)
    if meaning.unit == "Nm" or robot.links is None:
        return chosen, []
    decision = effort_decision(log, robot, meaning)
    return with_constants(decision, chosen), constants_of_masses(decision)


def effort_decision(log: Log, robot: RobotFile, meaning: Meaning | None = None) -> Decision:
    """What `effort` means in a log of this robot: unit, gravity and signs, from motion and from rest; the log stays.
    `meaning` sets unit and gravity instead.

    Raises DataError without effort or with too few samples, CapabilityError where the links are unknown.
    """
    if not log.has("effort"):
        raise DataError("effort is absent: its meaning cannot be checked")
    signals = {k: np.array(log.get(k)) for k in ("q", "qd", "payload") if log.has(k)}
    copy = Log(log.joint_names, log.stamp_ns, signals)
    still = Log(log.joint_names, log.stamp_ns, signals | {"qd": np.zeros_like(log.q)})
    stage = MotionStage.of(robot, {"effort_unit": "Nm"})
    stage.run(still)
    stage.reset()
    good = (stage.run(copy) == 0) & np.isfinite(log.effort).all(axis=1) & log.effort.any(axis=1)  # with power
    gravity = still.model_torque[good]
    inertial = copy.model_torque[good] - gravity
    state = copy.q[good], copy.qd[good], copy.qdd[good]
    return recorded_meaning(robot, *state, gravity, inertial, log.effort[good], meaning)
