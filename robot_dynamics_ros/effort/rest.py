"""Evidence about an effort while a robot rests, live: drives hold g(q) within what friction may hold."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.effort.decision import GUARD_NOISE, GUARD_SHARE, GUARD_TELLING, Decision, decide
from robot_dynamics_ros.effort.evidence import REST_SAMPLES, EffortEvidence
from robot_dynamics_ros.effort.meaning import declared
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.models.hysteresis import friction_level
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals.speeds import MOVING


class EffortRecognition:
    """Averages resting samples into poses and decides on all of them. Raises CapabilityError without link masses."""

    def __init__(self, robot: RobotFile) -> None:
        self._robot = robot
        self._model = RobotModel(robot.chain(), robot.joint_names)
        self._evidence = EffortEvidence(stuck_friction(robot))
        self._rows: list[tuple[np.ndarray, np.ndarray]] = []

    def add(self, q: np.ndarray, qd: np.ndarray, effort: np.ndarray) -> Decision | None:
        """One sample (n,) each [rad, rad/s, effort]; a decision after each rest that was long enough."""
        still = np.isfinite(q).all() and np.isfinite(effort).all() and bool((np.abs(qd) < MOVING).all())
        self._rows = [*self._rows, (q.copy(), effort.copy())] if still else []
        if len(self._rows) < REST_SAMPLES:
            return None
        pose, mean = (np.mean(part, axis=0) for part in zip(*self._rows, strict=True))
        self._rows = []
        self._evidence.add_rest(pose, self._model.gravity(pose), mean)
        return decide(self._evidence.evidence(), self._robot)


def stuck_friction(robot: RobotFile) -> np.ndarray:
    """Standard deviation of the torque that friction may hold at rest (n,) [Nm]: half of its level at breakaway; 3 %
    of the torque limit where that is unknown or 0.
    """
    level = friction_level(robot)
    return np.where(level > 0, 0.5 * level, 0.03 * robot.array_or("limits.torque", 100.0))


def contradiction_at_rest(robot: RobotFile, effort: np.ndarray, gravity: np.ndarray, friction: np.ndarray) -> str:
    """Why the effort (n,) of a resting robot is not surely what its file declares; "" where it is.

    gravity, friction (n,) [Nm]: the model's gravity torque and what friction may hold. Stricter than decide(): every
    joint must agree, before any torque is commanded.
    """
    evidence = EffortEvidence(friction + GUARD_NOISE)
    evidence.add_rest(np.zeros(robot.n_joints), gravity, effort)
    meaning, decision = declared(robot), decide(evidence.evidence(), robot)
    gain = meaning.gain(robot.array("drives.torque_constant") if meaning.unit == "A" else None)
    torque = meaning.sign * effort / gain
    allowed = friction + GUARD_SHARE * np.abs(gravity) + GUARD_NOISE
    for i, name in enumerate(robot.joint_names):
        expected = gravity[i] if meaning.includes_gravity else 0.0
        if not abs(torque[i] - expected) <= allowed[i]:
            what = "opposite in sign to" if torque[i] * expected < 0 else "not"
            return (
                f"effort of {name} at rest is {torque[i]:.1f} Nm, {what} the {expected:.1f} Nm expected: "
                "check drives.effort (unit, sign, includes_gravity), the payload and the mounting"
            )
    if decision.meaning is not None and not decision.meaning.same_as(meaning):
        return f"effort looks like {decision.meaning}, {robot.name} declares {meaning}"
    if not (GUARD_TELLING * np.abs(gravity) > allowed).any():
        return "gravity is too small here to check what effort means; stretch the arm out"
    return ""
