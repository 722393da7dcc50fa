"""Evidence about an effort while a robot rests, live: drives hold g(q) within what friction may hold."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.effort.decision import Decision, decide
from robot_dynamics_ros.effort.evidence import REST_SAMPLES, EffortEvidence
from robot_dynamics_ros.effort.meaning import declared
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.models.hysteresis import friction_level
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals.speeds import MOVING

STILL = 0.002  # rad of travel during a rest, where no velocity is reported
MOTION = 1_000_000_000, 2000  # ns, or samples, of a motion that are averaged
MOVED = 2.0  # times what friction may hold at rest: deviation of such a mean, with sliding friction and inertia
GUARD_SHARE = 0.25  # of gravity that each joint's torque at rest may deviate by before torque mode, beside friction
GUARD_TELLING = 0.9  # share of gravity that ampere for Nm, or gravity removed, would be wrong by
GUARD_NOISE = 2.0  # Nm


class EffortRecognition:
    """Averages resting samples into poses and decides on all of them; unit: that of the effort, "": any. last: the
    decision on the last rest alone. Raises CapabilityError without link masses.
    """

    def __init__(self, robot: RobotFile, unit: str = "") -> None:
        self._robot, self._unit = robot, unit
        self._model = RobotModel(robot.chain(), robot.joint_names)
        self._evidence = EffortEvidence(stuck_friction(robot))
        self._moved = EffortEvidence(MOVED * stuck_friction(robot))
        self._rows: list[tuple[np.ndarray, np.ndarray]] = []
        self._moving: list[tuple[np.ndarray, np.ndarray]] = []
        self._begin = 0  # stamp of the first of them [ns]
        self.last: Decision | None = None

    def add(self, q: np.ndarray, qd: np.ndarray, effort: np.ndarray) -> Decision | None:
        """One sample (n,) each [rad, rad/s or NaN, effort]; a decision after each rest that was long enough."""
        first = self._rows[0][0] if self._rows else q
        slow = np.where(np.isfinite(qd), np.abs(qd) < MOVING, np.abs(q - first) < STILL)
        still = np.isfinite(q).all() and np.isfinite(effort).all() and slow.all() and effort.any()  # with power
        self._rows = [*self._rows, (q.copy(), effort.copy())] if still else []
        if len(self._rows) < REST_SAMPLES:
            return None
        self.last = self._decided(EffortEvidence(stuck_friction(self._robot)), self._rows.copy())
        return self._decided(self._evidence, self._rows)

    def agrees(self, stamp_ns: int, q: np.ndarray, effort: np.ndarray) -> bool:
        """One sample (n,) each, at rest or not; whether means over MOTION show what the robot file declares, and
        contradict no joint's sign. They are too rough to show anything else.
        """
        if not (np.isfinite(q).all() and np.isfinite(effort).all()):
            return False
        if not self._moving:
            self._begin = stamp_ns
        self._moving.append((q.copy(), effort.copy()))
        if abs(stamp_ns - self._begin) < MOTION[0] and len(self._moving) < MOTION[1]:
            return False
        decision = self._decided(self._moved, self._moving)
        meaning = decision.meaning
        odd = decision.doubtful or (decision.unlike(self._robot) > 0).any()
        return meaning is not None and not odd and meaning.same_as(declared(self._robot))

    def _decided(self, evidence: EffortEvidence, rows: list[tuple[np.ndarray, np.ndarray]]) -> Decision:
        """What the mean of rows and the evidence before it show; the rows are gone."""
        pose, mean = (np.mean(part, axis=0) for part in zip(*rows, strict=True))
        rows.clear()
        evidence.add_rest(pose, self._model.gravity(pose), mean)
        return decide(evidence.evidence(), self._robot, unit=self._unit)


def stuck_friction(robot: RobotFile) -> np.ndarray:
    """Standard deviation of the torque that friction may hold at rest (n,) [Nm]: half of its level at breakaway; 3 %
    of the torque limit where that is unknown or 0; beside it the offset of the effort, which would be a slope of the
    little gravity of a wrist.
    """
    level = friction_level(robot)
    held = np.where(level > 0, 0.5 * level, 0.03 * robot.array_or("limits.torque", 100.0))
    return np.hypot(held, robot.array_or("friction.parameters.fo", 0.0))


def contradiction_at_rest(robot: RobotFile, effort: np.ndarray, gravity: np.ndarray, friction: np.ndarray) -> str:
    """Why the effort (n,) of a resting robot is not surely what its file declares; "" where it is.

    gravity, friction (n,) [Nm]: the model's gravity torque and what friction may hold. Stricter than decide(): every
    joint must agree, before any torque is commanded.
    """
    evidence = EffortEvidence(friction + GUARD_NOISE)
    evidence.add_rest(np.zeros(robot.n_joints), gravity, effort)
    meaning, decision = declared(robot), decide(evidence.evidence(), robot)
    torque = meaning.sign * effort / meaning.gain(robot)
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
