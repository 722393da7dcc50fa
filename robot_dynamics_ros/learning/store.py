"""A state directory: the first robot file, a triangle per recording, versions of the robot file, history.

  first.yaml             robot file that the columns and the prior are of; never changes
  proposed.yaml          a better file that waits for --apply
  robot.yaml             the newest version, for --robot of every command
  versions/0001.yaml     the last KEPT versions
  recordings/*.triangle  learned; held/*.triangle contradict them and are not averaged in
  posterior.npz, seen.npz  posterior of all recordings, and of those the newest version was learned from
  fleet.npz              prior of a fleet, where one was given
  history.json           one entry per recording and version, oldest first
Plain files, each replaced as a whole: a directory on a mounted object store does as well, if it knows file locks.
What is read and then written is so under .lock, by one process at a time.
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.learning.columns import Columns
from robot_dynamics_ros.learning.running import Running
from robot_dynamics_ros.learning.triangles import Triangle, load, save
from robot_dynamics_ros.learning.update import Prior, file_prior
from robot_dynamics_ros.outputs import write_atomically
from robot_dynamics_ros.robot_file import RobotFile, load_robot, save_robot

KEPT = 10  # versions of the robot file


class Store:
    """The state directory of one robot, made on first use from its robot file.

    Raises DataError where the directory is of another robot model, ConfigError where a file in it is damaged.
    """

    def __init__(self, directory: str | Path, robot: RobotFile | None = None) -> None:
        self.directory = Path(directory)
        first = self.directory / "first.yaml"
        if not first.exists():
            if robot is None:
                raise DataError(f"{self.directory}: holds no learned state (no first.yaml)")
            file_prior(Columns(robot))  # a robot that cannot be learned leaves no directory behind
            save_robot(robot, first, changed=[])
        self.columns = Columns(load_robot(first))
        if robot is not None:
            self.refuse_other(robot)

    def refuse_other(self, robot: RobotFile) -> None:
        """Raises DataError where the directory is of another arm."""
        own = self.columns.robot
        same = own.joint_names == robot.joint_names
        if not (same and np.allclose(robot._placements(), own._placements(), atol=1e-6)):
            raise DataError(
                f"{self.directory}: is the state of {own.name}, not of {robot.name}: joints or kinematics differ"
            )

    # -- recordings ---------------------------------------------------------------------------------------------------
    def names(self, folder: str = "recordings") -> list[str]:
        """First 16 digits of the hashes of all recordings."""
        return sorted(path.stem for path in (self.directory / folder).glob("*.triangle"))

    def triangles(self, folder: str = "recordings", names: Iterable[str] | None = None) -> list[Triangle]:
        """All triangles or those of `names`, oldest first.

        Raises DataError naming a file that is damaged or of another robot model.
        """
        chosen = self.names(folder) if names is None else names
        found = [load(self._path(folder, name), self.columns) for name in chosen]
        return sorted(found, key=lambda t: t.time)

    def posterior(self, prior: Prior, of: str = "posterior") -> Running:
        """The posterior of everything learned, of: or of what the newest version has `seen`.

        Triangles are read only where they are not in the kept one, or where that no longer holds.
        """
        wanted = self.names()
        if of == "seen":
            seen = {sha256[:16] for sha256 in self.seen()}
            wanted = [name for name in wanted if name in seen]
        path = self.directory / f"{of}.npz"
        found = Running.of(prior).kept(path) or Running.of(prior)
        inside = {sha256[:16] for sha256 in found.recordings}
        new = self.triangles(names=[name for name in wanted if name not in inside])
        if inside - set(wanted) or any(t.time < found.time for t in new):
            found, new = Running.of(prior), self.triangles(names=wanted)
        if new:
            found = found.with_all(new)
            found.save(path)
        return found

    def place_of(self, sha256: str) -> str:
        """Where a recording is: "recordings", "held", or "" for a new one."""
        return next((f for f in ("recordings", "held") if self._path(f, sha256).exists()), "")

    def add(self, triangle: Triangle, folder: str = "recordings") -> int:
        """Keep a triangle; returns its size in bytes. What was proposed before it is dropped."""
        self.offer(None)
        return save(triangle, self._path(folder, triangle.about["sha256"]))

    def move(self, name: str, source: str, target: str | None) -> None:
        """Take the recording of a name or hash out of one folder into another (None: forget it).

        Raises DataError for a name that is not there, or that is there more than once.
        """
        found = [t for t in self.triangles(source) if name in (t.about["recording"], t.about["sha256"][: len(name)])]
        if len(found) != 1:
            known = ", ".join(t.about["recording"] for t in self.triangles(source)) or "none"
            raise DataError(
                f"{name}: {len(found)} recordings of that name in {self.directory / source}; there are {known}"
            )
        if target is not None:
            self.add(found[0], target)
        self.offer(None)  # it may be learned from what is taken out
        self._path(source, found[0].about["sha256"]).unlink()

    def _path(self, folder: str, sha256: str) -> Path:
        return self.directory / folder / f"{sha256[:16]}.triangle"

    # -- versions -----------------------------------------------------------------------------------------------------
    def present(self) -> RobotFile | None:
        """The newest version; None before the first."""
        path = self.directory / "robot.yaml"
        return load_robot(path) if path.exists() else None

    def apply(self, robot: RobotFile) -> Path:
        """Write the next version, make it the present one, and drop all but the last KEPT; returns its path."""
        with self._locked():
            versions = self.versions()
            number = int(versions[-1].stem) + 1 if versions else 1
            path = self.directory / "versions" / f"{number:04d}.yaml"
            saved = save_robot(robot, path, changed=["links", "friction", "hysteresis", "drives", "residuals"])
            save_robot(saved, self.directory / "robot.yaml", changed=[])
            for old in self.versions()[:-KEPT]:
                old.unlink()
        return path

    def offer(self, robot: RobotFile | None) -> None:
        """Keep a proposed file for a later `--apply`; None removes it."""
        path = self.directory / "proposed.yaml"
        path.unlink(missing_ok=True)
        if robot is not None:
            save_robot(robot, path, changed=[])

    def offered(self) -> RobotFile | None:
        """The proposed file that nothing was learned since; None where there is none."""
        path = self.directory / "proposed.yaml"
        return load_robot(path) if path.exists() else None

    def versions(self) -> list[Path]:
        """Files of the versions, oldest first."""
        found = (self.directory / "versions").glob("[0-9]*.yaml")
        return sorted(path for path in found if path.stem.isdecimal())

    def seen(self) -> set[str]:
        """Hashes of the recordings that the newest version was learned from."""
        versions = [entry for entry in self.history() if entry["what"] == "version"]
        return set(versions[-1]["seen"]) if versions else set()

    # -- history ------------------------------------------------------------------------------------------------------
    def history(self) -> list[dict[str, Any]]:
        """Entries, oldest first. Raises DataError where the file is damaged."""
        path = self.directory / "history.json"
        if not path.exists():
            return []
        try:
            return [_entry(item) for item in json.loads(path.read_text(encoding="utf-8"))]
        except (OSError, ValueError, TypeError, KeyError, OverflowError) as error:
            raise DataError(f"{path}: cannot be read ({error}); remove it to begin a new history") from None

    def note(self, what: str, text: str, **more: Any) -> None:
        """Add an entry: what (learned, held, refused, forgotten, version) and a sentence."""
        date = datetime.now(timezone.utc).isoformat(timespec="seconds")
        with self._locked():
            entries = [*self.history(), {"date": date, "what": what, "text": text, **more}]
            write_atomically(self.directory / "history.json", json.dumps(entries, indent=0) + "\n")

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One process at a time. Raises DataError where the file system has no locks."""
        with (self.directory / ".lock").open("a", encoding="utf-8") as stream:
            try:
                fcntl.flock(stream, fcntl.LOCK_EX)
            except OSError as error:
                raise DataError(f"{self.directory}: cannot be locked ({error})") from None
            yield


def _entry(item: Any) -> dict[str, Any]:
    """An entry of the history with its texts and time. Raises TypeError, KeyError, ValueError, OverflowError."""
    found = dict(item)
    datetime.fromtimestamp(found.get("time", 0.0), timezone.utc)  # raises where it is none
    texts = [found["date"], found["what"], found["text"], *(found["seen"] if found["what"] == "version" else ())]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("an entry without date, what and text")
    return found
