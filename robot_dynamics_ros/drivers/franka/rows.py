"""What travels from the Franka process to the driver: one row of doubles per robot state, at fixed places."""

from __future__ import annotations

JOINTS = 7
FIELDS = (  # attribute of the vendor's RobotState, width; SI units
    ("q", JOINTS),
    ("dq", JOINTS),
    ("tau_J", JOINTS),
    ("theta", JOINTS),
    ("dtheta", JOINTS),
    ("q_d", JOINTS),
    ("dq_d", JOINTS),
    ("ddq_d", JOINTS),
    ("tau_ext_hat_filtered", JOINTS),
    ("O_F_ext_hat_K", 6),
    ("control_command_success_rate", 1),
    ("m_load", 1),
    ("robot_mode", 1),
    ("cpu_share", 1),  # of the driver process, of one core
)
PLACES = {
    name: slice(sum(w for _, w in FIELDS[:i]), sum(w for _, w in FIELDS[: i + 1])) for i, (name, _) in enumerate(FIELDS)
}
WIDTH = sum(width for _, width in FIELDS)
VECTORS = tuple(name for name, width in FIELDS if width > 1)
STOPPED_MODES = (4, 5)  # robot modes reflex and user stopped: torque and motion are refused by the robot
SLOTS = 4096  # rows of the ring: 4 s at 1 kHz

# Packets of a torque loop in the driver's process, native byte order (cpp_core torque_link.hpp)
LINK_STATE = "@3q2Id21d"  # robot, system and steady time [ns]; flags, joints; payload [kg]; q, qd, drive torque
ANSWER = "@q2I7d"  # robot time of the state it answers [ns]; whether torque control goes on, joints; torque [Nm]
