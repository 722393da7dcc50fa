"""Which process runs which test file: the first one waits for real-time peers while the others compute."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from xdist.scheduler import LoadFileScheduling


@cache
def waits(path: Path) -> bool:
    """Whether a file has tests of real-time peers."""
    return "mark.realtime" in path.read_text(encoding="utf-8")


class WaitingApart(LoadFileScheduling):
    """A file at a time in the order of collection: `realtime` ones to the first process while there are any.

    The other processes take those that compute; a process without files of its kind takes one of the other.
    """

    def _assign_work_unit(self, node):
        root, waiting = self.config.rootpath, node is self.nodes[0]
        mine = next((name for name in self.workqueue if waits(root / name) is waiting), None)
        if mine is not None:
            self.workqueue.move_to_end(mine, last=False)
        super()._assign_work_unit(node)
