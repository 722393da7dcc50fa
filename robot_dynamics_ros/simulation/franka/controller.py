"""Simulated Franka arm: the wire protocol of franka-sim's server with our plant behind it instead of a rigid one.

Joint elasticity, friction, torque sensors, external forces and the vendor's own estimates are then there to be seen by
the unmodified libfranka client.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_dynamics_ros.errors import CapabilityError, ConnectionFailed
from robot_dynamics_ros.simulation.robot import Record
from robot_dynamics_ros.simulation.server.launcher import run_announced
from robot_dynamics_ros.simulation.server.served import Reference, Served

PORT = 1337  # the client knows no other
START = (0.0, -np.pi / 4, 0.0, -3 * np.pi / 4, 0.0, np.pi / 2, np.pi / 4)  # rad, tool pointing down
JOINTS = 7
RATE = 1000.0
PATIENCE = 0.02  # s without a state sent until the plant runs by its own clock
STUCK = 1.0  # s until a state is sent although the plant does not answer
REFERENCE_BANDWIDTH = 200.0  # rad/s of the filter that gives commanded positions their derivatives
FRICTION_SHARE = 0.8  # of its friction that the robot compensates in torque control
ESTIMATE_BANDWIDTH = 30.0  # rad/s of tau_ext_hat_filtered


@dataclass
class Settings:
    """What a simulated arm is started with; port 0 asks for a free one."""

    robot: str = "fr3"
    scenario: str = "idle"
    host: str = "127.0.0.1"
    truth_port: int = 0
    control_port: int = 0
    seed: int = 0
    duration: float | None = None
    stop_with_stdin: bool = False


class PlantPhysics:
    """What franka-sim's server asks of a physics engine, answered by our plant."""

    enable_vis = False

    def __init__(self, served: Served) -> None:
        from franka_sim.control_modes import ControlMode

        self._modes, self.mode = ControlMode, ControlMode.POSITION
        self._served = served
        self._target, self._rates, self._torque = served.q.copy(), np.zeros(JOINTS), np.zeros(JOINTS)
        self._reference = Reference(served.q, REFERENCE_BANDWIDTH)
        self._torque_before, self._external = served.simulated.core.get("joint_torque"), np.zeros(JOINTS)
        self.running = True
        self._turn, self._asked, self._answered = threading.Condition(), 0, 0
        self._snapshot = self._read()
        self.cycles_until: float | None = None

    # -- called by the server's threads: one assignment each -------------------------------------------------------
    def initialize_simulation(self) -> None:
        """Nothing to load."""

    def set_control_mode(self, mode: Any) -> None:
        """POSITION, VELOCITY or TORQUE."""
        self.mode = mode

    def update_torques(self, torques: Any) -> None:
        """Torque (7,) [Nm] without gravity."""
        self._torque = np.array(torques, float)

    def update_joint_positions(self, positions: Any) -> None:
        """Desired positions (7,) [rad]."""
        self._target = np.array(positions, float)

    def update_joint_velocities(self, velocities: Any) -> None:
        """Desired velocities (7,) [rad/s]."""
        self._rates = np.array(velocities, float)

    def get_robot_state(self) -> dict[str, Any]:
        """The newest state under the vendor's names."""
        return self._snapshot

    # -- the loop --------------------------------------------------------------------------------------------------
    def advance(self) -> None:
        """One cycle, asked for by the server once per state it sends: every state is a new one, whatever the load."""
        with self._turn:
            self._asked += 1
            mine = self._asked
            self._turn.notify_all()
            self._turn.wait_for(lambda: self._answered >= mine or not self.running, STUCK)

    def start(self) -> None:
        """Run in the calling thread until stopped: at the server's pace while it sends states, else at our own."""
        served, mode, asked_at = self._served, None, -1.0
        while self.running and not served.stopping:
            asked = self._is_asked(PATIENCE if time.perf_counter() - asked_at < PATIENCE else 0.0)
            if self.mode is not mode:
                mode = self.mode
                self._reference = Reference(served.q, REFERENCE_BANDWIDTH)
                self._target = self._target if mode is self._modes.POSITION else served.q.copy()
            served.cycle(self._step)
            self._snapshot = self._read()
            if self.cycles_until is not None and served.time >= self.cycles_until:
                served.stop()
            if asked:
                asked_at = time.perf_counter()
                with self._turn:
                    self._answered += 1
                    self._turn.notify_all()
                served.hub.poll(0.0)
            else:
                served.pace()

    def _is_asked(self, patience: float) -> bool:
        with self._turn:
            return self._turn.wait_for(lambda: self._asked > self._answered, patience)

    def stop(self) -> None:
        """End the loop."""
        self.running = False

    def _step(self) -> Record:
        robot, dt = self._served.simulated, 1.0 / RATE
        if self.mode is self._modes.TORQUE:
            return robot.step_torque(self._torque, FRICTION_SHARE, FRICTION_SHARE)
        if self.mode is self._modes.VELOCITY:
            self._target = self._target + dt * self._rates
        self._reference.step(self._target, dt)
        return robot.step_position(self._reference.q, self._reference.qd, self._reference.qdd)

    def _read(self) -> dict[str, Any]:
        served = self._served
        record, model = served.record, served.model
        pose, jacobian = served.flange(record.q), model.jacobian(record.q)
        torque = record.joint_torque
        self._estimate(torque - model.rnea(record.q, record.qd, self._reference.qdd))
        wrench = np.linalg.solve(jacobian @ jacobian.T + 1e-6 * np.eye(6), jacobian @ self._external)
        change, self._torque_before = (torque - self._torque_before) * RATE, torque
        return {
            "q": record.q,
            "dq": record.qd,
            "theta": record.theta,
            "dtheta": record.omega,
            "tau_J": torque,
            "dtau_J": change,
            "tau_ext_hat_filtered": self._external,
            "O_F_ext_hat_K": wrench,
            "K_F_ext_hat_K": np.concatenate([pose[:3, :3].T @ wrench[:3], pose[:3, :3].T @ wrench[3:]]),
            "O_T_EE": pose.T.ravel(),
            "O_dP_EE": jacobian[:3] @ record.qd,
            "O_J_EE": jacobian,
            "self_collision": None,
        }

    def _estimate(self, residual: np.ndarray) -> None:
        """The vendor's estimate: sensor torque minus model, so what the robot exerts on the environment."""
        self._external = self._external + ESTIMATE_BANDWIDTH / RATE * (residual - self._external)


