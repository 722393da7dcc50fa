"""Child processes started together and ended together, as by `robot-dynamics up`."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from robot_dynamics_ros.errors import RobotDynamicsError

STOP_TIMEOUT = 6.0  # s from SIGINT to SIGTERM, and from there to SIGKILL
PR_SET_PDEATHSIG = 1


def child_environment() -> dict[str, str]:
    """This environment, in which a new Python finds this package wherever it was imported from."""
    paths = str(Path(__file__).resolve().parents[1]), os.environ.get("PYTHONPATH", "")
    return os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}


def end_with_parent() -> None:
    """In the child: SIGINT when the parent dies in whatever way (Linux only)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGINT)


def ending(code: int) -> str:
    """Text for an exit status: `signal 9` or `exit status 1`."""
    return f"signal {-code}" if code < 0 else f"exit status {code}"


def _pass_on(lines: IO[bytes], say: Callable[[str], None]) -> None:
    for line in lines:
        say(line.decode(errors="replace").rstrip())


class Supervisor:
    """Processes by name; one that ends by itself ends them all.

    say: takes each line that they print, which otherwise goes to the terminal.
    """

    def __init__(self, say: Callable[[str], None] | None = None) -> None:
        self.children: dict[str, subprocess.Popen[bytes]] = {}
        self._say = say

    def start(self, name: str, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start one; a Ctrl-C in the terminal reaches this process alone, which then ends the others in order."""
        pipes: dict[str, Any] = {} if self._say is None else {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        child = subprocess.Popen(
            list(command),
            env=os.environ | dict(environment),
            start_new_session=True,
            preexec_fn=end_with_parent,
            **pipes,
        )
        self.children[name] = child
        if self._say is not None:
            threading.Thread(target=_pass_on, args=(child.stdout, self._say), daemon=True).start()

    def wait(self, until: Callable[[], bool] = lambda: False, period: float = 0.1) -> int:
        """Wait until `until` holds or a child ends by itself; returns its exit status (1: it has printed the reason).

        Raises RobotDynamicsError naming a child that was killed or crashed.
        """
        while not until():
            for name, child in self.children.items():
                code = child.poll()
                if code in (0, 1):
                    return code
                if code is not None:
                    raise RobotDynamicsError(f"{name} ended ({ending(code)}); everything else is stopped")
            time.sleep(period)
        return 0

    def stop(self) -> None:
        """Send SIGINT to all, last started first; then SIGTERM, then SIGKILL to those that still run."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            alive = [child for child in reversed(self.children.values()) if child.poll() is None]
            for child in alive:
                child.send_signal(number)
            end = time.monotonic() + STOP_TIMEOUT
            for child in alive:
                try:
                    child.wait(max(0.05, end - time.monotonic()))
                except subprocess.TimeoutExpired:
                    continue
