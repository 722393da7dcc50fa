"""Payload, TCP, watchdog and what is merely acknowledged."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from robot_dynamics_ros.simulation.ur.commands.table import command

if TYPE_CHECKING:
    from robot_dynamics_ros.simulation.ur.command_loop import CommandLoop


@command(17, "SET_PAYLOAD")
def set_payload(loop: CommandLoop) -> None:
    """Payload mass and centre of gravity the controller assumes; a zero centre keeps the present one."""
    center = loop.doubles(1, 3)
    loop.controller.set_payload(loop.double(0), center if np.any(center) else None)


@command(65, "SET_TARGET_PAYLOAD")
def set_target_payload(loop: CommandLoop) -> None:
    """As SET_PAYLOAD, with the inertia about the centre of gravity (Ixx Iyy Izz Ixy Ixz Iyz)."""
    center = loop.doubles(1, 3)
    loop.controller.set_payload(loop.double(0), center if np.any(center) else None, loop.doubles(4, 6))


@command(29, "SET_TCP")
def set_tcp(loop: CommandLoop) -> None:
    """TCP pose relative to the flange."""
    loop.controller.kinematics.set_tcp(loop.doubles(0, 6))


@command(59, "SET_GRAVITY")
def set_gravity(loop: CommandLoop) -> None:
    """Acknowledged; the plant's gravity does not change."""


@command(20, "FORCE_MODE_SET_DAMPING")
def force_mode_set_damping(loop: CommandLoop) -> None:
    """Acknowledged."""


@command(21, "FORCE_MODE_SET_GAIN_SCALING")
def force_mode_set_gain_scaling(loop: CommandLoop) -> None:
    """Acknowledged."""


@command(35, "SET_WATCHDOG")
def set_watchdog(loop: CommandLoop) -> None:
    """Stop the program when the command register is not written at this rate; ends with the program."""
    register = f"input_int_register_{loop.script.register_offset}"
    loop.controller.watchdogs.arm(register, loop.double(0), loop.controller.time)


@command(31, "PROTECTIVE_STOP")
def protective_stop(loop: CommandLoop) -> None:
    """Stop protectively, as a collision would."""
    loop.controller.protective_stop("requested by the program")


@command(56, "FT_RTDE_INPUT_ENABLE")
def ft_rtde_input_enable(loop: CommandLoop) -> None:
    """Acknowledged; an external force sensor is not used."""


@command(57, "ENABLE_EXTERNAL_FT_SENSOR")
def enable_external_ft_sensor(loop: CommandLoop) -> None:
    """Acknowledged; an external force sensor is not used."""
