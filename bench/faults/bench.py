"""A robot in torque mode whose faults can be injected, and the one rule by which every transport is judged."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from bench.faults.table import Case, require
from robot_dynamics_ros._core import EnableResult, GuardReason, GuardState, TorqueMode, TorqueTrajectory
from robot_dynamics_ros.drivers.guard import guard_limits
from robot_dynamics_ros.robot_file import RobotFile
from robot_dynamics_ros.trajectories.smooth import Trajectory

RAMP = 0.1  # s from the latch of the guard until the torque is zero
LATCHED = (GuardState.safe, GuardState.fault)
REST = 1e-3  # rad of travel in 0.1 s: below it the robot is at rest
STEP = 0.002  # s between two looks at the robot


class Bench(ABC):
    """A robot that follows a path by torque; times are seconds of the controller's clock. One subclass per transport.

    latency: s that the transport may add to a reaction; latch_latency: s until the latch of the guard is known here.
    """

    transport: ClassVar[str]  # name in TRANSPORTS
    latency: ClassVar[float]
    latch_latency: ClassVar[float]
    loop: Any  # TorqueLoop
    robot: RobotFile  # its limits are those of the guard

    @abstractmethod
    def __enter__(self) -> Bench: ...
    @abstractmethod
    def __exit__(self, *_: object) -> None: ...
    @abstractmethod
    def observe(self) -> tuple[float, bool, np.ndarray]:
        """Controller time [s], whether the robot takes torques, joint positions (n,) [rad], at one instant."""

    @abstractmethod
    def run(self, seconds: float, until: Callable[[], bool] = lambda: False) -> bool:
        """Let time pass, or until the condition holds; returns whether it does."""

    @property
    @abstractmethod
    def records(self) -> Sequence[Any]:
        """Records of the torque loop (TorqueRecord), the latest last."""

    @property
    @abstractmethod
    def missed(self) -> int:
        """States that were noticed to be missing."""

    @property
    def gaps(self) -> int:
        """Silences beyond the guard's `degraded_gap`."""
        return int(self.loop.count(GuardReason.state_gap))

    # --- faults ---------------------------------------------------------------------------------------------------
    @abstractmethod
    def lose(self, count: int = 0, probability: float = 0.0) -> None:
        """The next `count` states are lost, and each later one with this probability."""

    @abstractmethod
    def freeze(self) -> None:
        """Values stay as they are under fresh stamps."""

    @abstractmethod
    def damage(self) -> None:
        """Every state holds a position that is not finite."""

    @abstractmethod
    def step_clock(self, seconds: float) -> None:
        """The robot's clock is set forwards or back."""

    @abstractmethod
    def stop_robot(self) -> None:
        """A protective stop."""

    @abstractmethod
    def heal(self) -> None:
        """States come as they should again."""

    # --- the required reaction ------------------------------------------------------------------------------------
    @property
    def latched(self) -> bool:
        """True when the guard is latched off."""
        return self.loop.state in LATCHED

    def torque_ends(self, begin: float, budget: float, latches: float | None = None) -> str:
        """Require that the robot takes no torque from `budget` s after `begin` on, and comes to rest.

        latches: s after `begin` by which the guard must be latched. Both bounds grow by the transport's latency.
        """
        now, on, _ = self.observe()
        while on:
            require(now - begin <= budget + self.latency, f"torque still on after {1e3 * (now - begin):.0f} ms")
            if latches is not None and now - begin > latches + self.latency:
                require(self.latched, f"guard is {self.loop.state.name} after {1e3 * (now - begin):.0f} ms")
            self.run(STEP)
            now, on, _ = self.observe()
        passed = now - begin
        require(passed <= budget + self.latency, f"torque on for {1e3 * passed:.0f} ms")
        self.comes_to_rest()
        return f"torque ended after {1e3 * passed:.0f} ms"

    def comes_to_rest(self) -> None:
        """Require that the robot stands still a second later."""
        self.run(1.0)
        first = self.observe()[2]
        self.run(0.1)
        travel = float(np.abs(self.observe()[2] - first).max())
        require(travel < REST, f"the robot still moves: {travel:.4f} rad in 100 ms")

    def stays_off(self, reason: GuardReason | None = None) -> None:
        """Require a latched guard, for this reason, and that no torque comes back once the fault is over."""
        require(self.run(self.latch_latency, lambda: self.latched), f"guard is {self.loop.state.name}, not latched")
        if reason is not None:
            require(self.loop.reason == reason, f"reason {self.loop.reason.name}, expected {reason.name}")
        self.heal()
        require(not self.resumes(), "torque came back without a re-arm")

    def resumes(self) -> bool:
        """Enable; returns whether torque is let out again."""
        self.loop.enable(TorqueMode.guide)
        self.run(0.15)
        return bool(self.records[-1]["run"]) or self.loop.enabled == EnableResult.done

    def off_within(self, seconds: float, reason: GuardReason | None = None, begin: float | None = None) -> str:
        """Require no torque within so many seconds from `begin` (None: now), latched; returns how long it took."""
        text = self.torque_ends(self.observe()[0] if begin is None else begin, seconds)
        self.stays_off(reason)
        return text


@dataclass(frozen=True)
class Fault:
    """One fault for every transport: what is done, and what must follow.

    latches: s until the guard latches, None where the torque must go on; ramp: s from there until the torque is zero;
    goes_on: what else must hold where the torque goes on, returns what was observed.
    """

    number: int
    name: str
    inject: Callable[[Bench], None]
    latches: float | None = None
    ramp: float = RAMP
    reason: GuardReason | None = None
    goes_on: Callable[[Bench], str] = lambda bench: "ok"
    required: str = ""  # for people; default: from the times

    def judge(self, bench: Bench) -> str:
        """Inject into a bench that runs; returns what was observed. Raises Failed."""
        begin = bench.observe()[0]
        self.inject(bench)
        if self.latches is None:
            text = self.goes_on(bench)
            require(bench.loop.state == GuardState.ok, f"state {bench.loop.state.name}, {bench.loop.reason.name}")
            return text
        text = bench.torque_ends(begin, self.latches + self.ramp, self.latches)
        bench.stays_off(self.reason)
        return text

    def on(self, bench: Callable[[int], Bench], transport: str) -> Case:
        """The fault as a case of one transport; bench(seed) makes what it runs on."""

        def run(seed: int) -> str:
            with bench(seed) as running:
                return self.judge(running)

        times = 0.0 if self.latches is None else self.latches + self.ramp
        return Case(
            self.number, self.name, transport, self.required or f"off within {1e3 * times:.0f} ms, latched", run
        )


def ask(loop: Any, mode: TorqueMode, path: Trajectory | None = None) -> None:
    """Ask a TorqueLoop for a mode, along a path over and over where one is given."""
    loop.enable(mode, path and TorqueTrajectory(path.q, path.qd, path.qdd, 500.0, True, path.jerk, path.snap))


def within_rate(records: Sequence[Any], robot: RobotFile) -> str:
    """Require that passing torque changes from one output to the next by at most the rate limit times one cycle."""
    limits, passing = guard_limits(robot), (GuardState.ok, GuardState.degraded)
    kept = [a["state"] in passing and b["state"] in passing for a, b in pairwise(records)]
    steps = np.abs(np.diff([r["torque"] for r in records], axis=0))[kept]
    share = float((steps / (limits.torque_rate * limits.cycle)).max(initial=0.0))
    require(share < 1.0 + 1e-6, f"a torque step of {share:.2f} times the rate limit")
    return f"largest step {steps.max(initial=0.0):.1f} Nm"
