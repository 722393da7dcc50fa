"""Simulated Franka arm: the wire protocol of franka-sim's server with our plant behind it instead of a rigid one.

Joint elasticity, friction, torque sensors, external forces and the vendor's own estimates are then there to be seen by
the unmodified libfranka client.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import Any

import numpy as np

from robot_dynamics_ros.errors import CapabilityError, ConnectionFailed
from robot_dynamics_ros.robot_file import load_robot
from robot_dynamics_ros.simulation.robot import Record
from robot_dynamics_ros.simulation.server.arm import Arm, Reference
from robot_dynamics_ros.simulation.server.arm_server import ArmServer, Settings
from robot_dynamics_ros.simulation.server.pacing import Pace

PORT = 1337  # fixed in the client
START = (0.0, -np.pi / 4, 0.0, -3 * np.pi / 4, 0.0, np.pi / 2, np.pi / 4)  # rad, tool pointing down
JOINTS = 7
RATE = 1000.0
IDLE_TIMEOUT = 0.02  # s without a state sent until the plant runs by its own clock
REFERENCE_BANDWIDTH = 200.0  # rad/s of the filter that gives commanded positions their derivatives
FRICTION_SHARE = 0.8  # of its friction that the robot compensates in torque control
EARLIEST = -1.0  # s: correction of the deadline of franka-sim's server, see ElasticServer
MIN_SPACING = 0.5  # cycles between two states while a delay is made up
ESTIMATE_BANDWIDTH = 30.0  # rad/s of tau_ext_hat_filtered


class PlantPhysics:
    """The physics engine of franka-sim's server, computed by our plant.

    While the server sends states, each state is one plant cycle, computed in the server's thread between two states;
    otherwise run() advances the plant in real time. A lock keeps the two apart.
    """

    enable_vis = False

    def __init__(self, arm_server: ArmServer) -> None:
        from franka_sim.control_modes import ControlMode

        self._modes, self.mode = ControlMode, ControlMode.POSITION
        self._server, self._arm = arm_server, arm_server.arm
        q = self._arm.q
        self._target, self._rates, self._torque = q.copy(), np.zeros(JOINTS), np.zeros(JOINTS)
        self._reference, self._active_mode = Reference(q, REFERENCE_BANDWIDTH), self.mode
        self._torque_before, self._external = self._arm.simulated.core.get("joint_torque"), np.zeros(JOINTS)
        self.running = True
        self._lock, self._requested, self._requested_at = threading.Lock(), False, -1.0
        self._command = self._latch()
        self._snapshot = self._read()

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
        """The newest state under the vendor's names, after the plant cycle that was requested with the last state."""
        if self._requested:
            with self._lock:
                if self._requested:
                    self._requested = False
                    self._cycle()
                    self._server.hub.poll(0.0)
        return self._snapshot

    def request_cycle(self) -> None:
        """Hold the present commands for one plant cycle: called by the server once per state that it sends."""
        self._command, self._requested, self._requested_at = self._latch(), True, time.perf_counter()

    # -- the loop --------------------------------------------------------------------------------------------------
    def run(self) -> None:
        """Run in the calling thread until stopped: in real time, and idle while the server requests the cycles."""
        arm_server = self._server
        while self.running and not arm_server.stopping:
            if time.perf_counter() - self._requested_at < IDLE_TIMEOUT:
                time.sleep(IDLE_TIMEOUT / 4)
                continue
            with self._lock:
                self._command = self._latch()
                self._cycle()
                arm_server.wait()

    def _latch(self) -> tuple[Any, np.ndarray, np.ndarray, np.ndarray]:
        return self.mode, self._target, self._rates, self._torque

    def _cycle(self) -> None:
        mode = self._command[0]
        if mode is not self._active_mode:
            self._active_mode = mode
            self._reference = Reference(self._arm.q, REFERENCE_BANDWIDTH)
            if mode is not self._modes.POSITION:
                self._target = self._arm.q.copy()
                self._command = (mode, self._target, *self._command[2:])
        self._server.cycle(self._step)
        self._snapshot = self._read()

    def stop(self) -> None:
        """End the loop."""
        self.running = False

    def _step(self) -> Record:
        robot, dt = self._arm.simulated, 1.0 / RATE
        mode, target, rates, torque = self._command
        if mode is self._modes.TORQUE:
            return robot.step_torque(torque, FRICTION_SHARE, FRICTION_SHARE)
        if mode is self._modes.VELOCITY:
            self._target = target = self._target + dt * rates
        self._reference.step(target, dt)
        return robot.step_position(self._reference.q, self._reference.qd, self._reference.qdd)

    def _read(self) -> dict[str, Any]:
        record, model = self._arm.record, self._arm.model
        pose, jacobian = self._arm.flange(record.q), self._arm.jacobian(record.q)
        torque = record.joint_torque
        residual = torque - model.rnea(record.q, record.qd, self._reference.qdd)
        # the vendor's estimate: sensor torque minus model, so what the robot exerts on the environment
        self._external = self._external + ESTIMATE_BANDWIDTH / RATE * (residual - self._external)
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


