"""The state of an identification: what the user asked for, and what each step has found, in the order of the steps."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from robot_dynamics_ros.estimators.force_sensor import SensorOptions
from robot_dynamics_ros.identification.arm.contact import Stretch
from robot_dynamics_ros.identification.arm.effort_meaning import EffortMeaning
from robot_dynamics_ros.identification.arm.live_model import LiveModel
from robot_dynamics_ros.identification.arm.model import IdentifiedModel, Structure
from robot_dynamics_ros.identification.arm.rigid import RigidModel
from robot_dynamics_ros.identification.arm.solvers.least_squares import Solution
from robot_dynamics_ros.identification.dataset.motion import EDGE_PERIODS, JUDGED_PERIODS, Motion, filtered
from robot_dynamics_ros.identification.dataset.recording import Recording
from robot_dynamics_ros.identification.dataset.velocity import VelocitySignal
from robot_dynamics_ros.robot_file import RobotFile

PRIOR = 3.0  # strength of the initial model: standard deviations of one sample per 100 % of a value; found on the zoo


@dataclass(frozen=True)
class Options:
    """What the user may fix; the defaults leave every choice to the data."""

    effort: str = "auto"
    prior: float = PRIOR
    topic: str = "auto"
    known_rotor: bool = False
    exclude: tuple[tuple[float, float], ...] = ()  # s since the first sample of every recording to identify from
    wrench: SensorOptions | None = None  # a force sensor whose wrench is a known input
    wrench_sign: int = 0  # 1 environment on robot, -1 robot on environment, 0: decided from the data
    contact: str = "auto"  # "auto": look for contact and hand guiding; "ignore": identify whatever was recorded


DEFAULTS = Options()


@dataclass(repr=False, eq=False)
class Identification:
    """The one object that every step of `identify` takes and fills; report and files are written from it.

    A field without a default exists once its step has run (docs/architecture.md):

    - robot, options, training, validation, split: the input; recordings in the joint order of the robot file.
      repeats: held-out parts that repeat the training, or stand, and so are not validated on; their residuals count
    - velocity: delay, gain and bias of the reported velocity, repaired from then on; None where there is none
    - given, effort, rigid: the robot file as it was; meaning of the recorded effort; rigid-body model in the gravity
      that the effort contains. From then on the recordings' effort is in Nm and `robot` has that of its mounting
    - structure, motion: state filter, effort filters, friction laws; the training recordings filtered so;
      edges: their numbers of the first sample of each recording, and of the end
    - fit: least-squares solution with its uncertainty; rotor_included: whether the effort contains the rotors' torque
    - consistent, rotor: physically consistent model nearest to `fit`; rotor inertias (n,) [kg m2], NaN where there is
      none
    - live: the model as the robot file holds it
    - acceleration_cutoff: low-pass of the live acceleration [rad/s]; None where the recordings do not show what is best
    - friction_invalid_reason: why friction is not called identified; empty where it is
    - other_robot: why the recordings are of another robot than the file; empty where nothing shows that
    - friction_differences: by how much friction differs between recordings, in sentences; load_differences: of their
      loads, empty where they have one
    - residuals: external torque (n,) [Nm] that the live pipeline sees with it in the training recordings, by state;
      None where it sees none; significance: their threshold of contact
    - statements, warnings: one sentence each, from all steps
    """

    robot: RobotFile
    options: Options
    training: list[Recording]
    validation: list[Recording]
    split: str
    repeats: list[Recording] = field(default_factory=list)
    given: RobotFile = field(init=False)
    effort: EffortMeaning = field(init=False)
    rigid: RigidModel = field(init=False)
    structure: Structure = field(init=False)
    motion: Motion = field(init=False)
    edges: list[int] = field(init=False)
    fit: IdentifiedModel = field(init=False)
    rotor_included: bool = field(init=False)
    consistent: IdentifiedModel = field(init=False)
    rotor: np.ndarray = field(init=False)
    live: LiveModel = field(init=False)
    velocity: VelocitySignal | None = None
    acceleration_cutoff: float | None = None
    velocity_window: float = 0.0  # s, half of the time over which live nodes take the slope of the positions; 0: not
    mounting: str = ""  # a sentence about a direction of gravity that is not the robot file's, or may not be
    repeated: bool = False  # validated on a repeat of the motion it was identified on
    contact: list[Stretch] = field(default_factory=list)  # beside identified friction, and left out of the training
    touched: float = 0.0  # its share of the training
    friction_invalid_reason: str = ""
    other_robot: str = ""
    friction_differences: list[str] = field(default_factory=list)
    load_differences: str = ""
    residuals: dict[str, Any] | None = None
    predicted: list[np.ndarray] = field(default_factory=list)  # torque (N, n) [Nm] of `judged` by the written file
    statements: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def solution(self) -> Solution:
        """The solution of `fit`."""
        return self.fit.solution

    @property
    def motions(self) -> list[Motion]:
        """That of every training recording."""
        return [self.motion.block(a, b) for a, b in itertools.pairwise(self.edges)]

    @cached_property
    def judged(self) -> list[Motion]:
        """The validation recordings `filtered`, once there is a structure, with nearly all samples: figures are of
        them.
        """
        return [self.filtered(recording, JUDGED_PERIODS) for recording in self.validation]

    def filtered(self, recording: Recording, periods: float = EDGE_PERIODS) -> Motion:
        """Motion (N, n) of a recording filtered as the structure says, without `periods` of the cut-off at the ends of
        the pieces; effort in Nm, not filtered.
        """
        s = self.structure
        return filtered(recording, s.cutoff, s.delay, margin=s.cutoff * EDGE_PERIODS / periods)

    def change(self, to: Callable[[Recording], Recording]) -> None:
        """Replace every recording, held out or not."""
        self.training, self.validation, self.repeats = (
            [to(r) for r in recordings] for recordings in (self.training, self.validation, self.repeats)
        )

    def as_identified(self, recording: Recording) -> Recording:
        """A recording as it was read with the velocity of its positions and its effort in Nm, like those of the fit."""
        repaired = recording if self.velocity is None else self.velocity.repaired(recording)
        return repaired.with_effort(lambda e: e * self.effort.scale)

    def as_recorded(self, torque: np.ndarray) -> np.ndarray:
        """Torque (N, n) [Nm] in the unit and with the sign of the recorded effort."""
        return torque / self.effort.scale


def note(sentences: list[str], *more: str) -> None:
    """Append the sentences that are not empty and not there yet."""
    sentences += [text for text in dict.fromkeys(more) if text and text not in sentences]
