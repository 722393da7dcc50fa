"""One run of `learn`: new recordings are folded in, contradictions held back, and a robot file proposed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from robot_dynamics_ros.bags.rows import dated
from robot_dynamics_ros.errors import DataError
from robot_dynamics_ros.identification.arm.read import read
from robot_dynamics_ros.identification.arm.state import DEFAULTS, Options
from robot_dynamics_ros.identification.dataset.recording import Recording
from robot_dynamics_ros.identification.dataset.split import cut_in_time
from robot_dynamics_ros.learning.changes import ORDINARY, against_the_file, change_since, friction_between
from robot_dynamics_ros.learning.fleet import prior_of_file
from robot_dynamics_ros.learning.intake import bag_hash, learn_recording
from robot_dynamics_ros.learning.proposal import Proposal, propose
from robot_dynamics_ros.learning.running import Running
from robot_dynamics_ros.learning.store import Store
from robot_dynamics_ros.learning.triangles import Triangle
from robot_dynamics_ros.learning.update import Prior, file_prior

COMPARED = 5  # newest recordings whose friction is compared


@dataclass
class Session:
    """A state directory at work. prior: of the first robot file, or of a fleet; lines: what happened, in sentences."""

    store: Store
    prior: Prior
    options: Options = DEFAULTS
    lines: list[str] = field(default_factory=list)
    recordings: list[Recording] = field(default_factory=list)  # of this run, in Nm, those that were learned
    bytes: int = 0
    _known: Running | None = None

    @classmethod
    def of(cls, store: Store, options: Options = DEFAULTS, fleet: Path | None = None) -> Session:
        """With the prior of a fleet, from a given file or kept in the directory, else that of the first robot file."""
        return cls(store, prior_of_file(store, fleet) or file_prior(store.columns), options)

    def forget(self, name: str) -> None:
        """Remove a learned recording. Raises DataError as Store.move()."""
        self._move("forgotten", name, "recordings", None)

    def accept(self, name: str) -> None:
        """Learn from a recording that was held back. Raises DataError as Store.move()."""
        self._move("accepted", name, "held", "recordings")

    def _move(self, what: str, name: str, source: str, target: str | None) -> None:
        self.store.move(name, source, target)
        self._known = None
        self._say(what, name, note=True)

    def usable(self, bag: str | Path) -> bool:
        """Whether something can be learned of a bag, by what is known now, or it is in the store already."""
        try:
            sha256 = bag_hash(bag)
            if not self.store.place_of(sha256):
                self._learned(read(self.store.columns.robot, bag, self.options, self.options.exclude), sha256)
        except (DataError, OSError):
            return False
        return True

    def learn(self, bags: Sequence[str | Path], progress: Callable[[str], None] = lambda text: None) -> int:
        """Fold in bags, in the order of their time; one that says nothing usable is left out with its reason. Returns
        how many were left out so.
        """
        loaded: dict[str, tuple[str | Path, Recording]] = {}
        refused = sum(self._unusable(bag, partial(self._load, bag, loaded, progress)) for bag in bags)
        for sha256 in sorted(loaded, key=lambda name: loaded[name][1].start_ns):
            bag, rec = loaded.pop(sha256)
            progress(Path(bag).name)
            refused += self._unusable(bag, partial(self.add, rec, sha256))
        return refused

    def _load(
        self, bag: str | Path, loaded: dict[str, tuple[str | Path, Recording]], progress: Callable[[str], None]
    ) -> None:
        """Put a bag that is new among those that are loaded."""
        progress(Path(bag).name)
        sha256 = bag_hash(bag)
        where = "given" if sha256 in loaded else self.store.place_of(sha256)
        if where:
            what = {"given": "given twice", "recordings": "learned already", "held": "held back already"}[where]
            self._say("left out", f"{bag}: is {what}")
            return
        rec = read(self.store.columns.robot, bag, self.options, self.options.exclude)
        if (began := dated(rec.start_ns, bag)) != rec.start_ns:
            rec.start_ns = began
            self._say("dated", f"{bag}: its stamps are no dates, that of the file is taken")
        loaded[sha256] = bag, rec

    def _unusable(self, bag: str | Path, step: Callable[[], None]) -> bool:
        """Whether a step of learning a bag says that nothing of it is usable; noted with its reason."""
        try:
            step()
        except (DataError, OSError) as error:
            text = getattr(error, "strerror", None) or str(error)
            self._say("refused", text if str(bag) in text else f"{bag}: {text}", note=True)
            return True
        return False

    def add(self, rec: Recording, sha256: str) -> None:
        """Fold in one loaded recording, or hold it back. Raises DataError where nothing of it is usable."""
        before = self.known()
        state = before.at(1e-9 * rec.start_ns)
        triangle, free = self._learned(rec, sha256)
        learned = self.store.triangles
        change = change_since(state, triangle, learned, self.store.columns) if before.recordings else None
        name, share = triangle.about["recording"], free.duration / max(rec.duration, 1e-9)
        left = f", {rec.duration - free.duration:.0f} s of contact left out" if share < 0.995 else ""
        if change is not None and change.kind == ORDINARY:
            self._say("changed", f"{name}: {change.text} than before; it is learned as it is")
        elif change is not None:
            with_it = f", with it {change.after:.1f}" if change.kind != "unexplained" else ""
            text = f"{change.text} (chi2 per row {change.before:.1f}{with_it}); if it lasts: a new --state, or "
            text += f"--accept {name} and --forget those before, else all are averaged"
            return self._hold(triangle, text, change.kind)
        elif not before.recordings and (text := against_the_file(self.store.columns.robot, free)):
            text = f"it contradicts the robot file: {text.rstrip('.')}; to learn it all the same: --accept {name}"
            return self._hold(triangle, text, "robot file")
        self.bytes += self.store.add(triangle)
        self._known = None  # one older than the last: all are read again
        if triangle.time >= before.time:
            self._known = before.with_all([triangle])
            self._known.save(self.store.directory / "posterior.npz")
        self.recordings.append(free)
        rms = np.sqrt(triangle.reference / triangle.count).round(4).tolist()
        self._say("learned", f"{name}: {free.duration:.0f} s{left}", True, recording=name, time=triangle.time, rms=rms)

    def _hold(self, triangle: Triangle, why: str, kind: str) -> None:
        """Keep a recording apart from those that are learned."""
        self.bytes += self.store.add(triangle, "held")
        name = triangle.about["recording"]
        self._say("held", f"{name}: held back, {why}", True, recording=name, time=triangle.time, kind=kind)

    def propose(self) -> Proposal:
        """The robot file of everything learned, judged. Raises DataError where nothing is learned yet."""
        if not self.known().recordings:
            raise DataError(f"{self.store.directory}: no recording is learned yet")
        seen = self.store.posterior(self.prior, "seen")
        unseen = [sha256[:16] for sha256 in self.known().recordings if sha256 not in seen.recordings]
        new = self.store.triangles(names=unseen)
        halves = self._halves() if len(new) == 1 and len(self.recordings) == 1 else []
        found = propose(seen, halves or new, self.store.present(), self.recordings)
        found.halves = bool(halves)
        if self.recordings:
            last = self.store.triangles(names=[sha256[:16] for sha256 in list(self.known().recordings)[-COMPARED:]])
            self.lines += [f"changed: {text}" for text in friction_between(found.state, last, self.store.columns)]
        waiting = self.store.offered()
        if found.robot is None and not self.recordings and waiting is not None:
            found.robot = waiting
            found.reasons.append("a file was proposed when these recordings were at hand")
        elif found.robot is not None:
            self.store.offer(found.robot)
        return found

    def known(self) -> Running:
        """The posterior of everything learned."""
        if self._known is None:
            self._known = self.store.posterior(self.prior)
        return self._known

    def apply(self, proposal: Proposal) -> Path:
        """Write the proposed file as the next version; returns its path. Raises DataError where nothing is proposed."""
        if proposal.robot is None:
            raise DataError("nothing is proposed: " + "; ".join(proposal.reasons))
        path = self.store.apply(proposal.robot)
        self.store.offer(None)
        text = f"version {path.stem}: " + "; ".join(proposal.reasons)
        known = self.known()
        self._say("version", text, True, version=path.stem, time=known.time, seen=list(known.recordings))
        known.save(self.store.directory / "seen.npz")
        return path

    def _learned(self, rec: Recording, sha256: str) -> tuple[Triangle, Recording]:
        """As learn_recording(), beside what is known at its time."""
        known = self.known()
        state = known.at(1e-9 * rec.start_ns) if known.recordings else None
        return learn_recording(self.prior, rec, self.options, sha256, state)

    def _halves(self) -> list[Triangle]:
        """Two halves of the only recording, which is in Nm and free of contact; they judge each other. None where one
        of them says nothing usable.
        """
        kind = "torque" if self.store.columns.robot.drives.effort.includes_gravity else "gravity-free"
        options, state = Options(effort=kind, contact="ignore"), self.known().state
        try:
            parts = cut_in_time(self.recordings, 0.5)
            return [learn_recording(self.prior, rec, options, "0" * 64, state)[0] for (rec,) in parts]
        except DataError:
            return []

    def _say(self, what: str, text: str, note: bool = False, **more: Any) -> None:
        self.lines.append(f"{what}: {text}")
        if note:
            self.store.note(what, text, **more)


def history_lines(store: Store) -> list[str]:
    """Versions and change points of a state directory in sentences, oldest first, for `health`."""
    shown = []
    for entry in store.history():
        if entry["what"] in ("version", "held"):
            stamp = entry.get("time", 0.0)
            day = datetime.fromtimestamp(stamp, timezone.utc).strftime("%Y-%m-%d")
            shown.append(f"{day}: {entry['text']}")
    return shown
