"""Start a simulated controller as a process of its own and wait for the line that says it is ready."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from types import TracebackType
from typing import Any

from robot_dynamics_ros.errors import ConnectionFailed
from robot_dynamics_ros.simulation.ur_controller.client import SimulationClient

PACKAGE_ROOT = Path(__file__).resolve().parents[3]


def loopback_address(key: int | None = None) -> str:
    """An address 127.x.y.z of this process (or key): clients with fixed ports can then run side by side."""
    key = os.getpid() if key is None else key
    return f"127.{1 + (key >> 16) % 253}.{(key >> 8) & 255}.{1 + (key & 255) % 254}"


class SimulatedUR:
    """Context manager around `robot-dynamics simulate`; options are its long options with underscores."""

    def __init__(self, robot: str = "ur5e", timeout: float = 30.0, **options: Any) -> None:
        self.robot, self.timeout = robot, timeout
        self.options = {"host": loopback_address()} | options
        self.host = str(self.options["host"])
        self.ports: dict[str, int] = {}
        self.process: subprocess.Popen[str] | None = None

    def __enter__(self) -> SimulatedUR:
        arguments = [f"--{name.replace('_', '-')}={value}" for name, value in self.options.items()]
        paths = [str(PACKAGE_ROOT), os.environ.get("PYTHONPATH", "")]
        self.process = subprocess.Popen(
            [sys.executable, "-m", "robot_dynamics_ros.cli.main", "simulate", self.robot, *arguments],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(path for path in paths if path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        watchdog = threading.Timer(self.timeout, self.process.kill)
        watchdog.start()
        try:
            self._read_ports(self.process)
        finally:
            watchdog.cancel()
        return self

    def _read_ports(self, process: subprocess.Popen[str]) -> None:
        for line in process.stdout or ():
            name, _, rest = line.strip().partition(" ")
            if name == "ready":
                return
            self.ports[name] = int(rest.rpartition(":")[2])
        _, errors = process.communicate()
        text = errors.strip().splitlines()[-1] if errors.strip() else f"exit status {process.returncode}"
        raise ConnectionFailed(f"simulated controller did not start: {text}")

    def client(self) -> SimulationClient:
        """A new connection to the control and ground truth channels."""
        return SimulationClient(self.host, self.ports["control"], self.ports["truth"])

    def stop(self) -> int:
        """End the process (SIGTERM, then SIGKILL after 5 s) and return its exit status."""
        process = self.process
        if process is None:
            return 0
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
        process.communicate()
        return process.returncode

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
