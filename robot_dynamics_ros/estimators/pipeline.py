"""The whole chain on one page: the stages in order, live (step) and over a log (run), identical bit for bit."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from robot_dynamics_ros._core import RowStep, Status, run_in_turn
from robot_dynamics_ros.errors import CapabilityError, ConfigError
from robot_dynamics_ros.estimators.alignment import Alignment
from robot_dynamics_ros.estimators.external_force import ForceStage
from robot_dynamics_ros.estimators.friction import FrictionStage
from robot_dynamics_ros.estimators.motion import MotionStage
from robot_dynamics_ros.estimators.power import PowerStage
from robot_dynamics_ros.estimators.stage import Stage, configure
from robot_dynamics_ros.estimators.stiffness import StiffnessStage
from robot_dynamics_ros.estimators.temperature import TemperatureStage
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.robot_file.capabilities import follows_velocity, least_rate, missing_samples
from robot_dynamics_ros.robot_file.gaps import called_unusable
from robot_dynamics_ros.signals import Log, Sample, width

# In order: each stage reads what the ones before it wrote, or what later ones wrote one sample ago (contact).
STAGES: dict[str, Callable[[], Stage]] = {
    "motion": MotionStage,  # q, qd, effort -> qdd, model torque, drive torque
    "temperature": TemperatureStage,  # qd, torques, housing temperature, last contact -> lubricant temperature
    "friction": FrictionStage,  # qd, model torque, temperature -> friction
    "force": ForceStage,  # drive torque - model - friction -> external torque, wrench, contact
    "stiffness": StiffnessStage,  # theta - q, torques -> transmission stiffness, wear
    "power": PowerStage,  # drive torque or current, qd -> electric and mechanical power, energy, efficiency
}
# left out, with a note, for a robot that cannot support them; their status stays their own
OPTIONAL = ("stiffness", "power")
# After these the first stage has used the sample; after any other status no stage reads it.
USABLE = (Status.ok, Status.warming_up, Status.reset, Status.degraded, Status.saturated)
BLOCK = 20_000  # records per block of run()
SETTLED = 500  # samples after which the learned period has forgotten its first step


def _feedback(stages: Sequence[Stage]) -> tuple[list[str], slice]:
    """Signals that a stage reads and only a later one writes; the stages from the first such reader to the last writer.

    None: the slice is empty.
    """
    names: list[str] = []
    places: list[int] = []
    for place, stage in enumerate(stages):
        for later in range(place + 1, len(stages)):
            found = [name for name in (*stage.reads, *stage.optional) if name in stages[later].writes]
            names += [name for name in found if name not in names]
            places += [place, later] if found else []
    return names, slice(min(places), max(places) + 1) if places else slice(len(stages), len(stages))


def before_the_sensor(
    robot: RobotFile, parameters: Mapping[str, Mapping[str, Any]] | None
) -> dict[str, Mapping[str, Any]]:
    """Parameters of the stages; the friction that the observer over both encoders finds lies before a sensor behind the
    gear, so that the force stage takes none of it off.
    """
    given = dict(parameters or {})
    if robot.drives.torque_side == "link" and given.get("friction", {}).get("model") == "observer":
        given["force"] = {"subtract_friction": False} | dict(given.get("force", {}))
    return given


class Pipeline:
    """Configured stages in order.

    robot: RobotFile. parameters: stage name -> parameter name -> value. stages: names, default all; of these an
    OPTIONAL one that the robot cannot support is left out and noted. Raises ConfigError for an unknown stage or
    parameter, CapabilityError where the robot file lacks numbers.
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
        self.robot, self.alignment, parameters = robot, Alignment(robot), before_the_sensor(robot, parameters)
        self.stages: list[Stage] = []
        self.left_out: dict[str, str] = {}  # optional stage -> why this robot cannot support it
        for name in names:
            self._add(STAGES[name](), (parameters or {}).get(name), required=stages is not None or name not in OPTIONAL)
        self._counts = [[0] * len(Status) for _ in self.stages]
        self._judge = max((k for k, stage in enumerate(self.stages) if stage.name not in OPTIONAL), default=-1)
        fed_back, self._loop = _feedback(self.stages)
        self.fed_back = {s: np.full(width(s, robot.n_joints), np.nan) for s in fed_back}

    def _add(self, stage: Stage, parameters: Mapping[str, Any] | None, required: bool) -> None:
        try:
            configure(stage, self.robot, parameters)
        except CapabilityError as error:
            if required:
                raise
            self.left_out[stage.name] = str(error)
            return
        self.stages.append(stage)

    def stage(self, name: str) -> Any:
        """The stage of that name. Raises KeyError."""
        return {stage.name: stage for stage in self.stages}[name]

    @property
    def counts(self) -> dict[str, Counter[Status]]:
        """How often each stage has returned each status."""
        return {
            stage.name: Counter({Status(value): n for value, n in enumerate(counts) if n})
            for stage, counts in zip(self.stages, self._counts, strict=True)
        }

    @property
    def notes(self) -> list[str]:
        """What stages and stream lack, as sentences; the age of the estimates where signals wait for late ones."""
        late = 1e3 * self.alignment.latency
        waits = f"the robot reports some signals late: estimates are of {late:.3g} ms before the stamp of a sample"
        return (
            [waits] * bool(late)
            + [note for stage in self.stages for note in stage.notes]
            + self.lacks
            + [text for text in (self.sparse, called_unusable(self.robot)) if text]
        )

    @property
    def lacks(self) -> list[str]:
        """Of the notes, those of stages that are left out."""
        return [f"no {name}: {why}" for name, why in self.left_out.items()]

    @property
    def least_rate(self) -> float:
        """least_rate() [Hz] of a robot whose friction follows the integrated velocity, of others 0."""
        return least_rate(self.robot) if follows_velocity(self.robot) else 0.0

    @property
    def sparse(self) -> str:
        """missing_samples() of a robot with a least rate; of others, or at first, ""."""
        if not self.least_rate or self.counts.get("motion", Counter()).total() < SETTLED:
            return ""
        period = self.stage("motion").core.period
        return missing_samples(self.robot, 1.0 / period) if period else ""

    def reset(self) -> None:
        """Forget all state."""
        self.alignment.reset()
        for stage in self.stages:
            stage.reset()
        for last in self.fed_back.values():
            last.fill(np.nan)

    def step(self, sample: Sample) -> Status:
        """Advance all stages by one sample; returns the status of the last stage that is not optional.

        If the first stage refuses the sample its status is returned and no other stage sees it; what stages write is
        absent (NaN) in a refused sample.
        """
        sample.clear_estimates()
        return self.advance(sample)

    def advance(self, sample: Any) -> Status:
        """step() for a sample that already carries what other processes have estimated: nothing is cleared first."""
        self.alignment.align(sample)
        status = self._advance(sample)
        self.alignment.restore(sample)
        return status

    def _advance(self, sample: Any) -> Status:
        """advance() for signals of one instant."""
        for name, last in self.fed_back.items():
            getattr(sample, name)[...] = last
        result = Status.ok
        for place, stage in enumerate(self.stages):
            status = stage.step(sample)
            if place == self._judge:
                result = status
            self._counts[place][status] += 1
            if place == 0 and status not in USABLE:
                for name in self.fed_back:
                    getattr(sample, name).fill(np.nan)
                return status
        for name, last in self.fed_back.items():
            last[...] = getattr(sample, name)
        return result

    def run(self, log: Log, progress: Callable[[Iterable[int], str, int], Iterable[int]] | None = None) -> np.ndarray:
        """Advance all stages over a log, writing their signals into it; returns the status of each record (N,).

        progress: wraps the starts of the blocks the log is processed in, e.g. in a progress bar.
        """
        for name in self._written():
            setattr(log, name, None)
            log.allocate(name)
        if log.has("q") and not log.has("qd"):
            log.allocate("qd")
        if not log.has("q"):
            return self._run(log, progress)
        aligned = self.alignment.aligned(log)
        status = self._run(aligned, progress)
        absent = np.isnan(log.qd).all(axis=1)  # velocities that were not reported, as the stages have filled them
        log.qd[absent] = aligned.qd[absent]
        return status

    def _written(self) -> set[str]:
        return {name for stage in self.stages for name in stage.writes}

    def _run(self, log: Log, progress: Callable[[Iterable[int], str, int], Iterable[int]] | None) -> np.ndarray:
        """run() for signals of one instant."""
        status = np.empty(len(log), dtype=np.int32)
        starts = range(0, len(log), BLOCK)
        for start in progress(starts, "estimating", len(starts)) if progress else starts:
            rows = slice(start, start + BLOCK)
            status[rows] = self._run_block(log[rows])
        return status

    def _run_block(self, log: Log) -> np.ndarray:
        """One block of records, views into the whole log: stages one after the other, those of the feedback in turn;
        later stages see only the records that the first one used.
        """
        results: list[np.ndarray] = []
        while len(results) < len(self.stages):
            place = len(results)
            fed_back: list[tuple[np.ndarray, np.ndarray]] = []
            turn = slice(place, place + 1)
            if place == self._loop.start:
                turn, fed_back = self._loop, [(log.allocate(name), last) for name, last in self.fed_back.items()]
            first = [RowStep(results[0])] if results else []
            codes = run_in_turn(log.stamp_ns, [*first, *(stage.rows(log) for stage in self.stages[turn])], fed_back)
            results += list(codes[len(first) :])
        used = np.isin(results[0], list(USABLE))
        for place, result in enumerate(results):
            self._count(place, result[used] if place else result)
        for name in () if used.all() else self._written():
            getattr(log, name)[~used] = np.nan
        return np.where(used, results[self._judge], results[0]) if self._judge > 0 else results[0]

    def _count(self, place: int, status: np.ndarray) -> None:
        for value, count in zip(*np.unique(status, return_counts=True), strict=True):
            self._counts[place][value] += int(count)
