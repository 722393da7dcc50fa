"""Sufficient statistics of a recording: one triangle per joint, with its provenance; files that are refused by name.

[R_j z_j; 0 rho_j] of the QR of the weighted rows [A_j, y_j] holds everything that least squares will ever ask of them:
|A_j x - y_j|^2 = |R_j x - z_j|^2 + rho_j^2 for every x. Triangles of recordings are stacked and triangularised again.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.outputs import replacing

FORMAT = 1
UNREADABLE = (OSError, ValueError, KeyError, EOFError, TypeError, zipfile.BadZipFile)  # of a damaged archive
REQUIRED = ("robot_id", "recording", "sha256", "time", "seconds", "unit", "format", "version")


@dataclass(frozen=True)
class Triangle:
    """Recordings of one robot, folded.

    joints: triangle (k_j + 1, k_j + 1) of every joint, its target last; count (n,): sum of row weights; correlation
    (n,): rows per independent row; reference (n,) [Nm^2]: weighted squared error of the first robot file on these rows.
    about: provenance by name, see REQUIRED.
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


def stacked(triangles: Sequence[np.ndarray]) -> np.ndarray:
    """Triangle (k, k) of the rows of all triangles (k, k): their QR."""
    R: Any = np.linalg.qr(np.vstack(triangles), mode="r")
    return R


def merged(recordings: Sequence[Triangle]) -> Triangle:
    """One triangle of several recordings of one robot model: exactly that of all their rows at once.

    Raises DataError for recordings of different models.
    """
    ids = {r.about.get("robot_id") for r in recordings}
    if len(ids) != 1:
        raise DataError(f"triangles of different robot models cannot be merged: {', '.join(sorted(map(str, ids)))}")
    joints = [stacked([r.joints[j] for r in recordings]) for j in range(len(recordings[0].joints))]
    count = np.sum([r.count for r in recordings], axis=0)
    correlation = np.sum([r.count * r.correlation for r in recordings], axis=0) / np.maximum(count, 1.0)
    names = [name for r in recordings for name in r.about.get("recordings", [r.about.get("recording")])]
    about = dict(recordings[-1].about) | {"recordings": names, "time": min(r.time for r in recordings)}
    return Triangle(joints, count, correlation, np.sum([r.reference for r in recordings], axis=0), about)


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


def load(path: Path, robot_id: str, sizes: Sequence[int]) -> Triangle:
    """A triangle of the robot `robot_id` whose joints have k_j + 1 = `sizes` columns.

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
        about = dict(json.loads(data.pop("about").tobytes()))
    except UNREADABLE as error:
        raise DataError(f"{path}: is no triangle ({error}); remove the file and learn its recording again") from None
    missing = [name for name in REQUIRED if name not in about]
    if missing or about["format"] != FORMAT:
        raise DataError(f"{path}: has format {about.get('format')}, expected {FORMAT}; lacks {missing or 'nothing'}")
    if about["robot_id"] != robot_id:
        raise DataError(
            f"{path}: is of another robot model ({about['robot_id']}, this one is {robot_id}): kinematics or columns "
            "differ; keep one state directory per robot"
        )
    try:
        joints = [_square(data[f"joint_{j}"], size) for j, size in enumerate(sizes)]
        found = Triangle(joints, data["count"], data["correlation"], data["reference"], about)
        wrong = _wrong(found)
    except UNREADABLE as error:
        wrong = f"numbers that are missing or of another shape ({error})"
    if wrong:
        raise DataError(f"{path}: holds {wrong}; remove the file and learn its recording again")
    return found


def _wrong(t: Triangle) -> str:
    """What of a triangle no recording can have left behind, empty where it may have."""
    bounds = {"count": (1e-9, 1e10), "correlation": (1.0, 1e6), "reference": (0.0, 1e12)}
    for name, (low, high) in bounds.items():
        values = getattr(t, name)
        if (
            values.shape != (len(t.joints),)
            or values.dtype.kind != "f"
            or not ((low <= values) & (values <= high)).all()
        ):
            return f"a {name} outside {low:g}..{high:g} or numbers that are not finite"
    if not all(np.isfinite(T).all() for T in t.joints):
        return "numbers that are not finite"
    for name, high in (("time", 1e10), ("seconds", 1e9)):
        value = t.about[name]
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= high:
            return f"a {name} outside 0..{high:g}"
    sha256, recording = t.about["sha256"], t.about["recording"]
    if not isinstance(recording, str) or not re.fullmatch(r"[0-9a-f]{64}", str(sha256)):
        return "a name or hash that is none"
    return ""


def _square(values: np.ndarray, size: int) -> np.ndarray:
    if values.dtype.kind != "f" or values.ndim != 1:
        raise ValueError(f"{values.dtype} of shape {values.shape}")
    out = np.zeros((size, size))
    out[np.triu_indices(size)] = values
    return out
