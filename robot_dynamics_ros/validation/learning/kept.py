"""Recordings and results of a study on disk: one that was cut goes on where it ended."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from robot_dynamics_ros.outputs import replacing
from robot_dynamics_ros.signals import Log

T = TypeVar("T")
EXACT = ("q",)  # the others are kept in single precision: 3.6 MB for a minute


def kept_log(path: Path, make: Callable[[], Log]) -> Log:
    """The log in a file, or the one that `make` gives, kept there; both are the same numbers."""
    if not path.exists():
        log = make()
        values = {k: v if k in EXACT else v.astype(np.float32) for k, v in log.signals.items()}
        with replacing(path) as temporary, temporary.open("wb") as stream:
            np.savez(stream, stamp_ns=log.stamp_ns, names=np.array(log.joint_names), **values)  # type: ignore[arg-type]
    with np.load(path, allow_pickle=False) as file:
        data = dict(file)
    stamp, names = data.pop("stamp_ns"), data.pop("names").tolist()
    return Log(names, stamp, {k: v.astype(float) for k, v in data.items()})


def kept(path: Path, make: Callable[[], T]) -> T:
    """What a file of this program holds, or what `make` gives, kept there. Only for directories that one made."""
    if path.exists():
        found: Any = pickle.loads(path.read_bytes())
        return found
    value = make()
    with replacing(path) as temporary:
        temporary.write_bytes(pickle.dumps(value))
    return value
