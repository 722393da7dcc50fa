"""What the controller publishes each cycle, by RTDE output name, with the meaning the signals have on an e-Series."""

from __future__ import annotations

from typing import Any

import numpy as np

from robot_dynamics_ros.simulation.ur.arm import DT
from robot_dynamics_ros.simulation.ur.controller import Controller
from robot_dynamics_ros.simulation.ur.kinematics import matrix_to_pose
from robot_dynamics_ros.simulation.ur.rtde_wire import FIELD_TYPES, OUTPUTS

SUPPLY_VOLTAGE = 48.0  # V, robot supply
IDLE_CURRENT = 1.0  # A, electronics at rest
CABLE_RESISTANCE = 0.1  # ohm, supply to joint
JOINT_RUNNING = 253  # joint_mode of a running joint
JOINT_IDLE = 255
SCALAR_DEFAULTS = {"actual_main_voltage": 24.0, "tool_temperature": 30.0, "target_speed_fraction": 1.0}


# drives without power: brakes hold the robot, no current flows
UNPOWERED = {
    name: (0.0,) * 6
    for name in ("actual_current", "joint_control_output", "target_current", "actual_current_as_torque")
} | {"actual_joint_voltage": (0.0,) * 6, "actual_robot_voltage": (0.0,), "actual_robot_current": (0.0,)}


class Signals:
    """Fills `values`, the table every RTDE recipe packs from."""

    def __init__(self, controller: Controller, gravity_in_current_torque: bool = True) -> None:
        self._controller = controller
        self._gravity_included = gravity_in_current_torque
        self.values: dict[str, tuple[Any, ...]] = controller.registers.values
        for name, kind in OUTPUTS.items():
            self.values.setdefault(name, (0,) * FIELD_TYPES[kind][1])
        self.values.update({name: (value,) for name, value in SCALAR_DEFAULTS.items()})
        self._twist = np.zeros(6)

    def update(self) -> None:
        """Write this cycle's outputs."""
        self._motion()
        self._drives()
        self._tool()
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
        power = float(np.sum(torque * arm.qd + arm.copper_loss * torque**2))  # W, braking heats a resistor
        self._put(
            target_moment=arm.target_moment,
            target_current=arm.target_moment / arm.torque_constant,
            actual_current=arm.current,
            joint_control_output=arm.control_current,
            actual_current_as_torque=torque if self._gravity_included else torque - arm.model.gravity(arm.q),
            joint_temperatures=arm.record.temperature,
            actual_joint_voltage=SUPPLY_VOLTAGE - CABLE_RESISTANCE * np.abs(arm.current),
        )
        self.values["actual_robot_voltage"] = (SUPPLY_VOLTAGE,)
        self.values["actual_robot_current"] = (IDLE_CURRENT + max(power, 0.0) / SUPPLY_VOLTAGE,)

    def _tool(self) -> None:
        controller, arm = self._controller, self._controller.arm
        target_q, target_qd, _ = controller.target
        pose = controller.kinematics.tcp(arm.q)
        twist = controller.kinematics.jacobian(arm.q) @ arm.qd
        acceleration = (twist[:3] - self._twist[:3]) / DT
        self._twist = twist
        force = arm.tcp_force()
        self._put(
            actual_TCP_pose=matrix_to_pose(pose),
            actual_TCP_speed=twist,
            actual_TCP_force=force,
            target_TCP_pose=matrix_to_pose(controller.kinematics.tcp(target_q)),
            target_TCP_speed=controller.kinematics.jacobian(target_q) @ target_qd,
            actual_tool_accelerometer=pose[:3, :3].T @ (acceleration + np.array([0, 0, 9.80665])),
            ft_raw_wrench=arm.raw_wrench(controller.kinematics.flange(arm.q)[:3, :3]),
        )
        self.values["tcp_force_scalar"] = (float(np.linalg.norm(force[:3])),)
        self.values["actual_momentum"] = (arm.momentum(),)

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
        values["speed_scaling"] = (controller.io.speed_fraction if controller.program is not None else 0.0,)
        values["target_speed_fraction"] = (controller.io.speed_fraction,)
        values["payload"] = (mass,)
        values["actual_digital_output_bits"] = (controller.io.digital_outputs,)
        values["standard_analog_output0"], values["standard_analog_output1"] = controller.io.analog_outputs
        if not powered:
            values.update(UNPOWERED)
        self._put(payload_cog=center, payload_inertia=inertia, tcp_offset=controller.kinematics.tcp_offset)
