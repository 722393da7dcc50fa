"""What the effort of an unknown driver means, recognised while the robot rests: Nm or A, gravity in or out, signs.

At rest the drives hold g(q) within the joints' friction. Each meaning predicts an effort; the likeliest, by friction
and model error, is recognised when it fits and is clearly ahead of the others.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.effort.meaning import CURRENT, GRAVITY_FREE, TORQUE, Meaning
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.models import RobotModel

if TYPE_CHECKING:
    from robot_dynamics_ros.robot_file import RobotFile

REST = 5e-3  # rad/s, below which a joint rests
SAMPLES = 100  # resting samples in a row that are averaged
NEW_POSE = 0.1  # rad, from which on a pose is another one
MAX_POSES = 20
MODEL_ERROR = 0.15  # share of g(q) that payload and model may be wrong by
FIT = 2.0  # RMS misfit in standard deviations that is still a fit
CLEAR = 3.0  # log likelihood by which it must be ahead of every other meaning (20 to 1)
TELLING = 2.0  # gravity torque over its standard deviation from which on a joint tells something


@dataclass(frozen=True)
class Verdict:
    """meaning None: not recognised; `flipped`: joints whose sign is opposite; text: one line for people."""

    meaning: Meaning | None
    flipped: tuple[str, ...]
    text: str


class EffortRecognition:
    """Collects resting samples; verdict() once there are enough. Raises CapabilityError without link masses."""

    def __init__(self, robot: RobotFile) -> None:
        self._robot = robot
        self._model = RobotModel(robot.chain(), robot.joint_names)
        self._constant = robot.array("drives.torque_constant") if robot.has("drives.torque_constant") else None
        self._friction = _friction(robot)
        self._rows: list[tuple[np.ndarray, np.ndarray]] = []
        self._poses: list[tuple[np.ndarray, np.ndarray]] = []

    def add(self, q: np.ndarray, qd: np.ndarray, effort: np.ndarray) -> Verdict | None:
        """One sample; a verdict on all poses so far each time the robot has rested long enough, None otherwise."""
        still = np.isfinite(q).all() and np.isfinite(effort).all() and bool((np.abs(qd) < REST).all())
        self._rows = [*self._rows, (q.copy(), effort.copy())] if still else []
        if len(self._rows) < SAMPLES:
            return None
        pose = tuple(np.mean(part, axis=0) for part in zip(*self._rows, strict=True))
        self._rows = []
        known = [i for i, (there, _) in enumerate(self._poses) if np.abs(there - pose[0]).max() < NEW_POSE]
        for i in reversed(known):
            del self._poses[i]
        self._poses = [*self._poses[-MAX_POSES:], pose]
        return self.verdict()

    def verdict(self) -> Verdict:
        """Likeliest meaning of the efforts at the poses seen."""
        effort = np.array([pose[1] for pose in self._poses])
        gravity = self._model.gravity(np.array([pose[0] for pose in self._poses]))
        sigma = np.hypot(MODEL_ERROR * gravity, self._friction)
        telling = np.abs(gravity) > TELLING * sigma
        if not telling.any():
            return Verdict(None, (), "effort: no joint carries enough gravity here to tell; move to another pose")
        score, misfit = {}, {}
        for meaning, (expected, spread) in self._expected(gravity, sigma).items():
            z = ((np.abs(effort) - np.abs(expected)) / spread)[telling]
            score[meaning] = float(np.sum(-0.5 * z**2 - np.log(spread[telling])))  # log likelihood
            misfit[meaning] = float(np.sqrt(np.mean(z**2)))
        best, second = sorted(score, key=score.__getitem__, reverse=True)[:2]
        if not (misfit[best] <= FIT and score[best] - score[second] >= CLEAR):
            return Verdict(None, (), f"effort: not recognised at rest (best: {best}, {misfit[best]:.1f} sigma)")
        return self._judged(best, effort, gravity, telling)

    def _judged(self, meaning: Meaning, torque: np.ndarray, gravity: np.ndarray, telling: np.ndarray) -> Verdict:
        against = (telling & (torque * gravity < 0)).sum(axis=0) > 0.5 * telling.sum(axis=0)
        flip = against & telling.any(axis=0) & meaning.includes_gravity
        names = tuple(name for name, wrong in zip(self._robot.joint_names, flip, strict=True) if wrong)
        text = f"effort recognised at rest: {meaning}" + (f"; sign flipped: {', '.join(names)}" if names else "")
        return Verdict(meaning, names, text)

    def _expected(self, gravity: np.ndarray, sigma: np.ndarray) -> dict[Meaning, tuple[np.ndarray, np.ndarray]]:
        """Effort and its standard deviation under each meaning, in the unit of the effort."""
        spread = {TORQUE: sigma, GRAVITY_FREE: np.hypot(0.3 * MODEL_ERROR * gravity, self._friction)}
        if self._constant is not None:
            spread[CURRENT] = sigma / self._constant
        return {meaning: (meaning.holding(gravity, self._constant), std) for meaning, std in spread.items()}


def _friction(robot: RobotFile) -> np.ndarray:
    """Torque that friction may hold at rest (n,) [Nm], half of the Coulomb friction, or 3 % of the torque limit."""
    try:
        return 0.5 * robot.array("friction.parameters.fc")
    except CapabilityError:
        limit = robot.array_or("limits.torque", 100.0)
        return 0.03 * limit
