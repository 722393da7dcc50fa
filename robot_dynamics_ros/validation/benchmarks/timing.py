"""Interleaved timing: every round runs ours, then the peer, in processor time of the calling thread.

Processor time leaves out what other programs on the machine take; a peer with threads of its own gets them for free.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

Floors = dict[str, float]  # instruction set -> least ratio to hold


@dataclass
class Case:
    """One comparison: `ours` and `peer` each do `count` units of the same work."""

    section: str
    name: str
    ours: Callable[[], Any]
    peer: Callable[[], Any] | None = None
    peer_name: str = ""
    count: float = 1
    floors: Floors = field(default_factory=dict)
    budget: float = 1.5  # seconds, both sides together, after one warm-up each
    limit: float | None = None  # most nanoseconds per unit, for work without a peer
    constant: float | None = None  # ns per unit of a peer that needs no measuring: real time


@dataclass
class Row:
    """Result of a case; times in nanoseconds per unit of work."""

    section: str
    name: str
    ours: float
    ours_best: float
    ours_worst: float
    peer_name: str
    peer: float | None
    peer_best: float | None
    peer_worst: float | None
    ratio: float | None
    floor: float | None
    met: bool | None
    rounds: int
    limit: float | None = None

    def as_dict(self) -> dict[str, Any]:
        """Plain values for JSON."""
        return asdict(self)


def measure(case: Case, isa: str, at_least: int = 5, at_most: int = 200) -> Row:
    """Median and worst of interleaved rounds, at least `at_least` unless one round alone exceeds the budget."""
    warm_up = _time(case.ours) + (_time(case.peer) if case.peer else 0.0)
    rounds = max(1 if warm_up > case.budget / 2 else at_least, min(at_most, int(case.budget / max(warm_up, 1e-9))))
    ours, peer = [], []
    for _ in range(rounds):
        ours.append(_time(case.ours) / case.count * 1e9)
        if case.peer:
            peer.append(_time(case.peer) / case.count * 1e9)
    return _row(case, isa, ours, peer)


def _time(call: Callable[[], Any]) -> float:
    start = time.thread_time()
    call()
    return time.thread_time() - start


def _row(case: Case, isa: str, ours: list[float], peer: list[float]) -> Row:
    if case.constant is not None:
        peer = [case.constant]
    ratio = statistics.median(peer) / statistics.median(ours) if peer else None
    floor = case.floors.get(isa)
    met = None if ratio is None or floor is None else ratio >= floor
    if case.limit is not None:
        met = met is not False and statistics.median(ours) <= case.limit
    return Row(
        section=case.section,
        name=case.name,
        ours=statistics.median(ours),
        ours_best=min(ours),
        ours_worst=max(ours),
        peer_name="real time" if case.constant is not None else case.peer_name,
        peer=statistics.median(peer) if peer else None,
        peer_best=min(peer) if peer else None,
        peer_worst=max(peer) if peer else None,
        ratio=ratio,
        floor=floor,
        met=met,
        rounds=len(ours),
        limit=case.limit,
    )
