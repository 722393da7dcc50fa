"""Closed loop on the simulated UR: the torque loop in the thread of the wire, the controller in lockstep.

In lockstep a cycle of the controller waits for its answer, so that the loop runs as fast as both sides can and no
result depends on how busy the machine is; the wire and the torque program are those of real time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

import numpy as np
from scipy.signal import savgol_filter

from robot_dynamics_ros import _core
from robot_dynamics_ros._core import EnableResult, GuardState, TorqueMode
from robot_dynamics_ros.config import RobotFile
from robot_dynamics_ros.controllers.torque import coulomb_level, rotor_inertia, torque_loop
from robot_dynamics_ros.controllers.trajectory import Trajectory
from robot_dynamics_ros.errors import RobotDynamicsError
from robot_dynamics_ros.hardware.guard import guard_limits, refuse_torque
from robot_dynamics_ros.hardware.ur_driver import UrDriver
from robot_dynamics_ros.simulation.ur_controller.launcher import SimulatedUR

RATE = 500.0
WARM = 30.0  # deg C, all joints at the start
SLOW = 0.02  # controller time per wall time that faults of this side are judged by: the controller waits for us
FAST = 100.0  # controller time per wall time that is aimed at in torque mode
ATTEMPTS = 5
PATIENCE = 60.0  # s of wall time without progress
STILL = 0.05  # rad
BACKLASH = (3e-4, 6e-4, 1e-3, 2e-3, 4e-3, 8e-3)  # rad, pre-sliding distances tried


class Run:
    """Records of a run as arrays (N, n): q, qd, q_d, qd_d, tau, tau_d, torque, wanted, friction, coulomb, viscous."""

    def __init__(self, records: Sequence[dict[str, Any]]) -> None:
        self._records = list(records)

    def __getattr__(self, name: str) -> np.ndarray:
        return np.array([record[name] for record in self._records])

    def __len__(self) -> int:
        return len(self._records)

    def torque_error(self, robot: RobotFile) -> np.ndarray:
        """Measured torque less the feedforward of the desired motion (N, n) [Nm]."""
        qdd = np.gradient(self.qd_d, 1 / RATE, axis=0)
        return self.tau - (self.tau_d + rotor_inertia(robot) * qdd + self.friction)

    @property
    def position_error(self) -> np.ndarray:
        """q - q_d (N, n) [rad]."""
        return self.q - self.q_d


class ClosedLoop:
    """A simulated UR5e, the driver and a torque loop: `with ClosedLoop(robot) as loop`."""

    def __init__(
        self,
        robot: RobotFile,
        parameters: dict[str, Any] | None = None,
        seed: int = 0,
        payload: float = 0.0,
        way: str = "script",
    ) -> None:
        self.robot, self._way, self._seed, self._payload = robot, way, seed, payload
        self._parameters = {"time_scale": SLOW} | (parameters or {})

    def __enter__(self) -> ClosedLoop:
        self.ur = SimulatedUR("ur5e", lockstep=True, seed=self._seed)
        self.ur.__enter__()
        self.simulation = self.ur.client()
        self.simulation.command("set_temperatures", lubricant=WARM)
        self.driver = UrDriver(self.robot, self.ur.host, torque=self._way, follow_host_clock=False, time_scale=SLOW)
        self.loop = torque_loop(self.robot, guard_limits(self.robot), self._parameters)
        self.driver.attach(self.loop)
        self.driver.connect()
        self._wait(lambda: bool(np.isfinite(self.driver.sample.q).all()), "a first state")
        if self._payload > 0:
            self.simulation.command("set_payload", mass=self._payload, center=[0.0, 0.0, 0.05])
            self.driver.set_payload(self._payload, np.array([0.0, 0.0, 0.05]))
            self._wait(lambda: abs(self.driver.status.payload - self._payload) < 1e-6, "the payload")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.driver.disconnect()
        self.simulation.close()
        self.ur.stop()

    def _wait(self, condition: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > end:
                raise RobotDynamicsError(f"closed loop: waited in vain for {what}")
            self.driver.read(0.02)

    def move_to(self, q: np.ndarray) -> None:
        """Point to point under the controller's own position control; its watchdog may end a move on a busy machine."""
        for _ in range(ATTEMPTS):
            self.driver.move_path(q[None, :], speed=1.5, acceleration=3.0)
            self._wait(lambda: not self.driver.motion.active, "the move to the start")
            if self.driver.motion.state == "done":
                return
        raise RobotDynamicsError(f"closed loop: {self.driver.motion.reason}")

    def enable(self, mode: TorqueMode, trajectory: Trajectory | None = None) -> None:
        """Torque mode on; the controller then runs as fast as it is answered."""
        refuse_torque(self.robot, self.driver.info, self.driver.status)
        motion = None
        if trajectory is not None:
            motion = _core.TorqueTrajectory(trajectory.q, trajectory.qd, trajectory.qdd, RATE, True)
        self.driver.start_torque()
        self.driver.records.clear()
        self.loop.enable(mode, motion)
        self._wait(lambda: self.loop.enabled != EnableResult.pending, "the loop")
        if self.loop.enabled != EnableResult.done:
            raise RobotDynamicsError(f"closed loop: not enabled: {self.loop.enabled.name}")
        self.simulation.command("speed", factor=FAST)

    def run(self, seconds: float, each: Callable[[dict[str, Any]], None] | None = None) -> Run:
        """Records of so many seconds of controller time; `each` sees every one as it comes."""
        kept: list[dict[str, Any]] = []
        records, wanted = self.driver.records, int(seconds * RATE)
        end = time.monotonic() + PATIENCE
        while len(kept) < wanted:
            self.driver.read(0.02)
            while records and len(kept) < wanted:
                record = records.popleft()
                if kept and record["stamp_ns"] == kept[-1]["stamp_ns"]:
                    continue  # a cycle without a new state
                kept.append(record)
                end = time.monotonic() + PATIENCE
                if each is not None:
                    each(record)
            if self.loop.state not in (GuardState.ok, GuardState.degraded) or time.monotonic() > end:
                said = "; ".join(self.simulation.state["messages"][-2:])
                raise RobotDynamicsError(f"closed loop ended: {self.loop.state.name}, {self.loop.reason.name}; {said}")
        return Run(kept)

    def disable(self) -> None:
        """Torque ramps out, the robot holds."""
        self.loop.disable()
        self._wait(lambda: not (self.driver.records and self.driver.records[-1]["run"]), "the end of torque")
        self.simulation.command("speed", factor=1.0)


