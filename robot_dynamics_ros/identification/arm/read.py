"""Bags as recordings to identify from or to validate on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from robot_dynamics_ros.bags import BagReport, load_bag
from robot_dynamics_ros.bags.wrench import NoWrench
from robot_dynamics_ros.effort.joint_state import refuse
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.estimators.force_sensor import add_force_sensor
from robot_dynamics_ros.identification.arm.checks import NoMotion, check_moves
from robot_dynamics_ros.identification.arm.hand_guiding import HAND_GUIDED_ADVICE
from robot_dynamics_ros.identification.arm.state import Options
from robot_dynamics_ros.identification.dataset.recording import Recording, recording
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.signals import Log


def read_training(robot: RobotFile, bags: Sequence[str | Path], options: Options) -> tuple[list[Recording], list[str]]:
    """Recordings to identify from; one of several in which the robot stands is left out, with a note. Raises DataError
    like read.
    """
    found, still = list[Recording](), list[NoMotion]()
    for bag in bags:
        try:
            found.append(read(robot, bag, options, options.exclude))
        except NoMotion as error:
            still.append(error)
    if still and not found:
        raise still[0]
    return found, [f"left out: {str(error).split(';')[0]}" for error in still]


def read_moving(robot: RobotFile, bags: Sequence[str | Path], options: Options) -> tuple[list[Recording], list[str]]:
    """Recordings to validate on; one in which the robot stands is skipped, with a note. Raises DataError like read."""
    found, skipped = [], []
    for bag in bags:
        try:
            found.append(read(robot, bag, options))
        except NoWrench:
            found.append(read(robot, bag, replace(options, wrench=None)))
            found[-1].notes.append("no such wrench topic: taken as free of contact")
        except NoMotion as error:
            skipped.append(f"skipped for validation: {str(error).split(';')[0]}")
    return found, skipped


def read(
    robot: RobotFile,
    bag: str | Path,
    options: Options,
    exclude: Sequence[tuple[float, float]] = (),
    carrying: bool = False,
) -> Recording:
    """One bag as a recording with its joints in the robot file's order; exclude: (begin, end) [s] left out; carrying:
    a payload is to be found, rows with it stay. Times count from the first sample of the bag, whatever is left out.

    Raises DataError where nothing is left, or where it was recorded in freedrive.
    """
    log, report, names = _loaded(robot, bag, options)
    first = int(log.stamp_ns[0])
    if carrying:
        log = _with_payload(log, bag)
    if options.wrench is not None:
        report.notes += add_force_sensor(log, robot, [bag], options.wrench, report.stamps)
        known = np.isfinite(log.measured_wrench).all(axis=1)
        report.drop("without a wrench", int((~known).sum()))
        log = log[known]
    if exclude:
        time = 1e-9 * (log.stamp_ns - first)
        log = log[~np.any([(time >= a) & (time <= b) for a, b in exclude], axis=0)]
    if len(log) < 2:
        raise DataError(f"{bag}: nothing is left beside what is excluded{', or without a payload' * carrying}")
    if options.contact == "auto":
        guided = report.guided(log)
        if guided.sum() > len(log) // 2:
            raise DataError(f"{bag}: recorded in freedrive: {HAND_GUIDED_ADVICE}")
        if guided.any():
            log = log[~guided]
            report.drop("in freedrive", int(guided.sum()))
    refuse(log, robot, report.source, but="bursts")  # an even clock may repair them
    check_moves(log, str(bag))
    rec = recording(log, str(bag), robot, first)
    rec.recorded_names, rec.effort_unit = names, report.effort_unit
    rec.counts = {**report.dropped, **rec.counts}
    rec.notes = [*report.notes, *rec.notes]
    return rec


def _with_payload(log: Log, bag: str | Path) -> Log:
    """The rows with the payload that is to be found, where its topic tells them; without that topic's numbers.

    Raises DataError where it names several masses.
    """
    mass = log.named_mass
    named = np.unique(mass[mass != 0.0])
    if len(named) > 1:
        masses = ", ".join(f"{kg:g}" for kg in named)
        raise DataError(f"{bag}: the topic payload names {masses} kg: record a bag with one of them")
    log = log[mass != 0.0 if len(named) else np.isnan(log.payload[:, 0])]
    log.payload = None
    return log


def _loaded(robot: RobotFile, bag: str | Path, options: Options) -> tuple[Log, BagReport, tuple[str, ...]]:
    """Log with the robot's joints by name; by order, with the bag's names, where it has as many joints and none of them
    is known.
    """
    try:
        return *load_bag(bag, robot, topic=options.topic), ()
    except DataError as error:
        if "joint" not in str(error):
            raise
        log, report = load_bag(bag, topic=options.topic)
        known = set(robot.joint_aliases) & set(log.joint_names)
        if known or log.n_joints != robot.n_joints:
            raise
        report.notes.append(
            f"joint names {', '.join(log.joint_names)} are not those of {robot.name}: taken in this order, please "
            "check; the written file has them as aliases"
        )
        return Log(robot.joint_names, log.stamp_ns, log.signals, log.receive_ns), report, log.joint_names
