"""Waiting for a condition."""

from __future__ import annotations

import time
from collections.abc import Callable
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
