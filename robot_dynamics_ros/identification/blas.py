"""One BLAS thread while many small matrices are solved: a second one only waits, and takes a core to do so."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Every loaded BLAS computes in the calling thread inside the block; without threadpoolctl as many as before."""
    try:
        from threadpoolctl import threadpool_limits
    except ImportError:  # no key of rosdep: an installation from apt computes with all threads, somewhat slower
        yield
        return
    with threadpool_limits(limits=1, user_api="blas"):
        yield
