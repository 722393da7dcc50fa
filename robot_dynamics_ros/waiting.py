"""Waiting for a condition, and for Ctrl-C, SIGTERM or the end of the terminal."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

PERIOD = 0.002  # s between two looks at a condition


def wait_until(
    condition: Callable[[], Any],
    seconds: float,
    meanwhile: Callable[[], Any] = lambda: time.sleep(PERIOD),
    now: Callable[[], float] = time.monotonic,
) -> bool:
    """Until the condition holds, with `meanwhile` between two looks; False when it does not in `seconds` of `now`."""
    end = now() + seconds
    while not condition():
        if now() > end:
            return False
        meanwhile()
    return True


def ends() -> list[signal.Signals]:
    """Signals that ask a process to end: Ctrl-C, SIGTERM, and a closed terminal where that is not ignored (nohup)."""
    ignored = signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    return [signal.SIGINT, signal.SIGTERM, *([] if ignored else [signal.SIGHUP])]


@contextmanager
def interrupted() -> Iterator[threading.Event]:
    """Whether one of ends() came: ask is_set(); wait() holds a lock that the handler needs, for ever.

    An exception inside the middleware would end the client, not the motion.
    """
    stop = threading.Event()
    before = {number: signal.signal(number, lambda *_: stop.set()) for number in ends()}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
