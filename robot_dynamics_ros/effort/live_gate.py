"""Live samples judged as recordings are, with the same sentences: estimates are withheld while they cannot be used."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.effort.decision import decide
from robot_dynamics_ros.effort.evidence import EffortEvidence
from robot_dynamics_ros.effort.joint_order import SAMPLES, TRAVEL, exchanged
from robot_dynamics_ros.effort.joint_state import NO_EFFORT, clipped, coarse, findings, unsigned
from robot_dynamics_ros.effort.lag import PIECE, Means, binned, lags, late
from robot_dynamics_ros.effort.rest import stuck_friction
from robot_dynamics_ros.models.robot_model import RobotModel
from robot_dynamics_ros.signals import Log, Sample

if TYPE_CHECKING:
    from robot_dynamics_ros.robot_file import RobotFile

ROWS, SECONDS = 2000, 1.0  # a verdict after either
APART = 0.1  # s between two samples by which the order of the joints is judged, the newest SAMPLES of them
LAGS, SIGN = 12, 4  # pieces in motion whose lags count, and that show the signs of the effort
CLIPPED = 20  # of SAMPLES, as CLIPPED of a recording


class LiveGate:
    """Judges live samples in batches; a finding stands until samples show the contrary.

    The signs of the efforts are judged in motion, too: at a later rest a wrong one may be a contact. doubt: what
    `clipped` says of the newest samples in motion, `late` of those of a minute of motion, and `coarse` of any: fast
    motion does not show steps.
    """

    def __init__(self, robot: RobotFile) -> None:
        n = robot.n_joints
        self._robot, self._found, self._count = robot, dict[str, str](), 0
        self._stamp = np.zeros(ROWS, np.int64)
        self._rows = np.zeros((3, ROWS, n))
        self._past: deque[tuple[int, np.ndarray]] = deque(maxlen=SAMPLES)  # stamp, (q, qd, effort)
        self._piece: list[Log] = []  # batches of a PIECE in which the lags of its joints are looked for
        self._lags: deque[list[np.ndarray]] = deque(maxlen=LAGS)
        self._motion, self._moved = EffortEvidence(stuck_friction(robot)), 0  # of so many pieces
        self._doubtful = set[str]()
        self._shown = 0  # stamp at which another order of the joints was seen last [ns]
        self.doubt = self._coarse = ""

    @property
    def why(self) -> str:
        """Why estimates are withheld; "" where they are not."""
        return next(filter(None, self._found.values()), "")

    @property
    def passed(self) -> bool:
        """Whether samples have been judged and may be used."""
        return bool(self._found) and not self.why

    def on_sample(self, sample: Sample) -> None:
        """Add one sample."""
        k = self._count
        self._stamp[k] = sample.stamp_ns
        self._rows[:, k] = sample.q, sample.qd, sample.effort
        apart = not self._past or abs(sample.stamp_ns - self._past[-1][0]) >= APART * 1e9
        if apart and np.isfinite(sample.q).all() and np.isfinite(sample.effort).all():
            self._past.append((sample.stamp_ns, self._rows[:, k].copy()))
        self._count += 1
        if self._count == ROWS or sample.stamp_ns - self._stamp[0] > SECONDS * 1e9:
            self._judge()
            self._count = 0

    def _judge(self) -> None:
        """By the rows that a recording would keep; a signal that is absent in most of them is absent."""
        q, qd, effort = self._rows[:, : self._count]
        there = [np.isfinite(x).all(axis=1) for x in (qd, effort)]
        missing = [2 * known.sum() < self._count for known in there]
        good = np.isfinite(q).all(axis=1)
        for known, absent in zip(there, missing, strict=True):
            good &= known | absent
        if good.sum() > 1:
            time = 1e-9 * (self._stamp[: self._count] - self._stamp[0])
            known = [None if absent else x[good] for x, absent in zip((qd, effort), missing, strict=True)]
            self._found |= findings(self._robot, time[good], q[good], *known)
            seldom = 2 * np.isfinite(effort).sum(axis=0) < self._count
            if seldom.any() and not seldom.all():
                names = (self._robot.joint_names[j] for j in np.flatnonzero(seldom))
                self._found["effort"] = NO_EFFORT.format(f" of {', '.join(names)}")
            self._found["order"] = self._order()
            signals = {k: x for k, x in zip(("q", "qd", "effort"), (q[good], *known), strict=True) if x is not None}
            newest = Log(self._robot.joint_names, self._stamp[: self._count][good], signals)
            if newest.has("effort"):
                self._lag(newest)
            if np.ptp(newest.q, axis=0).max() > TRAVEL:
                self.doubt = self._doubt(newest)

    def _lag(self, newest: Log) -> None:
        """Add the last batch to the piece, and its lags once it is long enough, where joints show them."""
        self._piece.append(newest)
        stamp = np.concatenate([part.stamp_ns for part in self._piece])
        if 0 < stamp[-1] - stamp[0] < PIECE * 1e9:
            return
        shared = set.intersection(*(set(part.stored) for part in self._piece))
        signals = {name: np.concatenate([part.get(name) for part in self._piece]) for name in shared}
        means = binned(self._robot, Log(newest.joint_names, stamp, signals))
        if means is not None and any(map(len, found := lags(means))):
            self._lags.append(found)
            self._sign(means)
        self._piece.clear()

    def _sign(self, piece: Means) -> None:
        """Joints whose effort is reversed, after SIGN pieces in motion: gravity and friction show it, or one of them
        twice in a row.
        """
        gravity = RobotModel(self._robot.chain(), self._robot.joint_names).gravity(piece.q)
        self._motion.add_motion(gravity, piece.links - gravity, piece.v, piece.a, piece.effort)
        self._moved += 1
        if self._moved < SIGN:
            return
        decision = decide(self._motion.evidence(), self._robot)
        names = ", ".join(sorted({*decision.flipped, *(set(decision.doubtful) & self._doubtful)}))
        self._found["sign"] = names and (
            f"the effort of {names} is reversed in motion, as gravity and friction show; check drives.effort.sign and "
            "the order of the efforts"
        )
        self._doubtful = set(decision.doubtful)
        self._motion, self._moved = EffortEvidence(stuck_friction(self._robot)), 0

    def _doubt(self, newest: Log) -> str:
        """Of the last batch, and of the samples in _past, which are long enough to show an effort at its bounds."""
        stamps, past, _, effort = self._kept()
        self._coarse = coarse(self._robot, newest) or self._coarse
        found = clipped(Log(newest.joint_names, stamps, {"q": past, "effort": effort}), CLIPPED)
        return "; ".join(filter(None, [found, late(self._robot, self._lags), self._coarse]))

    def _order(self) -> str:
        """Two joints under each other's names, or efforts without a sign; "" while nothing has shown it for as long as
        the samples in _past last.
        """
        stamps, q, qd, effort = self._kept()
        if not len(stamps) or not (np.diff(stamps) > 0).all():
            return ""
        time = 1e-9 * (stamps - stamps[0])
        speed = qd if np.isfinite(qd).all() else None
        found = unsigned(self._robot.joint_names, q, effort) or exchanged(self._robot, time, q, speed, effort)
        self._shown = stamps[-1] if found else self._shown
        return found or self._found.get("order", "") * bool(self._shown >= stamps[0])

    def _kept(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Stamps (M,) [ns], q, qd and effort (M, n) of _past."""
        stamps = np.array([stamp for stamp, _ in self._past], np.int64)
        rows = np.reshape([row for _, row in self._past], (-1, 3, self._robot.n_joints))
        q, qd, effort = rows.swapaxes(0, 1).copy()
        return stamps, q, qd, effort
