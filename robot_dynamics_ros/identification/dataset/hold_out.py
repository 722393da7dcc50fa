"""What to judge a periodic recording on: a motion of other frequency content, held out as whole periods."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from robot_dynamics_ros.identification.dataset.periods import REPEATED, Periods, find_periods
from robot_dynamics_ros.identification.dataset.recording import Piece, Recording

PHASES = 200  # of one period, at which motions are compared
SAME = 0.3  # rms difference of two periods over their deviation, below which they are one motion
SHARE = 0.1  # of all data, that a motion needs to judge the others
WINDOWS = ((0, 1), (0, 0.75), (0.25, 1), (0, 0.5), (0.25, 0.75), (0.5, 1))  # shares of a piece, one motion in most
SHORTEST = 3.0  # s of the rest of a piece in which another motion is looked for


@dataclass(frozen=True)
class Span:
    """Rows [first, end) of a piece in which one motion repeats, its period [s], and one period of it (PHASES, n)."""

    recording: int
    piece: int
    first: int
    end: int
    period: float
    shape: np.ndarray

    @property
    def rows(self) -> int:
        """Number of samples."""
        return self.end - self.first


def other_motion(recordings: Sequence[Recording]) -> tuple[list[Recording], list[Recording], str] | None:
    """Recordings to identify and to validate on, and a sentence: of several periodic motions the shortest is held out.

    None where the data are not periodic as a whole, or hold one motion only.
    """
    spans = [s for k, r in enumerate(recordings) for m, p in enumerate(r.pieces) for s in _spans(p, k, m, 0)]
    total = sum(r.samples for r in recordings)
    if sum(s.rows for s in spans) < REPEATED * total:
        return None
    groups: list[list[Span]] = []
    for span in spans:
        group = next((g for g in groups if _same(g[0], span)), None)
        if group is None:
            groups.append([span])
        else:
            group.append(span)
    held = min(groups, key=lambda g: sum(s.rows for s in g))
    if len(groups) < 2 or sum(s.rows for s in held) < SHARE * total:
        return None
    names = ", ".join(dict.fromkeys(recordings[s.recording].name for s in held))
    text = (
        f"no validation bag: validated on a motion of its own in {names} (period {held[0].period:.3g} s), held out of "
        "the identification"
    )
    return [*_without(recordings, held)], [*_only(recordings, held)], text


def _spans(piece: Piece, recording: int, number: int, offset: int) -> list[Span]:
    """Stretches of a piece in which a motion repeats, the longest first and then what is before and behind it."""
    if len(piece.t) < 50 or piece.t[-1] - piece.t[0] < SHORTEST:
        return []
    found = _found(piece)
    if found is None:
        return []
    first, end = np.searchsorted(piece.t, [found.start - 1e-9, found.start + found.count * found.period - 1e-9])
    phase = found.start + np.arange(PHASES) * (found.period / PHASES)
    shape = np.column_stack([np.interp(phase, piece.t, x) for x in piece.q.T])
    own = Span(recording, number, offset + int(first), offset + int(end), found.period, shape)
    before = _spans(piece.take(slice(0, int(first))), recording, number, offset)
    behind = _spans(piece.take(slice(int(end), None)), recording, number, offset + int(end))
    return [own, *before, *behind]


def _found(piece: Piece) -> Periods | None:
    """The longest run of periods of a motion that repeats in the piece or in a part of it (WINDOWS)."""
    for a, b in WINDOWS:
        found = find_periods(piece.take(slice(int(a * len(piece.t)), int(b * len(piece.t)))))
        if found is not None:
            return find_periods(piece, found.period) or found
    return None


def _same(a: Span, b: Span) -> bool:
    """Whether two spans repeat one motion: equal periods, and alike at some shift of the phase."""
    if abs(a.period / b.period - 1) > 0.02:
        return False
    x, y = a.shape - a.shape.mean(0), b.shape - b.shape.mean(0)
    product = np.fft.ifft(np.fft.fft(x, axis=0) * np.fft.fft(y, axis=0).conj(), axis=0).real.sum(1).max()
    power = (x**2).sum() + (y**2).sum()
    return bool(power - 2 * product < SAME**2 * 0.5 * power)


def _without(recordings: Sequence[Recording], held: Sequence[Span]) -> list[Recording]:
    """The recordings without the spans; a recording of which nothing is left is not in it."""
    left = []
    for k, rec in enumerate(recordings):
        pieces = []
        for m, p in enumerate(rec.pieces):
            gone = sorted((s.first, s.end) for s in held if (s.recording, s.piece) == (k, m))
            edges = [0, *(edge for pair in gone for edge in pair), len(p.t)]
            pieces += [p.take(slice(a, b)) for a, b in zip(edges[::2], edges[1::2], strict=True) if b - a > 50]
        if pieces:
            left.append(replace(rec, pieces=pieces))
    return left


def _only(recordings: Sequence[Recording], held: Sequence[Span]) -> list[Recording]:
    """The spans as recordings."""
    numbers = dict.fromkeys(s.recording for s in held)
    return [
        replace(
            recordings[k],
            pieces=[recordings[k].pieces[s.piece].take(slice(s.first, s.end)) for s in held if s.recording == k],
            notes=[],
        )
        for k in numbers
    ]
