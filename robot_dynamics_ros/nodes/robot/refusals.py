"""Refused messages: the first ones of a second are reported with their reason, the others as one count."""

from __future__ import annotations

import time
from collections.abc import Callable

REPORTED = 10  # refusals per PERIOD that are reported one by one; after them messages are dropped unread
PERIOD = 1.0  # s


class Refusals:
    """report: takes a reason; clock: steady time [s]."""

    def __init__(self, report: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._report, self._clock = report, clock
        self._since, self._count, self._last = clock(), 0, ""
        self.total = 0

    @property
    def flooded(self) -> bool:
        """True when so many messages were refused in this period that no further one is read."""
        self.settle()
        return self._count >= REPORTED

    def add(self, why: str = "") -> None:
        """Count a refusal, and report why as long as the period has not seen REPORTED; no reason: it was not read."""
        self.settle()
        self._count, self.total = self._count + 1, self.total + 1
        self._last = why or self._last
        if self._count <= REPORTED:
            self._report(self._last)

    def settle(self) -> None:
        """At the end of a period report how many refusals were not reported."""
        if self._clock() - self._since < PERIOD:
            return
        unreported = self._count - REPORTED
        self._since, self._count = self._clock(), 0
        if unreported > 0:
            self._report(f"{self._last} ({unreported} more messages were dropped)")
