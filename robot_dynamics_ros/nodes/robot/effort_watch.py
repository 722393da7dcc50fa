"""Watches what the effort of a foreign driver means: states it, switches to it, or withholds the estimates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from robot_dynamics_ros.effort.decision import Decision
from robot_dynamics_ros.effort.meaning import declared
from robot_dynamics_ros.effort.rest import EffortRecognition
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.nodes.diagnostics import ERROR, OK, WARN

if TYPE_CHECKING:
    from robot_dynamics_ros.robot_file import RobotFile
    from robot_dynamics_ros.signals import Sample


class EffortWatch:
    """Mode `recognise`: what is found at rest replaces what the robot file declares. Mode `robot_file`: a finding that
    contradicts the declaration withholds the estimates while it holds. Several doubtful signs withhold them in both.
    """

    def __init__(self, robot: RobotFile, recognise: bool) -> None:
        self.meaning = self._declared = declared(robot)
        self._recognise = recognise
        self.withheld = False
        self.level, self.text = (WARN, f"effort taken as {self.meaning}, as declared; not yet confirmed at rest")
        try:
            self._recognition: EffortRecognition | None = EffortRecognition(robot)
        except CapabilityError as error:
            self._recognition, self.text = None, f"effort taken as {self.meaning}; cannot be confirmed: {error}"

    def see(self, sample: Sample) -> bool:
        """Look at one sample; True when `meaning` has changed and the stages must follow."""
        if self._recognition is None:
            return False
        decision = self._recognition.add(sample.q, sample.qd, sample.effort)
        return decision is not None and self._conclude(decision)

    def _conclude(self, decision: Decision) -> bool:
        if decision.refused:
            self.level, self.text, self.withheld = ERROR, decision.refused, True
            return False
        meaning = decision.meaning
        if meaning is None:
            return False
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
