"""The bench over real sockets: a simulated UR controller, a driver and its torque loop; and a process to be killed."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from bench.faults.bench import Bench, ask
from bench.faults.table import require
from bench.faults.ur_controller import FaultyController
from robot_dynamics_ros._core import EnableResult, GuardState, TorqueMode
from robot_dynamics_ros.control.torque import torque_loop
from robot_dynamics_ros.drivers.guard import guard_limits
from robot_dynamics_ros.drivers.ur.driver import UrDriver
from robot_dynamics_ros.errors import ConnectionFailed
from robot_dynamics_ros.robot_file import RobotFile, load_robot
from robot_dynamics_ros.trajectories.smooth import through
from robot_dynamics_ros.waiting import wait_until

SPEED = 0.2  # controller time per wall time: a fifth of the jitter of a machine that does other things too
REPLY_TIMEOUT = 15.0  # s of wall time for the first state and for a reply
HEARTBEAT = 0.05  # s from the last heartbeat until the torque program has ended: 25 cycles
ATTEMPTS = 10  # to get moving on a busy machine; faults are injected after that


class Arm:
    """A driver with its loop, reading; the robot moves up and down by torque. options: of the driver."""

    def __init__(
        self, host: str, robot: RobotFile | None = None, parameters: dict[str, Any] | None = None, **options: Any
    ) -> None:
        self.robot = robot or load_robot("ur5e")
        self.driver = UrDriver(self.robot, host, torque=True, **{"follow_host_clock": False, **options})
        self.loop = torque_loop(self.robot, guard_limits(self.robot), {"time_scale": SPEED} | (parameters or {}))
        self.driver.attach(self.loop)
        self.driver.connect()

    def read(self, seconds: float = 0.0, until: Callable[[], bool] = lambda: False) -> bool:
        """Read for so many wall seconds, or until the condition holds; returns whether it does."""
        return wait_until(until, seconds, lambda: (self.driver.read(0.005), self.driver.take_records()))

    def known(self) -> bool:
        """Whether a first state has come."""
        return bool(np.isfinite(self.driver.sample.q).all())

    def move(self) -> None:
        """Torque mode on, following a periodic path; a busy machine may need more than one attempt."""
        self.read(REPLY_TIMEOUT, self.known)
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
        ask(self.loop, TorqueMode.track, path)
        self.read(2.0, lambda: self.loop.enabled != EnableResult.pending)
        self.read(1.0 / SPEED)
        return self.loop.state == GuardState.ok

    def close(self) -> None:
        """End it."""
        self.driver.disconnect()


class SocketBench(Bench):
    """A simulated controller in a process of its own with an arm on it: `with SocketBench() as bench`."""

    transport, latency, latch_latency = "sockets", 0.02, 1.0

    def __init__(self, arm: bool = True, **options: Any) -> None:
        """arm: also a driver and its loop."""
        self._with_arm = arm
        self._options = {"speed": SPEED} | options

    def __enter__(self) -> SocketBench:
        self.ur = FaultyController("ur5e", **self._options)
        self.ur.__enter__()
        self.simulation = self.ur.client()
        self.arm: Any = None
        try:
            if self._with_arm:
                self.arm = self.made_arm()
                self.loop, self.robot = self.arm.loop, self.arm.robot
                self.arm.move()
        except BaseException:
            self.__exit__()
            raise
        return self

    def made_arm(self) -> Arm:
        """The driver and its loop, connected."""
        return Arm(self.ur.host)

    def __exit__(self, *_: object) -> None:
        if self.arm is not None:
            self.arm.close()
        self.simulation.close()
        self.ur.stop()

    def observe(self) -> tuple[float, bool, np.ndarray]:
        state = self.simulation.state
        return float(state["timestamp"]), bool(state["torque_mode"]), np.array(state["q"])

    @property
    def now(self) -> float:
        """Controller time [s]."""
        return self.observe()[0]

    def run(self, seconds: float, until: Callable[[], bool] = lambda: False) -> bool:
        """See Bench; without an arm the controller's time passes."""
        if self.arm is not None:
            return self.arm.read(seconds / SPEED, until)
        self.simulation.wait(seconds)
        return until()

    @property
    def records(self) -> list[Any]:
        return list(self.arm.driver.records)

    @property
    def missed(self) -> int:
        return int(self.arm.driver.statistics().missed)

    @property
    def gaps(self) -> int:
        """See Bench; those that the driver has counted too."""
        return super().gaps + int(self.arm.driver.statistics().stalls)

    def lose(self, count: int = 0, probability: float = 0.0) -> None:
        self.simulation.command("drop", next=count, probability=probability)

    def freeze(self) -> None:
        self.simulation.command("freeze")

    def damage(self) -> None:
        self.simulation.command("nan", field="actual_q", element=2)

    def step_clock(self, seconds: float) -> None:
        """See Bench; the time of `observe` is not stepped."""
        self.simulation.command("clock_step", seconds=seconds)

    def stop_robot(self) -> None:
        self.simulation.command("protective_stop")

    def heal(self) -> None:
        """See Bench; a protective stop remains."""
        self.lose()
        self.simulation.command("freeze", on=False)
        self.simulation.command("nan")

    def restart(self) -> None:
        """Another controller under the same address, after the first was killed."""
        self.simulation.close()
        self.ur.stop()
        self.ur = FaultyController("ur5e", host=self.ur.host, **self._options)
        self.ur.__enter__()
        self.simulation = self.ur.client()

    def unlock(self) -> None:
        """After a protective stop: unlocked as soon as the controller allows it."""
        for _ in range(100):
            if "Protective stop releasing" in self._dashboard("unlock protective stop"):
                return
            self.simulation.wait(0.2)
        require(False, "the protective stop cannot be unlocked")

    def _dashboard(self, line: str) -> str:
        with socket.create_connection((self.ur.host, self.ur.ports["dashboard"]), REPLY_TIMEOUT) as connection:
            lines = connection.makefile("rw")
            lines.readline()  # the greeting
            lines.write(line + "\n")
            lines.flush()
            return lines.readline()


@contextmanager
def cpu_load(seconds: float) -> Iterator[None]:
    """Four processes that never sleep, for so long."""
    busy = f"import time\nend = time.monotonic() + {seconds}\nwhile time.monotonic() < end: pass"
    running = [subprocess.Popen([sys.executable, "-c", busy]) for _ in range(4)]
    yield
    for process in running:
        process.wait()


@contextmanager
def arm_apart(host: str) -> Iterator[None]:
    """The arm in a process of its own, which is killed (SIGKILL) at the end."""
    command = [sys.executable, "-m", "bench.faults.socket_bench", host]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        line = process.stdout.readline() if process.stdout else ""
        try:
            require(line.strip() == "moving", f"the process did not start: {line.strip() or 'no output'}")
            yield
        finally:
            process.kill()


def main() -> None:
    """argv: host. Moves until it is killed, or something ends the torque."""
    arm = Arm(sys.argv[1])
    arm.move()
    print("moving", flush=True)
    while True:
        arm.driver.read(0.02)
        arm.driver.take_records()


if __name__ == "__main__":
    main()
