"""A simulated robot under the torque loop in one thread, cycle by cycle, with a clock of our own."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from robot_dynamics_ros import _core
from robot_dynamics_ros._core import EnableResult, GuardReason, GuardState, TorqueMode
from robot_dynamics_ros.control.torque import torque_loop
from robot_dynamics_ros.drivers.guard import GuardSettings, guard_limits
from robot_dynamics_ros.robot_file import RobotFile, load_robot
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.trajectories.smooth import through
from robot_dynamics_ros.validation.faults.table import require

CYCLE = 2_000_000  # ns
START = np.array([0.0, -1.5, 1.5, -1.5, -1.5, 0.0])  # rad
RAMP = 100  # ms


class Rig:
    """A simulated robot under the loop: every cycle a state, a torque, a step of the plant."""

    def __init__(
        self,
        seed: int = 0,
        parameters: dict[str, Any] | None = None,
        settings: GuardSettings | None = None,
        robot: RobotFile | None = None,
    ) -> None:
        """robot: model of the loop; the plant is always the simulated UR5e."""
        self.robot = robot or load_robot("ur5e")
        self.plant = SimulatedRobot(load_robot("ur5e"), seed=seed, q=START, rate=500)
        self.plant.set_temperatures(30.0, 30.0)
        self.loop = torque_loop(self.robot, guard_limits(self.robot, settings), parameters)
        self.constant = self.robot.array("drives.torque_constant")
        offsets = np.array([0, 0.5, -0.5, 0])[:, None] * np.random.default_rng(seed).uniform(0.5, 1.0, 6)
        self.path = through(START + offsets, velocity=1.0, acceleration=2.0)
        self.state = self.plant.record()
        self.held = self.state.q
        self.now = 10**9
        self.record: Any = {"run": False}  # then TorqueRecord
        self.applied: deque[np.ndarray] = deque(maxlen=5000)

    def on_sample(self, **measured: Any) -> Any:
        """One state to the loop at the present time; measured values may be replaced."""
        r = self.state
        values = {"q": r.q, "qd": r.qd, "tau": self.constant * r.current, "temperature": r.temperature} | measured
        args = [values.pop(k) for k in ("q", "qd", "tau", "temperature")]
        self.record = self.loop.cycle(values.pop("stamp_ns", self.now), self.now, *args, **values)
        return self.record

    def move(self) -> None:
        """The plant goes on with what the loop lets out; without torque mode it holds."""
        if self.record["run"]:
            self.applied.append(self.record["torque"])
            self.state = self.plant.step_torque(self.record["torque"])
            self.held = self.state.q
        else:
            self.state = self.plant.step_position(self.held)

    def cycle(self, count: int = 1, **measured: Any) -> Any:
        """So many cycles of 2 ms."""
        for _ in range(count):
            self.now += CYCLE
            self.on_sample(**measured)
            self.move()
        return self.record

    def silence(self, ms: int) -> Any:
        """No states; the loop's own clock goes on, and so does the robot."""
        for _ in range(ms // 2):
            self.now += CYCLE
            self.record = self.loop.idle(self.now)
            self.move()
        return self.record

    def running(self, mode: TorqueMode = TorqueMode.track, cycles: int = 300) -> Rig:
        """Enabled and moving."""
        self.cycle(5)
        p = self.path
        self.loop.enable(mode, _core.TorqueTrajectory(p.q, p.qd, p.qdd, 500.0, True))
        self.cycle(1)
        require(self.loop.enabled == EnableResult.done, f"enable: {self.loop.enabled.name}")
        self.cycle(cycles)
        return self

    def command(self, torque: Any, age_ms: int = 0, **meaning: bool) -> None:
        """A torque as it comes over a topic."""
        declared = {"includes_gravity": False, "link_side": False} | meaning
        self.loop.command(self.now - age_ms * 10**6, np.array(np.broadcast_to(torque, 6), float), **declared)

    def off_within(self, ms: int, why: GuardReason | None = None, silent: bool = False) -> str:
        """Demands zero torque, latched, within so many ms from now; returns how long it took."""
        taken = 2
        while taken <= ms + 2:
            if not self.record["run"] and not self.record["torque"].any():
                break
            self.silence(2) if silent else self.cycle()
            taken += 2
        require(taken <= ms + 2, f"torque after {ms} ms: {np.abs(self.record['torque']).max():.2f} Nm")
        if why is not None:
            require(self.loop.reason == why, f"reason {self.loop.reason.name}, expected {why.name}")
        self.loop.enable(TorqueMode.guide)
        self.cycle(5)
        require(not self.record["run"] and self.loop.enabled == EnableResult.latched, "not latched")
        return f"zero after {taken - 2} ms"


def largest_step(torques: Iterable[np.ndarray]) -> float:
    """Largest change of torque between cycles [Nm]."""
    return float(np.abs(np.diff(list(torques), axis=0)).max(initial=0.0))


def within_rate(records: Sequence[Any], robot: RobotFile) -> str:
    """Demands that passing torque changes from one output to the next by at most the rate limit times one cycle."""
    limits, passing = guard_limits(robot), (GuardState.ok, GuardState.degraded)
    kept = [a["state"] in passing and b["state"] in passing for a, b in pairwise(records)]
    steps = np.abs(np.diff([r["torque"] for r in records], axis=0))[kept]
    share = float((steps / (limits.torque_rate * limits.cycle)).max(initial=0.0))
    require(share < 1.0 + 1e-6, f"a torque step of {share:.2f} times the rate limit")
    return f"largest step {steps.max(initial=0.0):.1f} Nm"