def model_error(robot: RobotFile, run: Run) -> np.ndarray:
    """Scale and offset (n, 2) by which measured torque differs from the model's: torque constants and masses."""
    return np.array([fit[1][5:] for fit in _fits(robot, run)])


def identified(robot: RobotFile, run: Run, coulomb_scale: float = 1.0) -> RobotFile:
    """The robot with friction fitted to one run: f = (fc0 + fc1 tau_J^2) H + fv1 w + fv2 |w|w + fv3 w^3 per joint.

    A scale and an offset of the model torque are fitted along (model_error), so that friction does not take them over.

    coulomb_scale: factor on fc0 and fc1 afterwards, a friction that is wrong at the start.
    """
    fits = _fits(robot, run)
    c = np.array([fit[1] for fit in fits])
    level, load = (coulomb_scale * c[:, 0]).tolist(), (coulomb_scale * c[:, 1]).tolist()
    none = [0.0] * robot.n_joints
    viscous = {f"fv{k}": c[:, 1 + k].tolist() for k in (1, 2, 3)}
    law = {"fc": level, "fs": level, "vs": 0.1, "mu": 1.0, "fl": none, "ft2": none, "ft3": none, "eps": 0.02} | viscous
    updates = {
        "friction.model": "madsen",
        "friction.parameters": law,
        "friction.reference_temperature": WARM,
        "friction.source": "reproduction",
        "hysteresis.source": "reproduction",
        "hysteresis.parameters.fc0": level,
        "hysteresis.parameters.fc1": load,
        "hysteresis.parameters.b": [fit[0] for fit in fits],
    }
    return robot.with_updates(updates, {"reproduction": "one pass of the trajectory under computed torque"})


def _fits(robot: RobotFile, run: Run) -> list[tuple[float, np.ndarray]]:
    """Pre-sliding distance and coefficients of every joint."""
    w, f, tau_J = _friction_measure(robot, run)
    file = coulomb_level(robot)
    fits: list[tuple[float, np.ndarray]] = []
    for i in range(robot.n_joints):
        if float(np.ptp(run.q[:, i])) < STILL:  # a joint that did not move keeps the Coulomb level of the file
            fits.append((BACKLASH[2], np.array([file[i], 0.0, 0.0, 0.0, 0.0, 0.0, 0.0])))
        else:
            fits.append(_fit_joint(run.q[:, i], tau_J[:, i], w[:, i], f[:, i]))
    return fits


def _friction_measure(robot: RobotFile, run: Run) -> tuple[np.ndarray, ...]:
    """w, friction K i - B wd - tau_J, tau_J (N, n), zero-phase smoothed [Madsen2020, ch6 eq. 23]."""
    dt = 1 / RATE
    q, tau = (savgol_filter(x, 51, 2, axis=0) for x in (run.q, run.tau))
    w = savgol_filter(run.q, 51, 2, deriv=1, delta=dt, axis=0)
    wd = savgol_filter(run.q, 51, 3, deriv=2, delta=dt, axis=0)
    tau_J = _core.RigidBody(robot.chain()).rnea(q, w, wd)
    return w, tau - rotor_inertia(robot) * wd - tau_J, tau_J


def _fit_joint(q: np.ndarray, tau: np.ndarray, w: np.ndarray, f: np.ndarray) -> tuple[float, np.ndarray]:
    """Pre-sliding distance and coefficients (7,) of one joint with the smallest residual."""
    D, k = _core.gms_spacing(4, 4.0, 2.0)
    stamps = np.arange(len(q)) * int(1e9 / RATE)
    use = slice(int(RATE), -100)
    best: tuple[float, float, np.ndarray] | None = None
    for B in BACKLASH:
        gms = _core.Gms(D[None], k[None], np.array([[B]]))
        H = gms.run(stamps, np.ascontiguousarray(q[:, None]))[0][:, 0]
        a = np.abs(w)
        X = np.column_stack([H, H * tau**2, w, a * w, a * a * w, tau, np.ones_like(w)])[use]
        c = np.linalg.lstsq(X, f[use], rcond=None)[0]
        if c[1] < 0 or np.sqrt(np.mean(tau[use] ** 2)) < 3.0:  # a joint that carries nothing shows no load dependence
            c = np.insert(np.linalg.lstsq(np.delete(X, 1, axis=1), f[use], rcond=None)[0], 1, 0.0)
        residual = float(np.mean((X @ c - f[use]) ** 2))
        if best is None or residual < best[0]:
            best = (residual, B, c)
    if best is None:
        raise RobotDynamicsError("friction fit: no samples")
    return best[1], best[2]
