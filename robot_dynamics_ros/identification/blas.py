"""One BLAS thread while many small matrices are solved: a second one only waits, and takes a core to do so."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

_SUFFIXES = ("64_", "")
_PREFIXES = ("scipy_openblas", "openblas")  # as shipped in the wheels of numpy and scipy, and by distributions


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
    """Every loaded OpenBLAS computes in the calling thread inside the block; other libraries are left alone."""
    found = list(_libraries())
    before = [get() for get, _ in found]
    try:
        for _, put in found:
            put(1)
        yield
    finally:
        for (_, put), count in zip(found, before, strict=True):
            put(count)


def _libraries() -> Iterator[tuple[Callable[[], int], Callable[[int], Any]]]:
    """Functions that read and set the number of threads of every OpenBLAS in this process."""
    for path in _loaded():
        with contextlib.suppress(OSError):
            library = ctypes.CDLL(path)
            for prefix in _PREFIXES:
                for suffix in _SUFFIXES:
                    get = getattr(library, f"{prefix}_get_num_threads{suffix}", None)
                    put = getattr(library, f"{prefix}_set_num_threads{suffix}", None)
                    if get is not None and put is not None:
                        yield get, put


def _loaded() -> list[str]:
    """Paths of the OpenBLAS libraries mapped into this process; none where the system does not say."""
    with contextlib.suppress(OSError):
        lines = Path("/proc/self/maps").read_text().splitlines()
        paths = {line.split(maxsplit=5)[-1] for line in lines if "openblas" in line}
        return sorted(p for p in paths if ".so" in p)
    return []
