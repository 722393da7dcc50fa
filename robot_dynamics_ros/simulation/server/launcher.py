"""A simulated controller as a process of its own: started, waited for until it says that it is ready, and ended."""

from __future__ import annotations

import importlib
import itertools
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from robot_dynamics_ros._core import shorten_slice
from robot_dynamics_ros.drivers.child_process import end
from robot_dynamics_ros.errors import ConfigError, ConnectionFailed
from robot_dynamics_ros.robot_file import RobotFile, load_robot
from robot_dynamics_ros.robot_file.problems import examine
from robot_dynamics_ros.simulation.server.client import SimulationClient
from robot_dynamics_ros.supervisor import child_environment

START_TIMEOUT = 180.0  # s, imports on a busy machine included
READY = "ready"  # first word of the line after those of the ports
FIXED_PORTS = (30004, 29999, 30003)  # fixed in the ur_rtde client
CONTROLLERS = {  # manufacturer -> module and class of the simulated controller, ports of the robot's controller
    "Universal Robots": ("robot_dynamics_ros.simulation.ur.process", "ControllerProcess", FIXED_PORTS),
    "Franka Robotics": ("robot_dynamics_ros.simulation.franka.controller", "FrankaController", (1337,)),
    "Comau": ("robot_dynamics_ros.simulation.comau.lpc", "SimulatedLpc", (5005,)),
}
_candidates = itertools.count(os.getpid() << 12)  # processes that start together try different ones


def loopback_address(ports: Sequence[int] = FIXED_PORTS) -> str:
    """An address 127.x.y.z on which the controller's fixed ports are free, so that controllers can run side by side.

    Raises ConnectionFailed when there is none.
    """
    for number in itertools.islice(_candidates, 4096):
        key = number * 2654435761 % 2**32  # spread neighbouring processes over the network
        host = f"127.{1 + key % 254}.{(key >> 8) % 256}.{1 + (key >> 16) % 254}"
        if all(_free(host, port) for port in ports):
            return host
    raise ConnectionFailed("no loopback address has the ports of the controller free")


def _free(host: str, port: int) -> bool:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        with socket.socket(socket.AF_INET, kind) as probe:
            if kind == socket.SOCK_STREAM:  # datagram sockets would share the port
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, port))
            except OSError:
                return False
    return True


def serve(
    robot: RobotFile, name: str, texts: Sequence[str], announce: Callable[[str], None] = print, kind: Any = None
) -> None:
    """The other end, in that process: start a robot's simulated controller with settings_of(), print its ports and what
    it is, then run until SIGINT, SIGTERM or its own end. kind: another controller.
    """
    kind = kind or controller_of(robot)
    process = kind(settings_of(kind, robot, name, texts))
    shorten_slice()  # a robot's cycle begins on time
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, process.stop)
    for port, value in process.ports.items():
        announce(f"{port} {process.host}:{value}")
    announce(f"{READY} {process.ready}")
    sys.stdout.flush()
    sys.stdout = sys.stderr  # what a plant prints: nobody reads the pipe of the ports any more, and it would be full
    process.run()


class SimulatedController:
    """Context manager around `robot-dynamics simulate` of a shipped robot, by default on a loopback address of its own.

    options: settings of the robot's controller.
    """

    program: ClassVar[tuple[str, ...]] = ("robot_dynamics_ros.cli.main", "simulate")

    def __init__(self, robot: str = "ur5e", host: str | None = None, **options: Any) -> None:
        self.robot = robot
        self.host = host or loopback_address(_known(load_robot(robot))[2])
        self.options = {"host": self.host} | options
        self.ports: dict[str, int] = {}
        self.process: subprocess.Popen[str] | None = None

    def __enter__(self) -> SimulatedController:
        settings = self.options | {"stop_with_stdin": True}
        arguments = [f"--set={name}={value}" for name, value in settings.items()]
        self._errors = tempfile.TemporaryFile("a+")  # a+: to read it moves nothing that is written
        self.process = subprocess.Popen(
            [sys.executable, "-m", *self.program, self.robot, *arguments],
            env=child_environment(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,  # a Ctrl-C in the terminal reaches us alone: the robot ends after its nodes
            text=True,
        )
        watchdog = threading.Timer(START_TIMEOUT, self.process.kill)
        watchdog.start()
        try:
            self._read_ports(self.process)
        finally:
            watchdog.cancel()
        return self

    def _read_ports(self, process: subprocess.Popen[str]) -> None:
        for line in process.stdout or ():
            name, _, rest = line.strip().partition(" ")
            if name == READY:
                return
            self.ports[name] = int(rest.rpartition(":")[2])
        process.communicate()
        text = self.errors.splitlines()[-1] if self.errors else f"exit status {process.returncode}"
        raise ConnectionFailed(f"simulated controller did not start: {text}")

    @property
    def errors(self) -> str:
        """What it has printed since it was ready, and on standard error."""
        self._errors.seek(0)
        return self._errors.read().strip()

    def client(self) -> SimulationClient:
        """A new connection to the control and ground truth channels."""
        return SimulationClient(self.host, self.ports["control"], self.ports["truth"])

    def stop(self) -> int:
        """End the process (SIGTERM, then SIGKILL after 5 s) and return its exit status."""
        process = self.process
        if process is None:
            return 0
        process.terminate()
        end(process)
        process.communicate()
        return process.returncode

    def __exit__(self, *_: object) -> None:
        self.stop()


def controller_of(robot: RobotFile) -> Any:
    """Class of a robot's simulated controller. Raises ConfigError where there is none."""
    module, name, _ = _known(robot)
    return getattr(importlib.import_module(module), name)


def settings_of(kind: Any, robot: RobotFile, name: str, texts: Sequence[str]) -> Any:
    """Settings of a class of simulated controllers, each NAME=VALUE read as the type of its field.

    Raises ConfigError naming a setting that this controller does not have, or a value of another type or out of range.
    """
    given = dict(text.partition("=")[::2] for text in texts)
    found, settings = examine(kind.settings_type, given | {"robot": name}, robot.name)
    if found:
        raise found[0]
    return settings


def _known(robot: RobotFile) -> tuple[str, str, tuple[int, ...]]:
    if robot.manufacturer not in CONTROLLERS:
        raise ConfigError(robot.name, "manufacturer", f"{robot.manufacturer!r} is none of {', '.join(CONTROLLERS)}")
    return CONTROLLERS[robot.manufacturer]
