"""A simulated UR controller, driver and torque loop over real sockets, moving; and a process that does the same."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros._core import EnableResult, GuardState, TorqueMode
from robot_dynamics_ros.control.torque import torque_loop
from robot_dynamics_ros.drivers.guard import guard_limits
from robot_dynamics_ros.drivers.ur.driver import UrDriver
from robot_dynamics_ros.errors import ConnectionFailed
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.server.launcher import SimulatedUR
from robot_dynamics_ros.trajectories.smooth import through
from robot_dynamics_ros.validation.faults.table import require

SPEED = 0.5  # controller time per wall time: half the jitter of a machine that does other things too
START_TIMEOUT = 15.0  # s of wall time for the first state and for a reply
ATTEMPTS = 4  # to get moving on a busy machine; faults are injected after that


class Arm:
    """A driver with its loop, reading; the robot moves up and down by torque."""

    def __init__(self, host: str, transport: str = "script", time_scale: float = SPEED) -> None:
        self.robot = load_robot("ur5e")
        self.driver = UrDriver(self.robot, host, torque=transport, follow_host_clock=False, time_scale=time_scale)
        self.loop = torque_loop(self.robot, guard_limits(self.robot), {"time_scale": time_scale})
        self.driver.attach(self.loop)
        self.driver.connect()

    def read(self, seconds: float = 0.0, until: Callable[[], bool] = lambda: False) -> bool:
        """Read for so many wall seconds, or until the condition holds; returns whether it does."""
        end = time.monotonic() + seconds
        while not (reached := until()) and time.monotonic() < end:
            self.driver.read(0.005)
            self.driver.send_torque()
        return reached

    def move(self) -> None:
        """Torque mode on, following a path for ever; a busy machine may need more than one attempt."""
        self.read(START_TIMEOUT, lambda: bool(np.isfinite(self.driver.sample.q).all()))
        for _ in range(ATTEMPTS):
            if self._try():
                return
            self.read(1.0)
            self.loop.rearm()
            self.read(0.2)
        require(False, f"the robot cannot be set in motion: {self.loop.state.name}, {self.loop.reason.name}")

    def _try(self) -> bool:
        try:
            self.driver.start_torque()
        except ConnectionFailed:  # the vendor's client does not always come up on a busy machine
            return False
        q = self.driver.sample.q.copy()
        path = through(np.vstack([q, q + 0.25, q - 0.25, q]), velocity=0.8, acceleration=2.0)
        self.loop.enable(TorqueMode.track, _core.TorqueTrajectory(path.q, path.qd, path.qdd, 500.0, True))
        self.read(2.0, lambda: self.loop.enabled != EnableResult.pending)
        self.read(1.0 / SPEED)
        return self.loop.state == GuardState.ok

    @property
    def off(self) -> bool:
        """True when the loop lets nothing out and is latched."""
        self.read(0.3)  # what is left of a ramp, and the records of it
        return self.latched and not self.driver_runs

    @property
    def driver_runs(self) -> bool:
        """True while the last record asks for torque mode."""
        records = self.driver.records
        return bool(records and records[-1]["run"])

    @property
    def latched(self) -> bool:
        """True when the guard is latched off."""
        return self.loop.state in (GuardState.safe, GuardState.fault)

    def resumes(self) -> bool:
        """True when torque comes back without a re-arm."""
        self.loop.enable(TorqueMode.guide)
        self.read(0.3)
        return self.driver_runs

    def close(self) -> None:
        """End it."""
        self.driver.disconnect()


class Stand:
    """A simulated controller with an arm on it: `with Stand() as stand`."""

    def __init__(self, transport: str = "script", arm: bool = True, **options: Any) -> None:
        self._transport, self._with_arm = transport, arm
        self._options = {"speed": SPEED} | options

    def __enter__(self) -> Stand:
        self.ur = SimulatedUR("ur5e", **self._options)
        self.ur.__enter__()
        self.simulation = self.ur.client()
        self.arm: Any = None
        try:
            if self._with_arm:
                self.arm = Arm(self.ur.host, self._transport)
                self.arm.move()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def restart(self) -> None:
        """Another controller under the same address, after the first was killed."""
        self.simulation.close()
        self.ur.stop()
        self.ur = SimulatedUR("ur5e", host=self.ur.host, **self._options)
        self.ur.__enter__()
        self.simulation = self.ur.client()

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.arm is not None:
            self.arm.close()
        self.simulation.close()
        self.ur.stop()

    def torque_ends(self, begin: float, budget: float) -> str:
        """Demands that the controller leaves torque mode within `budget` s of controller time since `begin`."""
        while True:
            state = self.simulation.state
            passed = state["timestamp"] - begin
            if not state["torque_mode"]:
                break
            require(passed <= budget, f"torque mode still on after {1e3 * passed:.0f} ms")
            if self.arm is not None:
                self.arm.read(0.002)
        require(passed <= budget + 0.01, f"torque mode on for {1e3 * passed:.0f} ms")
        self.comes_to_rest()
        return f"torque ended after {1e3 * passed:.0f} ms"

    def comes_to_rest(self) -> None:
        """Demands that the robot stands still under its own controller after a second."""
        self.simulation.wait(1.0)
        first = np.array(self.simulation.state["q"])
        self.simulation.wait(0.1)
        travel = np.abs(np.array(self.simulation.state["q"]) - first).max()
        require(travel < 1e-3, f"the robot still moves: {travel:.4f} rad in 100 ms")

    def unlock(self) -> None:
        """After a protective stop: unlocked as soon as the controller allows it."""
        for _ in range(100):
            if "Protective stop releasing" in self._dashboard("unlock protective stop"):
                return
            self.simulation.wait(0.2)
        require(False, "the protective stop cannot be unlocked")

    def _dashboard(self, line: str) -> str:
        with socket.create_connection((self.ur.host, self.ur.ports["dashboard"]), START_TIMEOUT) as connection:
            lines = connection.makefile("rw")
            lines.readline()  # the greeting
            lines.write(line + "\n")
            lines.flush()
            return lines.readline()

    @property
    def now(self) -> float:
        """Controller time."""
        return float(self.simulation.state["timestamp"])


@contextmanager
def cpu_load(count: int, seconds: float) -> Iterator[None]:
    """So many processes that never sleep, for so long."""
    busy = f"import time\nend = time.monotonic() + {seconds}\nwhile time.monotonic() < end: pass"
    running = [subprocess.Popen([sys.executable, "-c", busy]) for _ in range(count)]
    yield
    for process in running:
        process.wait()


class Worker:
    """The arm in a process of its own, to be killed."""

    def __init__(self, host: str, transport: str = "script") -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "robot_dynamics_ros.validation.faults.stand", host, transport],
            stdout=subprocess.PIPE,
            text=True,
        )
        line = self.process.stdout.readline() if self.process.stdout else ""
        require(line.strip() == "moving", f"the process did not start: {line.strip() or 'no output'}")

    def kill(self) -> None:
        """SIGKILL."""
        self.process.kill()
        self.process.wait()
        if self.process.stdout:
            self.process.stdout.close()


def main() -> None:
    """argv: host, transport. Moves until it is killed, or something ends the torque."""
    arm = Arm(sys.argv[1], sys.argv[2])
    arm.move()
    print("moving", flush=True)
    while True:
        arm.driver.read(0.02)
        arm.driver.send_torque()


if __name__ == "__main__":
    main()
