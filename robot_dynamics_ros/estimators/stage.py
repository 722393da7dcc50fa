"""What every stage of the pipeline offers: configure, reset, step, rows, run, and the signals it reads and writes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from robot_dynamics_ros._core import RowStep, Status, run_in_turn
from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.parameters import Parameter
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import SIGNALS, Log, Sample, width

if TYPE_CHECKING:
    from typing_extensions import Self  # typing has it from Python 3.11 on


class Stage:
    """A step of the pipeline, the same object live, composed and in replay.

    name: as in parameters and topics. reads: required signals, a sample lacking one gives Status.unavailable; optional:
    signals used when present; writes: signals written; parameters: every parameter, declared once. core: what computes
    it in C++, None in Python; arguments: from a sample, or the Columns of a log, to the signals that the core takes;
    notes: what the robot file lacks for it, as sentences.
    """

    name: str
    reads: tuple[str, ...]
    optional: tuple[str, ...]
    writes: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    core: Any = None
    arguments: Any
    notes: Sequence[str] = ()

    @classmethod
    def of(cls, robot: RobotFile, parameters: Mapping[str, Any] | None = None) -> Self:
        """A new stage, configured. Raises what configure() raises."""
        stage = cls()
        stage.configure(robot, parameters)
        return stage

    def configure(self, robot: RobotFile, parameters: Mapping[str, Any] | None = None) -> None:
        """Build the stage for a robot; raises ConfigError or CapabilityError, and then leaves the stage as it was."""
        raise NotImplementedError

    def reset(self) -> None:
        """Forget all state, keep the configuration."""
        if self.core is not None:
            self.core.reset()

    def step(self, sample: Sample) -> Status:
        """Advance by one sample: reads signals of it and writes its own into it."""
        return self.core.step(sample.stamp_ns, *self.arguments(sample))

    def rows(self, log: Log) -> RowStep:
        """step() over the records of a log, the same bit for bit; nothing is run yet. C++ needs no interpreter."""
        if self.core is not None:
            return self.core.rows(len(log), *self.arguments(Columns(log, self.writes)))
        for name in self.writes:
            log.allocate(name)
        row: Any = Row(log)
        return RowStep(lambda k: self.step(row.at(k)), len(log))

    def run(self, log: Log) -> np.ndarray:
        """Advance through a log, writing the signals into it; returns the status of each record (N,) int32."""
        return np.asarray(run_in_turn(log.stamp_ns, [self.rows(log)])[0])


class Columns:
    """Signals of a log as attributes: those of `writes` are made, others are None where the log does not store them."""

    def __init__(self, log: Log, writes: tuple[str, ...]) -> None:
        self._log, self._writes = log, writes

    def __getattr__(self, name: str) -> np.ndarray | None:
        return self._log.allocate(name) if name in self._writes else self._log.get(name)


class Row:
    """A record of a log with the attributes of a Sample: views, so that what a stage writes is in the log."""

    def __init__(self, log: Log) -> None:
        self.joint_names, self.n_joints, self._stamps = log.joint_names, log.n_joints, log.stamp_ns.tolist()
        self._columns = list(log.signals.items())
        for name in SIGNALS:
            if not log.has(name):
                self.__dict__[name] = np.full(width(name, log.n_joints), np.nan)

    has, __setattr__ = Sample.has, Sample.__setattr__

    def at(self, row: int) -> Row:
        """Itself as record `row`."""
        self.stamp_ns = self._stamps[row]
        for name, values in self._columns:
            self.__dict__[name] = values[row]
        return self


def configure(stage: Stage, robot: RobotFile, parameters: Mapping[str, Any] | None = None) -> None:
    """stage.configure(); values that contradict each other, which only the core can see, are a ConfigError too."""
    try:
        stage.configure(robot, parameters)
    except ValueError as error:
        raise ConfigError(stage.name, "", str(error)) from error


def reconfigure(stage: Stage, robot: RobotFile, parameters: Mapping[str, Any]) -> None:
    """configure() at work: what a core has learned stays. Raises as configure()."""
    before = stage.core
    configure(stage, robot, parameters)
    if hasattr(before, "take_over"):
        stage.core.take_over(before)
