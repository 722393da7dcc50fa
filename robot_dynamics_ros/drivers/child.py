"""A driver's own process: started with a pipe and inherited descriptors, ended in order or by force."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from multiprocessing.connection import Connection


def spawn(
    module: str, arguments: Sequence[str], descriptors: Sequence[int] = ()
) -> tuple[subprocess.Popen[bytes], Connection]:
    """Start `python -m module <pipe> arguments...`; returns the process and our end of the pipe."""
    ours, theirs = socket.socketpair()
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    paths = os.pathsep.join(p for p in (package, os.environ.get("PYTHONPATH", "")) if p)
    process = subprocess.Popen(
        [sys.executable, "-m", module, str(theirs.fileno()), *arguments],
        pass_fds=[theirs.fileno(), *descriptors],
        stdin=subprocess.DEVNULL,
        start_new_session=True,  # a Ctrl-C in the terminal reaches us alone, and we stop the robot in order
        env=os.environ | {"PYTHONPATH": paths},
    )
    theirs.close()
    return process, Connection(ours.detach())


def hang_up(pipe: Connection) -> None:
    """End of the conversation for both sides, also while a thread of ours is listening."""
    try:
        with socket.socket(fileno=os.dup(pipe.fileno())) as end:
            end.shutdown(socket.SHUT_RDWR)
    except OSError:
        return


def end(process: subprocess.Popen[bytes], patience: float = 5.0) -> int:
    """Wait for a process that was asked to leave; by force after `patience` [s]. Returns its exit status."""
    try:
        return process.wait(patience)
    except subprocess.TimeoutExpired:
        process.kill()
        return process.wait()


def ending(code: int) -> str:
    """How a process ended, in words."""
    return f"signal {-code}" if code < 0 else f"exit status {code}"
