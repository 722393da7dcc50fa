"""What every stage of the pipeline offers: configure, reset, step, run, and the signals it reads and writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, runtime_checkable

import numpy as np

from robot_dynamics_ros._core import RowStep, Status
from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.parameters import Parameter
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Log, Sample


@runtime_checkable
class Stage(Protocol):
    """A step of the pipeline, the same object live, composed and in replay.

    step() reads signals of the sample and writes its own into it; run() is the same over a log, bit for bit.
    """

    @property
    def name(self) -> str:
        """Short name, as in parameters and topics."""

    @property
    def reads(self) -> tuple[str, ...]:
        """Required signals: a sample lacking one gives Status.unavailable."""

    @property
    def optional(self) -> tuple[str, ...]:
        """Signals used when present."""

    @property
    def writes(self) -> tuple[str, ...]:
        """Signals written."""

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Every parameter, declared once."""

    def configure(self, robot: RobotFile, parameters: Mapping[str, Any] | None = None) -> None:
        """Build the stage for a robot; raises ConfigError or CapabilityError, and then leaves the stage as it was."""

    def reset(self) -> None:
        """Forget all state, keep the configuration."""

    def step(self, sample: Sample) -> Status:
        """Advance by one sample."""

    def run(self, log: Log) -> np.ndarray:
        """Advance through a log, writing the signals into it; returns the status of each record (N,) int32."""


@runtime_checkable
class RowByRow(Protocol):
    """A stage whose loop over a log can be shared with others, where its results go back to earlier stages."""

    def rows(self, log: Log) -> RowStep:
        """Its step over the records of a log, into which it writes its signals; nothing is run yet."""


def configure(stage: Stage, robot: RobotFile, parameters: Mapping[str, Any] | None = None) -> None:
    """stage.configure(); values that contradict each other, which only the core can see, are a ConfigError too."""
    try:
        stage.configure(robot, parameters)
    except ValueError as error:
        raise ConfigError(stage.name, "", str(error)) from error


def run_stepwise(stage: Stage, log: Log) -> np.ndarray:
    """run() for a stage without a batch of its own: the loop over step(). Returns statuses (N,) int32."""
    status = np.empty(len(log), dtype=np.int32)
    sample = Sample(log.joint_names)
    for name in stage.writes:
        log.allocate(name)
    for row in range(len(log)):
        log.read(row, sample)
        status[row] = int(stage.step(sample))
        log.write(row, sample, stage.writes)
    return status
