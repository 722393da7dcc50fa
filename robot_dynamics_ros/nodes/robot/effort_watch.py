"""Watches what the effort of somebody else's driver means: states it, switches to it, or withholds the estimates."""

from __future__ import annotations

from typing import Any

from robot_dynamics_ros.effort.meaning import declared
from robot_dynamics_ros.effort.rest import EffortRecognition, Verdict
from robot_dynamics_ros.errors import CapabilityError
from robot_dynamics_ros.nodes.diagnostics import ERROR, OK, WARN
from robot_dynamics_ros.signals import Sample


class EffortWatch:
    """Mode `recognise`: what is found at rest replaces what the robot file declares. Mode `robot_file`: a finding that
    contradicts the declaration withholds the estimates, for as long as it stands.
    """

    def __init__(self, robot: Any, recognise: bool) -> None:
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
        verdict = self._recognition.add(sample.q, sample.qd, sample.effort)
        return verdict is not None and self._conclude(verdict)

    def _conclude(self, verdict: Verdict) -> bool:
        if verdict.meaning is None:
            return False
        if verdict.flipped:
            self.level, self.text, self.withheld = ERROR, verdict.text, True
            return False
        if self._recognise:
            changed, self.meaning = verdict.meaning != self.meaning, verdict.meaning
            self.level, self.text, self.withheld = OK, verdict.text, False
            return changed
        self.withheld = verdict.meaning != self._declared
        self.level, self.text = OK, verdict.text
        if self.withheld:
            self.level = ERROR
            self.text = f"{verdict.text}; the robot file declares {self._declared}: estimates are withheld"
        return False
