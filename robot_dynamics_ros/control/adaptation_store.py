"""Learned friction scales, kept over restarts, and the wear they indicate."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from robot_dynamics_ros.errors import ConfigError
from robot_dynamics_ros.outputs import write_atomically
from robot_dynamics_ros.robot_file import RobotFile

MAX_BYTES = 1 << 20
WARN_GROWTH, ERROR_GROWTH = 1.25, 1.45  # Coulomb scale against the file's; the projection ends at 2


@dataclass(frozen=True)
class Adaptation:
    """What was learned per joint, and when it was saved.

    law scales: of the file's Coulomb and viscous friction; rls: both in Nm and Nm s.
    """

    robot: str
    joint_names: tuple[str, ...]
    coulomb: tuple[float, ...]
    viscous: tuple[float, ...]
    saved: float = 0.0  # s since 1970
    law: str = "scales"

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """coulomb (n,), viscous (n,)."""
        return np.array(self.coulomb), np.array(self.viscous)


def save_adaptation(
    path: str | Path, robot: RobotFile, coulomb: np.ndarray, viscous: np.ndarray, law: str = "scales"
) -> None:
    """Write factors (n,) of the file's Coulomb and viscous friction; a crash leaves the old file or the new one."""
    value = Adaptation(
        robot.name, tuple(robot.joint_names), tuple(map(float, coulomb)), tuple(map(float, viscous)), time.time(), law
    )
    write_atomically(Path(path), json.dumps(asdict(value), indent=1) + "\n")


def load_adaptation(path: str | Path, robot: RobotFile) -> Adaptation | None:
    """What was kept for this robot, None when there is no file. Raises ConfigError naming file and reason."""
    path = Path(path)
    if not path.exists():
        return None
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ConfigError(str(path), "", f"is larger than {MAX_BYTES} bytes")
        content = json.loads(path.read_text(encoding="utf-8"))
        value = Adaptation(
            str(content["robot"]),
            tuple(map(str, content["joint_names"])),
            tuple(map(float, content["coulomb"])),
            tuple(map(float, content["viscous"])),
            float(content.get("saved", 0.0)),
            str(content.get("law", "")),
        )
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigError(str(path), "", f"is no adaptation file: {error}") from error
    _refuse_foreign(path, value, robot)
    return value


def _refuse_foreign(path: Path, value: Adaptation, robot: RobotFile) -> None:
    if value.robot != robot.name or value.joint_names != tuple(robot.joint_names):
        raise ConfigError(str(path), "robot", f"belongs to {value.robot}, not to {robot.name}")
    for name, values in (("coulomb", value.coulomb), ("viscous", value.viscous)):
        if len(values) != robot.n_joints or not np.isfinite(values).all():
            raise ConfigError(str(path), name, f"needs {robot.n_joints} finite numbers")


def wear(robot: RobotFile, coulomb: np.ndarray) -> tuple[int, str]:
    """Level (0 ok, 1 WARN, 2 ERROR) and text: a joint whose Coulomb friction has grown by a factor (n,) is worn."""
    grown = [
        (float(scale), name) for scale, name in zip(coulomb, robot.joint_names, strict=True) if scale > WARN_GROWTH
    ]
    if not grown:
        return 0, "ok"
    level = 2 if max(grown)[0] > ERROR_GROWTH else 1
    return level, ", ".join(f"Coulomb friction of {name} is {scale:.2f} times the file's" for scale, name in grown)
