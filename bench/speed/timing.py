"""Interleaved timing: every round runs ours, the peer and the machine's limit, in processor time of the calling thread.

Processor time leaves out what other programs on the machine take; a peer with threads of its own gets them for free.
A floor is a share of what the machine can do (its multiply-adds, its writes to memory), a ratio to a C++ peer, or real
time. A ratio to Python code is information.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Call = Callable[[], Any]
Floors = Mapping[str, float]  # instruction set -> least ratio to hold
LEAST, MOST = 5, 200  # rounds


@dataclass
class Case:
    """One comparison: `ours`, `peer` and `machine` each do `count` units of the same work.

    `machine` does the arithmetic or the writes of that work in the best order that the processor can have them.
    """

    name: str
    ours: Call
    peer: Call | None = None
    peer_name: str = ""
    count: float = 1
    floors: Floors = field(default_factory=dict)
    budget: float = 1.5  # seconds, both sides together, after one warm-up each
    limit: float | None = None  # most nanoseconds per unit, for work without a peer
    constant: float | None = None  # ns per unit of a peer that needs no measuring: real time
    machine: Call | None = None
    least_share: float | None = None  # of the machine's limit, to hold


@dataclass
class Row:
    """Result of a case; times in nanoseconds per unit of work."""

    name: str
    ours: float
    ours_worst: float
    peer_name: str
    peer: float | None
    peer_worst: float | None
    ratio: float | None
    floor: float | None
    met: bool | None
    limit: float | None = None
    machine: float | None = None
    share: float | None = None
    least_share: float | None = None


def measure(case: Case, isa: str) -> Row:
    """Median and worst of interleaved rounds, at least LEAST unless one round alone exceeds half of the budget."""
    calls = [call for call in (case.ours, case.peer, case.machine) if call]
    warm_up = sum(_time(call) for call in calls)
    rounds = max(1 if warm_up > case.budget / 2 else LEAST, min(MOST, int(case.budget / max(warm_up, 1e-9))))
    times = [[_time(call) / case.count * 1e9 for call in calls] for _ in range(rounds)]
    columns = iter(map(list, zip(*times, strict=True)))
    ours = next(columns)
    peer = next(columns) if case.peer else [x for x in (case.constant,) if x is not None]
    machine = next(columns) if case.machine else []
    median = statistics.median(ours)
    theirs, limit = (statistics.median(x) if x else None for x in (peer, machine))
    ratio, share = (None if x is None else x / median for x in (theirs, limit))
    floor = case.floors.get(isa)
    checks = [(ratio, floor), (share, case.least_share), (case.limit, median if case.limit is not None else None)]
    held = [value >= bound for value, bound in checks if value is not None and bound is not None]
    return Row(
        name=case.name,
        ours=median,
        ours_worst=max(ours),
        peer_name="real time" if case.constant is not None else case.peer_name,
        peer=theirs,
        peer_worst=max(peer, default=None),
        ratio=ratio,
        floor=floor,
        met=all(held) if held else None,
        limit=case.limit,
        machine=limit,
        share=share,
        least_share=case.least_share,
    )


def _time(call: Call) -> float:
    start = time.thread_time()
    call()
    return time.thread_time() - start
