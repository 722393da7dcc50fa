"""All stages over a recording: the same objects as live, far faster than real time, with bag, plot and summary."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from robot_dynamics_ros._core import Status
from robot_dynamics_ros.bags import BagReport, load_bag, write_bag
from robot_dynamics_ros.effort.meaning import WORDS
from robot_dynamics_ros.effort.recording import effort_semantics
from robot_dynamics_ros.errors import CapabilityError, DataError
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.signals import ESTIMATED, WRENCH_AXES, Log

if TYPE_CHECKING:
    from robot_dynamics_ros.robot_file import RobotFile

# Counted since the observer started: a recording that begins later can not give them again.
SINCE_START = ("electrical_energy", "electrical_energy_clamped", "mechanical_energy", "efficiency")
SETTLED = 3.0  # s; a live observer may have started before the recording did, and forgets that within this time


@dataclass
class Replay:
    """Result of a replay: the log with all estimates, status per record, and what is worth telling."""

    robot: RobotFile
    log: Log
    status: np.ndarray
    report: BagReport
    pipeline: Pipeline
    seconds: float
    notes: list[str] = field(default_factory=list)
    recorded: dict[str, float] = field(default_factory=dict)  # signal -> largest difference from a recorded estimate

    def summary(self) -> dict[str, Any]:
        """Numbers of the run."""
        log, force = self.log, self.log.external_wrench
        valid = np.isfinite(force).all(axis=1) & (self.status != int(Status.warming_up))
        contact = log.contact[valid, -1]
        return {
            "robot": self.robot.name,
            "bag": self.report.to_dict(),
            "samples": len(log),
            "seconds_of_data": self.report.duration,
            "seconds_of_work": self.seconds,
            "times_real_time": self.report.duration / max(self.seconds, 1e-9),
            "microseconds_per_sample": 1e6 * self.seconds / len(log),
            "estimated_samples": int(valid.sum()),
            "status": {s.name: int((self.status == int(s)).sum()) for s in Status.__members__.values()},
            "wrench_rms": dict(zip(WRENCH_AXES, _rms(force[valid]), strict=True)),
            "wrench_std": dict(zip(WRENCH_AXES, _rms(log.external_wrench_std[valid]), strict=True)),
            "joint_torque_rms": dict(zip(log.joint_names, _rms(log.external_joint_torque[valid]), strict=True)),
            "joint_torque_std": dict(zip(log.joint_names, _rms(log.external_joint_torque_std[valid]), strict=True)),
            "contact_share": float(contact.mean()) if len(contact) else 0.0,
            "payload_or_bias": self.pipeline.stage("force").payload_message(),
            "recorded_difference": self.recorded,
            "notes": self.notes,
        }


def _rms(values: np.ndarray) -> list[float]:
    return np.sqrt((values**2).mean(axis=0)).tolist() if len(values) else [float("nan")] * values.shape[1]


def replay(
    bags: Sequence[str | Path],
    robot: RobotFile,
    *,
    topic: str = "auto",
    stamps: str = "auto",
    effort: str = "auto",
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    progress: Callable | None = None,
) -> Replay:
    """Run the pipeline over a recording.

    effort: what the effort field holds: "torque" [Nm], "current" [A], "gravity-free" [Nm], or "auto": as the robot file
    declares, corrected where the data clearly say otherwise (said in notes).
    Raises DataError, ConfigError, CapabilityError.
    """
    if effort != "auto" and effort not in WORDS:
        raise DataError(f"effort = {effort!r} is none of auto, {', '.join(WORDS)}")
    log, report = load_bag(bags, robot, topic=topic, stamps=stamps, progress=progress)
    robot, notes = understood(log, robot, effort)
    recorded = {name: getattr(log, name) for name in ESTIMATED if log.has(name) and name not in SINCE_START}
    pipeline = Pipeline(robot, parameters)
    began = time.perf_counter()
    status = pipeline.run(log, progress)
    seconds = time.perf_counter() - began
    result = Replay(robot, log, status, report, pipeline, seconds, [*notes, *pipeline.notes])
    late = log.time >= (SETTLED if report.duration > 2 * SETTLED else 0.0)
    result.recorded = {name: _difference(values[late], getattr(log, name)[late]) for name, values in recorded.items()}
    return result


def _difference(recorded: np.ndarray, ours: np.ndarray) -> float:
    both = np.isfinite(recorded) & np.isfinite(ours)
    return float(np.abs(recorded[both] - ours[both]).max()) if both.any() else float("nan")


def understood(log: Log, robot: RobotFile, effort: str) -> tuple[RobotFile, list[str]]:
    """The robot with effort as the data mean it, and what was changed or remains doubtful, as sentences."""
    if effort != "auto":
        return robot.with_updates(WORDS[effort].updates), []
    try:
        semantics = effort_semantics(log, robot)
    except CapabilityError as error:
        return robot, [f"effort could not be checked: {error}"]
    found = semantics.problems(robot)
    if not found:
        return robot, [semantics.describe() + ", as declared"] if not semantics.ambiguous else [semantics.describe()]
    return semantics.apply(robot), [f"{problem}: the data are believed" for problem in found]


def write_replay(result: Replay, out: Path, progress: Callable | None = None) -> list[Path]:
    """Write the bag `estimates` and, where matplotlib is there, `force.png` into a directory; returns what was written.

    Raises DataError when the directory cannot be written.
    """
    about = {"robot": result.robot.name, "source": ", ".join(result.report.files)}
    frame = result.robot.kinematics.base_frame
    written = [write_bag(result.log, out / "estimates", frame_id=frame, about=about, progress=progress)]
    from robot_dynamics_ros.plots import plot_force, plotting_available

    missing = plotting_available()
    if missing:
        result.notes.append(missing)
        return written
    title = f"{result.robot.name}: {', '.join(Path(f).name for f in result.report.files)}"
    return [*written, plot_force(result.log, out / "force.png", title)]
