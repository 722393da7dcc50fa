"""All stages over a recording: the same objects as live, far faster than real time, with bag, plot and summary."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros._core import LEAST_SINGULAR_VALUE, Status
from robot_dynamics_ros.bags import BagReport, load_bag, write_bag
from robot_dynamics_ros.bags.lerobot import write_dataset
from robot_dynamics_ros.bags.storage import Wrap
from robot_dynamics_ros.bags.tables import is_dataset
from robot_dynamics_ros.effort.joint_state import clipped, coarse, refuse
from robot_dynamics_ros.effort.lag import late_signals
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.estimators.contact_limits import contact_peaks
from robot_dynamics_ros.estimators.contact_place import beside_tcp
from robot_dynamics_ros.estimators.force_arguments import refuse_units
from robot_dynamics_ros.estimators.pipeline import Pipeline
from robot_dynamics_ros.estimators.recorded_effort import with_recorded_effort
from robot_dynamics_ros.estimators.wrench_metrics import rms
from robot_dynamics_ros.models import RobotModel
from robot_dynamics_ros.outputs import EFFORT_UNIT
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import ESTIMATED, WRENCH_AXES, Log

# Counted since the observer started: a recording that begins later can not give them again.
SINCE_START = ("electrical_energy", "electrical_energy_clamped", "mechanical_energy", "efficiency")
UNTRUSTED = "late, or a joint's effort cannot be trusted"  # reason of estimates that say nothing
LASTING = 4.0  # s of a payload that came and went, from which on it is told of
SETTLED = 3.0  # s; a live observer may have started before the recording did, and forgets that within this time


@dataclass
class Replay:
    """Result of a replay: the log with all estimates, status per record, and notes."""

    robot: RobotFile
    log: Log
    status: np.ndarray
    report: BagReport
    pipeline: Pipeline
    seconds: float
    notes: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)  # of the notes, why the effort may not be what it is taken as
    recognised: str = ""  # a sentence about a payload or bias that came and went
    recorded: dict[str, float] = field(default_factory=dict)  # signal -> largest difference from a recorded estimate

    @cached_property
    def shown(self) -> list[int]:
        """Base axes along which a force loads some joint."""
        return RobotModel(self.robot.chain()).force_axes(self.log.q[np.isfinite(self.log.q).all(axis=1)])

    @property
    def braked(self) -> np.ndarray:
        """Records (N,) without a force because brakes held the arm."""
        return (self.status == int(Status.unavailable)) & np.isfinite(self.log.drive_torque).all(axis=1)

    def summary(self) -> dict[str, Any]:
        """Numbers of the run."""
        log = self.log
        valid = np.isfinite(log.external_wrench).all(axis=1) & (self.status != int(Status.warming_up))
        force, std = log.external_wrench[valid], log.external_wrench_std[valid]
        contact = log.contact[valid, -1]
        peaks, beside = contact_peaks(log, self.shown), beside_tcp(log, self.robot)
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
            "braked": int(self.braked.sum()),
            "degraded": self.degraded(),
            "wrench_rms": dict(zip(WRENCH_AXES, rms(force), strict=True)),
            "wrench_median": dict(zip(WRENCH_AXES, _median(np.abs(force)), strict=True)),
            "wrench_std": dict(zip(WRENCH_AXES, rms(std), strict=True)),
            "wrench_std_median": dict(zip(WRENCH_AXES, _median(std), strict=True)),
            "joint_torque_rms": dict(zip(log.joint_names, rms(log.external_joint_torque[valid]), strict=True)),
            "joint_torque_std": dict(zip(log.joint_names, rms(log.external_joint_torque_std[valid]), strict=True)),
            "wrench_in_contact": dict(zip(WRENCH_AXES, _median(force[contact > 0]), strict=True)),
            "contact_share": float(contact.mean()) if len(contact) else 0.0,
            "contacts": [asdict(peak) for peak in peaks],
            "contacts_beside_tcp": int(beside.sum()),
            "seconds_beside_tcp": sum(peak.seconds for peak, other in zip(peaks, beside, strict=True) if other),
            "payload_or_bias": self.pipeline.stage("force").payload_message(),
            "friction_health": {j: text for j, (_, text) in self.pipeline.stage("force").friction_health().items()},
            "recorded_difference": self.recorded,
            "notes": self.notes,
        }

    def degraded(self) -> dict[str, int]:
        """Why estimates are degraded -> records; each record counts once."""
        degraded = self.status == int(Status.degraded)
        singular = degraded & (self.log.singular_value.ravel() < LEAST_SINGULAR_VALUE)
        unknown = self.robot.friction is None and self.robot.drives.torque_side == "motor"
        other = "without friction in the robot file" if unknown else UNTRUSTED
        found = {"near singular poses": int(singular.sum()), other: int((degraded & ~singular).sum())}
        return {why: count for why, count in found.items() if count}


def _median(values: np.ndarray) -> list[float]:
    return np.median(values, axis=0).tolist() if len(values) else [float("nan")] * values.shape[1]


def replay(
    bags: Sequence[str | Path],
    robot: RobotFile,
    *,
    topic: str = "auto",
    effort: str = "auto",
    parameters: Mapping[str, Mapping[str, Any]] | None = None,
    progress: Wrap | None = None,
) -> Replay:
    """Run the pipeline over a recording.

    effort: what the effort field holds: "torque" [Nm], "current" [A], "gravity-free" [Nm], or "auto": as the robot file
    declares, corrected where the data clearly differ (listed in notes).
    Raises DataError, ConfigError, CapabilityError.
    """
    log, report = load_bag(bags, robot, topic=topic, progress=progress)
    refuse(log, robot, report.source)
    robot, notes, doubts = with_recorded_effort(log, robot, effort, report.effort_unit)
    recorded = {name: getattr(log, name) for name in ESTIMATED if log.has(name) and name not in SINCE_START}
    pipeline = Pipeline(robot, parameters)
    load = np.nan_to_num(log.payload) if log.has("payload") else np.zeros((1, 4))  # 0: none is named
    for k in (np.abs(load[:, 0]).argmax(), np.abs(load[:, 1:]).max(axis=1).argmax()):
        refuse_units(load[k], robot)
    blind = [text for why in (clipped(log), coarse(robot, log), late_signals(robot, log)) for text in _sentence(why)]
    began = time.perf_counter()
    status = pipeline.run(log, progress)
    seconds = time.perf_counter() - began
    result = Replay(robot, log, status, report, pipeline, seconds, [*notes, *pipeline.notes, *blind], [*doubts, *blind])
    result.notes += _braked(result.braked, report.duration) + _named(log)
    result.recognised = _recognised(log, pipeline.stage("force").payload_message())
    late = log.time >= (SETTLED if report.duration > 2 * SETTLED else 0.0)
    result.recorded = {name: _difference(values[late], getattr(log, name)[late]) for name, values in recorded.items()}
    return result


def _sentence(text: str) -> list[str]:
    return [f"{text[0].upper()}{text[1:]}."] if text else []


def _braked(rows: np.ndarray, duration: float) -> list[str]:
    """A note of the rows (N,) without a force because brakes held the arm."""
    if not rows.any():
        return []
    seconds = float(rows.mean()) * duration
    return [f"for {seconds:.3g} s no drive carried the arm (closed brakes, or no power): there is no force then"]


def _named(log: Log) -> list[str]:
    """A note of what the topic payload names."""
    mass = log.named_mass
    if not mass.any():
        return []
    masses, share = ", ".join(f"{kg:g}" for kg in np.unique(mass[mass != 0.0])), np.count_nonzero(mass) / len(log)
    return [f"the topic payload names {masses} kg, for {100 * share:.3g} % of the time: it is part of the model then"]


def _recognised(log: Log, now: str) -> str:
    """A sentence about a payload or bias that was recognised for LASTING, and of which `now`, at the end, nothing is
    known; "" without any.
    """
    rows = log.payload_or_bias.ravel() > 0.5
    seconds = float(rows.mean()) * log.time[-1] if rows.any() and not now else 0.0
    if seconds < LASTING:
        return ""
    first, last = log.time[rows][[0, -1]]
    return (
        f"A payload that the robot file lacks, or a bias of the torques, was recognised for {seconds:.0f} s between "
        f"{first:.0f} and {last:.0f} s. A sure payload is taken off the force, and so is a push that points down all "
        "the time: it looks the same."
    )


def _difference(recorded: np.ndarray, ours: np.ndarray) -> float:
    both = np.isfinite(recorded) & np.isfinite(ours)
    return float(np.abs(recorded[both] - ours[both]).max()) if both.any() else float("nan")


def write_replay(
    result: Replay, out: Path, progress: Wrap | None = None, inputs: Sequence[str | Path] = ()
) -> list[Path]:
    """Write the bag `estimates`, of a LeRobot data set a copy `dataset` with the estimates as columns and, where
    matplotlib is there, `force.png` into a directory; returns what was written.

    Raises DataError when it cannot be written.
    """
    sources = ", ".join(result.report.files)
    about = {"robot": result.robot.name, "source": sources, EFFORT_UNIT: result.report.effort_unit}
    written = [
        write_bag(
            result.log,
            out / "estimates",
            frame_id=result.robot.kinematics.base_frame,
            wrench_frame_id=result.pipeline.stage("force").frame_id,
            about=about,
            progress=progress,
            inputs=inputs,
        )
    ]
    if len(result.report.files) == 1 and is_dataset(result.report.files[0]):
        source = Path(result.report.files[0])
        try:
            written.append(write_dataset(source, out / "dataset", result.robot, result.log, inputs))
        except DataError as error:
            result.notes.append(f"no copy of the data set: {error}")
    from robot_dynamics_ros.plots import plot_force, plotting_available

    missing = plotting_available()
    if missing:
        result.notes.append(missing)
        return written
    title = f"{result.robot.name}: {', '.join(Path(f).name for f in result.report.files)}"
    return [*written, plot_force(result.log, out / "force.png", title)]
