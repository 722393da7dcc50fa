"""Runs of samples: the stretches in which a mask holds, and the pieces between marked beginnings, what held last."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

GAP = 1.0  # s without a sample


def runs(mask: np.ndarray, stamps: np.ndarray | None = None) -> list[tuple[int, int]]:
    """First row and row after the last of every stretch of True in mask (N,); a gap of GAP seconds between stamps (N,)
    ends one, too, and a clock that goes back.
    """
    cut = np.zeros(len(mask) + 1, bool)
    cut[[0, -1]] = True
    if stamps is not None:
        step = np.diff(stamps)
        cut[1:-1] = (step > GAP) | (step < 0)
    before, after = np.concatenate([[False], mask]), np.concatenate([mask, [False]])
    begins, ends = np.flatnonzero(after & (cut | ~before)), np.flatnonzero(before & (cut | ~after))
    return list(zip(begins.tolist(), ends.tolist(), strict=True))


def last_true(mask: np.ndarray) -> np.ndarray:
    """Last row (N,) at or before each in which mask (N,) holds; 0 before the first one."""
    return np.asarray(np.maximum.accumulate(np.where(mask, np.arange(len(mask)), 0)))


def pieces_of(start: np.ndarray) -> Iterator[tuple[int, int]]:
    """(first, end) of every piece of samples whose beginnings are marked (N,) bool; the first sample begins one."""
    edges = [0, *(np.flatnonzero(start[1:]) + 1).tolist(), len(start)]
    yield from zip(edges[:-1], edges[1:], strict=True)
