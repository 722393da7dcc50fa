"""What the controller publishes each cycle, by RTDE output name, with the meaning the signals have on an e-Series."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from robot_dynamics_ros.simulation.ur.controller import Controller
from robot_dynamics_ros.simulation.ur.rtde_wire import FIELD_TYPES, OUTPUTS

JOINT_RUNNING = 253  # joint_mode of a running joint
JOINT_IDLE = 255
SCALAR_DEFAULTS = {"actual_main_voltage": 24.0, "tool_temperature": 30.0, "target_speed_fraction": 1.0}

UNPOWERED = {  # brakes hold the robot, no current flows
    name: (0.0,) * 6 for name in ("actual_current", "target_current", "actual_current_as_torque")
}
TOOL: dict[str, Callable[[Controller], np.ndarray]] = {  # together a third of a cycle's processor time
    "actual_TCP_pose": lambda controller: pose(controller.arm.flange(controller.arm.q)),
    "actual_TCP_speed": lambda controller: controller.arm.jacobian(controller.arm.q) @ controller.arm.qd,
    "target_TCP_pose": lambda controller: pose(controller.arm.flange(controller.target[0])),
    "target_TCP_speed": lambda controller: controller.arm.jacobian(controller.target[0]) @ controller.target[1],
}


class Signals:
    """Fills `values`, the table every RTDE recipe packs from."""

    def __init__(self, controller: Controller, gravity_in_current_torque: bool) -> None:
        self._controller = controller
        self._gravity_included = gravity_in_current_torque
        self.values: dict[str, tuple[Any, ...]] = controller.registers.values
        for name, kind in OUTPUTS.items():
            self.values.setdefault(name, (0,) * FIELD_TYPES[kind][1])
        self.values.update({name: (value,) for name, value in SCALAR_DEFAULTS.items()})
        *_, flange, tcp = controller.arm.model.fk(controller.arm.q)
        self._put(tcp_offset=pose(np.linalg.inv(flange) @ tcp))

    def update(self, wanted: Collection[str] = tuple(TOOL)) -> None:
        """Write this cycle's outputs, of TOOL only those that are wanted."""
        self._motion()
        self._drives()
        self._put(**{name: TOOL[name](self._controller) for name in TOOL if name in wanted})
        self._modes()

    def _put(self, **vectors: np.ndarray) -> None:
        for name, vector in vectors.items():
            self.values[name] = tuple(vector.tolist())

    def _motion(self) -> None:
        controller, arm = self._controller, self._controller.arm
        target_q, target_qd, target_qdd = controller.target
        self.values["timestamp"] = (controller.time + controller.clock_offset,)
        self._put(target_q=target_q, target_qd=target_qd, target_qdd=target_qdd, actual_q=arm.q, actual_qd=arm.qd)

    def _drives(self) -> None:
        arm = self._controller.arm
        torque = arm.drive_torque
        self._put(
            target_moment=arm.target_moment,
            target_current=arm.target_moment / arm.torque_constant,
            actual_current=arm.current,
            actual_current_as_torque=torque if self._gravity_included else torque - arm.model.gravity(arm.q),
            joint_temperatures=arm.record.temperature,
            actual_TCP_force=(force := arm.tcp_force()),
        )
        self.values["tcp_force_scalar"] = (float(np.linalg.norm(force[:3])),)

    def _modes(self) -> None:
        controller, safety, values = self._controller, self._controller.safety, self.values
        mass, center, inertia = controller.arm.payload
        powered = safety.robot_mode >= 5
        values["robot_mode"] = (int(safety.robot_mode),)
        values["safety_mode"] = values["safety_status"] = (int(safety.mode),)
        values["safety_status_bits"] = (safety.status_bits,)
        values["runtime_state"] = (controller.runtime_state,)
        values["robot_status_bits"] = (powered | (controller.program is not None) << 1,)
        values["joint_mode"] = (JOINT_RUNNING if safety.robot_mode == 7 else JOINT_IDLE,) * 6
        values["speed_scaling"] = (float(controller.program is not None),)
        values["payload"] = (mass,)
        if not powered:
            values.update(UNPOWERED)
        self._put(payload_cog=center, payload_inertia=inertia)


def pose(T: np.ndarray) -> np.ndarray:
    """x, y, z [m] and rotation vector [rad] (6,) of a placement (4, 4)."""
    return np.concatenate([T[:3, 3], rotation_vector(T[:3, :3])])


def rotation_vector(R: np.ndarray) -> np.ndarray:
    """Axis times angle (3,) [rad] of a rotation (3, 3): from 2 sin(angle) axis, beyond a quarter turn from
    R + R' - 2 cos(angle) I = 2 (1 - cos(angle)) axis axis'.
    """
    sine, cosine = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]), np.trace(R) - 1.0
    angle = np.arctan2(np.linalg.norm(sine), cosine)
    if cosine > 0:
        return sine / (2.0 * np.sinc(angle / np.pi))
    columns = R + R.T - cosine * np.eye(3)
    axis = columns[np.argmax(np.diag(columns))]
    return axis * np.copysign(angle / np.linalg.norm(axis), axis @ sine)
