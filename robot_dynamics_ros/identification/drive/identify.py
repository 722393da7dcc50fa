"""Drives of a robot from bags: the procedure, the numbers as plain values, the robot file with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.bags.rows import dropped_rows
from robot_dynamics_ros.errors import CapabilityError, DataError
from robot_dynamics_ros.identification.arm.read import read
from robot_dynamics_ros.identification.arm.state import Options
from robot_dynamics_ros.identification.dataset.recording import Recording
from robot_dynamics_ros.identification.dataset.split import set_apart
from robot_dynamics_ros.identification.drive.fits import (
    CurrentFit,
    DriveData,
    RotorInertia,
    current_fit,
    drive_data,
    figures,
    model_load,
    rotor_inertia,
)
from robot_dynamics_ros.models.energy import EnergyModel
from robot_dynamics_ros.outputs import plain
from robot_dynamics_ros.robot_file import RobotFile


@dataclass
class DrivesFound:
    """Everything found about the drives; `fits` None where a joint cannot be identified, `rotor` None without tau_d."""

    robot: RobotFile
    rotor: RotorInertia | None
    inertia: np.ndarray
    fits: list[CurrentFit | None]
    training: dict[str, Any]
    validation: dict[str, Any]
    split: str
    bags: list[str]
    notes: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def torque_constant(self) -> np.ndarray:
        """K_tau and its standard deviation (2, n) [Nm/A] where that is small enough, otherwise NaN."""
        return _certain(self.fits)


def identify_drives(
    robot: RobotFile, bags: Sequence[str | Path], validate: Sequence[str | Path], options: Options
) -> DrivesFound:
    """Rotor inertia, torque constants and friction of the drives from bags with currents [Clochiatti2024, 3.2, 4, 5].

    Raises CapabilityError for a torque that is measured behind the gear or unknown masses, DataError for bags without
    currents or motion.
    """
    training = [_with_current(robot, read(robot, bag, options)) for bag in bags]
    validation = [_with_current(robot, read(robot, bag, options)) for bag in validate]
    return identify_drive_recordings(robot, training, validation)


def identify_drive_recordings(robot: RobotFile, training: list[Recording], validation: list[Recording]) -> DrivesFound:
    """`identify_drives` on recordings with `current` among their extra signals.

    Raises CapabilityError for torque measured behind the gear.
    """
    if robot.drives.torque_side != "motor":
        raise CapabilityError(f"{robot.name}: torque is measured behind the gear; drives need motor currents")
    bags = [r.name for r in training]
    notes = [text for r in (*training, *validation) for text in dropped_rows(r.name, r.counts)]
    training, validation, split = set_apart(training, validation)
    data, other = drive_data(training), drive_data(validation)
    rotor = _rotor(robot, data, notes)
    inertia = _inertia(robot, rotor, notes)
    loads = [model_load(robot, d, inertia) for d in (data, other)]
    fits = _fits(robot, data, loads[0], notes)
    first, second = (_summary(robot, d, load, fits, rotor) for d, load in zip((data, other), loads, strict=True))
    found = DrivesFound(robot, rotor, inertia, fits, first, second, split, bags, notes)
    found.warnings = _warnings(found)
    return found


def _with_current(robot: RobotFile, rec: Recording) -> Recording:
    """The recording with `current`: as recorded, or the effort where the robot file says that this is a current."""
    if robot.drives.effort.unit != "A" or all("current" in p.extra for p in rec.pieces):
        return rec
    sign = robot.drives.effort.sign
    return replace(rec, pieces=[replace(p, extra={**p.extra, "current": sign * p.effort}) for p in rec.pieces])


def _rotor(robot: RobotFile, data: DriveData, notes: list[str]) -> RotorInertia | None:
    try:
        return rotor_inertia(robot, data)
    except DataError as error:
        notes.append(str(error))
        return None


def _inertia(robot: RobotFile, rotor: RotorInertia | None, notes: list[str]) -> np.ndarray:
    """Identified where its deviation is small enough, else the robot file's, else zero."""
    known = robot.array_or("drives.rotor_inertia", 0.0)
    if rotor is None:
        return known
    certain = rotor.well_known
    if not certain.all():
        names = ", ".join(n for n, ok in zip(robot.joint_names, certain, strict=True) if not ok)
        notes.append(f"rotor inertia of {names}: the model torque does not show it; the robot file's is kept")
    return np.where(certain, rotor.value, known)


