"""Refused messages: the first ones of a second are reported with their reason, the others as one count."""

from __future__ import annotations

import time
from collections.abc import Callable

REPORTED = 10  # refusals per PERIOD that are reported one by one; after them messages are dropped unread
BUSY = 0.3  # s per PERIOD of reading messages that are refused; after it messages are dropped unread
PERIOD = 1.0  # s


class Refusals:
    """report: takes a reason; clock: steady time [s]."""

    def __init__(self, report: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._report, self.clock = report, clock
        self._since, self._count, self._busy, self._dropped, self._last = clock(), 0, 0.0, 0, ""
        self.total = 0

    @property
    def flooded(self) -> bool:
        """True when the messages that were refused in this period are so many, or took so long, that none is read."""
        self.settle()
        return self._count >= REPORTED or self._busy >= BUSY

    def add(self, why: str, begin: float) -> None:
        """Count and report a refusal; begin [s]: when reading the message began."""
        self.settle()
        self._count, self.total = self._count + 1, self.total + 1
        self._last, self._busy = why, self._busy + self.clock() - begin
        if self._count <= REPORTED:
            self._report(why)

    def drop(self) -> None:
        """Count a message that was not read."""
        self._dropped, self.total = self._dropped + 1, self.total + 1

    def settle(self) -> None:
        """At the end of a period report how many messages were not read."""
        if self.clock() - self._since < PERIOD:
            return
        dropped = self._dropped
        self._since, self._count, self._busy, self._dropped = self.clock(), 0, 0.0, 0
        if dropped:
            self._report(f"{self._last} ({dropped} more messages were dropped)")