class FrankaController:
    """A served arm; run() serves until stopped. Raises CapabilityError without franka-sim, ConnectionFailed."""

    def __init__(self, settings: Settings) -> None:
        server_class = _server_class()
        self.served = Served(
            settings.robot,
            START,
            settings.scenario,
            settings.seed,
            RATE,
            settings.host,
            settings.truth_port,
            settings.control_port,
            stop_with_stdin=settings.stop_with_stdin,
        )
        if self.served.robot.n_joints != JOINTS:
            raise CapabilityError(f"{settings.robot}: a Franka arm has {JOINTS} joints")
        self.physics = PlantPhysics(self.served)
        self.physics.cycles_until = settings.duration
        self.server = server_class(
            host=settings.host, port=PORT, physics_sim=self.physics, enable_gripper=False, enable_vis=False
        )
        self.host, self.ports, self.stop = settings.host, {"fci": PORT, **self.served.ports}, self.served.stop
        try:
            self.server.running = True
            self.server._bind_listener()
        except (OSError, RuntimeError) as error:
            raise ConnectionFailed(f"FCI port {settings.host}:{PORT} cannot be used: {error}") from error

    def run(self) -> None:
        """Serve until stopped."""
        threading.Thread(target=self.server.run_server, daemon=True).start()
        try:
            self.physics.start()
        finally:
            self.server.stop()
            self.served.hub.close()


def _server_class() -> Any:
    try:
        from franka_sim.franka_sim_server import FrankaSimServer
    except ImportError as error:
        raise CapabilityError(
            f"a simulated Franka arm needs franka-sim ({error}): pip install --no-deps franka-sim"
        ) from error
    logging.getLogger("franka_sim").setLevel(logging.ERROR)

    class ElasticServer(FrankaSimServer):  # type: ignore[misc]
        """One plant cycle per state; theta and dtheta are the plant's, not copies of q and dq."""

        def _account_for_communication_cycle(self) -> None:
            super()._account_for_communication_cycle()
            self.physics_sim.advance()

        @property
        def robot_state(self) -> Any:
            return self._elastic_state

        @robot_state.setter
        def robot_state(self, state: Any) -> None:
            state._mirror_motor_state = lambda: None
            self._elastic_state = state

    return ElasticServer


def serve(settings: Settings, announce: Callable[[str], None] = print) -> None:
    """Start a simulated arm, announce its ports, and serve until SIGINT, SIGTERM or the end of its duration."""
    run_announced(FrankaController(settings), announce, f"{settings.robot} scenario {settings.scenario}")
