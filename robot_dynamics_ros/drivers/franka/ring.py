"""Samples from the client's process: a ring in shared memory, announced by an event counter; one writer, one reader.

A reader that is late loses nothing until the ring is full; then new samples are dropped and counted.
"""

from __future__ import annotations

import mmap
import os
import select

import numpy as np

from robot_dynamics_ros.drivers.franka.rows import SLOTS, WIDTH

TIMES = 3  # int64 per sample: controller time, host time, steady time [ns]
_HEADER = 64  # bytes: samples read, dropped, written; steady time of the newest


class SampleRing:
    """SLOTS rows of TIMES integers and WIDTH doubles."""

    def __init__(self, memory: int | None = None, event: int | None = None) -> None:
        size = _HEADER + SLOTS * 8 * (TIMES + WIDTH)
        if memory is None:
            memory = os.memfd_create("samples")
            os.ftruncate(memory, size)
        self.memory = memory
        self.event = os.eventfd(0, os.EFD_NONBLOCK) if event is None else event
        self._map = mmap.mmap(self.memory, size)
        counts = np.frombuffer(self._map, np.int64, 4)
        self._read, self._dropped, self._count, self._newest = (counts[k : k + 1] for k in range(4))
        self._times = np.frombuffer(self._map, np.int64, SLOTS * TIMES, _HEADER).reshape(SLOTS, TIMES)
        start = _HEADER + 8 * SLOTS * TIMES
        self._values = np.frombuffer(self._map, np.float64, SLOTS * WIDTH, start).reshape(SLOTS, WIDTH)
        self._written = self._available = self._taken = 0
        self._poll = select.poll()
        self._poll.register(self.event, select.POLLIN)

    # -- writer -------------------------------------------------------------------------------------------------------
    def push(self, times: tuple[int, int, int], values: list[float] | np.ndarray) -> bool:
        """Append one sample, values (m,) with m = WIDTH; False when the reader is so late that there is no room."""
        if self._written - int(self._read[0]) >= SLOTS:
            self._dropped[0] += 1
            return False
        place = self._written % SLOTS
        self._times[place] = times
        self._values[place] = values
        self._written += 1
        self._newest[0] = times[2]
        self._count[0] = self._written
        os.eventfd_write(self.event, 1)  # the system call orders the memory: the row is there before its announcement
        return True

    # -- reader -------------------------------------------------------------------------------------------------------
    def wait(self, timeout: float) -> bool:
        """True when a sample is waiting, at the latest after `timeout` [s]; other Python threads run meanwhile."""
        if self._available == 0 and self._poll.poll(max(0.0, 1e3 * timeout)):
            self._available += os.eventfd_read(self.event)
        return self._available > 0

    def pop(self, values: np.ndarray) -> tuple[int, int, int]:
        """The oldest sample into values (m,), m = WIDTH; returns its times. Only after wait() returned True."""
        place = self._taken % SLOTS
        times = self._times[place].tolist()
        values[:] = self._values[place]
        self._taken += 1
        self._available -= 1
        self._read[0] = self._taken
        return times[0], times[1], times[2]

    @property
    def pending(self) -> int:
        """Samples that wait."""
        return int(self._count[0] - self._read[0])

    @property
    def newest_ns(self) -> int:
        """Steady time of the newest sample [ns], read or waiting; 0 before the first."""
        return int(self._newest[0])

    @property
    def dropped(self) -> int:
        """Samples lost because they were read too late."""
        return int(self._dropped[0])

    def close(self) -> None:
        """Give the memory back; the other process keeps its own view of it."""
        if self.memory < 0:
            return
        del self._read, self._dropped, self._count, self._newest, self._times, self._values
        self._map.close()
        os.close(self.memory)
        os.close(self.event)
        self.memory = self.event = -1
