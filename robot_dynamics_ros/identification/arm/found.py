"""What an identification is asked for, and all that it found."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from robot_dynamics_ros.identification.arm.live_model import LiveModel
from robot_dynamics_ros.identification.arm.model import IdentifiedModel, Structure
from robot_dynamics_ros.identification.arm.semantics import EffortSemantics
from robot_dynamics_ros.identification.arm.solvers.least_squares import Solution
from robot_dynamics_ros.identification.arm.tuning import Given
from robot_dynamics_ros.identification.dataset.motion import Motion, filtered
from robot_dynamics_ros.identification.dataset.recording import Recording
from robot_dynamics_ros.robot_file import RobotFile

PRIOR = 1e-3  # strength of the catalogue values: standard deviations of data per 100 % of the value


@dataclass(frozen=True)
class Options:
    """What the user may fix; the defaults leave every choice to the data."""

    effort: str = "auto"
    given: Given = Given()
    method: str = "huber"
    coupled: bool | None = None
    prior: float = PRIOR
    topic: str = "auto"
    stamps: str = "auto"
    known_rotor: bool = False
    average_periods: bool = False


DEFAULTS = Options()


@dataclass
class Identification:
    """All that an identification found; report and files are written from it."""

    robot: RobotFile
    semantics: EffortSemantics
    structure: Structure
    model: IdentifiedModel
    physical: IdentifiedModel
    headline: IdentifiedModel
    rotor: np.ndarray
    rotor_included: bool
    training: list[Recording]
    validation: list[Recording]
    split: str
    options: Options
    written: LiveModel | None = None
    warnings: list[str] = field(default_factory=list)
    statements: list[str] = field(default_factory=list)

    @property
    def solution(self) -> Solution:
        """The solution that was selected."""
        return self.model.solution

    def motion(self, rec: Recording) -> Motion:
        """Filtered state of a recording as the structure says; effort in Nm as recorded."""
        s = self.structure
        return filtered(rec, s.cutoff, s.source, s.delay)

    def raw(self, torque: np.ndarray) -> np.ndarray:
        """Torque [Nm] in the unit of the recorded effort."""
        return torque / self.semantics.scale
