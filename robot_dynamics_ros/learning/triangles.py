"""Sufficient statistics of a recording: one triangle per joint, with its provenance; files that are refused by name.

[R_j z_j; 0 rho_j] of the QR of the weighted rows [A_j, y_j] holds everything that least squares will ever ask of them:
|A_j x - y_j|^2 = |R_j x - z_j|^2 + rho_j^2 for every x. Triangles of recordings are stacked and triangularised again.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.learning.columns import Columns
from robot_dynamics_ros.outputs import replacing
from robot_dynamics_ros.robot_file.problems import wrong_fields

FORMAT = 1
UNREADABLE = (OSError, ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile)  # of a damaged archive


class About(BaseModel):
    """Provenance of a recording, and whatever else is known of it."""

    model_config = ConfigDict(extra="allow", strict=True, allow_inf_nan=False)
    format: Literal[1]
    version: str
    robot_id: str
    recording: str
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    time: float = Field(ge=0, le=1e10)
    seconds: float = Field(ge=0, le=1e9)
    unit: str


@dataclass(frozen=True)
class Triangle:
    """Recordings of one robot, folded.

    joints: triangle (k_j + 1, k_j + 1) of every joint, its target last; count (n,): sum of row weights; correlation
    (n,): rows per independent row; reference (n,) [Nm^2]: weighted squared error of the first robot file on these rows.
    about: provenance by name, see About.
    """

    joints: list[np.ndarray]
    count: np.ndarray
    correlation: np.ndarray
    reference: np.ndarray
    about: dict[str, Any] = field(default_factory=dict)

    @property
    def time(self) -> float:
        """Seconds since 1970 of the first sample."""
        return float(self.about["time"])

    def squares(self, x: np.ndarray, index: Sequence[np.ndarray]) -> np.ndarray:
        """Weighted squared error (n,) [Nm^2] of parameters x (p,); index: parameters of each joint's columns."""
        return np.array([np.sum((T @ np.append(x[i], -1.0)) ** 2) for T, i in zip(self.joints, index, strict=True)])

    @property
    def sigma(self) -> np.ndarray:
        """Standard deviation (n,) [Nm] of the rows about their own least-squares solution."""
        own = np.array([T[-1, -1] ** 2 for T in self.joints])
        return np.sqrt(own / np.maximum(self.count, 1.0))


def save(triangle: Triangle, path: Path) -> int:
    """Write a triangle with its checksum; returns its size in bytes. Raises OSError naming the path."""
    arrays = {f"joint_{j}": T[np.triu_indices(len(T))] for j, T in enumerate(triangle.joints)}
    arrays |= {k: getattr(triangle, k) for k in ("count", "correlation", "reference")}
    body = io.BytesIO()
    np.savez(body, **arrays, about=np.frombuffer(json.dumps(triangle.about).encode(), np.uint8))  # type: ignore[arg-type]
    content = body.getvalue()
    with replacing(path) as temporary:
        temporary.write_bytes(hashlib.sha256(content).digest() + content)
    return len(content) + 32


def load(path: Path, columns: Columns) -> Triangle:
    """A triangle of the robot that `columns` are of.

    Raises DataError naming the file: unreadable, damaged, of another format or another robot model.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: cannot be read ({error.strerror or error})") from error
    if len(raw) < 32 or hashlib.sha256(raw[32:]).digest() != raw[:32]:
        raise DataError(f"{path}: is damaged: its checksum does not fit; remove the file and learn its recording again")
    try:
        with np.load(io.BytesIO(raw[32:]), allow_pickle=False) as file:
            data = dict(file)
        about = About.model_validate_json(data.pop("about").tobytes()).model_dump()
        own = columns.index if about["robot_id"] == columns.robot_id else []
        joints = [_square(data[f"joint_{j}"], len(index) + 1) for j, index in enumerate(own)]
        for name, low, high in (("count", 1e-9, 1e10), ("correlation", 1.0, 1e6), ("reference", 0.0, 1e12)):
            _refuse(name, data[name], (columns.n,), low, high)
    except ValidationError as error:
        raise DataError(f"{path}: holds {wrong_fields(error)}; remove the file and learn its recording again") from None
    except UNREADABLE as error:
        raise DataError(f"{path}: holds no triangle ({error}); remove the file and learn its recording again") from None
    if about["robot_id"] != columns.robot_id:
        raise DataError(
            f"{path}: is of another robot model ({about['robot_id']}, this one is {columns.robot_id}): kinematics or "
            "columns differ; keep one state directory per robot"
        )
    return Triangle(joints, data["count"], data["correlation"], data["reference"], about)


def _refuse(name: str, values: np.ndarray, shape: tuple[int, ...], low: float, high: float) -> None:
    """Raises ValueError for what no recording can have left behind."""
    if values.shape != shape or values.dtype.kind != "f" or not ((low <= values) & (values <= high)).all():
        raise ValueError(f"a {name} outside {low:g}..{high:g}, not finite or of another shape")


def _square(values: np.ndarray, size: int) -> np.ndarray:
    _refuse("triangle", values, (size * (size + 1) // 2,), -1e150, 1e150)
    out = np.zeros((size, size))
    out[np.triu_indices(size)] = values
    return out
