"""The whole chain on one page: the stages in order, live (step) and over a log (run), identical bit for bit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from robot_dynamics_ros._core import Status
from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.estimators.external_force import ForceStage
from robot_dynamics_ros.estimators.friction import FrictionStage
from robot_dynamics_ros.estimators.motion import MotionStage
from robot_dynamics_ros.estimators.stage import Stage
from robot_dynamics_ros.types import Log, Sample

if TYPE_CHECKING:
    from robot_dynamics_ros.config import RobotFile

# In order: each stage reads what the ones before it wrote.
STAGES: dict[str, Callable[[], Stage]] = {
    "motion": MotionStage,  # q, qd, effort -> qdd, model torque, drive torque
    "friction": FrictionStage,  # qd, model torque, temperature -> friction
    "force": ForceStage,  # drive torque - model - friction -> external torque, wrench, contact
}
# After these the first stage has used the sample; after any other status nobody sees it.
USABLE = frozenset(int(s) for s in (Status.ok, Status.warming_up, Status.reset, Status.degraded, Status.saturated))


class Pipeline:
    """Configured stages in order.

    robot: RobotFile. parameters: stage name -> parameter name -> value. stages: names, default all of STAGES.
    Raises ConfigError for an unknown stage or parameter, CapabilityError where the robot file lacks numbers.
    """

    def __init__(
        self,
        robot: RobotFile,
        parameters: Mapping[str, Mapping[str, Any]] | None = None,
        stages: Sequence[str] | None = None,
    ) -> None:
        names = list(STAGES) if stages is None else [name for name in STAGES if name in stages]
        for name in [*(parameters or {}), *(stages or ())]:
            if name not in STAGES:
                raise ConfigError("pipeline", name, f"is no stage; known: {', '.join(STAGES)}")
        self.robot = robot
        self.stages: list[Stage] = [STAGES[name]() for name in names]
        self.counts: dict[str, Counter[Status]] = {name: Counter() for name in names}
        for stage in self.stages:
            stage.configure(robot, (parameters or {}).get(stage.name))

    def stage(self, name: str) -> Any:
        """The stage of that name. Raises KeyError."""
        return {stage.name: stage for stage in self.stages}[name]

    @property
    def notes(self) -> list[str]:
        """What the stages lack, as sentences."""
        return [note for stage in self.stages for note in getattr(stage, "notes", [])]

    def reset(self) -> None:
        """Forget all state."""
        for stage in self.stages:
            stage.reset()

    def step(self, sample: Sample) -> Status:
        """Advance all stages by one sample; returns the status of the last stage, or of the first if it refused.

        What stages write is absent (NaN) in a refused sample.
        """
        sample.clear_estimates()
        status = Status.ok
        for place, stage in enumerate(self.stages):
            status = stage.step(sample)
            self.counts[stage.name][status] += 1
            if place == 0 and int(status) not in USABLE:
                break
        return status

    def run(self, log: Log, progress: Callable[[str], Any] | None = None) -> np.ndarray:
        """Advance all stages over a log, writing their signals into it; returns the status of each record (N,)."""
        for name in {name for stage in self.stages for name in stage.writes}:
            setattr(log, name, None)
        first, *rest = self.stages
        status = self._run(first, log, progress)
        used = np.isin(status, list(USABLE))
        part = log if used.all() else log[used]
        for stage in rest:
            status[used] = self._run(stage, part, progress)
        if part is not log:
            for name in {name for stage in self.stages for name in stage.writes}:
                log.allocate(name)[~used] = np.nan
                log.signals[name][used] = getattr(part, name)
        return status

    def _run(self, stage: Stage, log: Log, progress: Callable[[str], Any] | None) -> np.ndarray:
        if progress:
            progress(stage.name)
        status = stage.run(log)
        for value, count in zip(*np.unique(status, return_counts=True), strict=True):
            self.counts[stage.name][Status(int(value))] += int(count)
        return status
