"""The bench in one thread: a simulated robot under the torque loop, cycle by cycle, with a clock of its own."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from bench.faults.bench import Bench, ask
from bench.faults.table import require
from robot_dynamics_ros._core import EnableResult, TorqueMode
from robot_dynamics_ros.control.torque import torque_loop
from robot_dynamics_ros.drivers.guard import guard_limits
from robot_dynamics_ros.robot_file import RobotFile, load_robot
from robot_dynamics_ros.simulation.robot import SimulatedRobot
from robot_dynamics_ros.trajectories.smooth import Trajectory, through

CYCLE = 2_000_000  # ns
START = np.array([0.0, -1.5, 1.5, -1.5, -1.5, 0.0])  # rad
RAMP_CYCLES = 50  # of the guard's ramp
LATE = 10  # cycles without a state, from which on a driver flags a gap


class ClockBench(Bench):
    """A simulated robot under the loop: every cycle a state, a torque, a step of the plant."""

    transport, latency, latch_latency = "clock", 1e-6, 1e-9 * CYCLE

    def __init__(
        self,
        seed: int = 0,
        parameters: dict[str, Any] | None = None,
        enable_timeout: float = 0.0,
        robot: RobotFile | None = None,
        plant: Mapping[str, Any] | None = None,
    ) -> None:
        """robot: model of the loop; the plant is always the simulated UR5e, with these options of SimulatedRobot."""
        self.robot = robot or load_robot("ur5e")
        self.plant = SimulatedRobot(load_robot("ur5e"), **{"seed": seed, "q": START, "rate": 500, **(plant or {})})
        self.plant.set_temperatures(30.0, 30.0)
        self.loop = torque_loop(self.robot, guard_limits(self.robot, enable_timeout=enable_timeout), parameters)
        self.constant = self.plant.robot.array("drives.torque_constant")
        self.random = np.random.default_rng(seed)
        offsets = np.array([0, 0.5, -0.5, 0])[:, None] * self.random.uniform(0.5, 1.0, 6)
        self.path = through(START + offsets, velocity=1.0, acceleration=2.0)
        self.state = self.plant.record()
        self.held = self.state.q
        self.now = 10**9
        self.record: Any = {"run": False, "torque": np.zeros(6)}  # then TorqueRecord
        self.applied: deque[Any] = deque(maxlen=5000)  # records whose torque the plant got
        self._lost, self._missing, self._loss, self._clock_offset = 0, 0, 0.0, 0  # of an injected fault
        self._measured: dict[str, Any] = {}
        self._total_lost = 0

    def __enter__(self) -> ClockBench:
        return self.running(cycles=400)

    def __exit__(self, *_: object) -> None:
        pass

    # --- one cycle ------------------------------------------------------------------------------------------------
    def on_sample(self, **measured: Any) -> Any:
        """One state to the loop at the present time; measured values may be replaced."""
        r = self.state
        values = {"q": r.q, "qd": r.qd, "tau": self.constant * r.current, "temperature": r.temperature}
        values |= self.rotor_side() | self._measured | measured
        args = [values.pop(k) for k in ("q", "qd", "tau", "temperature")]
        self.record = self.loop.cycle(values.pop("stamp_ns", self.now + self._clock_offset), self.now, *args, **values)
        return self.record

    def rotor_side(self) -> dict[str, Any]:
        """What rotor encoders and joint torque sensors measure, where the robot file has them."""
        sensing, values = self.robot.sensing, {}
        if sensing.rotor_encoder:
            values = {"theta": self.state.theta, "omega": self.state.omega}
        if sensing.joint_torque_sensor:
            values["joint_torque"] = self.state.joint_torque
        return values

    def move(self) -> None:
        """The plant goes on with what the loop lets out; without torque mode it holds."""
        if self.record["run"]:
            self.applied.append(self.record)
            self.state = self.plant.step_torque(self.record["torque"])
            self.held = self.state.q
        else:
            self.state = self.plant.step_position(self.held)

    def cycle(self, count: int = 1, **measured: Any) -> Any:
        """So many cycles of 2 ms."""
        for _ in range(count):
            self.now += CYCLE
            if self._lost > 0 or self.random.random() < self._loss:
                self._lost, self._missing = max(self._lost - 1, 0), self._missing + 1
                self._total_lost += 1
                self.record = self.loop.idle(self.now)
            else:
                gap = {"gap": True} if self._missing > LATE else {}
                self._missing = 0
                self.on_sample(**(gap | measured))
            self.move()
        return self.record

    def silence(self, ms: int) -> Any:
        """No states; the loop's own clock goes on, and so does the robot."""
        self.lose(ms // 2)
        return self.cycle(ms // 2)

    # --- what every bench offers ----------------------------------------------------------------------------------
    def observe(self) -> tuple[float, bool, np.ndarray]:
        """Time [s], whether a torque was let out, positions (n,) [rad]."""
        return 1e-9 * self.now, bool(self.record["run"] or self.record["torque"].any()), self.state.q

    def run(self, seconds: float, until: Callable[[], bool] = lambda: False) -> bool:
        """Cycles, at least one."""
        for _ in range(max(round(1e9 * seconds / CYCLE), 1)):
            if until():
                return True
            self.cycle()
        return until()

    @property
    def records(self) -> list[Any]:
        """Records whose torque the plant got, and the last one."""
        return [*self.applied, self.record]

    @property
    def missed(self) -> int:
        return self._total_lost

    def lose(self, count: int = 0, probability: float = 0.0) -> None:
        self._lost, self._loss = count, probability

    def freeze(self) -> None:
        self._measured = {"q": self.state.q.copy(), "qd": self.state.qd.copy()}

    def damage(self) -> None:
        bad = self.state.q.copy()
        bad[int(self.random.integers(6))] = self.random.choice([np.nan, np.inf, -np.inf])
        self._measured = {"q": bad}

    def step_clock(self, seconds: float) -> None:
        self._clock_offset = round(1e9 * seconds)
        self._measured = {"backwards": True} if seconds < 0 else {}

    def stop_robot(self) -> None:
        self._measured = {"stopped": True}

    def heal(self) -> None:
        self._lost, self._missing, self._loss, self._clock_offset = 0, 0, 0.0, 0
        self._measured = {}

    # --- torque ---------------------------------------------------------------------------------------------------
    def running(self, mode: TorqueMode = TorqueMode.track, cycles: int = 300) -> ClockBench:
        """Enabled and moving."""
        self.cycle(5)
        self.loop.refresh()
        require(self.enable(mode, self.path), f"enable: {self.loop.enabled.name}")
        self.cycle(cycles)
        return self

    def enable(self, mode: TorqueMode, path: Trajectory | None = None) -> bool:
        """One cycle in which the loop is asked; whether torque is on after it."""
        ask(self.loop, mode, path)
        self.cycle()
        return bool(self.loop.enabled == EnableResult.done)

    def command(self, torque: Any, age_ms: int = 0, **meaning: bool) -> None:
        """A torque as it comes over a topic."""
        declared = {"includes_gravity": False, "link_side": False} | meaning
        self.loop.command(self.now - age_ms * 10**6, np.array(np.broadcast_to(torque, 6), float), **declared)
