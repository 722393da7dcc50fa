"""Learned friction scales, kept over restarts, and the wear they indicate."""

from __future__ import annotations

import time
from hashlib import sha256
from pathlib import Path

import numpy as np
from pydantic import BaseModel, ValidationError

from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.outputs import write_atomically
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.robot_file.problems import wrong_fields

MAX_BYTES = 1 << 20
WARN_GROWTH, ERROR_GROWTH = 1.25, 1.45  # Coulomb scale against the file's; the projection ends at 2


class Adaptation(BaseModel, frozen=True, strict=True, allow_inf_nan=False):
    """What was learned per joint, and when it was saved [s since 1970].

    law scales: of the file's Coulomb and viscous friction; rls: both in Nm and Nm s. friction: friction_id of the file
    that the scales belong to; "" for rls, and in files written before it was kept.
    """

    robot: str
    joint_names: tuple[str, ...]
    coulomb: tuple[float, ...]
    viscous: tuple[float, ...]
    saved: float = 0.0
    law: str = ""
    friction: str = ""

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """coulomb (n,), viscous (n,)."""
        return np.array(self.coulomb), np.array(self.viscous)


def friction_id(robot: RobotFile) -> str:
    """Digest of the friction and hysteresis of a robot file: scales of one file mean nothing in another."""
    blocks = (block.model_dump_json() if block else "" for block in (robot.friction, robot.hysteresis))
    return sha256("\n".join(blocks).encode()).hexdigest()[:16]


def save_adaptation(
    path: str | Path, robot: RobotFile, coulomb: np.ndarray, viscous: np.ndarray, law: str = "scales"
) -> None:
    """Write factors (n,) of the file's Coulomb and viscous friction; a crash leaves the old file or the new one.

    Raises ValueError for what is no finite number, OSError.
    """
    try:
        value = Adaptation(
            robot=robot.name,
            joint_names=tuple(robot.joint_names),
            coulomb=tuple(coulomb),
            viscous=tuple(viscous),
            saved=time.time(),
            law=law,
            friction=friction_id(robot) if law == "scales" else "",
        )
    except ValidationError as error:
        raise ValueError(wrong_fields(error)) from error
    write_atomically(Path(path), value.model_dump_json(indent=1) + "\n")


def load_adaptation(path: str | Path, robot: RobotFile) -> Adaptation | None:
    """What was kept for this robot, None when there is no file. Raises ConfigError naming file and reason."""
    path = Path(path)
    if not path.exists():
        return None
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ConfigError(str(path), "", f"is larger than {MAX_BYTES} bytes")
        value = Adaptation.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        why = wrong_fields(error) if isinstance(error, ValidationError) else error
        raise ConfigError(str(path), "", f"is no adaptation file: {why}") from error
    if value.robot != robot.name or value.joint_names != tuple(robot.joint_names):
        raise ConfigError(str(path), "robot", f"belongs to {value.robot}, not to {robot.name}")
    for name, values in (("coulomb", value.coulomb), ("viscous", value.viscous)):
        if len(values) != robot.n_joints:
            raise ConfigError(str(path), name, f"needs {robot.n_joints} numbers")
    if value.law == "rls":  # scales have bounds of their own
        _refuse_strong(path, robot, *value.arrays)
    return value


def _refuse_strong(path: Path, robot: RobotFile, coulomb: np.ndarray, viscous: np.ndarray) -> None:
    """Raise ConfigError for friction (n,) [Nm, Nm s] that no joint has: its compensation would move the arm."""
    torque = np.abs(coulomb) + np.abs(viscous) * robot.array("limits.velocity")
    for joint in np.flatnonzero(torque > robot.array("limits.torque")):
        why = f"friction of {torque[joint]:.3g} Nm at its speed limit is beyond its torque limit"
        raise ConfigError(str(path), robot.joint_names[joint], why)


def wear(robot: RobotFile, coulomb: np.ndarray) -> tuple[int, str]:
    """Level (0 ok, 1 WARN, 2 ERROR) and text: a joint whose Coulomb friction has grown by a factor (n,) is worn.

    Nothing is said without friction in the file, nor behind joint torque sensors: the gear's is not seen there, and
    what is seen is as small as the error of the masses.
    """
    if robot.friction is None or robot.drives.torque_side == "link":
        return 0, "ok"
    grown = [
        (float(scale), name) for scale, name in zip(coulomb, robot.joint_names, strict=True) if scale > WARN_GROWTH
    ]
    if not grown:
        return 0, "ok"
    level = 2 if max(grown)[0] > ERROR_GROWTH else 1
    return level, ", ".join(f"Coulomb friction of {name} is {scale:.2f} times the file's" for scale, name in grown)
