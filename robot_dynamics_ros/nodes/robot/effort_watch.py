"""What the effort of another driver means, watched while the robot rests: adopted, withheld, or a warning."""

from __future__ import annotations

import numpy as np

from robot_dynamics_ros.effort.decision import Decision, without_options
from robot_dynamics_ros.effort.evidence import NEW_POSE
from robot_dynamics_ros.effort.meaning import declared
from robot_dynamics_ros.effort.rest import EffortRecognition
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.nodes.diagnostics import ERROR, OK, WARN
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Sample

SILENT = 2_000_000_000  # ns without samples, after which another driver may have begun


class EffortWatch:
    """Recognises at rest what the effort of another driver means (unit, sign, gravity).

    recognise True: what is found replaces what the robot file declares. False: a finding that contradicts the
    declaration withholds the estimates for as long as it stands. Several doubtful signs withhold them in both; so do,
    where nothing has agreed before (later it is a contact that carries the arm), slopes surely below half of the
    declared or far above it, and one doubtful sign. A single joint's effort far above that of the others withholds
    them then, and later where it is so in two poses in a row. After SILENT without samples nothing has agreed: the
    driver may be another one. unit: of the effort, where it is certain.
    judged: a rest has been looked at, or a motion agrees with the declaration.
    """

    def __init__(self, robot: RobotFile, recognise: bool, unit: str = "") -> None:
        self._robot, self.meaning, self._declared = robot, declared(robot), declared(robot)
        self._recognise, self._unit = recognise, unit
        self.withheld = self.decided = False  # decided: a rest has been looked at
        self._agreed = False  # a rest had a meaning, or a motion that of the robot file
        self._stamp = 0  # of the last sample [ns]
        self._pose, self._odd = np.full(robot.n_joints, np.inf), np.zeros(robot.n_joints)  # of a rest
        self.level, self.text = (WARN, f"effort taken as {self.meaning}, as declared; not yet confirmed at rest")
        try:
            self._recognition: EffortRecognition | None = EffortRecognition(robot, unit)
        except CapabilityError as error:
            self._recognition, self.text = None, f"effort taken as {self.meaning}; cannot be confirmed: {error}"
        self.judged = self._recognition is None

    def on_sample(self, sample: Sample) -> bool:
        """Add one sample to the evidence; True when `meaning` has changed and the stages must follow."""
        if self._recognition is None:
            return False
        if abs(sample.stamp_ns - self._stamp) > SILENT:
            self._agreed, self._recognition = False, EffortRecognition(self._robot, self._unit)
        self._stamp = sample.stamp_ns
        decision = self._recognition.add(sample.q, sample.qd, sample.effort)
        if not self.judged and decision is None:
            self._agreed = self._recognition.agrees(sample.stamp_ns, sample.q, sample.effort)
        self.judged = self.judged or decision is not None or self._agreed
        if decision is None or self._recognition.last is None:
            return False
        return self._conclude(decision, self._unlike(sample.q, self._recognition.last.unlike(self._robot)))

    def _unlike(self, q: np.ndarray, share: np.ndarray) -> str:
        """Why slopes of single joints over the declared (n,; 0: as the others, NaN: unknown) are none of a contact in
        the pose q (n,) of a rest; "" where they may be.
        """
        moved, again = np.abs(q - self._pose).max() >= NEW_POSE, ((share > 0) & (self._odd > 0)).any()
        self._pose = q.copy() if moved else self._pose
        self._odd = np.where(np.isnan(share), self._odd, share)
        if not self._odd.any() or (self._agreed and not self.withheld and not (moved and again)):
            return ""
        names = self._robot.joint_names
        found = ", ".join(f"{names[j]} {self._odd[j]:.2g}" for j in np.flatnonzero(self._odd))
        return f"effort of single joints is too large beside that of the others ({found} times what gravity needs)"

    def _conclude(self, decision: Decision, odd: str) -> bool:
        self.decided = True
        doubt = decision.doubt if decision.doubtful and not self._agreed else ""
        if odd:  # what was wrong in a pose is no evidence later
            self._recognition = EffortRecognition(self._robot, self._unit)
        if why := decision.refused or doubt or odd:
            text = without_options(why)
            self.level, self.text, self.withheld = ERROR, f"{text}: estimates are withheld", True
            return False
        meaning = decision.meaning
        if decision.ambiguous:
            self.level, self.text = WARN, without_options(decision.ambiguity(self._robot))
            if not self._agreed and (how := decision.contradicts(self._robot)):
                what = f"{how} what the robot file declares ({self._declared}): estimates are withheld"
                self.level, self.text, self.withheld = ERROR, f"{self.text}; {what}", True
        if meaning is None:
            return False
        self._agreed = True
        doubt = f"; {decision.warning}" if decision.warning else ""
        self.level, self.text = WARN if doubt else OK, f"effort recognised at rest: {meaning}{doubt}"
        if self._recognise:
            changed, self.meaning = not meaning.same_as(self.meaning), meaning
            self.withheld = False
            return changed
        self.withheld = not meaning.same_as(self._declared)
        if self.withheld:
            self.level = ERROR
            self.text = f"{self.text}; the robot file declares {self._declared}: estimates are withheld"
        return False