class FrankaController:
    """A simulated arm with its ports open; run() serves until stopped.

    Raises CapabilityError without franka-sim, ConnectionFailed."""

    settings_type = Settings

    def __init__(self, settings: Settings) -> None:
        server_class = _server_class()
        robot = load_robot(settings.robot)
        if robot.n_joints != JOINTS:
            raise CapabilityError(f"{settings.robot}: a Franka arm has {JOINTS} joints")
        self.arm_server = ArmServer(settings, Arm(robot, START, settings.seed, RATE, settings.plant))
        self.physics = PlantPhysics(self.arm_server)
        self.server = server_class(
            host=settings.host, port=PORT, physics_sim=self.physics, enable_gripper=False, enable_vis=False
        )
        self.ready = f"{settings.robot} scenario {settings.scenario}"
        self.host, self.ports, self.stop = settings.host, {"fci": PORT, **self.arm_server.ports}, self.arm_server.stop
        try:
            self.server.running = True
            self.server._bind_listener()
        except (OSError, RuntimeError) as error:
            raise ConnectionFailed(f"FCI port {settings.host}:{PORT} cannot be used: {error}") from error

    def run(self) -> None:
        """Serve until stopped."""
        threading.Thread(target=self.server.run_server, daemon=True).start()
        try:
            self.physics.run()
        finally:
            self.server.stop()
            self.arm_server.hub.close()


def _server_class() -> Any:
    try:
        from franka_sim.franka_sim_server import FrankaSimServer
        from franka_sim.server import state_stream
    except ImportError as error:
        raise CapabilityError(
            f"a simulated Franka arm needs franka-sim ({error}): pip install --no-deps franka-sim"
        ) from error
    logging.getLogger("franka_sim").setLevel(logging.ERROR)
    state_stream._MIN_STATE_SPACING = MIN_SPACING

    class ElasticServer(FrankaSimServer):  # type: ignore[misc]
        """One plant cycle per state, states on an absolute clock; theta and dtheta are the plant's, not q and dq.

        The server's own schedule loses the time by which a state is late. It adds the return value of _drain_gate to
        its next deadline, which is at least MIN_SPACING cycles after the last state: a large negative value keeps the
        deadline at that bound, and Pace decides when a state leaves, so that delays up to MAX_LATE are made up. A cycle
        whose answer is missing still lasts its whole millisecond (_drain_gate).
        """

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            self.pace = Pace(RATE)

        def _drain_gate(self, answer_deadline: float = 0.0) -> float:
            while (left := self.pace.left()) > 0:
                time.sleep(left)
            self.pace.advance()
            super()._drain_gate(answer_deadline)
            return EARLIEST

        def _account_for_communication_cycle(self) -> None:
            super()._account_for_communication_cycle()
            self.physics_sim.request_cycle()

        @property
        def robot_state(self) -> Any:
            return self._elastic_state

        @robot_state.setter
        def robot_state(self, state: Any) -> None:
            state._mirror_motor_state = lambda: None
            self._elastic_state = state

    return ElasticServer
