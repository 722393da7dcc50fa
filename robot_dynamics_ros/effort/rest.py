"""Evidence about an effort while a robot rests, live: drives hold g(q) within what friction may hold."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.effort.decision import Decision, decide
from robot_dynamics_ros.effort.evidence import REST, REST_SAMPLES, EffortEvidence
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.models import RobotModel

if TYPE_CHECKING:
    from robot_dynamics_ros.robot_file import RobotFile


class EffortRecognition:
    """Averages resting samples into poses and decides on all of them. Raises CapabilityError without link masses."""

    def __init__(self, robot: RobotFile) -> None:
        self._robot = robot
        self._model = RobotModel(robot.chain(), robot.joint_names)
        self._evidence = EffortEvidence(stuck_friction(robot))
        self._rows: list[tuple[np.ndarray, np.ndarray]] = []

    def add(self, q: np.ndarray, qd: np.ndarray, effort: np.ndarray) -> Decision | None:
        """One sample (n,) each [rad, rad/s, effort]; a decision after each rest that was long enough."""
        still = np.isfinite(q).all() and np.isfinite(effort).all() and bool((np.abs(qd) < REST).all())
        self._rows = [*self._rows, (q.copy(), effort.copy())] if still else []
        if len(self._rows) < REST_SAMPLES:
            return None
        pose, mean = (np.mean(part, axis=0) for part in zip(*self._rows, strict=True))
        self._rows = []
        self._evidence.add_rest(pose, self._model.gravity(pose), mean)
        return decide(self._evidence.evidence(), self._robot)


def stuck_friction(robot: RobotFile) -> np.ndarray:
    """Standard deviation of the torque that friction may hold at rest (n,) [Nm]: half of the Coulomb friction, or 3 %
    of the torque limit.
    """
    try:
        return 0.5 * robot.array("friction.parameters.fc")
    except CapabilityError:
        return 0.03 * robot.array_or("limits.torque", 100.0)
