"""The reported velocity against the derivative of the position: delay, gain and bias of its signal, and the repair.

One gain of all joints is no gain: the stamps count other seconds than the controller, and are scaled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robot_dynamics_ros.identification.dataset.motion import low_pass, on_grid
from robot_dynamics_ros.identification.dataset.recording import Piece, Recording
from robot_dynamics_ros.identification.metrics import jackknife_std

BAND = 20.0  # Hz, in which the two are compared
BLOCKS = 12  # of time, each left out once: the spread is the deviation
SIGNIFICANCE = 5.0  # standard deviations beyond which a signal is repaired,
DELAY, GAIN, BIAS = 5e-4, 5e-3, 2e-3  # and at least s, share, rad/s; less changes no result
CLOCK, ALIKE = 0.05, 0.2  # largest error of a clock; share of it by which gains of one clock differ
APART = 0.01  # by which gains of recordings of one driver do not differ: 0.001 of 30 simulated ones


@dataclass(frozen=True)
class VelocitySignal:
    """qd(t) = gain v(t - delay) + bias for v = dq/dt: delay [s] of all joints, gain, bias [rad/s] (n,), deviations."""

    delay: float
    delay_std: float
    gain: np.ndarray
    gain_std: np.ndarray
    bias: np.ndarray
    bias_std: np.ndarray

    @property
    def late(self) -> bool:
        """Whether the delay is certain and large enough to matter."""
        return abs(self.delay) > max(DELAY, SIGNIFICANCE * self.delay_std)

    @property
    def common(self) -> tuple[float, float]:
        """Mean gain of the joints that move, by their inverse variances, and its deviation; 1 and 0 of none."""
        moved = self.gain_std > 0
        if not moved.any():
            return 1.0, 0.0
        weight = self.gain_std[moved] ** -2.0
        return float(np.average(self.gain[moved], weights=weight)), float(weight.sum() ** -0.5)

    @property
    def clock(self) -> float:
        """Seconds of the stamps per second of the controller: the gain that all joints share; 1 where they do not."""
        moved, (common, _) = self.gain_std > 0, self.common
        if moved.sum() < 2:
            return 1.0
        off = np.abs(self.gain - common)[moved]
        alike = off < np.maximum(ALIKE * abs(common - 1), SIGNIFICANCE * self.gain_std[moved])
        return common if alike.all() and GAIN < abs(common - 1) < CLOCK else 1.0

    @property
    def _own(self) -> np.ndarray:
        """Gains (n,) beside the clock; 1 of a joint that stands."""
        return np.where(self.gain_std > 0, self.gain / self.clock, 1.0)

    @property
    def scaled(self) -> np.ndarray:
        """Joints (n,) whose gain or bias is certain and large enough to matter."""
        gain = np.abs(self._own - 1) > np.maximum(GAIN, SIGNIFICANCE * self.gain_std)
        return gain | (np.abs(self.bias) > np.maximum(BIAS, SIGNIFICANCE * self.bias_std))

    def statements(self, joint_names: Sequence[str]) -> list[str]:
        """What is repaired, one sentence each; none for a velocity that agrees with the positions."""
        found = []
        if self.late:
            what = "later" if self.delay > 0 else "earlier"
            found.append(
                f"the reported velocity is {1e3 * abs(self.delay):.3g} +- {1e3 * self.delay_std:.1g} ms {what} than "
                "the positions: shifted"
            )
        if self.clock != 1.0:
            found.append(
                f"the reported velocity of all joints is {self.clock:.4g} times dq/dt: the stamps count other seconds "
                "than the controller, and are scaled"
            )
        for j in np.flatnonzero(self.scaled).tolist():
            found.append(
                f"{joint_names[j]}: the reported velocity is {self.gain[j]:.4g} +- {self.gain_std[j]:.1g} times dq/dt "
                f"{self.bias[j]:+.2g} +- {self.bias_std[j]:.1g} rad/s: corrected"
            )
        return found

    def block(self) -> dict[str, Any] | None:
        """What is repaired, as `drives.velocity` of a robot file holds it; None where nothing is."""
        delay, gain, bias = self._repair()
        if not (delay or self.scaled.any()):
            return None
        late = {"delay": delay, "delay_std": self.delay_std} if delay else {}
        stds = {"gain_std": self.gain_std, "bias_std": self.bias_std}
        stds = {k: np.where(self.scaled, v, 0.0) for k, v in stds.items()}
        return late | ({"gain": gain, "bias": bias} | stds if self.scaled.any() else {})

    def _repair(self) -> tuple[float, np.ndarray, np.ndarray]:
        """Delay [s], gain and bias [rad/s] (n,) that are taken out: what is not certain stays."""
        gain, bias = np.where(self.scaled, self._own, 1.0), np.where(self.scaled, self.bias, 0.0)
        return (self.delay if self.late else 0.0), gain, bias

    def repaired(self, rec: Recording) -> Recording:
        """The recording with the velocity that its positions have; what is not certain stays."""
        delay, gain, bias = self._repair()
        if not (delay or self.scaled.any() or self.clock != 1.0):
            return rec
        return replace(rec, pieces=[self._piece(p, delay, gain, bias) for p in rec.pieces])

    def _piece(self, p: Piece, delay: float, gain: np.ndarray, bias: np.ndarray) -> Piece:
        if p.qd is None:
            return p
        columns = p.qd.T if delay == 0 else [np.interp(p.t + delay, p.t, x) for x in p.qd.T]
        qd = (np.column_stack(list(columns)) - bias) / gain
        return replace(p, t=p.t / self.clock, begin=p.begin / self.clock, qd=qd)


def unlike(recordings: Sequence[Recording]) -> str:
    """A warning where recordings with velocities report them with different gains, of which one repair makes none
    right; empty where they do not.
    """
    if len(recordings) < 2:
        return ""
    found = [(*_signal([rec]).common, rec.name) for rec in recordings]
    moved = sorted(one for one in found if one[1] > 0)  # one that stands is no evidence
    if not moved or moved[-1][0] - moved[0][0] <= max(APART, SIGNIFICANCE * np.hypot(moved[-1][1], moved[0][1])):
        return ""
    each = ", ".join(f"{gain:.3g} in {name}" for gain, std, name in found if std > 0)
    return (
        f"the reported velocity is not the same multiple of dq/dt in all recordings ({each}): forces are off by more "
        "than the file states; record all of them with one driver and clock"
    )


def velocity_signal(recordings: Sequence[Recording]) -> VelocitySignal | None:
    """Delay, gain and bias of the reported velocity from all recordings; None where one has none.

    Least squares of qd = g v + b - g d dv/dt per joint, v and qd behind the same low-pass of zero phase; the delay is
    the mean of the joints' own, weighted by their inverse variances.
    """
    if any(r.qd_steps is None for r in recordings):
        return None
    return _signal(recordings)


def _signal(recordings: Sequence[Recording]) -> VelocitySignal:
    A, h = _normal(recordings)
    x = _solutions(A.sum(0), h.sum(0))
    left = np.stack([_solutions(A.sum(0) - a, h.sum(0) - b) for a, b in zip(A, h, strict=True)])
    std = jackknife_std(left)
    seen = std[:, 2] > 0  # a joint at rest is no evidence
    weight = np.where(seen, 1 / np.where(seen, std[:, 2], 1.0) ** 2, 1e-300)
    share = weight / weight.sum()
    delay = float(share @ x[:, 2])
    spread = float(share**2 @ (x[:, 2] - delay) ** 2)
    delay_std = float(np.sqrt(max(spread, 1 / weight.sum())))
    return VelocitySignal(delay, delay_std, x[:, 0], std[:, 0], x[:, 1], std[:, 1])


def _normal(recordings: Sequence[Recording]) -> tuple[np.ndarray, np.ndarray]:
    """Normal matrices (BLOCKS, n, 3, 3) and right-hand sides (BLOCKS, n, 3) of [v, 1, dv/dt] and qd."""
    n = recordings[0].n
    A, h = np.zeros((BLOCKS, n, 3, 3)), np.zeros((BLOCKS, n, 3))
    for p in (on_grid(p) for r in recordings for p in r.pieces):
        dt = p.period
        band = min(BAND, 0.2 / dt)
        v = np.gradient(low_pass(p.q, band, dt), p.t, axis=0)
        y, a = low_pass(np.asarray(p.qd), band, dt), np.gradient(v, p.t, axis=0)
        edge = min(round(2 / (band * dt)), len(v) // 4)
        parts = (np.array_split(x[edge : len(v) - edge], BLOCKS) for x in (v, a, y))
        for k, (speed, acceleration, reported) in enumerate(zip(*parts, strict=True)):
            X = np.stack([speed, np.ones_like(speed), acceleration], axis=2)
            A[k] += np.einsum("tna,tnb->nab", X, X)
            h[k] += np.einsum("tna,tn->na", X, reported)
    return A, h


def _solutions(A: np.ndarray, h: np.ndarray) -> np.ndarray:
    """Gain, bias and delay (n, 3); 1, 0 and 0 where a joint hardly moves."""
    scale = np.sqrt(np.maximum(np.einsum("nii->ni", A), 1e-12))
    unit = A / scale[:, :, None] / scale[:, None, :] + 1e-9 * np.eye(3)
    x = np.linalg.solve(unit, (h / scale)[..., None])[..., 0] / scale
    moves = A[:, 0, 0] > 1e-4 * A[:, 1, 1]
    found = np.column_stack([x[:, 0], x[:, 1], -x[:, 2] / np.where(moves, x[:, 0], 1.0)])
    return np.where(moves[:, None], found, [1.0, 0.0, 0.0])
