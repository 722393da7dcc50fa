"""Refused messages: the first ones of a second are told with their reason, the others as one sum."""

from __future__ import annotations

import time
from collections.abc import Callable

TOLD = 10  # refusals per PERIOD that are told one by one; after them messages are dropped without being read
PERIOD = 1.0  # s


class Refusals:
    """tell: takes a reason; clock [s]."""

    def __init__(self, tell: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._tell, self._clock = tell, clock
        self._since, self._count, self._last = clock(), 0, ""
        self.total = 0

    @property
    def flooded(self) -> bool:
        """True when so many messages were refused in this period that no further one is read."""
        self.settle()
        return self._count >= TOLD

    def add(self, why: str = "") -> None:
        """Count a refusal, and tell why as long as the period has not seen TOLD; no reason: it was not read."""
        self.settle()
        self._count, self.total = self._count + 1, self.total + 1
        self._last = why or self._last
        if self._count <= TOLD:
            self._tell(self._last)

    def settle(self) -> None:
        """At the end of a period tell how many refusals were not told."""
        if self._clock() - self._since < PERIOD:
            return
        untold = self._count - TOLD
        self._since, self._count = self._clock(), 0
        if untold > 0:
            self._tell(f"{self._last} ({untold} more messages were dropped)")
