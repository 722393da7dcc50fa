"""The posterior of recordings, kept between runs: a new recording is folded in without reading the old ones.

Everything is computed from the triangles again only where that is not the same: after a recording was forgotten or
accepted, for one that is older than the last, or with another prior.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np

from robot_dynamics_ros.learning.triangles import UNREADABLE, Triangle
from robot_dynamics_ros.learning.update import TAU, Information, Prior, rows_of, walked
from robot_dynamics_ros.outputs import write_arrays


@dataclass(frozen=True)
class Running:
    """What is known after some recordings.

    time [s since 1970] of the last; seconds of all; recordings: SHA-256 -> name.
    """

    prior: Prior
    state: Information
    time: float = -np.inf
    seconds: float = 0.0
    recordings: dict[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, prior: Prior, triangles: Sequence[Triangle] = ()) -> Running:
        """After recordings, in the order of their time."""
        return cls(prior, prior.information).with_all(triangles)

    def at(self, time: float) -> Information:
        """The posterior at a time [s since 1970], friction having walked since the last recording."""
        return walked(self.state, self.prior, time - self.time) if self.recordings else self.state

    def with_all(self, triangles: Sequence[Triangle]) -> Running:
        """With further recordings, in the order of their time; one older than the last counts as of the last's time."""
        found = self
        for one in sorted(triangles, key=lambda t: t.time):
            state = found.at(one.time).with_rows(rows_of(one, self.prior.columns))
            named = found.recordings | {str(one.about["sha256"]): str(one.about["recording"])}
            seconds = found.seconds + float(one.about.get("seconds", 0.0))
            found = replace(found, state=state, time=max(one.time, found.time), seconds=seconds, recordings=named)
        return found

    @cached_property
    def key(self) -> str:
        """What a kept posterior must have been made with: 16 hexadecimal digits of the prior and of TAU."""
        parts = (self.prior.columns.robot_id.encode(), self.prior.mean.tobytes(), self.prior.covariance.tobytes())
        return hashlib.sha256(b"".join((*parts, repr(TAU).encode()))).hexdigest()[:16]

    def save(self, path: Path) -> None:
        """Keep it. Raises OSError naming the path."""
        about = {"key": self.key, "time": self.time, "seconds": self.seconds, "recordings": self.recordings}
        text = np.frombuffer(json.dumps(about).encode(), np.uint8)
        write_arrays(path, R=self.state.R, z=self.state.z, about=text)

    def kept(self, path: Path) -> Running | None:
        """What is kept at `path` with this prior; None where it is of others, damaged or not there."""
        try:
            with np.load(path, allow_pickle=False) as file:
                about, R, z = json.loads(file["about"].tobytes()), file["R"], file["z"]
            state, p = Information(R, z), self.prior.columns.size
            known = about.pop("key") == self.key and isinstance(about["recordings"], dict)
            known = known and bool(np.isfinite([about["time"], about["seconds"]]).all())
            fits = known and R.shape == (p, p) and z.shape == (p,) and state.usable
            return replace(self, state=state, **about) if fits else None
        except UNREADABLE:
            return None