def _fits(robot: RobotFile, data: DriveData, load: np.ndarray, notes: list[str]) -> list[CurrentFit | None]:
    found: list[CurrentFit | None] = []
    for j, name in enumerate(robot.joint_names):
        try:
            found.append(current_fit(data, load, j))
        except DataError as error:
            notes.append(f"{name}: {error}")
            found.append(None)
    return found


def _summary(
    robot: RobotFile, data: DriveData, load: np.ndarray, fits: Sequence[CurrentFit | None], rotor: RotorInertia | None
) -> dict[str, Any]:
    """Current errors per joint, errors of the frictionless torque, energy where the motor constants are known."""
    result: dict[str, Any] = {"samples": len(data.q), "current": figures(data, load, fits)}
    if rotor is not None and data.desired:
        again = rotor_inertia(robot, data, rotor.value)
        result["model_torque"] = {"r2": again.r2, "rmse": again.rmse}
    try:
        model = EnergyModel.from_robot(robot)
    except CapabilityError as error:
        return result | {"energy": None, "no_energy": str(error)}
    known, (K, _) = robot.array_or("drives.torque_constant", np.nan), _certain(fits)
    torque = np.where(np.isfinite(K), K, known) * data.current
    return result | {"energy": model.energy(data.stamp_ns, torque, data.qd) if np.isfinite(torque).all() else None}


def _certain(fits: Sequence[CurrentFit | None]) -> np.ndarray:
    """Torque constants and their deviations (2, n) [Nm/A], NaN where they are not well known."""
    name, unknown = "torque_constant", (np.nan, np.nan)
    return np.array([(f.values[name], f.std[name]) if f is not None and f.well_known else unknown for f in fits]).T


def _warnings(found: DrivesFound) -> list[str]:
    warnings = []
    for name, fit in zip(found.robot.joint_names, found.fits, strict=True):
        if fit is not None and not fit.well_known:
            K, std = fit.values["torque_constant"], fit.std["torque_constant"]
            warnings.append(
                f"{name}: torque constant {K:.3g} +- {std:.2g} Nm/A is too uncertain to be written: move it faster, "
                "or with a load that changes"
            )
        if fit is not None and min(fit.values["tc_dir"], fit.values["tc_rev"]) < 0:
            warnings.append(f"{name}: friction drives the joint in one direction: masses or payload are wrong")
    return warnings


def as_dict(found: DrivesFound) -> dict[str, Any]:
    """The numbers as drives.json holds them, per joint; NaN is None."""

    def described(fits: Sequence[CurrentFit | None]) -> list[dict[str, Any] | None]:
        return [
            None
            if f is None
            else {"values": f.values, "std": f.std, "eps": f.eps, "band": f.band, "sure": f.well_known}
            for f in fits
        ]

    rotor = None if found.rotor is None else {"values": found.rotor.value, "std": found.rotor.std}
    result = {
        "robot": found.robot.name,
        "joint_names": list(found.robot.joint_names),
        "rotor_inertia": rotor,
        "drives": described(found.fits),
        "torque_constant": found.torque_constant[0],
        "training": found.training,
        "validation": found.validation | {"split": found.split},
        "statements": found.notes,
        "warnings": found.warnings,
    }
    return dict(plain(result))


def identified_drives(found: DrivesFound) -> RobotFile:
    """Robot file with the certain numbers of the drives.

    Raises DataError when every number is too uncertain to be written.
    """
    robot = found.robot
    key = "identified_drives_" + datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    (K, K_std), updates = found.torque_constant, dict[str, Any]()
    old = robot.array_or("drives.torque_constant", np.nan)
    if np.isfinite(K).any() and np.isfinite(np.where(np.isfinite(K), K, old)).all():
        updates["drives.torque_constant"] = np.where(np.isfinite(K), K, old)
        std = np.where(np.isfinite(K), K_std, robot.array_or("drives.torque_constant_std", np.nan))
        updates["drives.torque_constant_std"] = std if np.isfinite(std).all() and (std > 0).all() else None
    if found.rotor is not None and found.rotor.well_known.any() and (found.inertia > 0).all():
        updates["drives.rotor_inertia"] = found.inertia
    fields = [name.split(".")[1] for name in updates]
    if not updates:
        raise DataError("every number of the drives is too uncertain to be written; see the warnings")
    updates["drives.source"] = robot.drives.sources_with(fields, key)
    text = f"robot-dynamics identify --what drives on {', '.join(Path(b).name for b in found.bags)}; {found.split}"
    return robot.with_updates(updates, {key: text})
